import type { Definition, Geodetic, Projection, Unit } from "./definition.js";
import { type MethodId, methodOf } from "./methods.js";
import { isLength, isRatio, type ParameterKey, parameterTitles } from "./parameters.js";
import { eccentricitySquared } from "./projections/kernels.js";
import type { Registry } from "./registry.js";

/** At most 15 significant digits, as every WKT writer has it. */
const number = (value: number): string => `${Number(value.toPrecision(15))}`;
/** ESRI always writes a decimal point. */
const decimal = (value: number): string => {
  const text = number(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
};
const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
/** Spaces and most signs become underscores. */
const underscored = (text: string): string => text.replace(/[^A-Za-z0-9+-]+/g, "_").replace(/^_|_$/g, "");

/** ESRI's WKT, as `.prj` files have it: its own names, no authority, no axes, no shifts. Null where it has no method. */
export function writeEsri(definition: Definition, registry: Registry): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.obstacle !== null) return null;
  const base = esriGeographic(geodetic, projection ? null : definition, registry);
  if (!projection) return base;
  if (projection.method === null || projection.axes) return null;
  const found = esriProjection(projection, definition, registry);
  if (!found) return null;
  const parameters = found.parameters.map(([name, value]) => `PARAMETER[${quote(name)},${decimal(value)}]`).join(",");
  const name = (definition.id && registry.esriSystemName(definition.id)) || underscored(definition.name) || "unnamed";
  const unit = esriUnit(projection.unit, registry);
  return `PROJCS[${quote(name)},${base},PROJECTION[${quote(found.name)}],${parameters},UNIT[${quote(unit)},${decimal(projection.unit.size)}]]`;
}

function esriGeographic(geodetic: Geodetic, whole: Definition | null, registry: Registry): string {
  const id =
    whole?.id ??
    (geodetic.code === null
      ? null
      : geodetic.code[0] === "E"
        ? `ESRI:${geodetic.code.slice(1)}`
        : `EPSG:${geodetic.code}`);
  const { datum, meridian } = geodetic;
  const name =
    (id && registry.esriSystemName(id)) ||
    `GCS_${underscored(geodetic.name || "unknown")}`.replace(/^GCS_GCS_/, "GCS_");
  const datumName = (datum.code && registry.esriDatumName(datum.code)) || `D_${underscored(datum.name || "unknown")}`;
  const ellipsoid = registry.esriEllipsoidName(datum.ellipsoid.name) ?? underscored(datum.ellipsoid.name || "unknown");
  const unit =
    geodetic.unit.name === "grad"
      ? "Grad"
      : geodetic.unit.name === "degree"
        ? "Degree"
        : underscored(geodetic.unit.name);
  return (
    `GEOGCS[${quote(name)},DATUM[${quote(datumName)},SPHEROID[${quote(ellipsoid)},${decimal(datum.ellipsoid.a)},${decimal(datum.ellipsoid.inverseFlattening)}]],` +
    `PRIMEM[${quote(underscored(meridian.name))},${decimal(meridian.degrees)}],UNIT[${quote(unit)},${decimal(angle(geodetic.unit))}]]`
  );
}

/** ESRI and GDAL both write this many digits, and readers compare them. */
const angle = (unit: Unit): number => (unit.name === "degree" ? 0.0174532925199433 : Number(unit.size.toPrecision(15)));

function esriUnit(unit: Unit, registry: Registry): string {
  if (unit.size === 1) return "Meter";
  return registry.esriUnitName(unit.name) ?? underscored(unit.name);
}

type Named = readonly [name: string, value: number];

function esriProjection(
  projection: Projection,
  definition: Definition,
  registry: Registry,
): { name: string; parameters: Named[] } | null {
  const { parameters: p, method } = projection;
  const grads = angularScale(definition.geodetic!);
  const pole = (p.lat1 ?? p.lat0 ?? 0) < 0 ? "Stereographic_South_Pole" : "Stereographic_North_Pole";
  const take = (entries: readonly (readonly [string, ParameterKey | number])[]): Named[] =>
    entries.map(([name, value]) => {
      if (typeof value === "number") return [name, value];
      const given = p[value] ?? 0;
      return [name, isLength(value) || isRatio(value) ? given : given * grads];
    });
  if (method === null) return null;
  const entry = methodOf(method);
  switch (method) {
    case "transverse-mercator": {
      const name = gaussKruger(definition, registry) ? "Gauss_Kruger" : "Transverse_Mercator";
      return { name, parameters: take(entry.esriParameters) };
    }
    case "lambert-conic-michigan": {
      const conic = take(methodOf("lambert-conic-2sp").esriParameters);
      conic.splice(5, 0, ["Scale_Factor", p.ellipsoidScale ?? 1]);
      return { name: "Lambert_Conformal_Conic", parameters: conic };
    }
    case "mercator-a":
      return esriMercator(projection, definition.geodetic!);
    case "polar-stereographic-b":
      return { name: pole, parameters: take(entry.esriParameters) };
    case "oblique-mercator-a":
    case "oblique-mercator-b":
      return esriOblique(projection, take(entry.esriParameters), entry.esri!);
    default:
      return entry.esri === null ? null : { name: entry.esri, parameters: take(entry.esriParameters) };
  }
}

/** ESRI's Mercator has no scale but the parallel where it is 1. */
function esriMercator(projection: Projection, { datum }: Geodetic): { name: string; parameters: Named[] } | null {
  const { x0 = 0, y0 = 0, lon0 = 0, lat0 = 0, k = 1 } = projection.parameters;
  if (lat0 !== 0 || k > 1) return null;
  const e2 = eccentricitySquared(datum.ellipsoid);
  const parallel = Math.asin(Math.sqrt((1 - k * k) / (1 - k * k * e2))) * (180 / Math.PI);
  return {
    name: "Mercator",
    parameters: [
      ["False_Easting", x0],
      ["False_Northing", y0],
      ["Central_Meridian", lon0],
      ["Standard_Parallel_1", parallel],
    ],
  };
}

/** The Hotine names take the rectified grid to be turned by the azimuth; where it is not, ESRI has another name. */
function esriOblique(projection: Projection, parameters: Named[], name: string): { name: string; parameters: Named[] } {
  const { azimuth = 0, gamma = 0 } = projection.parameters;
  const half = (degrees: number) => (degrees > 180 ? Number((degrees - 360).toPrecision(12)) : degrees);
  const turned = parameters.map(([key, value]): Named => [key, key === "Azimuth" ? half(value) : value]);
  if (Math.abs(azimuth - gamma) < 1e-9) return { name, parameters: turned };
  return {
    name:
      projection.method === "oblique-mercator-a"
        ? "Rectified_Skew_Orthomorphic_Natural_Origin"
        : "Rectified_Skew_Orthomorphic_Center",
    parameters: [...turned, ["XY_Plane_Rotation", half(gamma)]],
  };
}

/** ESRI calls some Transverse Mercators Gauss_Kruger; the name of the system tells (as in GDAL). */
function gaussKruger(definition: Definition, registry: Registry): boolean {
  const name = (definition.id && registry.esriSystemName(definition.id)) || definition.name;
  return /Gauss|(^|_)GK(_|$)|CK_/i.test(name);
}

/** WKT1 gives the angles of a projection in the unit of its geographic system. */
const angularScale = (geodetic: Geodetic): number =>
  geodetic.unit.name === "degree" ? 1 : Math.PI / 180 / geodetic.unit.size;

/** WKT1 as GDAL writes it (OGC 01-009 with its extensions). Null where that has no name for the method. */
export function writeWkt1(definition: Definition, registry: Registry): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.obstacle !== null) return null;
  const base = wkt1Geographic(geodetic, projection ? null : definition, registry);
  if (!projection) return base;
  if (projection.method === null || projection.axes) return null;
  const method = methodOf(projection.method);
  if (method.wkt1 === null) return null;
  const grads = angularScale(geodetic);
  const parameters = method.parameters.map(([key, , name]) => {
    const value = projection.parameters[key] ?? 0;
    return `PARAMETER[${quote(name)},${number(isLength(key) || isRatio(key) ? value : value * grads)}]`;
  });
  // The sphere of EPSG:3857 has no other place in WKT1.
  const extension =
    projection.method === "web-mercator"
      ? `,EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=${number(projection.parameters.lon0 ?? 0)} +x_0=${number(projection.parameters.x0 ?? 0)} +y_0=${number(projection.parameters.y0 ?? 0)} +k=1 +units=m +nadgrids=@null +wktext +no_defs"]`
      : "";
  if (projection.method === "web-mercator") parameters.splice(0, 1);
  const axes =
    projection.method === "transverse-mercator-south"
      ? 'AXIS["Westing",WEST],AXIS["Southing",SOUTH]'
      : 'AXIS["Easting",EAST],AXIS["Northing",NORTH]';
  return `PROJCS[${quote(definition.name)},${base},PROJECTION[${quote(method.wkt1)}],${parameters.join(",")},${wkt1Unit(projection.unit)},${axes}${extension}${wkt1Authority(definition.id)}]`;
}

function wkt1Geographic(geodetic: Geodetic, whole: Definition | null, registry: Registry): string {
  const { datum, meridian } = geodetic;
  const id =
    whole?.id ??
    (geodetic.code === null
      ? null
      : geodetic.code[0] === "E"
        ? `ESRI:${geodetic.code.slice(1)}`
        : `EPSG:${geodetic.code}`);
  const ellipsoidCode = registry.ellipsoidCode(datum.ellipsoid.name);
  const shift =
    datum.code === null && datum.toWgs84
      ? `,TOWGS84[${[...datum.toWgs84, 0, 0, 0, 0].slice(0, 7).map(number).join(",")}]`
      : "";
  const name = datum.code === "6326" ? "WGS_1984" : underscored(geodetic.datumTitle?.name || datum.name || "unknown");
  const ownCode = geodetic.datumTitle?.code ?? (meridian.degrees === 0 ? datum.code : null);
  const datumCode = ownCode !== null && ownCode[0] !== "E" ? `EPSG:${ownCode}` : null;
  return (
    `GEOGCS[${quote(geodetic.name || "unknown")},DATUM[${quote(name)},SPHEROID[${quote(datum.ellipsoid.name)},${number(datum.ellipsoid.a)},${number(datum.ellipsoid.inverseFlattening)}` +
    `${wkt1Authority(ellipsoidCode && ellipsoidCode[0] !== "E" ? `EPSG:${ellipsoidCode}` : null)}]${shift}${wkt1Authority(datumCode)}],` +
    `PRIMEM[${quote(meridian.name)},${number(meridian.degrees)}],UNIT[${quote(geodetic.unit.name)},${number(angle(geodetic.unit))}],AXIS["Latitude",NORTH],AXIS["Longitude",EAST]${wkt1Authority(id)}]`
  );
}

const wkt1Unit = (unit: Unit): string => `UNIT[${quote(unit.name)},${number(unit.size)}]`;
function wkt1Authority(id: string | null): string {
  if (id === null) return "";
  const [authority, code] = id.split(":");
  return `,AUTHORITY[${quote(authority!)},${quote(code!)}]`;
}

/** WKT2 (ISO 19162:2019). Null where it cannot be said in it. */
export function writeWkt2(definition: Definition): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.obstacle !== null) return null;
  const shift = geodetic.datum.code === null ? geodetic.datum.toWgs84 : null;
  const plain = projection
    ? wkt2Projected(definition, geodetic, projection)
    : `GEOGCRS[${quote(definition.name || "unknown")},${wkt2Datum(geodetic)},${wkt2Ellipsoidal(geodetic)}${wkt2Id(definition.id)}]`;
  return plain === null || !shift ? plain : wkt2Bound(plain, shift);
}

/** What EPSG has a method of its own for, where the earth is a sphere. */
const ownOnSphere: Readonly<Partial<Record<MethodId, MethodId>>> = {
  "lambert-azimuthal": "lambert-azimuthal-spherical",
  "equal-area-cylindrical": "equal-area-cylindrical-spherical",
};

function wkt2Projected(definition: Definition, geodetic: Geodetic, projection: Projection): string | null {
  if (projection.method === null || projection.axes) return null;
  const isSphere = geodetic.datum.ellipsoid.inverseFlattening === 0;
  const method = methodOf((isSphere ? ownOnSphere[projection.method] : undefined) ?? projection.method);
  const parameters = method.parameters.map(([key, code, wkt1]) => {
    const value = number(projection.parameters[key] ?? 0);
    const unit = isLength(key) ? lengthUnit(projection.unit) : isRatio(key) ? 'SCALEUNIT["unity",1]' : degreeUnit;
    const id = code === null ? "" : `,ID["EPSG",${code}]`;
    return `PARAMETER[${quote(code === null ? wkt1.replaceAll("_", " ") : (parameterTitles[code] ?? key))},${value},${unit}${id}]`;
  });
  const methodId = method.epsg === null ? "" : `,ID["EPSG",${method.epsg}]`;
  const south = projection.method === "transverse-mercator-south";
  const unit = lengthUnit(projection.unit);
  const axes = south
    ? `AXIS["westing",west,ORDER[1],${unit}],AXIS["southing",south,ORDER[2],${unit}]`
    : `AXIS["easting",east,ORDER[1],${unit}],AXIS["northing",north,ORDER[2],${unit}]`;
  return (
    `PROJCRS[${quote(definition.name || "unknown")},BASEGEOGCRS[${quote(geodetic.name || "unknown")},${wkt2Datum(geodetic)}${baseUnit(geodetic.unit)}],` +
    `CONVERSION[${quote(definition.name || "unknown")},METHOD[${quote(method.wkt2)}${methodId}],${parameters.join(",")}],CS[Cartesian,2],${axes}${wkt2Id(definition.id)}]`
  );
}

const baseUnit = (unit: Unit): string =>
  unit.name === "degree" ? "" : `,ANGLEUNIT[${quote(unit.name)},${number(unit.size)}]`;
const degreeUnit = 'ANGLEUNIT["degree",0.0174532925199433]';
const lengthUnit = (unit: Unit): string => `LENGTHUNIT[${quote(unit.name)},${number(unit.size)}]`;

function wkt2Datum({ datum, datumTitle, meridian }: Geodetic): string {
  const ellipsoid = `ELLIPSOID[${quote(datum.ellipsoid.name)},${number(datum.ellipsoid.a)},${number(datum.ellipsoid.inverseFlattening)},LENGTHUNIT["metre",1]]`;
  const code = datumTitle?.code ?? (meridian.degrees === 0 ? datum.code : null);
  const id = code === null ? "" : wkt2Id(code[0] === "E" ? `ESRI:${code.slice(1)}` : `EPSG:${code}`);
  return `DATUM[${quote(datumTitle?.name || datum.name || "unknown")},${ellipsoid}${id}],PRIMEM[${quote(meridian.name)},${number(meridian.degrees)},${degreeUnit}]`;
}

function wkt2Ellipsoidal(geodetic: Geodetic): string {
  const unit = `ANGLEUNIT[${quote(geodetic.unit.name)},${number(angle(geodetic.unit))}]`;
  const axes = `AXIS["geodetic latitude (Lat)",north,ORDER[1],${unit}],AXIS["geodetic longitude (Lon)",east,ORDER[2],${unit}]`;
  return geodetic.threeD
    ? `CS[ellipsoidal,3],${axes},AXIS["ellipsoidal height (h)",up,ORDER[3],LENGTHUNIT["metre",1]]`
    : `CS[ellipsoidal,2],${axes}`;
}

function wkt2Bound(source: string, shift: readonly number[]): string {
  const target = `GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],${'CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]'},ID["EPSG",4326]]`;
  const names = [
    "X-axis translation",
    "Y-axis translation",
    "Z-axis translation",
    "X-axis rotation",
    "Y-axis rotation",
    "Z-axis rotation",
    "Scale difference",
  ];
  const seven = [...shift, 0, 0, 0, 0].slice(0, 7);
  const parameters = seven.map(
    (value, index) =>
      `PARAMETER[${quote(names[index]!)},${number(index === 6 ? 1 + value * 1e-6 : value)},ID["EPSG",${8605 + index}]]`,
  );
  return `BOUNDCRS[SOURCECRS[${source}],TARGETCRS[${target}],ABRIDGEDTRANSFORMATION["to WGS 84",METHOD["Position Vector transformation (geog2D domain)",ID["EPSG",9606]],${parameters.join(",")}]]`;
}

function wkt2Id(id: string | null): string {
  if (id === null) return "";
  const [authority, code] = id.split(":");
  return `,ID[${quote(authority!)},${code}]`;
}

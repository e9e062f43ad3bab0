import { eccentricitySquared } from "../projections/kernels.js";
import { type CrsRegistry, idOf } from "../tables/registry.js";
import type { CrsDefinition, GeographicCrs, Projection, Unit } from "./definition.js";
import { getMethod, type MethodId } from "./methods.js";
import { epsgParameterNames, isLengthParameter, isRatioParameter, type ParameterKey } from "./parameters.js";

/** Writes at most 15 significant digits, as other WKT writers do. */
const formatNumber = (value: number): string => `${Number(value.toPrecision(15))}`;
/** ESRI always writes a decimal point. */
const formatDecimal = (value: number): string => {
  const text = formatNumber(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
};
const quoteText = (text: string): string => `"${text.replaceAll('"', '""')}"`;
/** Letters that are no ASCII letters with marks. */
const latinLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "Th",
  ł: "l",
  Ł: "L",
  ħ: "h",
  Ħ: "H",
  ı: "i",
};

/**
 * A name in ASCII: letters lose their marks, spaces and most signs become one underscore, and each letter of another
 * script becomes one. Never empty.
 */
function toUnderscores(text: string): string {
  const letters = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[ßẞæÆœŒøØđĐðÐþÞłŁħĦı]/g, (letter) => latinLetters[letter]!)
    .replace(/[^A-Za-z0-9+\p{L}\p{N}-]+/gu, "_")
    .replace(/^_|_$/g, "");
  return letters.replace(/[^A-Za-z0-9+_-]/gu, "_") || "unnamed";
}

/** ESRI's WKT as in `.prj` files: ESRI's names, no authority, axes or shifts. Null if ESRI does not have the method. */
export function writeEsri(definition: CrsDefinition, registry: CrsRegistry): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.unsupportedReason !== null) return null;
  const base = formatEsriGeographic(geodetic, projection ? null : definition, registry);
  if (!projection) return base;
  if (projection.method === null || projection.axes) return null;
  const found = esriProjection(projection, definition, registry);
  if (!found) return null;
  const parameters = found.parameters
    .map(([name, value]) => `PARAMETER[${quoteText(name)},${formatDecimal(value)}]`)
    .join(",");
  const name = (definition.id && registry.esriSystemName(definition.id)) || toUnderscores(definition.name);
  const unit = esriUnit(projection.unit, registry);
  return `PROJCS[${quoteText(name)},${base},PROJECTION[${quoteText(found.name)}],${parameters},UNIT[${quoteText(unit)},${formatDecimal(projection.unit.conversionFactor)}]]`;
}

function formatEsriGeographic(geodetic: GeographicCrs, whole: CrsDefinition | null, registry: CrsRegistry): string {
  const id = whole?.id ?? (geodetic.code && idOf(geodetic.code));
  const { datum, meridian } = geodetic;
  const name =
    (id && registry.esriSystemName(id)) ||
    `GCS_${toUnderscores(geodetic.name || "unknown")}`.replace(/^GCS_GCS_/, "GCS_");
  const datumName = (datum.code && registry.esriDatumName(datum.code)) || `D_${toUnderscores(datum.name || "unknown")}`;
  const ellipsoid =
    registry.esriEllipsoidName(datum.ellipsoid.name) ?? toUnderscores(datum.ellipsoid.name || "unknown");
  const unit =
    geodetic.unit.name === "grad"
      ? "Grad"
      : geodetic.unit.name === "degree"
        ? "Degree"
        : toUnderscores(geodetic.unit.name);
  return (
    `GEOGCS[${quoteText(name)},DATUM[${quoteText(datumName)},SPHEROID[${quoteText(ellipsoid)},${formatDecimal(datum.ellipsoid.a)},${formatDecimal(datum.ellipsoid.inverseFlattening)}]],` +
    `PRIMEM[${quoteText(toUnderscores(meridian.name))},${formatDecimal(meridian.degrees)}],UNIT[${quoteText(unit)},${formatDecimal(angleInUnit(geodetic.unit))}]]`
  );
}

/** ESRI and GDAL both write this number of digits, and readers compare them. */
const angleInUnit = (unit: Unit): number =>
  unit.name === "degree" ? 0.0174532925199433 : Number(unit.conversionFactor.toPrecision(15));

function esriUnit(unit: Unit, registry: CrsRegistry): string {
  if (unit.conversionFactor === 1) return "Meter";
  return registry.esriUnitName(unit.name) ?? toUnderscores(unit.name);
}

type NamedValue = readonly [name: string, value: number];

function esriProjection(
  projection: Projection,
  definition: CrsDefinition,
  registry: CrsRegistry,
): { name: string; parameters: NamedValue[] } | null {
  const { parameters, method } = projection;
  const grads = degreesPerUnit(definition.geodetic!);
  const pole = (parameters.lat1 ?? parameters.lat0 ?? 0) < 0 ? "Stereographic_South_Pole" : "Stereographic_North_Pole";
  const take = (entries: readonly (readonly [string, ParameterKey | number])[]): NamedValue[] =>
    entries.map(([name, value]) => {
      if (typeof value === "number") return [name, value];
      const given = parameters[value] ?? 0;
      return [name, isLengthParameter(value) || isRatioParameter(value) ? given : given * grads];
    });
  if (method === null) return null;
  const entry = getMethod(method);
  switch (method) {
    case "transverse-mercator": {
      const name = isGaussKruger(definition, registry) ? "Gauss_Kruger" : "Transverse_Mercator";
      return { name, parameters: take(entry.esriParameters) };
    }
    case "lambert-conic-michigan": {
      const conic = take(getMethod("lambert-conic-2sp").esriParameters);
      conic.splice(5, 0, ["Scale_Factor", parameters.ellipsoidScale ?? 1]);
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

/** ESRI's Mercator has the parallel of true scale instead of a scale factor. */
function esriMercator(
  projection: Projection,
  { datum }: GeographicCrs,
): { name: string; parameters: NamedValue[] } | null {
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

/** ESRI's Hotine names imply a rectified grid rotated by the azimuth; for other grids ESRI has another name. */
function esriOblique(
  projection: Projection,
  parameters: NamedValue[],
  name: string,
): { name: string; parameters: NamedValue[] } {
  const { azimuth = 0, gamma = 0 } = projection.parameters;
  const half = (degrees: number) => (degrees > 180 ? Number((degrees - 360).toPrecision(12)) : degrees);
  const turned = parameters.map(([key, value]): NamedValue => [key, key === "Azimuth" ? half(value) : value]);
  if (Math.abs(azimuth - gamma) < 1e-9) return { name, parameters: turned };
  return {
    name:
      projection.method === "oblique-mercator-a"
        ? "Rectified_Skew_Orthomorphic_Natural_Origin"
        : "Rectified_Skew_Orthomorphic_Center",
    parameters: [...turned, ["XY_Plane_Rotation", half(gamma)]],
  };
}

/** ESRI names some Transverse Mercators Gauss_Kruger, depending on the name of the system (as in GDAL). */
function isGaussKruger(definition: CrsDefinition, registry: CrsRegistry): boolean {
  const name = (definition.id && registry.esriSystemName(definition.id)) || definition.name;
  return /Gauss|(^|_)GK(_|$)|CK_/i.test(name);
}

/** In WKT1, the angles of a projection are in the unit of its geographic system. */
const degreesPerUnit = (geodetic: GeographicCrs): number =>
  geodetic.unit.name === "degree" ? 1 : Math.PI / 180 / geodetic.unit.conversionFactor;

/** WKT1 with GDAL's extensions of OGC 01-009. Null if it has no name for the method. */
export function writeWkt1(definition: CrsDefinition, registry: CrsRegistry): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.unsupportedReason !== null) return null;
  const base = wkt1Geographic(geodetic, projection ? null : definition, registry);
  if (!projection) return base;
  if (projection.method === null || projection.axes) return null;
  const method = getMethod(projection.method);
  if (method.wkt1 === null) return null;
  const grads = degreesPerUnit(geodetic);
  const parameters = method.parameters.map(([key, , name]) => {
    const value = projection.parameters[key] ?? 0;
    return `PARAMETER[${quoteText(name)},${formatNumber(isLengthParameter(key) || isRatioParameter(key) ? value : value * grads)}]`;
  });
  // WKT1 can express the sphere of EPSG:3857 only in an extension.
  const extension =
    projection.method === "web-mercator"
      ? `,EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=${formatNumber(projection.parameters.lon0 ?? 0)} +x_0=${formatNumber(projection.parameters.x0 ?? 0)} +y_0=${formatNumber(projection.parameters.y0 ?? 0)} +k=1 +units=m +nadgrids=@null +wktext +no_defs"]`
      : "";
  if (projection.method === "web-mercator") parameters.splice(0, 1);
  const axes =
    projection.method === "transverse-mercator-south"
      ? 'AXIS["Westing",WEST],AXIS["Southing",SOUTH]'
      : 'AXIS["Easting",EAST],AXIS["Northing",NORTH]';
  return `PROJCS[${quoteText(definition.name)},${base},PROJECTION[${quoteText(method.wkt1)}],${parameters.join(",")},${wkt1Unit(projection.unit)},${axes}${extension}${wkt1Authority(definition.id)}]`;
}

function wkt1Geographic(geodetic: GeographicCrs, whole: CrsDefinition | null, registry: CrsRegistry): string {
  const { datum, meridian } = geodetic;
  const id = whole?.id ?? (geodetic.code && idOf(geodetic.code));
  const ellipsoidCode = registry.ellipsoidCode(datum.ellipsoid.name);
  const shift =
    datum.code === null && datum.toWgs84
      ? `,TOWGS84[${[...datum.toWgs84, 0, 0, 0, 0].slice(0, 7).map(formatNumber).join(",")}]`
      : "";
  const name =
    datum.code === "6326" ? "WGS_1984" : toUnderscores(geodetic.declaredDatum?.name || datum.name || "unknown");
  const ownCode = geodetic.declaredDatum?.code ?? (meridian.degrees === 0 ? datum.code : null);
  const datumCode = ownCode !== null && ownCode[0] !== "E" ? `EPSG:${ownCode}` : null;
  return (
    `GEOGCS[${quoteText(geodetic.name || "unknown")},DATUM[${quoteText(name)},SPHEROID[${quoteText(datum.ellipsoid.name)},${formatNumber(datum.ellipsoid.a)},${formatNumber(datum.ellipsoid.inverseFlattening)}` +
    `${wkt1Authority(ellipsoidCode && ellipsoidCode[0] !== "E" ? `EPSG:${ellipsoidCode}` : null)}]${shift}${wkt1Authority(datumCode)}],` +
    `PRIMEM[${quoteText(meridian.name)},${formatNumber(meridian.degrees)}],UNIT[${quoteText(geodetic.unit.name)},${formatNumber(angleInUnit(geodetic.unit))}],AXIS["Latitude",NORTH],AXIS["Longitude",EAST]${wkt1Authority(id)}]`
  );
}

const wkt1Unit = (unit: Unit): string => `UNIT[${quoteText(unit.name)},${formatNumber(unit.conversionFactor)}]`;
function wkt1Authority(id: string | null): string {
  if (id === null) return "";
  const [authority, code] = id.split(":");
  return `,AUTHORITY[${quoteText(authority!)},${quoteText(code!)}]`;
}

/** WKT2 (ISO 19162:2019). Null if it cannot express the definition. */
export function writeWkt2(definition: CrsDefinition): string | null {
  const { geodetic, projection } = definition;
  if (!geodetic || definition.unsupportedReason !== null) return null;
  const shift = geodetic.datum.code === null ? geodetic.datum.toWgs84 : null;
  const plain = projection
    ? wkt2Projected(definition, geodetic, projection)
    : `GEOGCRS[${quoteText(definition.name || "unknown")},${wkt2Datum(geodetic)},${wkt2Ellipsoidal(geodetic)}${wkt2Id(definition.id)}]`;
  return plain === null || !shift ? plain : wkt2Bound(plain, shift);
}

/** Methods for which EPSG has a separate spherical method. */
export const sphericalMethods: Readonly<Partial<Record<MethodId, MethodId>>> = {
  "lambert-azimuthal": "lambert-azimuthal-spherical",
  "equal-area-cylindrical": "equal-area-cylindrical-spherical",
};

function wkt2Projected(definition: CrsDefinition, geodetic: GeographicCrs, projection: Projection): string | null {
  if (projection.method === null || projection.axes) return null;
  const isSphere = geodetic.datum.ellipsoid.inverseFlattening === 0;
  const method = getMethod((isSphere ? sphericalMethods[projection.method] : undefined) ?? projection.method);
  const parameters = method.parameters.map(([key, code, wkt1]) => {
    const value = formatNumber(projection.parameters[key] ?? 0);
    const unit = isLengthParameter(key)
      ? lengthUnit(projection.unit)
      : isRatioParameter(key)
        ? 'SCALEUNIT["unity",1]'
        : degreeUnit;
    const id = code === null ? "" : `,ID["EPSG",${code}]`;
    return `PARAMETER[${quoteText(code === null ? wkt1.replaceAll("_", " ") : (epsgParameterNames[code] ?? key))},${value},${unit}${id}]`;
  });
  const methodId = method.epsg === null ? "" : `,ID["EPSG",${method.epsg}]`;
  const south = projection.method === "transverse-mercator-south";
  const unit = lengthUnit(projection.unit);
  const axes = south
    ? `AXIS["westing",west,ORDER[1],${unit}],AXIS["southing",south,ORDER[2],${unit}]`
    : `AXIS["easting",east,ORDER[1],${unit}],AXIS["northing",north,ORDER[2],${unit}]`;
  return (
    `PROJCRS[${quoteText(definition.name || "unknown")},BASEGEOGCRS[${quoteText(geodetic.name || "unknown")},${wkt2Datum(geodetic)}${baseUnit(geodetic.unit)}],` +
    `CONVERSION[${quoteText(definition.name || "unknown")},METHOD[${quoteText(method.wkt2)}${methodId}],${parameters.join(",")}],CS[Cartesian,2],${axes}${wkt2Id(definition.id)}]`
  );
}

const baseUnit = (unit: Unit): string =>
  unit.name === "degree" ? "" : `,ANGLEUNIT[${quoteText(unit.name)},${formatNumber(unit.conversionFactor)}]`;
const degreeUnit = 'ANGLEUNIT["degree",0.0174532925199433]';
const lengthUnit = (unit: Unit): string => `LENGTHUNIT[${quoteText(unit.name)},${formatNumber(unit.conversionFactor)}]`;

function wkt2Datum({ datum, declaredDatum, meridian }: GeographicCrs): string {
  const ellipsoid = `ELLIPSOID[${quoteText(datum.ellipsoid.name)},${formatNumber(datum.ellipsoid.a)},${formatNumber(datum.ellipsoid.inverseFlattening)},LENGTHUNIT["metre",1]]`;
  const code = declaredDatum?.code ?? (meridian.degrees === 0 ? datum.code : null);
  const id = wkt2Id(code && idOf(code));
  return `DATUM[${quoteText(declaredDatum?.name || datum.name || "unknown")},${ellipsoid}${id}],PRIMEM[${quoteText(meridian.name)},${formatNumber(meridian.degrees)},${degreeUnit}]`;
}

function wkt2Ellipsoidal(geodetic: GeographicCrs): string {
  const unit = `ANGLEUNIT[${quoteText(geodetic.unit.name)},${formatNumber(angleInUnit(geodetic.unit))}]`;
  const axes = `AXIS["geodetic latitude (Lat)",north,ORDER[1],${unit}],AXIS["geodetic longitude (Lon)",east,ORDER[2],${unit}]`;
  return geodetic.is3D
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
      `PARAMETER[${quoteText(names[index]!)},${formatNumber(index === 6 ? 1 + value * 1e-6 : value)},ID["EPSG",${8605 + index}]]`,
  );
  return `BOUNDCRS[SOURCECRS[${source}],TARGETCRS[${target}],ABRIDGEDTRANSFORMATION["to WGS 84",METHOD["Position Vector transformation (geog2D domain)",ID["EPSG",9606]],${parameters.join(",")}]]`;
}

function wkt2Id(id: string | null): string {
  if (id === null) return "";
  const [authority, code] = id.split(":");
  return `,ID[${quoteText(authority!)},${code}]`;
}

/** Writes PROJJSON (https://proj.org/specifications/projjson.html), the JSON form of WKT 2. */
import { idOf } from "../tables/registry.js";
import { type CrsDefinition, type GeographicCrs, type Projection, type Unit, wgs84Geodetic } from "./definition.js";
import { getMethod } from "./methods.js";
import { epsgParameterNames, isLengthParameter, isRatioParameter } from "./parameters.js";
import { sphericalMethods } from "./write-wkt.js";

export type ProjJson = { readonly [key: string]: unknown };

const schema = "https://proj.org/schemas/v0.7/projjson.schema.json";

/** Null if the system cannot be expressed: an unknown method, or none on the ellipsoid. */
export function writeProjJson(definition: CrsDefinition): ProjJson | null {
  const { geodetic, projection, unsupportedReason } = definition;
  if (!geodetic || unsupportedReason !== null) return null;
  const shift = geodetic.datum.code === null ? geodetic.datum.toWgs84 : null;
  const system = projection
    ? projectedSystem(definition, geodetic, projection)
    : geographicSystem(definition.name, geodetic, definition.id);
  if (system === null) return null;
  return { $schema: schema, ...(shift ? boundSystem(system, shift) : system) };
}

const identifier = (id: string | null) => {
  const [, authority, code] = /^([^:]+):(.+)$/.exec(id ?? "") ?? [];
  if (authority === undefined || code === undefined) return {};
  return { id: { authority, code: /^\d+$/.test(code) ? Number(code) : code } };
};

/** Units that the schema has as words. */
const isMetre = ({ conversionFactor }: Unit): boolean => conversionFactor === 1;
const isDegree = ({ name }: Unit): boolean => name === "degree";
const unitOf = (unit: Unit, type: "LinearUnit" | "AngularUnit"): unknown =>
  type === "LinearUnit" && isMetre(unit)
    ? "metre"
    : type === "AngularUnit" && isDegree(unit)
      ? "degree"
      : { type, name: unit.name, conversion_factor: unit.conversionFactor };

function geographicSystem(name: string, geodetic: GeographicCrs, id: string | null): ProjJson {
  const unit = unitOf(geodetic.unit, "AngularUnit");
  const axes = [
    { name: "Geodetic latitude", abbreviation: "Lat", direction: "north", unit },
    { name: "Geodetic longitude", abbreviation: "Lon", direction: "east", unit },
  ];
  const height = { name: "Ellipsoidal height", abbreviation: "h", direction: "up", unit: "metre" };
  return {
    type: "GeographicCRS",
    name: name || "unknown",
    datum: datumOf(geodetic),
    coordinate_system: { subtype: "ellipsoidal", axis: geodetic.is3D ? [...axes, height] : axes },
    ...identifier(id),
  };
}

function datumOf({ datum, declaredDatum, meridian }: GeographicCrs): ProjJson {
  const { ellipsoid } = datum;
  const shape =
    ellipsoid.inverseFlattening === 0
      ? { radius: ellipsoid.a }
      : { semi_major_axis: ellipsoid.a, inverse_flattening: ellipsoid.inverseFlattening };
  const code = declaredDatum?.code ?? (meridian.degrees === 0 ? datum.code : null);
  return {
    type: "GeodeticReferenceFrame",
    name: declaredDatum?.name || datum.name || "unknown",
    ellipsoid: { name: ellipsoid.name || "unknown", ...shape },
    ...(meridian.degrees === 0 ? {} : { prime_meridian: { name: meridian.name, longitude: meridian.degrees } }),
    ...identifier(code && idOf(code)),
  };
}

function projectedSystem(definition: CrsDefinition, geodetic: GeographicCrs, projection: Projection): ProjJson | null {
  if (projection.method === null || projection.axes) return null;
  const isSphere = geodetic.datum.ellipsoid.inverseFlattening === 0;
  const method = getMethod((isSphere ? sphericalMethods[projection.method] : undefined) ?? projection.method);
  const length = unitOf(projection.unit, "LinearUnit");
  const parameters = method.parameters.map(([key, code, wkt1]) => ({
    name: code === null ? wkt1.replaceAll("_", " ") : (epsgParameterNames[code] ?? key),
    value: projection.parameters[key] ?? 0,
    unit: isLengthParameter(key) ? length : isRatioParameter(key) ? "unity" : "degree",
    ...(code === null ? {} : identifier(`EPSG:${code}`)),
  }));
  const axes =
    projection.method === "transverse-mercator-south"
      ? [
          ["Westing", "Y", "west"],
          ["Southing", "X", "south"],
        ]
      : [
          ["Easting", "E", "east"],
          ["Northing", "N", "north"],
        ];
  return {
    type: "ProjectedCRS",
    name: definition.name || "unknown",
    base_crs: geographicSystem(geodetic.name, geodetic, geodetic.code && idOf(geodetic.code)),
    conversion: {
      name: definition.name || "unknown",
      method: { name: method.wkt2, ...identifier(method.epsg === null ? null : `EPSG:${method.epsg}`) },
      parameters,
    },
    coordinate_system: {
      subtype: "Cartesian",
      axis: axes.map(([name, abbreviation, direction]) => ({ name, abbreviation, direction, unit: length })),
    },
    ...identifier(definition.id),
  };
}

/** Parameters of the position vector transformation (EPSG:9606), in order, with their units. */
const shiftParameters = [
  ["X-axis translation", "metre"],
  ["Y-axis translation", "metre"],
  ["Z-axis translation", "metre"],
  ["X-axis rotation", { type: "AngularUnit", name: "arc-second", conversion_factor: Math.PI / 648000 }],
  ["Y-axis rotation", { type: "AngularUnit", name: "arc-second", conversion_factor: Math.PI / 648000 }],
  ["Z-axis rotation", { type: "AngularUnit", name: "arc-second", conversion_factor: Math.PI / 648000 }],
  ["Scale difference", { type: "ScaleUnit", name: "parts per million", conversion_factor: 1e-6 }],
] as const;

/** A system with the shift to WGS 84 that its definition has. */
function boundSystem(source: ProjJson, shift: readonly number[]): ProjJson {
  return {
    type: "BoundCRS",
    source_crs: source,
    target_crs: geographicSystem("WGS 84", wgs84Geodetic, "EPSG:4326"),
    transformation: {
      name: "to WGS 84",
      method: { name: "Position Vector transformation (geog2D domain)", ...identifier("EPSG:9606") },
      parameters: shiftParameters.map(([name, unit], index) => ({
        name,
        value: shift[index] ?? 0,
        unit,
        ...identifier(`EPSG:${8605 + index}`),
      })),
    },
  };
}

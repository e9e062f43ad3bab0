/** What GDAL's drivers can hold: as far as they say it themselves, and in tables what they do not say. */
import { allGeometryTypes, type FieldType, type GeometryType } from "../../../src/model/index.js";
import type { WriterCapabilities } from "../../../src/plugin/index.js";
import type { DriverInfo } from "../process/protocol.js";

/** Drivers that make a folder of files of several layers: a file each is what other formats of the kind get here. */
const singleLayerDrivers = new Set([
  "ESRI Shapefile",
  "MapInfo File",
  "CSV",
  "FlatGeobuf",
  "OGR_GMT",
  "Selafin",
  "DXF",
]);
/** Longitude and latitude of WGS84 only. */
const wgs84Drivers = new Set(["KML", "LIBKML", "GPX", "GeoJSONSeq", "GeoRSS", "GPSBabel"]);
/** Tables without any geometry: geometries become columns (`table-geometry.ts`). */
export const tableDrivers = new Set(["XLSX", "ODS"]);
/** Heights that a driver takes and does not keep, and those that keep them and do not say so. */
const zSupportByDriver: Readonly<Record<string, boolean>> = {
  "MapInfo File": false,
  KML: true,
  GPX: true,
  GeoRSS: false,
  "Interlis 1": false,
  DGN: false,
};
/** Those that leave features without geometry out, without a word. */
const geometryRequiredDrivers = new Set(["FlatGeobuf", "DXF", "DGN", "GPX", "GeoRSS", "GPSBabel", "KML", "OGR_GMT"]);
/** Those that have heights, or measures, in all geometries of a layer or in none. */
export const uniformDimensionDrivers = new Set(["FlatGeobuf", "GML", "OpenFileGDB", "FileGDB", "ESRI Shapefile"]);
/** Those that write fifteen digits of a number. */
export const fifteenDigitDrivers = new Set(["ESRI Shapefile", "GML", "OGR_GMT", "JML", "CSV", "XLSX", "ODS"]);
/** Those that keep geometries without positions; to others they are none. */
export const emptyGeometryDrivers = new Set(["GPKG", "SQLite", "CSV"]);
/** Those whose times are of no time zone. */
export const noTimeZoneDrivers = new Set(["MapInfo File", "XLSX", "ODS", "OGR_GMT", "VDV"]);
/** Those whose times are all in UTC. */
export const utcOnlyDrivers = new Set(["OpenFileGDB", "FileGDB"]);
/** Those whose times come back without parts of a second. */
export const wholeSecondDrivers = new Set(["OpenFileGDB", "FileGDB", "ODS"]);
/** Those that keep the id of a feature. */
const idPreservingDrivers = new Set(["GPKG", "SQLite", "GeoJSON", "GeoJSONSeq", "OpenFileGDB", "FileGDB"]);
/** Those that take an id more than once. */
export const duplicateIdDrivers = new Set(["GeoJSON", "GeoJSONSeq"]);
const defaultIdRange = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };
/** The ids that a driver takes. */
export const idRangeOfDriver = (name: string): typeof defaultIdRange =>
  name === "OpenFileGDB" || name === "FileGDB" ? { least: 1n, greatest: 2n ** 31n - 1n } : defaultIdRange;
/** Characters that the names of fields may have. */
const fieldNamePatterns: Readonly<Record<string, RegExp>> = { "MapInfo File": /[A-Za-z0-9_#]/ };
/** Names of fields: bytes that they may have. */
const maxFieldNameBytes: Readonly<Record<string, number>> = {
  "MapInfo File": 31,
  "ESRI Shapefile": 10,
  OpenFileGDB: 64,
};

const fieldTypeByOgrName: Readonly<Record<string, FieldType>> = {
  Integer: "int32",
  Integer64: "int64",
  Real: "double",
  String: "text",
  Date: "date",
  Time: "time",
  DateTime: "datetime",
  Binary: "binary",
};

function fieldTypesOf({ fieldTypes, fieldSubtypes }: DriverInfo): FieldType[] {
  const types = fieldTypes.flatMap((name) => fieldTypeByOgrName[name] ?? []);
  // A driver that says nothing of its types takes numbers and text; what becomes of them shows afterwards.
  if (types.length === 0) return ["int32", "double", "text"];
  if (fieldSubtypes.includes("Boolean")) types.push("boolean");
  if (fieldSubtypes.includes("JSON")) types.push("json");
  return types;
}

const geometryFamilies: readonly { readonly suffix: string; readonly types: readonly GeometryType[] }[] = [
  { suffix: "point", types: ["Point"] },
  { suffix: "multipoint", types: ["MultiPoint"] },
  { suffix: "line", types: ["LineString", "MultiLineString"] },
  { suffix: "polygon", types: ["Polygon", "MultiPolygon"] },
];

/** One kind of geometry a layer. */
const singleGeometryTypeDrivers = new Set(["ESRI Shapefile", "OpenFileGDB", "FileGDB"]);

function geometryTypesOf(name: string): readonly GeometryType[] {
  if (name === "GPX") return ["Point", "LineString", "MultiLineString"];
  return singleGeometryTypeDrivers.has(name) ? geometryFamilies.flatMap(({ types }) => types) : allGeometryTypes;
}

export function writerCapabilities(facts: DriverInfo): WriterCapabilities {
  const { name } = facts;
  const [maxBytes, allowedCharacter] = [maxFieldNameBytes[name], fieldNamePatterns[name]];
  return {
    crs: wgs84Drivers.has(name) ? "wgs84" : "any",
    layers: facts.layers && !singleLayerDrivers.has(name) ? "many" : "one",
    geometryTypes: geometryTypesOf(name),
    ...(singleGeometryTypeDrivers.has(name) ? { families: geometryFamilies } : {}),
    nullGeometry: !geometryRequiredDrivers.has(name),
    z: zSupportByDriver[name] ?? facts.z,
    m: facts.m,
    fieldTypes: fieldTypesOf(facts),
    fieldNames: {
      ignoreCase: true,
      pattern: /^[^\0]+$/,
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(allowedCharacter === undefined ? {} : { allowedCharacter }),
    },
    ids: idPreservingDrivers.has(name) ? { types: ["int32", "int64"], fallbackField: "id" } : "id",
    requiredScan: "extent",
    supportsStreaming: false,
  };
}

/** Capabilities of GDAL's drivers: from driver metadata, and from these tables for what metadata lacks. */
import { allGeometryTypes, type FieldType, type GeometryType } from "../../../src/model/index.js";
import type { WriterCapabilities } from "../../../src/plugin/index.js";
import type { DriverInfo } from "../process/protocol.js";

/** Drivers that write several layers as a folder of files; here each layer becomes one output file. */
const singleLayerDrivers = new Set([
  "ESRI Shapefile",
  "MapInfo File",
  "CSV",
  "FlatGeobuf",
  "OGR_GMT",
  "Selafin",
  "DXF",
]);
/** Drivers that write WGS 84 longitude and latitude only. */
const wgs84Drivers = new Set(["KML", "LIBKML", "GPX", "GeoJSONSeq", "GeoRSS", "GPSBabel"]);
/** Drivers without geometries, which are written as columns (`table-geometry.ts`). */
export const tableDrivers = new Set(["XLSX", "ODS"]);
/** Corrections to the Z support that drivers declare. */
const zSupportByDriver: Readonly<Record<string, boolean>> = {
  "MapInfo File": false,
  KML: true,
  GPX: true,
  GeoRSS: false,
  "Interlis 1": false,
  DGN: false,
};
/** Drivers that silently drop features without geometry. */
const geometryRequiredDrivers = new Set(["FlatGeobuf", "DXF", "DGN", "GPX", "GeoRSS", "GPSBabel", "KML", "OGR_GMT"]);
/** Drivers in which all geometries of a layer have the same dimensions. */
export const uniformDimensionDrivers = new Set(["FlatGeobuf", "GML", "OpenFileGDB", "FileGDB", "ESRI Shapefile"]);
/** Drivers that write numbers with 15 digits. */
export const fifteenDigitDrivers = new Set(["ESRI Shapefile", "GML", "OGR_GMT", "JML", "CSV", "XLSX", "ODS"]);
/** Drivers that keep empty geometries; others write null. */
export const emptyGeometryDrivers = new Set(["GPKG", "SQLite", "CSV"]);
/** Drivers without time zones. */
export const noTimeZoneDrivers = new Set(["MapInfo File", "XLSX", "ODS", "OGR_GMT", "VDV"]);
/**
 * First date of drivers that write earlier ones wrong. Excel counts a 1900-02-29 that did not exist, and GDAL rounds
 * dates before 1899-12-30 to the next day.
 */
export const firstDateByDriver: Readonly<Record<string, string>> = { XLSX: "1900-03-01" };
/** Drivers with times in UTC only. */
export const utcOnlyDrivers = new Set(["OpenFileGDB", "FileGDB"]);
/** Drivers that drop fractions of seconds. */
export const wholeSecondDrivers = new Set(["OpenFileGDB", "FileGDB", "ODS"]);
/** Drivers that keep feature ids. */
const idPreservingDrivers = new Set(["GPKG", "SQLite", "GeoJSON", "GeoJSONSeq", "OpenFileGDB", "FileGDB"]);
/** Drivers that allow repeated ids. */
export const duplicateIdDrivers = new Set(["GeoJSON", "GeoJSONSeq"]);
const defaultIdRange = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };
export const idRangeOfDriver = (name: string): typeof defaultIdRange =>
  name === "OpenFileGDB" || name === "FileGDB" ? { least: 1n, greatest: 2n ** 31n - 1n } : defaultIdRange;
/** Characters allowed in field names. */
const fieldNamePatterns: Readonly<Record<string, RegExp>> = { "MapInfo File": /[A-Za-z0-9_#]/ };
/** Maximum size of field names, in bytes. */
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
  // Default for drivers that declare no types; differences are detected after writing.
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

/** Drivers with one geometry type per layer. */
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
    continuousLongitudes: !wgs84Drivers.has(name),
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

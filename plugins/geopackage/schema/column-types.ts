import type { FieldType } from "../../../src/model/index.js";

/** Field types by declared column type (OGC 12-128r19, Table 1). */
const typeByDeclaration: Readonly<Record<string, FieldType>> = {
  BOOLEAN: "boolean",
  TINYINT: "int32",
  SMALLINT: "int32",
  MEDIUMINT: "int32",
  INT: "int64",
  INTEGER: "int64",
  FLOAT: "double",
  DOUBLE: "double",
  REAL: "double",
  TEXT: "text",
  BLOB: "binary",
  DATE: "date",
  DATETIME: "datetime",
  // Not in the standard, but common.
  TIMESTAMP: "datetime",
  TIME: "time",
  BOOL: "boolean",
  JSON: "json",
};

/** Declared types of geometry columns (Annex E). */
const geometryTypes = new Set([
  "GEOMETRY",
  "POINT",
  "LINESTRING",
  "POLYGON",
  "MULTIPOINT",
  "MULTILINESTRING",
  "MULTIPOLYGON",
  "GEOMETRYCOLLECTION",
  "GEOMCOLLECTION",
  "CIRCULARSTRING",
  "COMPOUNDCURVE",
  "CURVEPOLYGON",
  "MULTICURVE",
  "MULTISURFACE",
  "CURVE",
  "SURFACE",
  "POLYHEDRALSURFACE",
  "TIN",
  "TRIANGLE",
]);

export const isGeometryType = (declared: string): boolean => geometryTypes.has(declared.toUpperCase());

/** Column affinity (Datatypes in SQLite, 3.1). */
const affinityPatterns: readonly (readonly [RegExp, FieldType | null])[] = [
  [/INT/, "int64"],
  [/CHAR|CLOB|TEXT/, "text"],
  [/BLOB/, "binary"],
  [/REAL|FLOA|DOUB/, "double"],
];

/** The field type of a declared type; null if it must be inferred from the values. */
export function typeOfDeclaration(declared: string): FieldType | null {
  const type = declared.toUpperCase().trim();
  // A second geometry column. Without this line, the "INT" in "POINT" would give it integer affinity.
  if (geometryTypes.has(type)) return "binary";
  return typeByDeclaration[type] ?? affinityPatterns.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/** Declared column types by field type; GeoPackage has no type for times. */
export const declarationByType: Readonly<Record<FieldType, string>> = {
  boolean: "BOOLEAN",
  int32: "MEDIUMINT",
  int64: "INTEGER",
  double: "DOUBLE",
  text: "TEXT",
  date: "DATE",
  time: "TEXT",
  datetime: "DATETIME",
  binary: "BLOB",
  json: "TEXT",
};

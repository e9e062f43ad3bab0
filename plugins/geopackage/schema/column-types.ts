import type { FieldType } from "../../../src/model/index.js";

/** The types of columns (OGC 12-128r19, Table 1), and what they are here. */
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
  // Not of the standard, but meant so by whoever wrote them.
  TIMESTAMP: "datetime",
  TIME: "time",
  BOOL: "boolean",
  JSON: "json",
};

/** Geometry types (Annex E), any of which a column may be declared as. */
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

/** How SQLite takes a type by the words in it (Datatypes in SQLite, 3.1); null for one that takes anything. */
const affinityPatterns: readonly (readonly [RegExp, FieldType | null])[] = [
  [/INT/, "int64"],
  [/CHAR|CLOB|TEXT/, "text"],
  [/BLOB/, "binary"],
  [/REAL|FLOA|DOUB/, "double"],
];

/** The type of a declared column; null where it says nothing of its values, and they must be looked at. */
export function typeOfDeclaration(declared: string): FieldType | null {
  const type = declared.toUpperCase().trim();
  // A further geometry beside the one of a layer: "POINT" would pass for an integer by the words in it.
  if (geometryTypes.has(type)) return "binary";
  return typeByDeclaration[type] ?? affinityPatterns.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/** What a field is declared as; a time has no type of its own. */
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

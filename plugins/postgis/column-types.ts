import { type FieldType, type GeometryType, geometryTypes } from "../../src/model/index.js";
import type { Connection } from "./connection/connection.js";

/** Binary format of a value in a COPY. */
export type WireFormat =
  | "boolean"
  | "integer"
  | "bigint"
  | "float"
  | "text"
  | "bytes"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  /** Decimal text that becomes a double. */
  | "decimal";

/** A type of the catalog, with domains resolved. */
export interface TypeInfo {
  readonly name: string;
  /** b: base, c: composite, e: enum, r: range, m: multirange, p: pseudo (pg_type.typtype). */
  readonly kind: string;
  readonly isArray: boolean;
  /** Type modifier (atttypmod); -1 if there is none. */
  readonly modifier: number;
}

/** How a column is read. In the expression, `@` stands for its name. */
export interface ColumnReading {
  readonly wire: WireFormat;
  readonly type: FieldType;
  readonly expression: string;
  readonly width?: number;
  readonly decimals?: number;
}

const createReading = (wire: WireFormat, type: FieldType, expression = "@"): ColumnReading => ({
  wire,
  type,
  expression,
});
const textReading = createReading("text", "text", "@::text");
const jsonReading = createReading("text", "json", "to_json(@)::text");

/** By type name (pg_type.typname). All other types are read as text, in PostgreSQL's output format. */
const readings: Readonly<Record<string, ColumnReading>> = {
  bool: createReading("boolean", "boolean"),
  int2: createReading("integer", "int32"),
  int4: createReading("integer", "int32"),
  int8: createReading("bigint", "int64"),
  oid: createReading("bigint", "int64", "@::int8"),
  // Via text, so that 0.1 stays 0.1 instead of 0.10000000149011612.
  float4: createReading("float", "double", "@::text::float8"),
  float8: createReading("float", "double"),
  text: createReading("text", "text"),
  varchar: createReading("text", "text"),
  name: createReading("text", "text"),
  bytea: createReading("bytes", "binary"),
  date: createReading("date", "date"),
  time: createReading("time", "time"),
  timestamp: createReading("timestamp", "datetime"),
  timestamptz: createReading("timestamptz", "datetime"),
  json: createReading("text", "json"),
  jsonb: createReading("text", "json", "@::text"),
  hstore: jsonReading,
};

/** Digits that always fit a double, an int32 and an int64. */
const [doubleDigits, int32Digits, int64Digits] = [15, 9, 18] as const;

/** Decodes the precision and scale of numeric from its modifier; the scale may be negative (PostgreSQL 15). */
function numericReading(modifier: number, wish: string): ColumnReading {
  if (wish === "text") return textReading;
  const decimal = createReading("decimal", "double", "@::text");
  if (modifier < 0 || wish === "double") return decimal;
  const precision = (modifier - 4) >> 16;
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
  if (scale === 0 && precision <= int32Digits) return createReading("integer", "int32", "@::int4");
  if (scale === 0 && precision <= int64Digits) return createReading("bigint", "int64", "@::int8");
  if (scale < 0 || precision > doubleDigits) return decimal;
  // Plus sign and decimal point.
  return { ...decimal, width: precision + 2, decimals: scale };
}

export function readingOf({ name, kind, isArray, modifier }: TypeInfo, numeric: string): ColumnReading {
  if (isArray || kind === "c") return jsonReading;
  if (name === "numeric") return numericReading(modifier, numeric);
  return readings[name] ?? textReading;
}

export const isGeometry = ({ name, isArray }: TypeInfo): boolean =>
  !isArray && (name === "geometry" || name === "geography");

/** The declared type of a geometry column (PostGIS, gserialized typmod). */
export interface GeometryModifier {
  /** 0 if undeclared. */
  readonly srid: number;
  /** Null for any. */
  readonly type: GeometryType | null;
  readonly isDeclared: boolean;
  readonly z: boolean;
  readonly m: boolean;
}

export function geometryModifier({ name, modifier }: Pick<TypeInfo, "name" | "modifier">): GeometryModifier {
  if (modifier < 0) return { srid: name === "geography" ? 4326 : 0, type: null, isDeclared: false, z: false, m: false };
  const srid = ((modifier & 0x0fffff00) - (modifier & 0x10000000)) >> 8;
  const type = (modifier & 0xfc) >> 2;
  return {
    srid: Math.max(0, srid),
    type: geometryTypes[type] ?? null,
    isDeclared: true,
    z: (modifier & 2) !== 0,
    m: (modifier & 1) !== 0,
  };
}

interface TypeRow {
  readonly oid: number;
  readonly name: string;
  readonly kind: string;
  readonly base: number;
  readonly modifier: number;
  readonly isArray: boolean;
}

/** Types of the database by oid and modifier, with domains resolved to their base types. */
export class TypeCatalog {
  private readonly rows = new Map<number, TypeRow>();

  constructor(private readonly connection: Connection) {}

  /** Loads types and, for domains, their base types. */
  async load(oids: readonly number[]): Promise<void> {
    let wanted = [...new Set(oids)].filter((oid) => oid > 0 && !this.rows.has(oid));
    while (wanted.length > 0) {
      const rows = await this.connection.rows<TypeRow>(
        `SELECT oid::int8 AS oid, typname AS name, typtype AS kind, typbasetype::int8 AS base, typtypmod AS modifier,
                typelem <> 0 AND typlen = -1 AND typcategory = 'A' AS "isArray"
         FROM pg_catalog.pg_type WHERE oid = ANY($1::oid[])`,
        wanted,
      );
      for (const row of rows) this.rows.set(row.oid, row);
      wanted = rows.map(({ base }) => base).filter((oid) => oid > 0 && !this.rows.has(oid));
    }
  }

  typeOf(oid: number, modifier: number): TypeInfo {
    const row = this.rows.get(oid);
    if (!row) return { name: "unknown", kind: "b", isArray: false, modifier: -1 };
    if (row.kind === "d") return this.typeOf(row.base, row.modifier);
    return { name: row.name, kind: row.kind, isArray: row.isArray, modifier };
  }
}

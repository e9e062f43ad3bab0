import { type FieldType, type GeometryType, geometryTypes } from "../../src/model/index.js";
import type { Connection } from "./connection.js";

/** How the bytes of a value are to be read. */
export type Wire =
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

/** A type of the catalogue, domains resolved. */
export interface TypeFacts {
  readonly name: string;
  /** b: base, c: composite, e: enum, r: range, m: multirange, p: pseudo (pg_type.typtype). */
  readonly kind: string;
  readonly isArray: boolean;
  /** What is declared with it: −1 for nothing. */
  readonly modifier: number;
}

/** What a column is read as, and by which expression: `@` is its name. */
export interface Reading {
  readonly wire: Wire;
  readonly type: FieldType;
  readonly expression: string;
  readonly width?: number;
  readonly decimals?: number;
}

const plain = (wire: Wire, type: FieldType, expression = "@"): Reading => ({ wire, type, expression });
const asText = plain("text", "text", "@::text");
const asJson = plain("text", "json", "to_json(@)::text");

/** By the names of pg_type; all others are text, as PostgreSQL itself writes them. */
const readings: Readonly<Record<string, Reading>> = {
  bool: plain("boolean", "boolean"),
  int2: plain("integer", "int32"),
  int4: plain("integer", "int32"),
  int8: plain("bigint", "int64"),
  oid: plain("bigint", "int64", "@::int8"),
  // The shortest decimal number that is this one, rather than the digits that its bits have as a double.
  float4: plain("float", "double", "@::text::float8"),
  float8: plain("float", "double"),
  text: plain("text", "text"),
  varchar: plain("text", "text"),
  name: plain("text", "text"),
  bytea: plain("bytes", "binary"),
  date: plain("date", "date"),
  time: plain("time", "time"),
  timestamp: plain("timestamp", "datetime"),
  timestamptz: plain("timestamptz", "datetime"),
  json: plain("text", "json"),
  jsonb: plain("text", "json", "@::text"),
  hstore: asJson,
};

/** Digits that a double, an int32 and an int64 have at least. */
const [doubleDigits, int32Digits, int64Digits] = [15, 9, 18] as const;

/** The precision and scale of numeric stand in its modifier; the scale may be negative (PostgreSQL 15). */
function numericReading(modifier: number, wish: string): Reading {
  if (wish === "text") return asText;
  const decimal = plain("decimal", "double", "@::text");
  if (modifier < 0 || wish === "double") return decimal;
  const precision = (modifier - 4) >> 16;
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
  if (scale === 0 && precision <= int32Digits) return plain("integer", "int32", "@::int4");
  if (scale === 0 && precision <= int64Digits) return plain("bigint", "int64", "@::int8");
  if (scale < 0 || precision > doubleDigits) return decimal;
  // With a sign and a point.
  return { ...decimal, width: precision + 2, decimals: scale };
}

export function readingOf({ name, kind, isArray, modifier }: TypeFacts, numeric: string): Reading {
  if (isArray || kind === "c") return asJson;
  if (name === "numeric") return numericReading(modifier, numeric);
  return readings[name] ?? asText;
}

export const isGeometry = ({ name, isArray }: TypeFacts): boolean =>
  !isArray && (name === "geometry" || name === "geography");

/** What a column of geometry is declared to hold (PostGIS, gserialized typmod). */
export interface GeometryModifier {
  /** 0 for any, or none. */
  readonly srid: number;
  /** Null for any. */
  readonly type: GeometryType | null;
  readonly isDeclared: boolean;
  readonly z: boolean;
  readonly m: boolean;
}

export function geometryModifier({ name, modifier }: Pick<TypeFacts, "name" | "modifier">): GeometryModifier {
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

/** Types of the database by their oid and modifier; domains are what they are made of. */
export class Types {
  private readonly rows = new Map<number, TypeRow>();

  constructor(private readonly connection: Connection) {}

  /** Makes these known, and what they are made of. */
  async learn(oids: readonly number[]): Promise<void> {
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

  factsOf(oid: number, modifier: number): TypeFacts {
    const row = this.rows.get(oid);
    if (!row) return { name: "unknown", kind: "b", isArray: false, modifier: -1 };
    if (row.kind === "d") return this.factsOf(row.base, row.modifier);
    return { name: row.name, kind: row.kind, isArray: row.isArray, modifier };
  }
}

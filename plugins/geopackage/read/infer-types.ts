import { commonType, type FieldType } from "../../../src/model/index.js";
import type { Database } from "../sqlite/database.js";
import { rowidOf } from "../sqlite/row-reader.js";
import { readLeaves } from "../sqlite/tree.js";
import type { SqliteValue } from "../sqlite/values.js";
import type { ColumnPlan } from "./layer-plan.js";

/** The type of a value in a column without a declared type. */
export function typeOfStoredValue(value: SqliteValue): FieldType | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return "binary";
  if (typeof value === "string") return "text";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "double";
}

/** A column of numbers and texts becomes text: SQLite converts numbers to text without loss. */
export const uniteStoredTypes = (a: FieldType, b: FieldType): FieldType =>
  a === b ? a : a === "binary" || b === "binary" ? "binary" : a === "text" || b === "text" ? "text" : commonType(a, b);

/**
 * Infers the types of columns without a declared type from all their values.
 * @param defaults values of rows that are older than a column, by column
 */
export async function inferColumnTypes(
  database: Database,
  root: number,
  roles: readonly (ColumnPlan["role"] | null)[],
  initials: readonly SqliteValue[],
): Promise<ColumnPlan["role"][]> {
  const open = roles.flatMap((role, c) => (role === null ? [c] : []));
  const types = new Map<number, FieldType>();
  for await (const { values } of database.rows(root, (error) => database.skipDamageSilently(error))) {
    for (const c of open) {
      const type = typeOfStoredValue((c < values.length ? values[c] : initials[c]) ?? null);
      const known = types.get(c);
      if (type !== null) types.set(c, known === undefined ? type : uniteStoredTypes(known, type));
    }
  }
  return roles.map((role, c) => role ?? types.get(c) ?? "text");
}

/** The smallest and the largest rowid of a table, rounded beyond 2^53; both 0 if the table is empty. */
export async function readRowidRange(database: Database, root: number): Promise<readonly [number, number]> {
  let first: number | undefined;
  let last: number | undefined;
  for await (const leaves of readLeaves(database.pages, root, () => {})) {
    first ??= leaves[0];
    last = leaves.at(-1);
  }
  const at = async (leaf: number | undefined, end: "first" | "last"): Promise<number> => {
    if (leaf === undefined) return 0;
    const reader = database.takeReader();
    try {
      await reader.open(leaf);
      if (reader.count === 0) return 0;
      const more = reader.read(end === "first" ? 0 : reader.count - 1);
      if (more) await more;
      return rowidOf(reader.row.high, reader.row.low);
    } catch {
      // Reading the rows reports the damage.
      return end === "first" ? -Infinity : Infinity;
    } finally {
      database.returnReader(reader);
    }
  };
  return [await at(first, "first"), await at(last, "last")];
}

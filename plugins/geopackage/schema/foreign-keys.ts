/** Rows that refer to rows of a layer must not lose them when the layer is replaced, nor come without them. */

import { createError } from "../../../src/plugin/index.js";
import type { Database } from "../../../src/sqlite/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";

/** A row without the row that it refers to, as `PRAGMA foreign_key_check` tells it. */
interface ForeignKeyViolation {
  readonly table: string;
  /** Null in a table WITHOUT ROWID. */
  readonly rowid: bigint | null;
  readonly parent: string;
  readonly fkid: bigint;
}

/** The rows of a table that refer to nothing; or what SQLite says where a key cannot be looked up at all. */
type ForeignKeyState =
  | { readonly rows: readonly ForeignKeyViolation[]; readonly mismatch: null }
  | { readonly mismatch: string };

interface ForeignKey {
  readonly child: string;
  readonly parent: string;
}

function readForeignKeyState(database: Database, table: string): ForeignKeyState {
  try {
    return {
      rows: database.pragma(`foreign_key_check(${quoteIdentifier(table)})`) as ForeignKeyViolation[],
      mismatch: null,
    };
  } catch (error) {
    return { mismatch: (error as Error).message };
  }
}

/** Tables of other modules than SQLite's own have no foreign keys, and asking for theirs may fail. */
const foreignKeysSql = `SELECT m.name AS child, f."table" AS parent FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
  WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`;

/**
 * The foreign keys that a change of some tables may break. SQLite enforces none of them while a table is dropped and
 * made again, so what dangles is compared before and after; what dangled before is not ours to judge.
 */
export class ForeignKeyCheck {
  private readonly before: ReadonlyMap<string, ForeignKeyState>;

  /** Looks at the database as it is before it is changed. */
  constructor(
    private readonly database: Database,
    changed: readonly string[],
  ) {
    const lower = new Set(changed.map((table) => table.toLowerCase()));
    const isChanged = (table: string) => lower.has(table.toLowerCase()) || /^gpkg_/i.test(table);
    const all = database.prepare<[], ForeignKey>(foreignKeysSql).all();
    const children = all.filter(({ child, parent }) => isChanged(child) || isChanged(parent)).map(({ child }) => child);
    this.before = new Map([...new Set(children)].map((child) => [child, readForeignKeyState(database, child)]));
  }

  /** @throws foreign-key-violation where rows refer to nothing that did not so before */
  check(output: string): void {
    for (const [table, before] of this.before) {
      if (before.mismatch !== null) continue;
      const after = readForeignKeyState(this.database, table);
      if (after.mismatch !== null) {
        throw createError("foreign-key-violation", {
          output,
          table,
          reason: `it would fit no key any more (${after.mismatch})`,
        });
      }
      const found = newViolations(before.rows, after.rows);
      if (found.length === 0) continue;
      const [{ rowid, parent }] = found as [ForeignKeyViolation];
      const rows = found.length === 1 ? "1 row" : `${found.length} rows`;
      const first = rowid === null ? "" : ` (${found.length === 1 ? "" : "first of them "}row ${rowid})`;
      const reason = `${rows}${first} would refer to rows that "${parent}" does not have`;
      throw createError("foreign-key-violation", { output, table, reason });
    }
  }
}

/** The rows that dangle after a change and did not before. Rows without an id are told by their number only. */
function newViolations(
  before: readonly ForeignKeyViolation[],
  after: readonly ForeignKeyViolation[],
): ForeignKeyViolation[] {
  const keyOf = ({ fkid, rowid, parent }: ForeignKeyViolation) => `${fkid} ${rowid} ${parent.toLowerCase()}`;
  const known = new Map<string, number>();
  for (const row of before) known.set(keyOf(row), (known.get(keyOf(row)) ?? 0) + 1);
  return after.filter((row) => {
    const left = known.get(keyOf(row)) ?? 0;
    known.set(keyOf(row), left - 1);
    return left <= 0;
  });
}

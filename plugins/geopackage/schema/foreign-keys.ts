/** Checks that replacing or extending a layer breaks no foreign keys. */

import { createError } from "../../../src/plugin/index.js";
import type { Database } from "../../../src/sqlite/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";

/** A row of `PRAGMA foreign_key_check`. */
interface ForeignKeyViolation {
  readonly table: string;
  /** Null in a table WITHOUT ROWID. */
  readonly rowid: bigint | null;
  readonly parent: string;
  readonly fkid: bigint;
}

/** The violations in a table, or SQLite's message if the parent key does not exist. */
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

/** Virtual tables have no foreign keys, and `pragma_foreign_key_list` may fail for them. */
const foreignKeysSql = `SELECT m.name AS child, f."table" AS parent FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
  WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'`;

/**
 * Foreign keys are not enforced while a table is dropped and recreated, so violations are compared before and after the
 * change. Violations that existed before are allowed.
 */
export class ForeignKeyCheck {
  private readonly before: ReadonlyMap<string, ForeignKeyState>;

  /** Create it before changing the database. */
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

  /** @throws foreign-key-violation for violations that are new */
  check(output: string): void {
    for (const [table, before] of this.before) {
      if (before.mismatch !== null) continue;
      const after = readForeignKeyState(this.database, table);
      if (after.mismatch !== null) {
        throw createError("foreign-key-violation", {
          output,
          table,
          reason: `its foreign keys would have no parent key (${after.mismatch})`,
        });
      }
      const found = newViolations(before.rows, after.rows);
      if (found.length === 0) continue;
      const [{ rowid, parent }] = found as [ForeignKeyViolation];
      const rows = found.length === 1 ? "1 row" : `${found.length} rows`;
      const first = rowid === null ? "" : ` (${found.length === 1 ? "" : "first of them "}row ${rowid})`;
      const reason = `${rows}${first} would refer to missing rows of "${parent}"`;
      throw createError("foreign-key-violation", { output, table, reason });
    }
  }
}

/** Violations that are new. Rows without a rowid are compared by number. */
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

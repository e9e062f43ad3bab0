import type { FeatureSide, KeyedRow } from "../remote/feature-side.js";
import type { Properties } from "../remote/wire.js";
import type { Workspace } from "../remote/workspace.js";
import { isUnfit, keyIn } from "./key-value.js";
import { rowBatches } from "./row-batches.js";

/**
 * Features whose value of a property another one has before them, by name; counted on disk, in one pass over the side.
 * @throws interrupted
 */
export async function countRepeats(
  workspace: Workspace,
  side: FeatureSide,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { database } = workspace;
  database.exec("CREATE TABLE candidate (field INTEGER NOT NULL, value TEXT NOT NULL)");
  try {
    const insert = database.prepare("INSERT INTO candidate VALUES (?, ?)");
    const add = (row: KeyedRow) => {
      const { properties } = JSON.parse(side.textOf(row)) as { properties: Properties | null };
      names.forEach((name, field) => {
        const key = keyIn(properties?.[name]);
        if (!isUnfit(key)) insert.run(field, String(key));
      });
    };
    for await (const rows of rowBatches(side, signal)) workspace.together(() => rows.forEach(add));
    const count = database.prepare("SELECT count(*) - count(DISTINCT value) FROM candidate WHERE field = ?").pluck();
    return new Map(names.map((name, field) => [name, count.get(field) as number]));
  } finally {
    database.exec("DROP TABLE candidate");
  }
}

import type { FeatureSide, KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Properties } from "../../remote/wire.js";
import { readRowBatches } from "../diff/row-batches.js";
import { isInvalidKey, parseKey } from "./key-value.js";

/**
 * Counts, by property, features whose value occurred in an earlier feature; on disk, in one pass over the side. Also
 * fills the feature keys from the first property without duplicates.
 * @throws interrupted
 */
export async function countDuplicateValues(
  workspace: Workspace,
  side: FeatureSide,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { database } = workspace;
  database.exec(
    "CREATE TABLE candidate (field INTEGER NOT NULL, seq INTEGER NOT NULL, value TEXT NOT NULL, numeric INTEGER NOT NULL)",
  );
  try {
    const insert = database.prepare("INSERT INTO candidate VALUES (?, ?, ?, ?)");
    const add = (row: KeyedRow) => {
      const { properties } = JSON.parse(side.textOf(row)) as { properties: Properties | null };
      names.forEach((name, field) => {
        const key = parseKey(properties?.[name]);
        if (!isInvalidKey(key)) insert.run(field, row.seq, String(key), typeof key === "number" ? 1 : 0);
      });
    };
    for await (const rows of readRowBatches(side, signal)) workspace.transaction(() => rows.forEach(add));
    const count = database.prepare("SELECT count(*) - count(DISTINCT value) FROM candidate WHERE field = ?").pluck();
    const duplicateCounts = new Map(names.map((name, field) => [name, count.get(field) as number]));
    const unique = names.findIndex((name) => duplicateCounts.get(name) === 0);
    if (unique >= 0) fillKeysFromCandidates(side, unique, names[unique]!);
    return duplicateCounts;
  } finally {
    database.exec("DROP TABLE candidate");
  }
}

/** Fills the keys without parsing all texts again. */
function fillKeysFromCandidates(side: FeatureSide, field: number, name: string): void {
  const { database, name: table } = side;
  database.exec(`UPDATE ${table} SET key = NULL, numeric = 0`);
  database
    .prepare(
      `UPDATE ${table} SET key = candidate.value, numeric = candidate.numeric
       FROM candidate WHERE candidate.seq = ${table}.seq AND candidate.field = ?`,
    )
    .run(field);
  side.keyedBy = name;
}

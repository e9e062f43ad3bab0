/** Features of a map that have one key, and which of them say the same. */
import type { KeyedRow } from "../remote/feature-side.js";
import type { Workspace } from "../remote/workspace.js";

/** Keys that are looked at together. */
const together = 500;

/** A key that several features have. */
export interface RepeatedKey {
  readonly key: string;
  /** By their ids, the lowest first: an order that every client finds by itself. */
  readonly rows: readonly KeyedRow[];
}

/**
 * The keys that several features of the map have, in their order as texts.
 * @param workspace its map side has keys and the index `map_key`
 * @param among a condition in SQL on `map`: of all features where absent
 */
export function* repeatedKeys({ database }: Workspace, among = "TRUE"): Generator<RepeatedKey> {
  const next = database.prepare<[string], KeyedRow>(
    `SELECT * FROM map WHERE key IN (
       SELECT key FROM map WHERE key > ? AND (${among}) GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT ${together})
     ORDER BY key, lower(id)`,
  );
  // No key is empty.
  for (let last = ""; ; ) {
    const found = grouped(next.all(last), ({ key }) => key!);
    for (const [key, rows] of found) {
      yield { key, rows };
      last = key;
    }
    if (found.size < together) return;
  }
}

/** The features of a key by what they say at the rounding of their digests; in the order of their first ones. */
export const twinsOf = ({ rows }: RepeatedKey): readonly (readonly KeyedRow[])[] => [
  ...grouped(rows, ({ digest }) => digest).values(),
];

/** Whether all features of every repeated key say the same. */
export function areAllTwins(workspace: Workspace): boolean {
  for (const repeated of repeatedKeys(workspace)) if (twinsOf(repeated).length > 1) return false;
  return true;
}

function grouped(rows: readonly KeyedRow[], by: (row: KeyedRow) => string): ReadonlyMap<string, KeyedRow[]> {
  const groups = new Map<string, KeyedRow[]>();
  for (const row of rows) {
    const group = groups.get(by(row));
    if (group) group.push(row);
    else groups.set(by(row), [row]);
  }
  return groups;
}

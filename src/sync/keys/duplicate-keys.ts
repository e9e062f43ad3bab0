/** Features of a map that have one key, and which of them say the same. */
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";

/** Keys that are looked at together. */
const keysPerPage = 500;

/** A key that several features have. */
export interface DuplicateKey {
  readonly key: string;
  /** By their ids, the lowest first: an order that every client finds by itself. */
  readonly rows: readonly KeyedRow[];
}

/**
 * The keys that several features of the map have, in their order as texts.
 * @param workspace its map side has keys and the index `map_key`
 * @param among a condition in SQL on `map`: of all features where absent
 */
export function* findDuplicateKeys({ database }: Workspace, among = "TRUE"): Generator<DuplicateKey> {
  const next = database.prepare<[string], KeyedRow>(
    `SELECT * FROM map WHERE key IN (
       SELECT key FROM map WHERE key > ? AND (${among}) GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT ${keysPerPage})
     ORDER BY key, lower(id)`,
  );
  // No key is empty.
  for (let last = ""; ; ) {
    const found = groupRows(next.all(last), ({ key }) => key!);
    for (const [key, rows] of found) {
      yield { key, rows };
      last = key;
    }
    if (found.size < keysPerPage) return;
  }
}

/**
 * The features of a key by what they say exactly, since all but one of those that say the same can be deleted; in the
 * order of their first ones. One of which that is not known is like no other.
 */
export const groupByContent = ({ rows }: DuplicateKey): readonly (readonly KeyedRow[])[] => [
  ...groupRows(rows, ({ exact, id }) => exact ?? `id ${id}`).values(),
];

/** Whether all features of every repeated key say the same at the rounding of their digests. */
export function areAllDuplicatesEqual(workspace: Workspace): boolean {
  for (const { rows } of findDuplicateKeys(workspace))
    if (groupRows(rows, ({ digest }) => digest).size > 1) return false;
  return true;
}

function groupRows(rows: readonly KeyedRow[], by: (row: KeyedRow) => string): ReadonlyMap<string, KeyedRow[]> {
  const groups = new Map<string, KeyedRow[]>();
  for (const row of rows) {
    const group = groups.get(by(row));
    if (group) group.push(row);
    else groups.set(by(row), [row]);
  }
  return groups;
}

/** Finds map features with duplicate keys and groups them by content. */
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";

/** Keys per query. */
const keysPerPage = 500;

/** A key with several features. */
export interface DuplicateKey {
  readonly key: string;
  /** Sorted by id, the lowest first: an order on which all clients agree. */
  readonly rows: readonly KeyedRow[];
}

/**
 * Finds keys with several map features, in text order.
 * @param workspace has keys on the map side and the index `map_key`
 * @param condition SQL condition on `map`; all features by default
 */
export function* findDuplicateKeys({ database }: Workspace, condition = "TRUE"): Generator<DuplicateKey> {
  const next = database.prepare<[string], KeyedRow>(
    `SELECT * FROM map WHERE key IN (
       SELECT key FROM map WHERE key > ? AND (${condition}) GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT ${keysPerPage})
     ORDER BY key, lower(id)`,
  );
  // Keys are never empty.
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
 * Groups the features of a key by exact content, since all but one of equal features can be deleted; ordered by their
 * first features. A feature with unknown exact content forms a separate group.
 */
export const groupByContent = ({ rows }: DuplicateKey): readonly (readonly KeyedRow[])[] => [
  ...groupRows(rows, ({ exact, id }) => exact ?? `id ${id}`).values(),
];

/** Whether all features of every duplicate key are equal at the rounding of their digests. */
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

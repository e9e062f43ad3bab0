/**
 * With `--match id`, source features without an id, or with one unknown to the map, receive ids from the service. The
 * state remembers these ids, by source id or by content, so that later runs of the same file match the features again.
 */
import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Baseline } from "../state/map-state.js";

/** Names each feature without an id after its content; equal features get distinct names. */
export function assignContentNames({ database }: Workspace): void {
  database.exec(`
    DROP TABLE IF EXISTS temp.named;
    CREATE TEMP TABLE named (source INTEGER PRIMARY KEY, name TEXT NOT NULL);
    INSERT INTO named SELECT seq,
      'content:' || digest || ':' || row_number() OVER (PARTITION BY digest ORDER BY seq)
    FROM source WHERE key IS NULL`);
}

/** The name of a feature without an id. */
export function readContentName({ database }: Workspace, { seq }: Pick<KeyedRow, "seq">): string {
  return database.prepare("SELECT name FROM named WHERE source = ?").pluck().get(seq) as string;
}

/** Restores the ids that the service assigned to unmatched source features, if the map still has them. */
export function restoreAssignedIds({ database, source }: Workspace, state: Baseline): void {
  const select = database.prepare(
    `SELECT seq, coalesce(key, name) AS name FROM source LEFT JOIN named ON named.source = seq
     WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key) ORDER BY seq LIMIT 1000`,
  );
  const isAvailable = database
    .prepare("SELECT EXISTS (SELECT 1 FROM map WHERE key = @id) AND NOT EXISTS (SELECT 1 FROM source WHERE key = @id)")
    .pluck();
  for (let last = 0; ; ) {
    const rows = select.all(last) as { seq: number; name: string }[];
    for (const { seq, name } of rows) {
      const id = state.getAssignedId(name);
      if (id !== null && isAvailable.get({ id }) === 1) source.setKey(seq, id);
    }
    if (rows.length < 1000) return;
    last = rows.at(-1)!.seq;
  }
}

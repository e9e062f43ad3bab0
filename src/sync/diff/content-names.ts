/**
 * Where ids match, features of the source without an id, or with one that the map does not know, get theirs from the
 * service. The state keeps which: by the id that the source gives, or by the content, so that the same file finds its
 * features again.
 */
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { Baseline } from "../state/map-state.js";

/** Gives a name made of its content, and told from features that say the same, to each without an id. */
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

/** Gives features that only the source has the ids that the service gave them, where the map still has these. */
export function restoreAssignedIds({ database, source }: Workspace, state: Baseline): void {
  const select = database.prepare(
    `SELECT seq, coalesce(key, name) AS name FROM source LEFT JOIN named ON named.source = seq
     WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key) ORDER BY seq LIMIT 1000`,
  );
  const isFree = database
    .prepare("SELECT EXISTS (SELECT 1 FROM map WHERE key = @id) AND NOT EXISTS (SELECT 1 FROM source WHERE key = @id)")
    .pluck();
  for (let last = 0; ; ) {
    const rows = select.all(last) as { seq: number; name: string }[];
    for (const { seq, name } of rows) {
      const id = state.getAssignedId(name);
      if (id !== null && isFree.get({ id }) === 1) source.setKey(seq, id);
    }
    if (rows.length < 1000) return;
    last = rows.at(-1)!.seq;
  }
}

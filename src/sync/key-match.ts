/** Whether the keys of both sides are of one kind: what is found out before anything is sent. */
import { fault } from "../errors.js";
import type { Workspace } from "../remote/workspace.js";
import type { PlanMode } from "./plan.js";

/** Fewer keyed features than that on either side say nothing about the key. */
const fewest = 10;
/** Of the features that could match, as many do where the key is right. */
const leastShare = 0.1;
const shown = 3;

/** The spellings that people take for one key. */
const folded = (key: string): string => key.normalize("NFC").trim().toLowerCase();

export interface KeyMatches {
  /** Keyed features of the map. */
  readonly held: number;
  /** Keyed features of the source. */
  readonly features: number;
  /** Keys that both have. */
  readonly matches: number;
}

interface Matched {
  /** "delete" for a list of keys to be removed, which may well match nothing any more. */
  readonly mode: PlanMode;
  readonly source: string;
  readonly map: string;
  /** The property, or "id". */
  readonly field: string;
}

/**
 * Needs the index of keys on both tables.
 * @throws key-other-letters, key-matches-nothing
 */
export function checkMatches(workspace: Workspace, names: Matched): KeyMatches {
  const { database } = workspace;
  const count = (sql: string) => database.prepare(sql).pluck().get() as number;
  const held = count("SELECT count(*) FROM map WHERE key IS NOT NULL");
  const features = count("SELECT count(*) FROM source WHERE key IS NOT NULL");
  const matches = count("SELECT count(*) FROM source WHERE key IN (SELECT key FROM map)");
  if (matches < held && matches < features) checkSpelling(workspace, names);
  if (isWrongKey({ held, features, matches }, names.mode)) {
    const { source, map, field } = names;
    const examples = [`${examplesOf(workspace, "source")} in the source`, `${examplesOf(workspace, "map")} on the map`];
    throw fault("key-matches-nothing", { source, map, field, matches, features, held, examples });
  }
  return { held, features, matches };
}

/**
 * Nearly nothing matches where more should. A full synchronisation says that source and map are the same data; what is
 * incremental may bring new features alone, but hardly half as many as there are.
 */
function isWrongKey({ held, features, matches }: KeyMatches, mode: Matched["mode"]): boolean {
  if (mode === "delete" || mode === "append" || held < fewest || features < fewest) return false;
  if (mode === "incremental" && features * 2 < held) return false;
  return matches < leastShare * Math.min(held, features);
}

/** Keys without a match on either side that are one key in other letters. @throws key-other-letters */
function checkSpelling({ database }: Workspace, { source, map, field }: Matched): void {
  database.function("folded", { deterministic: true }, (key: unknown) => folded(String(key)));
  database.exec(`CREATE TABLE unmatched AS SELECT key, folded(key) AS folded FROM map
    WHERE key IS NOT NULL AND key NOT IN (SELECT key FROM source WHERE key IS NOT NULL)`);
  database.exec("CREATE INDEX unmatched_folded ON unmatched (folded)");
  try {
    const pairs = `FROM source JOIN unmatched ON unmatched.folded = folded(source.key)
      WHERE source.key IS NOT NULL AND source.key NOT IN (SELECT key FROM map WHERE key IS NOT NULL)`;
    const keys = database.prepare(`SELECT count(DISTINCT source.key) ${pairs}`).pluck().get() as number;
    if (keys === 0) return;
    const found = database.prepare(`SELECT source.key AS ours, unmatched.key AS theirs ${pairs} LIMIT ${shown}`).all();
    const examples = (found as { ours: string; theirs: string }[]).map(
      ({ ours, theirs }) => `${JSON.stringify(ours)} in the source, ${JSON.stringify(theirs)} on the map`,
    );
    throw fault("key-other-letters", { source, map, field, keys, examples });
  } finally {
    database.exec("DROP TABLE unmatched");
  }
}

function examplesOf({ database }: Workspace, side: "source" | "map"): string {
  const keys = database
    .prepare(`SELECT key FROM ${side} WHERE key IS NOT NULL ORDER BY seq LIMIT ${shown}`)
    .pluck()
    .all();
  return (keys as string[]).map((key) => JSON.stringify(key)).join(", ");
}

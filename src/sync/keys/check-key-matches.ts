/** Checks that the keys of both sides correspond before anything is sent. */

import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { PlanMode } from "../plan/plan.js";

/** With fewer keyed features on either side, the number of matches is not conclusive. */
const minKeyedFeatures = 10;
/** Minimum share of possible matches with a correct key. */
const minMatchShare = 0.1;
const maxExamples = 3;

/** Normalizes spellings that people consider the same key. */
const foldKey = (key: string): string => key.normalize("NFC").trim().toLowerCase();

export interface KeyMatches {
  /** Number of map features with a key. */
  readonly mapFeatures: number;
  /** Number of source features with a key. */
  readonly sourceFeatures: number;
  /** Number of keys on both sides. */
  readonly matches: number;
}

interface MatchContext {
  /** "delete" for a list of keys to remove, which may match nothing. */
  readonly mode: PlanMode;
  readonly source: string;
  readonly map: string;
  /** The property, or "id". */
  readonly field: string;
}

/**
 * Checks the keys of both sides; requires the key indexes on both tables.
 * @throws key-case-mismatch, key-matches-nothing
 */
export function checkKeyMatches(workspace: Workspace, names: MatchContext): KeyMatches {
  const { database } = workspace;
  const count = (sql: string) => database.prepare(sql).pluck().get() as number;
  const mapFeatures = count("SELECT count(*) FROM map WHERE key IS NOT NULL");
  const sourceFeatures = count("SELECT count(*) FROM source WHERE key IS NOT NULL");
  const matches = count("SELECT count(*) FROM source WHERE key IN (SELECT key FROM map)");
  if (matches < mapFeatures && matches < sourceFeatures) checkKeyCase(workspace, names);
  if (hasTooFewMatches({ mapFeatures, sourceFeatures, matches }, names.mode)) {
    const { source, map, field } = names;
    const examples = [
      `${formatKeyExamples(workspace, "source")} in the source`,
      `${formatKeyExamples(workspace, "map")} on the map`,
    ];
    throw createError("key-matches-nothing", {
      source,
      map,
      field,
      matches,
      features: sourceFeatures,
      held: mapFeatures,
      examples,
    });
  }
  return { mapFeatures, sourceFeatures, matches };
}

/**
 * Whether suspiciously few keys match. A full synchronization implies that source and map contain the same data; an
 * incremental one may contain only new features, but rarely half as many as the map has.
 */
function hasTooFewMatches({ mapFeatures, sourceFeatures, matches }: KeyMatches, mode: MatchContext["mode"]): boolean {
  if (mode === "delete" || mode === "append" || mapFeatures < minKeyedFeatures || sourceFeatures < minKeyedFeatures)
    return false;
  if (mode === "incremental" && sourceFeatures * 2 < mapFeatures) return false;
  return matches < minMatchShare * Math.min(mapFeatures, sourceFeatures);
}

/** Detects unmatched keys that differ only in spelling. @throws key-case-mismatch */
function checkKeyCase({ database }: Workspace, { source, map, field }: MatchContext): void {
  database.function("folded", { deterministic: true }, (key: unknown) => foldKey(String(key)));
  database.exec(`CREATE TABLE unmatched AS SELECT key, folded(key) AS folded FROM map
    WHERE key IS NOT NULL AND key NOT IN (SELECT key FROM source WHERE key IS NOT NULL)`);
  database.exec("CREATE INDEX unmatched_folded ON unmatched (folded)");
  try {
    const pairs = `FROM source JOIN unmatched ON unmatched.folded = folded(source.key)
      WHERE source.key IS NOT NULL AND source.key NOT IN (SELECT key FROM map WHERE key IS NOT NULL)`;
    const keys = database.prepare(`SELECT count(DISTINCT source.key) ${pairs}`).pluck().get() as number;
    if (keys === 0) return;
    const found = database
      .prepare(`SELECT source.key AS ours, unmatched.key AS theirs ${pairs} LIMIT ${maxExamples}`)
      .all();
    const examples = (found as { ours: string; theirs: string }[]).map(
      ({ ours, theirs }) => `${JSON.stringify(ours)} in the source, ${JSON.stringify(theirs)} on the map`,
    );
    throw createError("key-case-mismatch", { source, map, field, keys, examples });
  } finally {
    database.exec("DROP TABLE unmatched");
  }
}

function formatKeyExamples({ database }: Workspace, side: "source" | "map"): string {
  const keys = database
    .prepare(`SELECT key FROM ${side} WHERE key IS NOT NULL ORDER BY seq LIMIT ${maxExamples}`)
    .pluck()
    .all();
  return (keys as string[]).map((key) => JSON.stringify(key)).join(", ");
}

/** Whether the keys of both sides are of one kind: what is found out before anything is sent. */
import { createError } from "../../errors.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { PlanMode } from "../plan/plan.js";

/** Fewer keyed features than that on either side say nothing about the key. */
const minKeyedFeatures = 10;
/** Of the features that could match, as many do where the key is right. */
const minMatchShare = 0.1;
const maxExamples = 3;

/** The spellings that people take for one key. */
const foldKey = (key: string): string => key.normalize("NFC").trim().toLowerCase();

export interface KeyMatches {
  /** Keyed features of the map. */
  readonly mapFeatures: number;
  /** Keyed features of the source. */
  readonly sourceFeatures: number;
  /** Keys that both have. */
  readonly matches: number;
}

interface MatchContext {
  /** "delete" for a list of keys to be removed, which may well match nothing any more. */
  readonly mode: PlanMode;
  readonly source: string;
  readonly map: string;
  /** The property, or "id". */
  readonly field: string;
}

/**
 * Needs the index of keys on both tables.
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
 * Nearly nothing matches where more should. A full synchronisation says that source and map are the same data; what is
 * incremental may bring new features alone, but hardly half as many as there are.
 */
function hasTooFewMatches({ mapFeatures, sourceFeatures, matches }: KeyMatches, mode: MatchContext["mode"]): boolean {
  if (mode === "delete" || mode === "append" || mapFeatures < minKeyedFeatures || sourceFeatures < minKeyedFeatures)
    return false;
  if (mode === "incremental" && sourceFeatures * 2 < mapFeatures) return false;
  return matches < minMatchShare * Math.min(mapFeatures, sourceFeatures);
}

/** Keys without a match on either side that are one key in other letters. @throws key-case-mismatch */
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

import type { KeyReport } from "../keys/prepare-keys.js";
import type { PlanHeader } from "../plan/plan.js";
import type { ReadSource } from "./read-source.js";

/** The source section of a plan header, after keys were checked; `keys` is null if features are not matched. */
export function planSourceHeader(source: ReadSource, keys: KeyReport | null): PlanHeader["source"] {
  const { inputs, fingerprint, rejects, gaps, files, isLimited } = source;
  return {
    inputs,
    fingerprint,
    features:
      source.features - (keys?.removedDuplicates ?? 0) - (keys?.missingKeyRejects ?? 0) - (keys?.keptGeometries ?? 0),
    complete: source.complete && rejects.count === 0,
    rejected: rejects.count,
    unidentified: keys?.unknownRejects ?? rejects.count,
    // The part after `--limit` is unread, in addition to known gaps.
    gaps: gaps.length + (isLimited && rejects.count > 0 ? 1 : 0),
    files,
  };
}

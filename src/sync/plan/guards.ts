/** Guards stop a synchronization before its first write unless the user allows the change. */

import { createError } from "../../errors.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { Limit } from "../request.js";
import { countMapFeatures, type OpenPlan, type PlanCounts, type PlanHeader } from "./plan.js";

export type GuardName =
  | "max-delete"
  | "max-update"
  | "null-geometry"
  | "empty-source"
  | "incomplete-source"
  | "unidentified-rejects"
  | "unmanaged";

/** A guard that stops a plan. */
export interface TrippedGuard {
  readonly guard: GuardName | "later-edits";
  /** The reason, with the flag that disables the guard. */
  readonly reason: string;
}

type GuardedPlan = Pick<OpenPlan, "header" | "counts">;
type Guard = (header: PlanHeader, counts: PlanCounts) => string | null;

/** Default limit of deletes, as a share; applies to maps with more than `from` features. */
const defaultDeleteLimit = { share: 0.1, from: 10 } as const;

const formatPercent = (share: number): string =>
  `${(share * 100).toLocaleString("en", { maximumSignificantDigits: 3 })} %`;

/** "40 of 100 features (40 %)" */
const formatShare = (count: number, all: number): string =>
  `${groupDigits(count)} of ${formatCount(all, "feature")} (${formatPercent(count / Math.max(all, 1))})`;

/** Compares quotients, since a product such as 0.29 × 100 may be rounded down. */
const exceedsLimit = (count: number, all: number, limit: Limit): boolean =>
  count > limit.count || count / all > limit.share;

const maxDelete: Guard = ({ settings }, counts) => {
  const { maxDelete: limit } = settings.guards;
  const all = countMapFeatures(counts);
  const remedy = `--max-delete ${counts.delete} allows it`;
  const consequence = `${formatShare(counts.delete, all)} would be deleted`;
  if (limit !== null)
    return exceedsLimit(counts.delete, all, limit)
      ? `${consequence}, more than --max-delete ${limit.text}; ${remedy}`
      : null;
  if (all <= defaultDeleteLimit.from || counts.delete <= defaultDeleteLimit.share * all) return null;
  return `${consequence}, more than the default limit of ${formatPercent(defaultDeleteLimit.share)}; ${remedy}`;
};

const maxUpdate: Guard = ({ settings }, counts) => {
  const { maxUpdate: limit } = settings.guards;
  const all = countMapFeatures(counts);
  if (limit === null || !exceedsLimit(counts.update, all, limit)) return null;
  return `${formatShare(counts.update, all)} would be changed, more than --max-update ${limit.text}; --max-update ${counts.update} allows it`;
};

const nullGeometry: Guard = ({ settings }, { geometryLost }) =>
  geometryLost === 0 || settings.guards.allowNullGeometry
    ? null
    : `${formatCount(geometryLost, "feature")} would lose ${geometryLost === 1 ? "its geometry" : "their geometries"}; --allow-null-geometry allows it`;

/** An empty source for a non-empty map is rarely intended. */
const emptySource: Guard = ({ source, settings }, counts) =>
  source.features > 0 || settings.guards.allowEmpty || countMapFeatures(counts) === 0
    ? null
    : `the source has no features, but the map has ${groupDigits(countMapFeatures(counts))}; --allow-empty allows it`;

/** Unread features would be treated as removed from the source. */
const incompleteSource: Guard = ({ mode, source }) => {
  if (mode !== "full" || (source.gaps === 0 && (source.complete || source.rejected > 0))) return null;
  const what =
    source.gaps > 0
      ? `${formatCount(source.gaps, "part")} of the source could not be read`
      : "the source was not read to its end (--limit)";
  return `${what}, and a full sync would delete unread features from the map; use --mode incremental, which deletes nothing`;
};

const unidentifiedRejects: Guard = ({ mode, source: { unidentified } }, counts) =>
  mode !== "full" || unidentified === 0 || counts.delete === 0
    ? null
    : `${formatCount(unidentified, "feature")} of the source ${unidentified === 1 ? "was" : "were"} rejected without a key and may match the ${formatCount(counts.delete, "feature")} that would be deleted; correct the source, or use --mode incremental, which deletes nothing`;

const unmanaged: Guard = ({ mode, key, settings }, counts) => {
  if (mode !== "full" || settings.unmanaged !== "refuse" || counts.unmanaged === 0) return null;
  const name = key?.by === "property" ? `property "${key.name}"` : "key";
  return `${formatCount(counts.unmanaged, "feature")} of the map ${counts.unmanaged === 1 ? "has" : "have"} no ${name}, so ${counts.unmanaged === 1 ? "it" : "they"} cannot be matched with the source; --keep-unmanaged keeps ${counts.unmanaged === 1 ? "it" : "them"}, --delete-unmanaged deletes ${counts.unmanaged === 1 ? "it" : "them"}`;
};

const guards: Readonly<Record<GuardName, Guard>> = {
  "empty-source": emptySource,
  "incomplete-source": incompleteSource,
  "unidentified-rejects": unidentifiedRejects,
  unmanaged,
  "max-delete": maxDelete,
  "max-update": maxUpdate,
  "null-geometry": nullGeometry,
};

/** Finds all guards that stop a plan. */
export function findTrippedGuards({ header, counts }: GuardedPlan): TrippedGuard[] {
  return Object.entries(guards).flatMap(([name, guard]) => {
    const reason = guard(header, counts);
    return reason === null ? [] : [{ guard: name as GuardName, reason }];
  });
}

/**
 * Checks all guards.
 * @param others guards already found to stop the plan
 * @throws guard-sync with all guards that stop the plan; then nothing may be sent
 */
export function checkGuards(plan: GuardedPlan, others: readonly TrippedGuard[] = []): void {
  const tripped = [...findTrippedGuards(plan), ...others];
  const { service, map } = plan.header;
  if (tripped.length > 0) throw createError("guard-sync", { service, map, tripped });
}

import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { WireFailure } from "../../remote/wire.js";

type AnsweredOutcome = Extract<WriteOutcome, { readonly kind: "answered" }>;

/**
 * Matches the index of a feature in its request: `features[3].geometry`, `features.3.id`, `/features/3`, `[3].id`, `3`.
 */
const indexInPath = /^[$.\s]*\/?(?:features)?[[./]?(\d+)(?=$|[\]./])/;

/** Index as counted by the service, from 0 or from 1. */
export const failureIndex = ({ path }: WireFailure): number | null => {
  const found = indexInPath.exec(path);
  return found ? Number(found[1]) : null;
};

/** A feature that a request did not apply. */
export interface UnappliedFeature {
  /** Index in the request, from 0. */
  readonly index: number;
  readonly id: string | null;
}

/**
 * Matches failures to features. A service may count features from 0 or from 1 (the interface does not specify it),
 * report ids that it generated, or no position at all; so a failure is matched only if no other match is possible.
 * @param missed all features of the batch that were certainly not applied
 * @returns failures by index; a feature without an entry failed for one of the reasons or was not processed
 */
export function matchFailures(
  failed: readonly WireFailure[],
  missed: readonly UnappliedFeature[],
): Map<number, WireFailure> {
  const [first, second] = missed;
  if (first && !second && failed.length === 1) return new Map([[first.index, failed[0]!]]);
  const byId = new Map(failed.map((failure) => [failure.id, failure]));
  if (missed.length > 0 && missed.every(({ id }) => id !== null && byId.has(id)))
    return new Map(missed.map(({ index, id }) => [index, byId.get(id!)!]));
  return matchFailuresByIndex(failed, missed);
}

function matchFailuresByIndex(
  failed: readonly WireFailure[],
  missed: readonly UnappliedFeature[],
): Map<number, WireFailure> {
  const found = new Map<number, WireFailure>();
  const candidates = [0, 1].flatMap((base) => {
    const byIndex = failuresByIndex(base, failed);
    return byIndex && missed.every(({ index }) => byIndex.has(index)) ? [byIndex] : [];
  });
  for (const { index } of missed) {
    const possible = candidates.map((byIndex) => byIndex.get(index)!);
    const [one] = possible;
    if (one && possible.every(({ message }) => message === one.message)) found.set(index, one);
  }
  return found;
}

/** Null if a path has no index, or an invalid one. */
function failuresByIndex(base: number, failed: readonly WireFailure[]): Map<number, WireFailure> | null {
  const byIndex = new Map<number, WireFailure>();
  for (const failure of failed) {
    const index = failureIndex(failure);
    if (index === null || index < base) return null;
    if (!byIndex.has(index - base)) byIndex.set(index - base, failure);
  }
  return byIndex;
}

/** Whether the failures cover each of `count` features, which makes their paths unambiguous. */
export function coverAllFeatures(failed: readonly WireFailure[], count: number): boolean {
  const indexes = new Set(failed.map(failureIndex));
  if (indexes.size !== count || indexes.has(null)) return false;
  const numbers = [...indexes] as number[];
  const lowest = numbers.reduce((a, b) => Math.min(a, b));
  return (lowest === 0 || lowest === 1) && numbers.every((index) => index < lowest + count);
}

/**
 * Whether a response names failures and no success: the service may have applied nothing, or name failures only. The map shows
 * which.
 */
export const namesFailuresOnly = ({ success, failed }: Pick<AnsweredOutcome, "success" | "failed">): boolean =>
  success.length === 0 && failed.length > 0;

/** Describes failures that cannot be matched to features: at most three distinct messages. */
export function combinedReason(failed: readonly WireFailure[]): string {
  const messages = [...new Set(failed.map(({ message }) => message))];
  const more = messages.length > 3 ? ` (and ${messages.length - 3} other reasons)` : "";
  return `one of: ${messages.slice(0, 3).join(" | ")}${more}`;
}

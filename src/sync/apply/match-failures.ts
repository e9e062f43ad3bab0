import type { WireFailure } from "../../remote/wire.js";

/** `features[3].geometry`, `features.3.id`, `/features/3`, `[3].id`, `3`: the place of a feature in its request. */
const indexInPath = /^[$.\s]*\/?(?:features)?[[./]?(\d+)(?=$|[\]./])/;

/** As the service counts, from 0 or from 1. */
const failureIndex = ({ path }: WireFailure): number | null => {
  const found = indexInPath.exec(path);
  return found ? Number(found[1]) : null;
};

/** What is known of a feature that a batch did not carry out. */
export interface UnappliedFeature {
  /** In its request, counted from 0. */
  readonly index: number;
  readonly id: string | null;
}

/**
 * Which failure is whose. A service may count features from 0 or from 1 (the interface does not say), may name an id
 * of its own, or no place at all; so a failure is only given to a feature where nothing else is possible.
 * @param missed all features of the batch that were surely not carried out
 * @returns failures by place; a feature that is not in it failed for one of the reasons, or was not worked on
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
  const countings = [0, 1].flatMap((base) => {
    const counted = failuresByIndex(base, failed);
    return counted && missed.every(({ index }) => counted.has(index)) ? [counted] : [];
  });
  for (const { index } of missed) {
    const possible = countings.map((counted) => counted.get(index)!);
    const [one] = possible;
    if (one && possible.every(({ message }) => message === one.message)) found.set(index, one);
  }
  return found;
}

/** Null where a path names no place, or one that there is not. */
function failuresByIndex(base: number, failed: readonly WireFailure[]): Map<number, WireFailure> | null {
  const counted = new Map<number, WireFailure>();
  for (const failure of failed) {
    const place = failureIndex(failure);
    if (place === null || place < base) return null;
    if (!counted.has(place - base)) counted.set(place - base, failure);
  }
  return counted;
}

/** Whether the failures name each of `count` features: then no other reading of their paths is possible. */
export function coverAllFeatures(failed: readonly WireFailure[], count: number): boolean {
  const places = new Set(failed.map(failureIndex));
  if (places.size !== count || places.has(null)) return false;
  const numbers = [...places] as number[];
  const least = numbers.reduce((a, b) => Math.min(a, b));
  return (least === 0 || least === 1) && numbers.every((place) => place < least + count);
}

/** What can be said where it is not known which failure is whose: the different messages, at most three. */
export function combinedReason(failed: readonly WireFailure[]): string {
  const messages = [...new Set(failed.map(({ message }) => message))];
  const more = messages.length > 3 ? ` (and ${messages.length - 3} other reasons)` : "";
  return `one of: ${messages.slice(0, 3).join(" | ")}${more}`;
}

/** Detects and handles how a service applies PATCH, which the interface leaves open (4.5). */
import { type ComparableFeature, canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import { stringifyExactly } from "../../model/exact-json.js";
import { SnapshotStats } from "../../remote/snapshot/snapshot-stats.js";
import type { Properties, WireFeature } from "../../remote/wire.js";
import { isSameValue } from "../diff/loose-equality.js";
import { detectRounding, equalsAfterRounding, findFewDecimals } from "../diff/rounding.js";
import type { PlanAction, PlannedFeature } from "../plan/plan.js";

export type Update = Extract<PlanAction, { readonly action: "update" }>;

/** Nested values are replaced entirely, or merged so that omitted members remain. */
export const patchSemantics = ["replaces", "merges-deeply"] as const;
export type PatchSemantics = (typeof patchSemantics)[number];

const isObject = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ownProperty = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;

/** Names of properties to remove from the map. */
const removedProperties = ({ before, feature }: Update): string[] =>
  Object.keys(before.properties).filter(
    (name) => ownProperty(before.properties, name) !== null && ownProperty(feature.properties, name) === null,
  );

/** Names of properties whose nested value loses a member, which a deep merge would keep. */
export const nestedMemberRemovals = ({ before, feature }: Update): string[] =>
  Object.keys(feature.properties).filter((name) =>
    losesMember(ownProperty(before.properties, name), ownProperty(feature.properties, name)),
  );

function losesMember(before: unknown, target: unknown): boolean {
  if (!isObject(before) || !isObject(target)) return false;
  return Object.keys(before).some((name) => !Object.hasOwn(target, name) || losesMember(before[name], target[name]));
}

/** An object with null for each name; `__proto__` is treated like any other name. */
function nullProperties(names: readonly string[]): Properties {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/**
 * The feature as JSON with its id, its whole geometry and all properties, so that it is correct whether the service
 * replaces or merges. Properties to remove are null (RFC 7396).
 */
export function patchText(update: Update): string {
  const { geometry, properties } = update.feature;
  const target = { ...properties, ...nullProperties(removedProperties(update)) };
  return stringifyExactly({ type: "Feature", id: update.id, geometry, properties: target });
}

/** The preceding request for services that merge deeply: sets nested values that lose members to null. */
export function clearingPatchText(update: Update): string | null {
  const names = nestedMemberRemovals(update);
  if (names.length === 0) return null;
  const { geometry, properties } = update.before;
  return stringifyExactly({
    type: "Feature",
    id: update.id,
    geometry,
    properties: { ...properties, ...nullProperties(names) },
  });
}

/** The observed effect of an update. */
export type UpdateEffect =
  | { readonly kind: "applied" }
  /** Nested values that still have the removed members. */
  | { readonly kind: "merged-deeply"; readonly names: readonly string[] }
  /**
   * The map does not have the change, or still has what was removed. `decimals`: of the coordinates, if the service keeps
   * so few that this explains it; null if not.
   */
  | { readonly kind: "ineffective"; readonly what: string; readonly decimals: number | null };

/**
 * Compares the map with the update. A value that the service normalized (to fewer decimals, for example) counts as
 * applied; an unchanged one does not.
 */
export function checkUpdateEffect(update: Update, read: WireFeature, rounding: Rounding): UpdateEffect {
  const { before, feature } = update;
  const mergedNames: string[] = [];
  for (const name of new Set([...Object.keys(before.properties), ...Object.keys(feature.properties)])) {
    const [previous, target, actual] = [before, feature, read].map(({ properties }) => ownProperty(properties, name));
    if (isSameValue(actual, target) || canonicalValue(previous) === canonicalValue(target)) continue;
    if (losesMember(previous, target) && losesMember(actual, target)) mergedNames.push(name);
    else if (canonicalValue(actual) === canonicalValue(previous))
      return { kind: "ineffective", what: `property ${JSON.stringify(name)}`, decimals: null };
  }
  const [previous, target, actual] = [before, feature, read].map(({ geometry }: ComparableFeature) =>
    canonicalGeometry(geometry, rounding),
  );
  if (actual !== target && actual === previous && !isRoundedCopy(feature, read, rounding)) {
    return { kind: "ineffective", what: "geometry", decimals: findFewDecimals(feature.geometry, read.geometry) };
  }
  return mergedNames.length > 0 ? { kind: "merged-deeply", names: mergedNames } : { kind: "applied" };
}

/** Services that reduce decimals mostly keep six (0.1 m). */
const commonDecimals = 6;

/**
 * Whether the geometry equals the sent one at the decimals that it shows. Round numbers show fewer decimals than the
 * service keeps, so six are tried as well.
 */
function isRoundedCopy(sent: PlannedFeature, read: WireFeature, { degrees }: Rounding): boolean {
  const stats = new SnapshotStats();
  stats.add(read);
  const shown = detectRounding(stats.decimals, degrees) ?? commonDecimals;
  return (
    shown < degrees && [shown, commonDecimals].some((kept) => equalsAfterRounding(sent.geometry, read.geometry, kept))
  );
}

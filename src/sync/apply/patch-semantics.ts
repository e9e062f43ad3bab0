/** What a service does with a PATCH of several features, which the interface does not show (4.5). */
import {
  type ComparableFeature,
  canonicalGeometry,
  canonicalValue,
  type Rounding,
} from "../../remote/snapshot/canonical-feature.js";
import { SnapshotStats } from "../../remote/snapshot/snapshot-stats.js";
import type { Properties, WireFeature } from "../../remote/wire.js";
import { detectRounding, equalsAfterRounding } from "../diff/rounding.js";
import type { PlanAction, PlannedFeature } from "../plan/plan.js";

export type Update = Extract<PlanAction, { readonly action: "update" }>;

/** Nested values are replaced whole, or their members are merged, so that those that are missing stay. */
export const patchSemantics = ["replaces", "merges-deeply"] as const;
export type PatchSemantics = (typeof patchSemantics)[number];

const isObject = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ownProperty = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;

/** Names of properties that the map has, and shall not have any more. */
const removedProperties = ({ before, feature }: Update): string[] =>
  Object.keys(before.properties).filter(
    (name) => ownProperty(before.properties, name) !== null && ownProperty(feature.properties, name) === null,
  );

/** Names of properties from whose nested value a member goes: a service that merges deeply would keep it. */
export const nestedMemberRemovals = ({ before, feature }: Update): string[] =>
  Object.keys(feature.properties).filter((name) =>
    losesMember(ownProperty(before.properties, name), ownProperty(feature.properties, name)),
  );

function losesMember(before: unknown, wanted: unknown): boolean {
  if (!isObject(before) || !isObject(wanted)) return false;
  return Object.keys(before).some((name) => !Object.hasOwn(wanted, name) || losesMember(before[name], wanted[name]));
}

/** An object with these members; `__proto__` is a name like others. */
function nullProperties(names: readonly string[]): Properties {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/**
 * The feature as it is sent: with its id, its whole geometry and all its properties, so that it is right where the
 * service replaces as well as where it merges; those that are to go are null (RFC 7396).
 */
export function patchText(update: Update): string {
  const { geometry, properties } = update.feature;
  const wanted = { ...properties, ...nullProperties(removedProperties(update)) };
  return JSON.stringify({ type: "Feature", id: update.id, geometry, properties: wanted });
}

/** What goes before it to a service that merges deeply: nested values that lose members, as null. */
export function clearingPatchText(update: Update): string | null {
  const names = nestedMemberRemovals(update);
  if (names.length === 0) return null;
  const { geometry, properties } = update.before;
  return JSON.stringify({
    type: "Feature",
    id: update.id,
    geometry,
    properties: { ...properties, ...nullProperties(names) },
  });
}

/** What an update has become on the map. */
export type UpdateEffect =
  | { readonly kind: "applied" }
  /** Of nested values that lost members these still have them. */
  | { readonly kind: "merged-deeply"; readonly names: readonly string[] }
  /** It has nothing of it, or still has what was to go. */
  | { readonly kind: "ineffective"; readonly what: string };

/**
 * Compares what the map has with what was sent. What the service writes in its own way (fewer decimals, say) counts as
 * applied; what is as it was before does not.
 */
export function checkUpdateEffect(update: Update, read: WireFeature, rounding: Rounding): UpdateEffect {
  const { before, feature } = update;
  const deeply: string[] = [];
  for (const name of new Set([...Object.keys(before.properties), ...Object.keys(feature.properties)])) {
    const [was, wanted, is] = [before, feature, read].map(({ properties }) => ownProperty(properties, name));
    if (canonicalValue(is) === canonicalValue(wanted) || canonicalValue(was) === canonicalValue(wanted)) continue;
    if (losesMember(was, wanted) && losesMember(is, wanted)) deeply.push(name);
    else if (canonicalValue(is) === canonicalValue(was))
      return { kind: "ineffective", what: `property ${JSON.stringify(name)}` };
  }
  const [was, wanted, is] = [before, feature, read].map(({ geometry }: ComparableFeature) =>
    canonicalGeometry(geometry, rounding),
  );
  if (is !== wanted && is === was && !isRoundedCopy(feature, read, rounding))
    return { kind: "ineffective", what: "geometry" };
  return deeply.length > 0 ? { kind: "merged-deeply", names: deeply } : { kind: "applied" };
}

/** Services that keep fewer decimals than are sent mostly keep six (0.1 m). */
const commonDecimals = 6;

/** Whether the geometry is what was sent, in the decimals that it shows; round numbers show fewer than are kept. */
function isRoundedCopy(sent: PlannedFeature, read: WireFeature, { degrees }: Rounding): boolean {
  const facts = new SnapshotStats();
  facts.add(read);
  const shown = detectRounding(facts.decimals, degrees) ?? commonDecimals;
  return (
    shown < degrees && [shown, commonDecimals].some((kept) => equalsAfterRounding(sent.geometry, read.geometry, kept))
  );
}

/** Describes the actions of a plan for the table and the HTML page. */

import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount } from "../../format-count.js";
import { stringifyExactly } from "../../model/exact-json.js";
import { formatLocation } from "../../service/pages/maps/feature-text.js";
import type { PlanAction, PlanCounts, PlanHeader, PlannedFeature } from "../../sync/plan/plan.js";

export type PlanClass = "create" | "update" | "delete" | "unmanaged" | "protected" | "only-on-map" | "same";

/** The classes in display order, with their descriptions. */
export const planClasses: readonly {
  readonly name: PlanClass;
  readonly count: keyof PlanCounts;
  readonly means: string;
}[] = [
  { name: "create", count: "create", means: "only in the source" },
  { name: "update", count: "update", means: "changed" },
  { name: "delete", count: "delete", means: "to be deleted from the map" },
  { name: "unmanaged", count: "unmanaged", means: "on the map without a key, kept" },
  { name: "protected", count: "protected", means: "only on the map, kept because their source feature was rejected" },
  { name: "only-on-map", count: "onlyOnMap", means: "only on the map, kept" },
  { name: "same", count: "same", means: "equal" },
];

/** Shown even if their count is 0. */
const alwaysShown: readonly PlanClass[] = ["create", "update", "delete"];

/** The classes that the table of a plan shows. */
export const shownClasses = (counts: PlanCounts): typeof planClasses =>
  planClasses.filter(({ name, count }) => counts[count] > 0 || alwaysShown.includes(name));

export const planClass = (action: PlanAction): PlanClass => (action.action === "keep" ? action.why : action.action);

/** A property or the geometry, before and after; null if absent. */
export interface ValueChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

const maxLength = 60;

/** A value as JSON on one line, with control characters escaped. */
export function shownValue(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return plainText(stringifyExactly(value));
}

/** A printable text of at most 60 characters. */
export function plainText(text: string): string {
  const escaped = escapeControlCharacters(text);
  const characters = [...escaped];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : escaped;
}

const propertyOf = (properties: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

function placesOf(from: PlannedFeature, to: PlannedFeature): Pick<ValueChange, "before" | "after"> {
  const [before, after] = [formatLocation(from.geometry), formatLocation(to.geometry)];
  return { before, after: before === after ? `${after}, other coordinates` : after };
}

/** The changes of an update. */
export function listChanges({ changed, before, feature }: Extract<PlanAction, { action: "update" }>): ValueChange[] {
  return changed.map((path) => {
    if (path === "geometry") return { name: "geometry", ...placesOf(before, feature) };
    const name = path.replace(/^properties\./, "");
    return {
      name: plainText(name),
      before: shownValue(propertyOf(before.properties, name)),
      after: shownValue(propertyOf(feature.properties, name)),
    };
  });
}

/** The key of the feature, or else its id or location. */
export function nameOf(action: PlanAction): string {
  if (action.key !== null) return plainText(String(action.key));
  return action.action === "create" ? formatLocation(action.feature.geometry) : action.id;
}

/** Describes the PUT request of a plan, or null if it uses none. */
export function putWords({ put }: PlanHeader, { create, update, same, delete: removed }: PlanCounts): string | null {
  if (!put) return null;
  return `A single PUT request replaces all features: it sends ${formatCount(create + update + same, "feature")} and deletes ${removed === 0 ? "none" : formatCount(removed, "feature")}.`;
}

/** "matched by id", 'matched by property "ref"', or "without matching". */
export function matchWords({ key }: PlanHeader): string {
  if (key === null) return "without matching";
  return key.by === "id" ? "matched by id" : `matched by property ${shownValue(key.name)}`;
}

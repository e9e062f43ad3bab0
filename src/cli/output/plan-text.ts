/** What a plan does to a feature, in words: for the table of the command line and for the page. */

import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount } from "../../format-count.js";
import { formatLocation } from "../../service/pages/maps/feature-text.js";
import type { PlanAction, PlanCounts, PlanHeader, PlannedFeature } from "../../sync/plan/plan.js";

export type PlanClass = "create" | "update" | "delete" | "unmanaged" | "protected" | "only-on-map" | "same";

/** Their order, and what is said of each. */
export const planClasses: readonly {
  readonly name: PlanClass;
  readonly count: keyof PlanCounts;
  readonly means: string;
}[] = [
  { name: "create", count: "create", means: "only in the source" },
  { name: "update", count: "update", means: "changed" },
  { name: "delete", count: "delete", means: "to be removed from the map" },
  { name: "unmanaged", count: "unmanaged", means: "on the map without a key, and left alone" },
  { name: "protected", count: "protected", means: "only on the map, and kept since their source feature was rejected" },
  { name: "only-on-map", count: "onlyOnMap", means: "only on the map, and left alone" },
  { name: "same", count: "same", means: "equal" },
];

/** What is told of whatever a plan does: that nothing is, too. */
const alwaysShown: readonly PlanClass[] = ["create", "update", "delete"];

/** The classes that are told of a plan. */
export const shownClasses = (counts: PlanCounts): typeof planClasses =>
  planClasses.filter(({ name, count }) => counts[count] > 0 || alwaysShown.includes(name));

export const planClass = (action: PlanAction): PlanClass => (action.action === "keep" ? action.why : action.action);

/** One property or the geometry, before and after; null where there is none. */
export interface ValueChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

const longest = 60;

/** A value as JSON, on one line, without characters that a terminal or a reader of text would take for orders. */
export function shownValue(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return plainText(JSON.stringify(value));
}

/** A printable text of at most 60 characters. */
export function plainText(text: string): string {
  const escaped = escapeControlCharacters(text);
  const characters = [...escaped];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : escaped;
}

const propertyOf = (properties: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

function placesOf(from: PlannedFeature, to: PlannedFeature): Pick<ValueChange, "before" | "after"> {
  const [before, after] = [formatLocation(from.geometry), formatLocation(to.geometry)];
  return { before, after: before === after ? `${after}, elsewhere` : after };
}

/** What an update changes. */
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

/** The key, or the id where there is none. */
export function nameOf(action: PlanAction): string {
  if (action.key !== null) return plainText(String(action.key));
  return action.action === "create" ? formatLocation(action.feature.geometry) : action.id;
}

/** What one PUT would do; null where there is none. */
export function putWords({ put }: PlanHeader, { create, update, same, delete: removed }: PlanCounts): string | null {
  if (!put) return null;
  return `One request (PUT) does it all: it sends the whole set of ${formatCount(create + update + same, "feature")}, and the map loses ${removed === 0 ? "none" : formatCount(removed, "feature")}.`;
}

/** "by id", 'by property "ref"', or that nothing is matched. */
export function matchWords({ key }: PlanHeader): string {
  if (key === null) return "nothing is matched";
  return key.by === "id" ? "matched by id" : `matched by property ${shownValue(key.name)}`;
}

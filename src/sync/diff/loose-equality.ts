/** Compares features loosely, for services that round and trim values in their own way. */
import { canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import type { Properties } from "../../remote/wire.js";
import type { PlannedFeature } from "../plan/plan.js";
import { equalsAfterRounding, minDecimals } from "./rounding.js";

export const isLooselyEqual = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  normalizeLoosely(sent.properties) === normalizeLoosely(held.properties) &&
  (canonicalGeometry(sent.geometry, rounding) === canonicalGeometry(held.geometry, rounding) ||
    equalsAfterRounding(sent.geometry, held.geometry, minDecimals));

/** Normalizes properties so that `1` equals `"1"` and `" a"` equals `"a"`; names are sorted, and null equals absent. */
export function normalizeLoosely(properties: Properties): string {
  const entries = Object.entries(properties).filter(([, value]) => value !== null && value !== undefined);
  const loose = entries.map(([name, value]) => [
    name,
    typeof value === "object" ? canonicalValue(value) : String(value).trim(),
  ]);
  return JSON.stringify(loose.sort(([one], [other]) => (one! < other! ? -1 : 1)));
}

/** Whether what a map says may be what was sent to it, as a service writes it that rounds and trims in its own way. */
import { canonicalGeometry, canonicalValue, type Rounding } from "../../remote/snapshot/canonical-feature.js";
import type { Properties } from "../../remote/wire.js";
import type { PlannedFeature } from "../plan/plan.js";
import { equalsAfterRounding, minDecimals } from "./rounding.js";

export const isLooselyEqual = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  normalizeLoosely(sent.properties) === normalizeLoosely(held.properties) &&
  (canonicalGeometry(sent.geometry, rounding) === canonicalGeometry(held.geometry, rounding) ||
    equalsAfterRounding(sent.geometry, held.geometry, minDecimals));

/** A text that is the same for `1` and `"1"`, `" a"` and `"a"`; names are sorted, and null is as good as absent. */
export function normalizeLoosely(properties: Properties): string {
  const entries = Object.entries(properties).filter(([, value]) => value !== null && value !== undefined);
  const loose = entries.map(([name, value]) => [
    name,
    typeof value === "object" ? canonicalValue(value) : String(value).trim(),
  ]);
  return JSON.stringify(loose.sort(([one], [other]) => (one! < other! ? -1 : 1)));
}

/** Compares features loosely, for services that round and trim values in their own way. */
import { canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import type { Properties } from "../../remote/wire.js";
import type { PlannedFeature } from "../plan/plan.js";
import { equalsAfterRounding, minDecimals } from "./rounding.js";

export const isLooselyEqual = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  haveEqualProperties(sent.properties, held.properties) &&
  (canonicalGeometry(sent.geometry, rounding) === canonicalGeometry(held.geometry, rounding) ||
    equalsAfterRounding(sent.geometry, held.geometry, minDecimals));

/** Whether properties are equal if values are compared loosely, and null equals absent. */
export function haveEqualProperties(one: Properties, other: Properties): boolean {
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const [first, second] = [one, other].map((each) => (Object.hasOwn(each, name) ? each[name] : null));
    if (!isSameValue(first ?? null, second ?? null)) return false;
  }
  return true;
}

/** Whether a service may have stored one value as the other: 1 as "1" or "1.0", " a" as "a". */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return one === other;
  if (looseText(one) === looseText(other)) return true;
  return typeof one !== typeof other && asNumber(one) !== null && asNumber(one) === asNumber(other);
}

const looseText = (value: unknown): string =>
  typeof value === "object" ? canonicalValue(value) : String(value).trim();

/** The number of a JSON number (RFC 8259, 6), or of a text that is one; null for others. */
function asNumber(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value.trim())) return null;
  return Number(value);
}

/** Text of properties that is the same for those that `haveEqualProperties`, and differs for most others. */
export function normalizeLoosely(properties: Properties): string {
  const entries = Object.entries(properties).filter(([, value]) => value !== null && value !== undefined);
  const loose = entries.map(([name, value]) => [name, asNumber(value) ?? looseText(value)] as const);
  return JSON.stringify(loose.sort(([one], [other]) => (one < other ? -1 : 1)));
}

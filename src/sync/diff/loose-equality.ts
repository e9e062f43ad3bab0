/** Compares features loosely, for services that round and trim values in their own way. */
import { canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import type { Properties } from "../../remote/wire.js";
import type { PlannedFeature } from "../plan/plan.js";
import { equalsAfterRounding, minDecimals } from "./rounding.js";

export const isLooselyEqual = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  haveEqualProperties(sent.properties, held.properties) && haveEqualGeometry(sent, held, rounding);

const haveEqualGeometry = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  canonicalGeometry(sent.geometry, rounding) === canonicalGeometry(held.geometry, rounding) ||
  equalsAfterRounding(sent.geometry, held.geometry, minDecimals);

/**
 * Whether a service may have stored one feature as the other with values in a format of its own, such as rounded
 * numbers. A geometry that differs, or a value that is missing, is no format.
 */
export const isReformatted = (sent: PlannedFeature, held: PlannedFeature, rounding: Rounding): boolean =>
  haveEqualGeometry(sent, held, rounding) &&
  Object.keys(sent.properties).every(
    (name) => isEmptyValue(sent.properties[name]) || !isEmptyValue(ownProperty(held.properties, name)),
  );

/** A feature of the map without the properties that only the map has, which do not count. */
export function withoutOtherProperties(held: PlannedFeature, sent: PlannedFeature): PlannedFeature {
  const names = Object.keys(held.properties).filter((name) => Object.hasOwn(sent.properties, name));
  return { ...held, properties: Object.fromEntries(names.map((name) => [name, held.properties[name]])) };
}

const ownProperty = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;

/** Some services store empty text as null, or trim it first. */
const isEmptyValue = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === "string" && value.trim() === "");

/** Whether properties are equal if values are compared loosely, and null equals absent and empty text. */
export function haveEqualProperties(one: Properties, other: Properties): boolean {
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (!isSameValue(ownProperty(one, name), ownProperty(other, name))) return false;
  }
  return true;
}

/** Whether a service may have stored one value as the other: 1 as "1" or "1.0", " a" as "a", "" as null, text in NFC. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (isEmptyValue(one) || isEmptyValue(other)) return isEmptyValue(one) && isEmptyValue(other);
  if (looseText(one) === looseText(other)) return true;
  return typeof one !== typeof other && asNumber(one) !== null && asNumber(one) === asNumber(other);
}

const looseText = (value: unknown): string =>
  typeof value === "object" ? canonicalValue(value) : String(value).trim().normalize("NFC");

/** The number of a JSON number (RFC 8259, 6), or of a text that is one; null for others. */
function asNumber(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value.trim())) return null;
  return Number(value);
}

/** Text of properties that is the same for those that `haveEqualProperties`, and differs for most others. */
export function normalizeLoosely(properties: Properties): string {
  const entries = Object.entries(properties).filter(([, value]) => !isEmptyValue(value));
  const loose = entries.map(([name, value]) => [name, asNumber(value) ?? looseText(value)] as const);
  return JSON.stringify(loose.sort(([one], [other]) => (one < other ? -1 : 1)));
}

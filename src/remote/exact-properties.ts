/**
 * Parses features of a map so that integers of their properties keep all digits: what geoferry only passes on must not
 * change. Those that a double would round are bigints; write them with `stringifyExactly`. Coordinates are doubles.
 */
import { mayHaveLongIntegers, parseKeepingIntegers } from "../model/exact-json.js";
import { readPropertiesText, splitFeatureTexts } from "./snapshot/exact-feature.js";
import type { Properties, WireFeature } from "./wire.js";

const isObject = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param feature parsed by `JSON.parse` from `text` */
function withExactProperties<T extends object>(feature: T, text: string): T {
  const properties = mayHaveLongIntegers(text) ? readPropertiesText(text) : null;
  const exact = properties === null ? null : parseKeepingIntegers(properties);
  return exact === null ? feature : { ...feature, properties: exact };
}

/** Parses a feature. @throws SyntaxError */
export function parseExactFeature(text: string): unknown {
  const feature: unknown = JSON.parse(text);
  return isObject(feature) ? withExactProperties(feature, text) : feature;
}

/** Parses an object of which some members are features. @throws SyntaxError */
export function parseWithExactFeatures(text: string, members: readonly string[]): unknown {
  const value: unknown = JSON.parse(text);
  if (!mayHaveLongIntegers(text) || !isObject(value)) return value;
  const exact = parseKeepingIntegers(text) as Properties;
  const features = members.flatMap((name) => {
    const [rounded, feature] = [value[name], exact[name]];
    return isObject(rounded) && isObject(feature) ? [[name, { ...rounded, properties: feature.properties }]] : [];
  });
  return { ...value, ...Object.fromEntries(features) };
}

/**
 * The features of a page with exact properties.
 * @param features parsed by `JSON.parse` from `collection`, the JSON of a FeatureCollection
 */
export function restoreExactProperties(features: readonly WireFeature[], collection: string): readonly WireFeature[] {
  if (!mayHaveLongIntegers(collection)) return features;
  const texts = splitFeatureTexts(collection);
  return features.map((feature, n) => withExactProperties(feature, texts[n]!));
}

/** Reuses source lines verbatim in plans and requests. */
import type { RemoteKey } from "../../remote/wire.js";

const featurePrefix = '{"type":"Feature"';
const propertiesPrefix = ',"properties":{';
const geometryPrefix = '},"geometry":';

/**
 * Returns the text of a feature without its id, if its spooled line equals the intended feature: the GeoJSON writer
 * produced it, it has no nested values, which keep the formatting of the source, and its key has the type that the map
 * uses.
 * @param key the intended key property and value; null if features are not matched
 * @returns null if the feature must be parsed and serialized again
 */
export function reuseFeatureText(
  line: string,
  key: { readonly property: string; readonly value: RemoteKey } | null,
): string | null {
  const from = line.indexOf(propertiesPrefix);
  // Properties directly precede the geometry, and quotes within texts are escaped.
  const to = line.lastIndexOf(geometryPrefix);
  if (!line.startsWith(featurePrefix) || from < 0 || to < from) return null;
  const properties = line.slice(from + propertiesPrefix.length, to);
  if (/[{[]/.test(properties)) return null;
  if (key !== null && !hasPropertyText(properties, JSON.stringify(key.property), JSON.stringify(key.value)))
    return null;
  // Only an id can be between the type and the properties.
  return from === featurePrefix.length ? line : featurePrefix + line.slice(from);
}

/** Whether the properties contain exactly this text. */
function hasPropertyText(properties: string, name: string, value: string): boolean {
  const member = `${name}:${value}`;
  const at = properties.indexOf(member);
  const isDelimiter = (character: string | undefined) => character === undefined || character === ",";
  return at >= 0 && isDelimiter(properties[at - 1]) && isDelimiter(properties[at + member.length]);
}

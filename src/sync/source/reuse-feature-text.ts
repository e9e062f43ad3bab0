/** Features of the source whose lines can be taken over into a plan, and into a request, as they are. */
import type { RemoteKey } from "../../remote/wire.js";

const featurePrefix = '{"type":"Feature"';
const propertiesPrefix = ',"properties":{';
const geometryPrefix = '},"geometry":';

/**
 * The text of a feature without its id, where its line in the spool says all that the map shall have: the writer of
 * newline-delimited GeoJSON has made it, it has no nested values, which stand there as the source wrote them, and its
 * key is of the type that the map has.
 * @param key property and value that it shall have; null where nothing is matched
 * @returns null where it has to be read and written anew
 */
export function reuseFeatureText(
  line: string,
  key: { readonly property: string; readonly value: RemoteKey } | null,
): string | null {
  const from = line.indexOf(propertiesPrefix);
  // Properties come last but for the geometry, and in a text quotes are escaped.
  const to = line.lastIndexOf(geometryPrefix);
  if (!line.startsWith(featurePrefix) || from < 0 || to < from) return null;
  const properties = line.slice(from + propertiesPrefix.length, to);
  if (/[{[]/.test(properties)) return null;
  if (key !== null && !hasPropertyText(properties, JSON.stringify(key.property), JSON.stringify(key.value)))
    return null;
  // Between the type and the properties there is at most an id.
  return from === featurePrefix.length ? line : featurePrefix + line.slice(from);
}

/** Whether they have this value in these very characters. */
function hasPropertyText(properties: string, name: string, value: string): boolean {
  const member = `${name}:${value}`;
  const at = properties.indexOf(member);
  const isOneOfThem = (character: string | undefined) => character === undefined || character === ",";
  return at >= 0 && isOneOfThem(properties[at - 1]) && isOneOfThem(properties[at + member.length]);
}

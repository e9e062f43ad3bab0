/** Ranks property names by how typical they are of identifiers. */

/** Typical identifier names, the most typical first, case-insensitive. */
const identifierNames: readonly string[] = ["id", "uuid", "guid", "gid", "fid", "ref", "code", "key"];
/** `remote_id`, `osm:id`, `parcel-code`; `parcelId`; `id_parcel`; ESRI's `objectid` and `globalid`. */
const identifierPatterns: readonly RegExp[] = [
  /[_\-:. ](id|uuid|guid|ref|code|key)$/i,
  /\p{Ll}(Id|ID|Uuid|UUID|Guid|GUID|Ref|Code|Key)$/u,
  /^(id|uuid|guid|ref|code|key)[_\-:. ]/i,
  /^(objectid|globalid|identifier)$/i,
];

/** The rank from 0, most typical first; null if the name is not typical. */
export function rankIdentifierName(name: string): number | null {
  const exact = identifierNames.indexOf(name.toLowerCase());
  if (exact >= 0) return exact;
  const like = identifierPatterns.findIndex((pattern) => pattern.test(name));
  return like < 0 ? null : identifierNames.length + like;
}

/** Words for quantities in a name: their values may all differ, and change. */
const quantityWords =
  /(^|[_\-. ])(pop|population|area|length|count|total|sum|est|estimate|height|elev|elevation|altitude|value|amount|price|percent|pct|rate|ratio|share|density|gdp|year|age|width|depth|speed|weight|lat|lon|latitude|longitude)(?=[_\-. \d]|$)/i;

/** Whether a field with this name holds a quantity rather than a name. */
export const isQuantityName = (name: string): boolean => quantityWords.test(name);

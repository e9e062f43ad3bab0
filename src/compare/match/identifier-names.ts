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

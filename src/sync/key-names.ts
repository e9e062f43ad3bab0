/** How much a property's name says that it identifies features. */

/** Names that identifiers go by, the surest first, whatever their letters. */
const names: readonly string[] = ["id", "uuid", "guid", "gid", "fid", "ref", "code", "key"];
/** `remote_id`, `osm:id`, `parcel-code`; `parcelId`; `id_parcel`; ESRI's `objectid` and `globalid`. */
const patterns: readonly RegExp[] = [
  /[_\-:. ](id|uuid|guid|ref|code|key)$/i,
  /\p{Ll}(Id|ID|Uuid|UUID|Guid|GUID|Ref|Code|Key)$/u,
  /^(id|uuid|guid|ref|code|key)[_\-:. ]/i,
  /^(objectid|globalid|identifier)$/i,
];

/** From 0, the lower the surer; null where the name says nothing. */
export function rankOfName(name: string): number | null {
  const exact = names.indexOf(name.toLowerCase());
  if (exact >= 0) return exact;
  const like = patterns.findIndex((pattern) => pattern.test(name));
  return like < 0 ? null : names.length + like;
}

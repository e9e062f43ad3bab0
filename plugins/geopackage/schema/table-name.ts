/** Reserved prefixes of SQLite, of the standard and of its R-trees. */
const reservedNames = /^(sqlite_|gpkg_|rtree_)/i;

/** The table name of a layer: its own unless empty or reserved. Idempotent. */
export function toTableName(layer: string): string {
  const name = layer.replaceAll("\0", "");
  if (name.trim() === "") return "layer";
  return reservedNames.test(name) ? `layer_${name}` : name;
}

/** Names that belong to SQLite, to the standard, and to its R-trees. */
const reservedNames = /^(sqlite_|gpkg_|rtree_)/i;

/** The name of the table: the layer's, but where that is reserved or none. That of a table is its own. */
export function toTableName(layer: string): string {
  const name = layer.replaceAll("\0", "");
  if (name.trim() === "") return "layer";
  return reservedNames.test(name) ? `layer_${name}` : name;
}

/** Names that belong to SQLite, to the standard, and to its R-trees. */
const reserved = /^(sqlite_|gpkg_|rtree_)/i;

/** The name of the table: the layer's, but where that is reserved or none. That of a table is its own. */
export function tableNameOf(layer: string): string {
  const name = layer.replaceAll("\0", "");
  if (name.trim() === "") return "layer";
  return reserved.test(name) ? `layer_${name}` : name;
}

/** Names of tables that a GeoPackage, SQLite or SpatiaLite keeps for itself. */
export const systemTableNames =
  /^(gpkg_|gpkgext_|sqlite_|rtree_|idx_|st_|spatial_ref_sys|geometry_columns|views_geometry|virts_geometry|spatialite_history|ogr_empty_table|vector_layers|.*_fts(_|$))/i;

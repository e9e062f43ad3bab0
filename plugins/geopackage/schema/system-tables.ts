/** Names of system tables of GeoPackage, SQLite and SpatiaLite. */
export const systemTableNames =
  /^(gpkg_|gpkgext_|sqlite_|rtree_|idx_|st_|spatial_ref_sys|geometry_columns|views_geometry|virts_geometry|spatialite_history|ogr_empty_table|vector_layers|.*_fts(_|$))/i;

import type { FieldType } from "../../../src/model/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { declarationByType } from "./column-types.js";
import type { TableDesign } from "./layer-design.js";

/** Versions that can be written. */
export const geoPackageVersions = {
  "1.4": { userVersion: 10_400, spec: "spec140" },
  "1.2": { userVersion: 10_200, spec: "spec120" },
} as const;
export type GeoPackageVersion = keyof typeof geoPackageVersions;

/** The `definition` of an extension in gpkg_extensions. */
export const extensionDefinition = (version: GeoPackageVersion, anchor: string): string =>
  `http://www.geopackage.org/${geoPackageVersions[version].spec}/#extension_${anchor}`;

/** SQL of the metadata tables (OGC 12-128r19, Annex C). */
export const coreTables = {
  gpkg_spatial_ref_sys: `CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL,
  srs_id INTEGER PRIMARY KEY,
  organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL,
  definition TEXT NOT NULL,
  description TEXT
)`,
  gpkg_contents: `CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY,
  data_type TEXT NOT NULL,
  identifier TEXT UNIQUE,
  description TEXT DEFAULT '',
  last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE,
  min_y DOUBLE,
  max_x DOUBLE,
  max_y DOUBLE,
  srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)
)`,
  gpkg_geometry_columns: `CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL,
  m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
  CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)
)`,
  gpkg_extensions: `CREATE TABLE gpkg_extensions (
  table_name TEXT,
  column_name TEXT,
  extension_name TEXT NOT NULL,
  definition TEXT NOT NULL,
  scope TEXT NOT NULL,
  CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name)
)`,
  gpkg_data_columns: `CREATE TABLE gpkg_data_columns (
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  name TEXT,
  title TEXT,
  description TEXT,
  mime_type TEXT,
  constraint_name TEXT,
  CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name),
  CONSTRAINT gdc_tn UNIQUE (table_name, name)
)`,
  gpkg_data_column_constraints: `CREATE TABLE gpkg_data_column_constraints (
  constraint_name TEXT NOT NULL,
  constraint_type TEXT NOT NULL,
  value TEXT,
  min NUMERIC,
  min_is_inclusive BOOLEAN,
  max NUMERIC,
  max_is_inclusive BOOLEAN,
  description TEXT,
  CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value)
)`,
  gpkg_metadata: `CREATE TABLE gpkg_metadata (
  id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL,
  md_scope TEXT NOT NULL DEFAULT 'dataset',
  md_standard_uri TEXT NOT NULL,
  mime_type TEXT NOT NULL DEFAULT 'text/xml',
  metadata TEXT NOT NULL DEFAULT ''
)`,
  gpkg_metadata_reference: `CREATE TABLE gpkg_metadata_reference (
  reference_scope TEXT NOT NULL,
  table_name TEXT,
  column_name TEXT,
  row_id_value INTEGER,
  timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  md_file_id INTEGER NOT NULL,
  md_parent_id INTEGER,
  CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id),
  CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id)
)`,
} as const;

export const columnSql = (name: string, type: FieldType): string =>
  `${quoteIdentifier(name)} ${declarationByType[type]}`;

export function createLayerSql({ table, fid, geometry, fields }: TableDesign): string {
  const columns = [
    `${quoteIdentifier(fid)} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`,
    ...(geometry ? [`${quoteIdentifier(geometry.column)} ${geometry.type}`] : []),
    ...fields.map(({ name, type }) => columnSql(name, type)),
  ];
  return `CREATE TABLE ${quoteIdentifier(table)} (\n  ${columns.join(",\n  ")}\n)`;
}

/** Column constraint of the schema extension that marks text as a time: GeoPackage has no type for it. */
export const timeConstraint = { name: "geoferry_time", glob: "[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*" } as const;
export const jsonMimeType = "application/json";

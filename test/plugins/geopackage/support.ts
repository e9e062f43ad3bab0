import Sqlite from "better-sqlite3";
import geopackage from "../../../plugins/geopackage/index.js";
import type { Feature } from "../../../src/model/index.js";
import { type LayerContent, readFile } from "../../../src/testing/index.js";

/** The tables about tables as OGC 12-128r19, Annex C has them, with WGS84. */
const core = `
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name));
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', NULL),
  ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', NULL),
  ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]', NULL);
`;

/** A new GeoPackage, made by SQLite, still open. `before` runs first: page size and encoding must be set then. */
export function newPackage(path: string, before = ""): Sqlite.Database {
  const database = new Sqlite(path);
  database.exec(before);
  database.pragma("application_id = 0x47504B47");
  database.pragma("user_version = 10400");
  database.exec(core);
  return database;
}

export const register = (database: Sqlite.Database, table: string, geometry: string | null = null, srsId = 4326) => {
  const type = geometry === null ? "attributes" : "features";
  database
    .prepare("INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES (?, ?, ?, ?)")
    .run(table, type, table, srsId);
  if (geometry !== null) {
    database
      .prepare("INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'GEOMETRY', ?, 0, 0)")
      .run(table, geometry, srsId);
  }
};

/** A geometry's blob, by OGC 12-128r19, 2.1.3: header without an envelope unless one is given, then WKB. */
export function blobOf(
  wkb: Buffer,
  { srsId = 4326, envelope = [] as number[], kind = 0, big = false, flags = 0 } = {},
) {
  const head = Buffer.alloc(8 + 8 * envelope.length);
  head.write("GP\0", 0, "latin1");
  head[3] = (big ? 0 : 1) | (kind << 1) | flags;
  if (big) head.writeInt32BE(srsId, 4);
  else head.writeInt32LE(srsId, 4);
  envelope.forEach((value, i) => {
    if (big) head.writeDoubleBE(value, 8 + 8 * i);
    else head.writeDoubleLE(value, 8 + 8 * i);
  });
  return Buffer.concat([head, wkb]);
}

export function pointWkb(x: number, y: number, big = false): Buffer {
  const wkb = Buffer.alloc(21);
  if (big) {
    wkb.writeUInt32BE(1, 1);
    wkb.writeDoubleBE(x, 5);
    wkb.writeDoubleBE(y, 13);
  } else {
    wkb[0] = 1;
    wkb.writeUInt32LE(1, 1);
    wkb.writeDoubleLE(x, 5);
    wkb.writeDoubleLE(y, 13);
  }
  return wkb;
}

export const readLayers = (path: string, options: Record<string, string> = {}, skipErrors = false) =>
  readFile(geopackage, path, { options, skipErrors });

export const featuresOf = (layer: LayerContent): Feature[] => layer.batches.flatMap((batch) => [...batch.features()]);

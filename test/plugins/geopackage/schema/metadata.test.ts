/** What a GeoPackage says of its layers and columns beside their rows, and what of a file is in no layer. */
import { execFileSync } from "node:child_process";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { hasProgram } from "../../../support/command.js";
import { convertFile } from "../../../support/host.js";
import { blobOf, newPackage, pointWkb, register } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const newPath = (extension = "gpkg") => scratch.path(`m${files++}.${extension}`);

/** The tables of the extensions for schemas and metadata as OGC 12-128r19, Annexes F.8 and F.9 have them. */
const extensions = `
CREATE TABLE gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT,
  description TEXT, mime_type TEXT, constraint_name TEXT, CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name));
CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL, constraint_type TEXT NOT NULL, value TEXT,
  min NUMERIC, min_is_inclusive BOOLEAN, max NUMERIC, max_is_inclusive BOOLEAN, description TEXT);
CREATE TABLE gpkg_metadata (id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL, md_scope TEXT NOT NULL DEFAULT
  'dataset', md_standard_uri TEXT NOT NULL, mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL);
CREATE TABLE gpkg_metadata_reference (reference_scope TEXT NOT NULL, table_name TEXT, column_name TEXT,
  row_id_value INTEGER, timestamp DATETIME NOT NULL, md_file_id INTEGER NOT NULL, md_parent_id INTEGER);
INSERT INTO gpkg_data_columns VALUES
  ('roads', 'kind', 'k', 'Kind', 'Kind of road', NULL, 'kinds'), ('roads', 'width', NULL, NULL, NULL, NULL, 'widths'),
  ('roads', 'code', NULL, 'Code', NULL, 'text/x-code', 'codes');
INSERT INTO gpkg_data_column_constraints VALUES
  ('kinds', 'enum', 'road', NULL, NULL, NULL, NULL, 'for cars'), ('kinds', 'enum', 'path', NULL, NULL, NULL, NULL, NULL),
  ('widths', 'range', NULL, 0, 1, 100.5, 0, 'metres'), ('codes', 'glob', '[A-Z]*', NULL, NULL, NULL, NULL, NULL);
INSERT INTO gpkg_metadata VALUES (3, 'dataset', 'http://www.isotc211.org/2005/gmd', 'text/xml', '<MD/>'),
  (4, 'attribute', 'urn:own', 'text/plain', 'of a column'), (9, 'dataset', 'urn:qgis', 'text/xml', '<qgis/>');
INSERT INTO gpkg_metadata_reference VALUES
  ('geopackage', NULL, NULL, NULL, '2020-01-01T00:00:00.000Z', 3, NULL),
  ('column', 'roads', 'kind', NULL, '2020-01-02T00:00:00.000Z', 4, 3),
  ('table', 'roads', NULL, NULL, '2020-01-03T00:00:00.000Z', 9, NULL);
`;

const source = newPath();
const plain = newPath();

function make(path: string, more: string): void {
  const database = newPackage(path);
  database.exec('CREATE TABLE "roads" (gid INTEGER PRIMARY KEY, the_geom POINT, kind TEXT, width DOUBLE, code TEXT)');
  register(database, "roads", "the_geom");
  database.prepare("INSERT INTO roads VALUES (7, ?, 'road', 4.5, 'A1')").run(blobOf(pointWkb(1, 2)));
  database.exec(more);
  database.close();
}

beforeAll(() => {
  make(plain, "");
  make(source, `${extensions} UPDATE gpkg_contents SET identifier = 'Main roads', description = 'Roads of 2020'`);
});

function rows(path: string, sql: string): unknown[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    return database.prepare(sql).raw().all();
  } finally {
    database.close();
  }
}

function changed(from: string, sql: string): string {
  const path = newPath();
  const database = new Sqlite(from, { readonly: true });
  database.exec(`VACUUM INTO '${path}'`);
  database.close();
  const copy = new Sqlite(path);
  copy.exec(sql);
  copy.close();
  return path;
}

const referencesSql = `SELECT reference_scope, r.table_name, column_name, timestamp, a.md_scope, a.md_standard_uri,
  a.mime_type, a.metadata, p.metadata FROM gpkg_metadata_reference r JOIN gpkg_metadata a ON a.id = md_file_id
  LEFT JOIN gpkg_metadata p ON p.id = md_parent_id ORDER BY timestamp`;
const columnsSql = "SELECT * FROM gpkg_data_columns ORDER BY column_name";
const rulesSql = "SELECT * FROM gpkg_data_column_constraints ORDER BY 1, 3";

describe("from a GeoPackage to a GeoPackage", () => {
  it("title, description, documents, descriptions and rules of columns, and names of columns stay", async () => {
    const path = newPath();
    const report = await convertFile(source, path);
    expect(report.losses).toEqual([]);
    expect(rows(path, "SELECT identifier, description FROM gpkg_contents")).toEqual([["Main roads", "Roads of 2020"]]);
    for (const sql of [referencesSql, columnsSql, rulesSql]) expect(rows(path, sql), sql).toEqual(rows(source, sql));
    expect(rows(path, "SELECT gid, kind, width, code FROM roads")).toEqual([[7, "road", 4.5, "A1"]]);
    expect(rows(path, "SELECT column_name FROM gpkg_geometry_columns")).toEqual([["the_geom"]]);
    // Each table of an extension is registered (F.8, F.9).
    expect(rows(path, "SELECT table_name FROM gpkg_extensions WHERE column_name IS NULL ORDER BY 1")).toEqual(
      ["data_column_constraints", "data_columns", "metadata", "metadata_reference"].map((name) => [`gpkg_${name}`]),
    );
  });

  it.runIf(hasProgram("ogrinfo"))("GDAL finds them", async () => {
    const path = newPath();
    await convertFile(source, path);
    const said = execFileSync("ogrinfo", ["-so", path, "roads"], { encoding: "utf8" });
    expect(said).toContain("IDENTIFIER=Main roads");
    expect(said).toContain("DESCRIPTION=Roads of 2020");
    expect(said).toMatch(/kind: String .*domain name=kinds/);
  });

  it("columns are described by their new names, and those left out no more", async () => {
    const path = newPath();
    const report = await convertFile(source, path, { select: ["kind", "width"], rename: { kind: "class" } });
    expect(report.losses).toEqual([]);
    expect(rows(path, "SELECT column_name, title FROM gpkg_data_columns ORDER BY 1")).toEqual([
      ["class", "Kind"],
      ["width", null],
    ]);
    expect(rows(path, "SELECT column_name FROM gpkg_metadata_reference WHERE column_name NOT NULL")).toEqual([
      ["class"],
    ]);
  });

  it("names of columns are those of the options where they are given", async () => {
    const path = newPath();
    await convertFile(source, path, { writerOptions: { fid: "id", geometry: "shape" } });
    expect(rows(path, "SELECT name FROM pragma_table_info('roads')").slice(0, 2)).toEqual([["id"], ["shape"]]);
  });

  it("a layer that rows are added to keeps what it says, and a loss says so where it differs", async () => {
    const path = newPath();
    await convertFile(source, path);
    expect((await convertFile(source, path, { append: true })).losses.map(({ code }) => code)).toEqual(["id-changed"]);
    const other = changed(source, "UPDATE gpkg_contents SET description = 'Roads of 2021'");
    const { losses } = await convertFile(other, path, { append: true });
    expect(losses).toContainEqual(
      expect.objectContaining({ code: "metadata-left-out", example: expect.stringMatching(/: description$/) }),
    );
    expect(rows(path, "SELECT description FROM gpkg_contents")).toEqual([["Roads of 2020"]]);
  });

  it("a rule of the same name and another meaning gets another name", async () => {
    const path = newPath();
    await convertFile(source, path);
    const other = changed(source, "UPDATE gpkg_data_column_constraints SET max = 7 WHERE constraint_name = 'widths'");
    await convertFile(other, path, { append: true, layerName: "paths" });
    expect(
      rows(path, "SELECT constraint_name FROM gpkg_data_columns WHERE table_name = 'paths' ORDER BY column_name"),
    ).toEqual([["codes"], ["kinds"], ["widths_1"]]);
  });
});

describe("what is in no layer", () => {
  it.each(["geojson", "csv", "kml", "gpx", "shp"])("is lost to %s with the words for it", async (extension) => {
    const { losses } = await convertFile(source, newPath(extension));
    const said = losses.filter(({ code }) => code === "metadata-left-out").map(({ example }) => example);
    expect(said[0]).toMatch(/title,.* metadata documents/);
    // KML keeps titles of fields, and reports other column metadata as losses.
    const ofColumns = extension === "kml" ? /rule for the values of the column "width"/ : /, descriptions of columns$/;
    expect(said).toContainEqual(expect.stringMatching(ofColumns));
  });

  const others = `
    CREATE TABLE pyramid (id INTEGER PRIMARY KEY);
    INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('pyramid', 'tiles', 'pyramid');
    CREATE TABLE layer_styles (id INTEGER PRIMARY KEY, qml TEXT);
    INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('layer_styles', 'attributes', 'layer_styles');
    CREATE TABLE remarks (id INTEGER PRIMARY KEY, remark TEXT); INSERT INTO remarks VALUES (1, 'x');
    CREATE TABLE unused (id INTEGER PRIMARY KEY);
    INSERT INTO gpkg_metadata VALUES (5, 'feature', 'urn:own', 'text/plain', 'of a row');
    INSERT INTO gpkg_metadata_reference VALUES ('row', 'roads', NULL, 7, '2020-01-04T00:00:00.000Z', 5, NULL);
  `;

  it("tables with rows that are no layers, and documents about rows, are losses", async () => {
    const path = changed(source, others);
    const report = await convertFile(path, newPath());
    expect(report.losses.map(({ code, count }) => [code, count])).toEqual([
      ["table-left-out", 2],
      ["metadata-left-out", 1],
    ]);
    expect(report.losses[0]!.example).toMatch(/"pyramid".*tiles.*; "remarks"/);
    // Who asks for a layer by name misses no other.
    const chosen = await convertFile(path, newPath(), { layers: ["roads"] });
    expect(chosen.losses).toEqual([]);
  });

  it("rules, triggers, indexes, views and relations are one note for the layer and one for the file", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(`
      CREATE TABLE kinds (kind TEXT PRIMARY KEY);
      INSERT INTO kinds VALUES ('a');
      CREATE TABLE streets (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT 'x' UNIQUE,
        kind TEXT CHECK (kind IN ('a', 'b')), FOREIGN KEY (kind) REFERENCES kinds (kind));
      INSERT INTO streets VALUES (1, 'y', 'a');
      CREATE INDEX by_kind ON streets (kind);
      CREATE TRIGGER count_it AFTER INSERT ON streets BEGIN SELECT 1; END;
      CREATE VIEW short AS SELECT name FROM streets;
      CREATE TABLE gpkgext_relations (id INTEGER PRIMARY KEY); INSERT INTO gpkgext_relations VALUES (1);
      CREATE TABLE gpkg_extensions (table_name, column_name, extension_name, definition, scope);
      INSERT INTO gpkg_extensions VALUES (NULL, NULL, 'im_own', 'x', 'read-write');
    `);
    register(database, "streets");
    register(database, "kinds");
    database.close();
    const { losses, notices } = await convertFile(path, newPath());
    expect(losses).toEqual([]);
    const found = notices.filter(({ code }) => code === "structure-left-out");
    expect(found.map(({ example }) => example)).toEqual([
      expect.stringMatching(/view "short".*relations.*extension "im_own"/),
      'the rules of its columns (NOT NULL, DEFAULT, UNIQUE, CHECK, FOREIGN KEY); the trigger "count_it"; the index "by_kind"',
      "the rules of its columns (PRIMARY KEY)",
    ]);
  });

  it("a file of layers alone leaves nothing out", async () => {
    const report = await convertFile(plain, newPath());
    expect([report.losses, report.notices]).toEqual([[], []]);
  });
});

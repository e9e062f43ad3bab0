import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import Sqlite from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { ZipFile } from "yazl";
import { SetAsideSchema } from "../../../../plugins/geopackage/schema/set-aside-schema.js";
import { loadSqlite } from "../../../../src/sqlite/index.js";
import { geoferry } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const createLayer = (n: number) =>
  `CREATE TABLE layer_${n} (id INTEGER PRIMARY KEY AUTOINCREMENT, n int);
   CREATE VIRTUAL TABLE rtree_${n} USING rtree(id, minx, maxx);
   CREATE TRIGGER gone_${n} AFTER DELETE ON layer_${n} BEGIN DELETE FROM rtree_${n} WHERE id = OLD.id; END`;

test("the schema that SQLite reads after each CREATE stays short, and is complete at the end", async () => {
  const count = 200;
  const expected = new Sqlite(":memory:");
  for (let n = 0; n < count; n++) expected.exec(createLayer(n));
  const schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";

  const driver = await loadSqlite();
  const database = new driver(scratch.path("many.db"));
  database.exec("BEGIN; CREATE TABLE gpkg_contents (a int)");
  const aside = new SetAsideSchema(database);
  let longest = 0;
  for (let n = 0; n < count; n++) {
    database.exec(createLayer(n));
    aside.countLayer();
    const { rows } = database
      .prepare<[], { rows: number | bigint }>("SELECT count(*) AS rows FROM sqlite_master")
      .get()!;
    longest = Math.max(longest, Number(rows));
  }
  // 64 layers of 6 rows, gpkg_contents and sqlite_sequence.
  expect(longest).toBeLessThan(64 * 6 + 2);
  expect(() => database.exec("CREATE TABLE layer_3 (a int)")).toThrow("already exists");
  aside.restore();
  database.exec("COMMIT; DROP TABLE gpkg_contents");
  database.close();

  const found = new Sqlite(scratch.path("many.db"));
  expect(found.prepare(schema).all()).toEqual(expected.prepare(schema).all());
  expect(found.pragma("integrity_check", { simple: true })).toBe("ok");
  found.exec("INSERT INTO layer_7 VALUES (1, 1); INSERT INTO rtree_7 VALUES (1, 0, 1); DELETE FROM layer_7");
  expect(found.prepare("SELECT count(*) FROM rtree_7").pluck().get()).toBe(0);
  found.close();
  expected.close();
});

test("a GeoPackage of many layers has the tables and triggers of each", async () => {
  const zip = new ZipFile();
  for (let n = 0; n < 150; n++) {
    const feature = { type: "Feature", properties: { n }, geometry: { type: "Point", coordinates: [n, 1] } };
    zip.addBuffer(Buffer.from(JSON.stringify(feature)), `layer${n}.geojson`);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(scratch.path("many.zip")));
  const { status, stderr } = geoferry(["convert", scratch.path("many.zip"), scratch.path("many.gpkg")]);
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const file = new Sqlite(scratch.path("many.gpkg"));
  expect(file.pragma("integrity_check", { simple: true })).toBe("ok");
  const counts = file.prepare(
    "SELECT type, count(*) AS n FROM sqlite_master WHERE tbl_name LIKE '%layer%' GROUP BY type",
  );
  // A table, its R-tree with three tables, and seven triggers (GeoPackage 1.4, F.3).
  expect(counts.all()).toEqual([
    { type: "table", n: 150 * 5 },
    { type: "trigger", n: 150 * 7 },
  ]);
  file.exec("DELETE FROM layer99");
  expect(file.prepare("SELECT count(*) FROM rtree_layer99_geom").pluck().get()).toBe(0);
  expect(file.prepare("SELECT count(*) FROM rtree_layer98_geom").pluck().get()).toBe(1);
  file.close();
});

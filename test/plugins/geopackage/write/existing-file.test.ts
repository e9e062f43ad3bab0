/** Rows and layers that are added to an existing file, in one transaction. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";
import { blobOf, featuresOf, newPackage, pointWkb, readLayers, register } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

/** A file with the layer "Places" of two points, as we write it. */
const base = scratch.path("base.gpkg");
const geojson = (features: readonly object[]) => {
  const path = scratch.path(`places${files++}.geojson`);
  const all = features.map((feature) => ({ type: "Feature", geometry: null, properties: {}, ...feature }));
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: all }));
  return path;
};
const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

beforeAll(async () => {
  const two = [
    { geometry: point(1, 2), properties: { name: "one" } },
    { geometry: point(3, 4), properties: { name: "two" } },
  ];
  await convertFile(geojson(two), base, { layerName: "Places" });
});

function copyOf(path: string): string {
  const copy = scratch.path(`copy${files++}.gpkg`);
  copyFileSync(path, copy);
  return copy;
}

function inside<T>(path: string, work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const query = (path: string, sql: string) => inside(path, (database) => database.prepare(sql).all());

function expectSound(path: string): void {
  inside(path, (database) => {
    expect(database.pragma("integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(database.pragma("foreign_key_check")).toEqual([]);
    expect(database.prepare("SELECT rtreecheck('rtree_Places_geom') AS said").get()).toEqual({ said: "ok" });
  });
}

const append = { append: true, layerName: "PLACES" };
const replace = { replaceLayer: true, layerName: "places" };

describe("rows that are added", () => {
  it("come with new columns, are found by the index, and change extent and date", async () => {
    const path = copyOf(base);
    await convertFile(geojson([{ geometry: point(-50, 60), properties: { NAME: "three", size: 7 } }]), path, append);
    const [layer] = await readLayers(path);
    expect(featuresOf(layer!).map((feature) => feature.properties)).toEqual([
      { name: "one", size: null },
      { name: "two", size: null },
      { name: "three", size: 7 },
    ]);
    expect(query(path, "SELECT id FROM rtree_Places_geom WHERE minx < 0")).toEqual([{ id: 3 }]);
    expect(query(path, "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents")).toEqual([
      { min_x: -50, min_y: 2, max_x: 3, max_y: 60 },
    ]);
    expectSound(path);
  });

  it("keep their ids where these are free", async () => {
    const path = copyOf(base);
    const rows = [2, 9].map((id) => ({ id, geometry: point(id, 0) }));
    const report = await convertFile(geojson(rows), path, append);
    const [layer] = await readLayers(path);
    expect(featuresOf(layer!).map((feature) => feature.id)).toEqual([1, 2, 3, 9]);
    expect(report.losses.filter(({ code }) => code === "id-changed")).toMatchObject([{ count: 1 }]);
    expectSound(path);
  });

  it("that are none leave the geometry type as it is", async () => {
    const path = copyOf(base);
    const types = () => query(path, "SELECT geometry_type_name AS type FROM gpkg_geometry_columns");
    const before = types();
    const report = await convertFile(geojson([]), path, append);
    expect(types()).toEqual(before);
    expect(report.notices.map(({ code }) => code)).not.toContain("geometry-type-widened");
    expectSound(path);
  });

  it("of another kind make the layer one for any geometry, in its schema too", async () => {
    const path = copyOf(base);
    const line = {
      type: "LineString",
      coordinates: [
        [0, 0, 5],
        [1, 1, 6],
      ],
    };
    const report = await convertFile(geojson([{ geometry: line }]), path, append);
    expect(report.notices.map(({ code }) => code)).toContain("geometry-type-widened");
    expect(query(path, "SELECT geometry_type_name AS type, z FROM gpkg_geometry_columns")).toEqual([
      { type: "GEOMETRY", z: 2 },
    ]);
    expect(query(path, "SELECT type FROM pragma_table_info('Places') WHERE name = 'geom'")).toEqual([
      { type: "GEOMETRY" },
    ]);
    expectSound(path);
  });

  it("fire the triggers of others, which stay with all other tables", async () => {
    const path = copyOf(base);
    inside(path, (database) =>
      database.exec(`CREATE TABLE log (name TEXT);
        CREATE TRIGGER logged AFTER INSERT ON Places BEGIN INSERT INTO log VALUES (NEW.name); END;
        CREATE INDEX by_name ON Places (name)`),
    );
    await convertFile(geojson([{ geometry: point(0, 0), properties: { name: "seen" } }]), path, append);
    expect(query(path, "SELECT * FROM log")).toEqual([{ name: "seen" }]);
    expectSound(path);
  });

  it("go into a layer of another program, with its own key, column and system", async () => {
    const path = scratch.path(`other${files++}.gpkg`);
    const database = newPackage(path);
    database.exec(`INSERT INTO gpkg_spatial_ref_sys VALUES ('utm', 7, 'EPSG', 32633, 'undefined', NULL);
      CREATE TABLE sites (ogc_id INTEGER PRIMARY KEY, n INTEGER, shape POINT, label TEXT)`);
    database.prepare("INSERT INTO sites VALUES (10, 1, ?, 'a')").run(blobOf(pointWkb(500000, 5e6), { srsId: 7 }));
    register(database, "sites", "shape", 7);
    database.close();
    const rows = [{ geometry: point(15, 48), properties: { label: "b", n: 2 } }];
    await convertFile(geojson(rows), path, { append: true, layerName: "sites" });
    const [layer] = await readLayers(path);
    expect(layer!.notices).toEqual([]);
    expect(featuresOf(layer!).map(({ id, properties }) => [id, properties])).toEqual([
      [10, { n: 1, label: "a" }],
      [11, { n: 2, label: "b" }],
    ]);
    const { coordinates } = featuresOf(layer!)[1]!.geometry as { type: "Point"; coordinates: number[] };
    // cs2cs EPSG:4326 EPSG:32633 says 500000.0000 5316300.2245 for 48 north, 15 east.
    expect(coordinates[0]).toBeCloseTo(500000, 3);
    expect(coordinates[1]).toBeCloseTo(5316300.2245, 3);
  });

  it("with a geometry are refused by a table that has none", async () => {
    const path = scratch.path(`plain${files++}.gpkg`);
    const database = newPackage(path);
    database.exec("CREATE TABLE plain (fid INTEGER PRIMARY KEY, a)");
    register(database, "plain");
    database.close();
    const before = readFileSync(path);
    const adding = convertFile(geojson([{ geometry: point(1, 2) }]), path, { append: true, layerName: "plain" });
    await expect(adding).rejects.toMatchObject({ kind: "unsupported" });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe("a layer that is replaced", () => {
  it("keeps its name, its indexes and triggers; other layers and extensions stay", async () => {
    const path = copyOf(base);
    inside(path, (database) =>
      database.exec(`CREATE TABLE log (name TEXT);
        CREATE TRIGGER logged AFTER INSERT ON Places BEGIN INSERT INTO log VALUES (NEW.name); END;
        CREATE INDEX by_name ON Places (name);
        CREATE TABLE other (fid INTEGER PRIMARY KEY, a TEXT); INSERT INTO other VALUES (1, 'stays');
        INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('other', 'attributes', 'other');
        INSERT INTO gpkg_extensions VALUES ('other', NULL, 'acme_thing', 'https://example.org', 'read-write')`),
    );
    const report = await convertFile(geojson([{ geometry: point(9, 9), properties: { name: "new" } }]), path, replace);
    expect(report.notices).toEqual([]);
    expect((await readLayers(path)).map((layer) => [layer.info.name, featuresOf(layer).length])).toEqual(
      expect.arrayContaining([
        ["Places", 1],
        ["other", 1],
      ]),
    );
    expect(query(path, "SELECT name FROM sqlite_master WHERE name IN ('logged', 'by_name') ORDER BY 1")).toEqual([
      { name: "by_name" },
      { name: "logged" },
    ]);
    expect(query(path, "SELECT extension_name AS name FROM gpkg_extensions ORDER BY 1")).toEqual([
      { name: "acme_thing" },
      { name: "gpkg_rtree_index" },
    ]);
    expectSound(path);
  });

  it("goes on saying of itself what the input leaves open", async () => {
    const path = copyOf(base);
    inside(path, (database) =>
      database.exec(`UPDATE gpkg_contents SET identifier = 'Towns', description = 'by hand' WHERE table_name = 'Places';
        CREATE TABLE gpkg_data_columns (table_name TEXT, column_name TEXT, name TEXT, title TEXT, description TEXT,
          mime_type TEXT, constraint_name TEXT, PRIMARY KEY (table_name, column_name));
        INSERT INTO gpkg_data_columns VALUES ('Places', 'name', NULL, 'Name of the place', NULL, NULL, NULL)`),
    );
    await convertFile(geojson([{ geometry: point(9, 9), properties: { name: "new" } }]), path, replace);
    expect(query(path, "SELECT identifier, description FROM gpkg_contents")).toEqual([
      { identifier: "Towns", description: "by hand" },
    ]);
    expect(query(path, "SELECT column_name, title FROM gpkg_data_columns")).toEqual([
      { column_name: "name", title: "Name of the place" },
    ]);
    expectSound(path);
  });

  it("reports an index that does not fit the new layer", async () => {
    const path = copyOf(base);
    inside(path, (database) => database.exec("CREATE INDEX by_name ON Places (name)"));
    const report = await convertFile(geojson([{ geometry: point(9, 9), properties: { other: 1 } }]), path, replace);
    expect(report.notices.map(({ code }) => code)).toEqual(["definition-dropped"]);
    expectSound(path);
  });
});

describe("a file that cannot be changed", () => {
  it("is as it was, byte for byte, when something goes wrong on the way", async () => {
    const path = copyOf(base);
    inside(path, (database) =>
      database.exec(
        "CREATE TRIGGER refuse BEFORE INSERT ON Places WHEN NEW.name = 'bad' BEGIN SELECT RAISE(ABORT, 'no bad ones'); END",
      ),
    );
    const before = readFileSync(path);
    const rows = Array.from({ length: 5000 }, (_, i) => ({
      geometry: point(i % 90, 1),
      properties: { name: i === 4999 ? "bad" : "good", more: "x".repeat(200) },
    }));
    await expect(convertFile(geojson(rows), path, append)).rejects.toMatchObject({ kind: "output" });
    await expect(convertFile(geojson(rows), path, append)).rejects.toThrow(/no bad ones/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("is one whose name leaves no room for the journal", async () => {
    const most = scratch.path(`${"n".repeat(247 - 5)}.gpkg`);
    const long = scratch.path(`${"n".repeat(248 - 5)}.gpkg`);
    for (const path of [most, long]) copyFileSync(base, path);
    await convertFile(geojson([{ geometry: point(1, 2) }]), most, append);
    expect(query(most, "SELECT count(*) AS n FROM Places")).toEqual([{ n: 3 }]);
    const refused = convertFile(geojson([{ geometry: point(1, 2) }]), long, append);
    await expect(refused).rejects.toMatchObject({ code: "unsupported" });
    await expect(refused).rejects.toThrow(/name has 248 bytes.*allow 247/);
  });

  it.each([
    ["writes to it", "BEGIN IMMEDIATE; UPDATE gpkg_contents SET description = 'theirs'"],
    ["reads it", "BEGIN; SELECT * FROM Places"],
  ])("is changed when another program that %s has ended, without blocking this thread", async (_, sql) => {
    const path = copyOf(base);
    const other = new Sqlite(path);
    other.exec(sql);
    // A timer of the same thread, which only runs if nothing blocks it.
    const timer = setTimeout(() => other.exec("COMMIT"), 500);
    try {
      await convertFile(geojson([{ geometry: point(1, 2) }]), path, append);
    } finally {
      clearTimeout(timer);
      other.close();
    }
    expect(query(path, "SELECT count(*) AS n FROM Places")).toEqual([{ n: 3 }]);
  });

  it("is said to be locked while another program writes to it", { timeout: 30_000 }, async () => {
    const path = copyOf(base);
    const other = new Sqlite(path);
    other.exec("BEGIN IMMEDIATE; UPDATE gpkg_contents SET description = 'theirs'");
    try {
      await expect(convertFile(geojson([{ geometry: point(1, 2) }]), path, append)).rejects.toMatchObject({
        code: "output-locked",
        kind: "locked",
      });
    } finally {
      other.exec("ROLLBACK");
      other.close();
    }
    expect(query(path, "SELECT count(*) AS n FROM Places")).toEqual([{ n: 2 }]);
  });
});

describe("foreign keys of other tables", () => {
  const visited = (path: string, sql: string) =>
    inside(path, (database) => {
      database.pragma("foreign_keys = OFF");
      database.exec(sql);
    });
  const visits =
    "CREATE TABLE visits (id INTEGER PRIMARY KEY, place INTEGER REFERENCES Places (fid)); INSERT INTO visits VALUES (1, 1), (2, 2);";

  it("refuse a new layer that lacks the rows which they refer to", async () => {
    const path = copyOf(base);
    visited(path, visits);
    const before = readFileSync(path);
    const refused = convertFile(geojson([{ id: 1, geometry: point(9, 9) }]), path, replace);
    await expect(refused).rejects.toMatchObject({ code: "foreign-key-violation" });
    await expect(refused).rejects.toThrow(/"visits".*1 row \(row 2\).*"Places"/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("let a layer with the same ids take the place", async () => {
    const path = copyOf(base);
    visited(path, visits);
    const rows = [2, 1].map((id) => ({ id, geometry: point(id, 9), properties: { name: `new ${id}` } }));
    await convertFile(geojson(rows), path, replace);
    expect(query(path, "SELECT name FROM visits JOIN Places ON fid = place ORDER BY id")).toEqual([
      { name: "new 1" },
      { name: "new 2" },
    ]);
    expectSound(path);
  });

  it("may dangle as they did before", async () => {
    const path = copyOf(base);
    visited(path, `${visits} INSERT INTO visits VALUES (3, 77)`);
    const rows = [1, 2].map((id) => ({ id, geometry: point(id, 9) }));
    await convertFile(geojson(rows), path, replace);
    expect(inside(path, (database) => database.pragma("foreign_key_check"))).toEqual([
      { table: "visits", rowid: 3, parent: "Places", fkid: 0 },
    ]);
  });

  it("refuse a layer without the column that they refer to, and rows that refer to nothing", async () => {
    const named = copyOf(base);
    visited(
      named,
      `CREATE TABLE aliases (place TEXT REFERENCES Places (name)); CREATE UNIQUE INDEX places_name ON Places (name);`,
    );
    const other = geojson([{ id: 1, geometry: point(9, 9), properties: { title: "one" } }]);
    await expect(convertFile(other, named, replace)).rejects.toMatchObject({ code: "foreign-key-violation" });

    const owned = copyOf(base);
    visited(owned, "CREATE TABLE owners (id INTEGER PRIMARY KEY); ALTER TABLE Places ADD owner INT REFERENCES owners");
    const row = geojson([{ geometry: point(9, 9), properties: { owner: 5 } }]);
    await expect(convertFile(row, owned, append)).rejects.toThrow(/"Places".*"owners"/);
    expect(query(owned, "SELECT count(*) AS n FROM Places")).toEqual([{ n: 2 }]);
  });
});

describe("columns that must have a value", () => {
  it("are named where a feature has none for them", async () => {
    const path = scratch.path("strict.gpkg");
    const database = newPackage(path);
    database.exec("CREATE TABLE spots (id INTEGER PRIMARY KEY, shape POINT NOT NULL, name TEXT NOT NULL)");
    register(database, "spots", "shape");
    database.close();
    const options = { append: true, layerName: "spots" };
    const nowhere = convertFile(geojson([{ properties: { name: "a" } }, { geometry: point(1, 2) }]), path, options);
    await expect(nowhere).rejects.toMatchObject({ code: "unsupported" });
    await expect(nowhere).rejects.toThrow(/"shape" of "spots".*--geometry-type/);
    const unnamed = convertFile(geojson([{ geometry: point(1, 2) }]), path, options);
    await expect(unnamed).rejects.toThrow(/"name" of "spots".*--where/);
    expect(query(path, "SELECT count(*) AS n FROM spots")).toEqual([{ n: 0 }]);
  });
});

it("a trigger that drops rows ends the run, and nothing is changed", async () => {
  const path = scratch.path("dropping.gpkg");
  const database = newPackage(path);
  database.exec(`CREATE TABLE spots (id INTEGER PRIMARY KEY, shape POINT, name TEXT);
    CREATE TRIGGER picky BEFORE INSERT ON spots WHEN NEW.name = 'b' BEGIN SELECT RAISE(IGNORE); END`);
  register(database, "spots", "shape");
  database.close();
  const rows = geojson(["a", "b", "c"].map((name) => ({ geometry: point(1, 2), properties: { name } })));
  const failed = convertFile(rows, path, { append: true, layerName: "spots" });
  await expect(failed).rejects.toMatchObject({ code: "rows-not-taken", kind: "output" });
  expect(query(path, "SELECT count(*) AS n FROM spots")).toEqual([{ n: 0 }]);
});

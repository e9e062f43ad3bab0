import { readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import geopackage from "../../../plugins/geopackage/index.js";
import type { Batch } from "../../../src/model/index.js";
import { openDataset, Random, RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { blobOf, featuresOf, newPackage, pointWkb, readLayers, register } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const newPath = () => scratch.path(`r${files++}.gpkg`);

/** The features of the one layer of a package that `sql` fills. */
async function featuresIn(sql: string, ...values: readonly unknown[]) {
  const path = newPath();
  const database = newPackage(path);
  const statements = sql.split(";\n");
  for (const statement of statements.slice(0, -1)) database.exec(statement);
  register(database, "t", /\bgeom\b/.test(sql) ? "geom" : null);
  database.prepare(statements.at(-1)!).run(...values);
  database.close();
  const [layer] = await readLayers(path);
  return { layer: layer!, features: featuresOf(layer!) };
}

const table = (columns: string) => `CREATE TABLE t (fid INTEGER PRIMARY KEY, ${columns})`;

describe("geometries", () => {
  const point = { type: "Point", coordinates: [16.4, 48.2] };
  it.each([
    ["without an envelope, little-endian", blobOf(pointWkb(16.4, 48.2))],
    ["big-endian header and WKB", blobOf(pointWkb(16.4, 48.2, true), { big: true })],
    ["big-endian header, little-endian WKB", blobOf(pointWkb(16.4, 48.2), { big: true })],
    ["an envelope of x and y", blobOf(pointWkb(16.4, 48.2), { kind: 1, envelope: [16.4, 16.4, 48.2, 48.2] })],
    ["an envelope with z", blobOf(pointWkb(16.4, 48.2), { kind: 2, envelope: [1, 1, 2, 2, 3, 3] })],
    ["an envelope with m", blobOf(pointWkb(16.4, 48.2), { kind: 3, envelope: [1, 1, 2, 2, 3, 3] })],
    ["an envelope with z and m", blobOf(pointWkb(16.4, 48.2), { kind: 4, envelope: [1, 1, 2, 2, 3, 3, 4, 4] })],
    ["the flag for an empty geometry that is none", blobOf(pointWkb(16.4, 48.2), { flags: 0x10 })],
    ["plain WKB", pointWkb(16.4, 48.2)],
  ])("with %s", async (_, blob) => {
    const { features } = await featuresIn(`${table("geom POINT")};\nINSERT INTO t VALUES (1, ?)`, blob);
    expect(features[0]!.geometry).toEqual(point);
  });

  it("an empty point has NaN for coordinates", async () => {
    const blob = blobOf(pointWkb(Number.NaN, Number.NaN), { flags: 0x10 });
    const { features } = await featuresIn(`${table("geom POINT")};\nINSERT INTO t VALUES (1, ?)`, blob);
    expect(features[0]!.geometry).toEqual({ type: "Point", coordinates: [] });
  });

  it("arcs become lines, and that is a loss", async () => {
    // CIRCULARSTRING (0 0, 1 1, 2 0): half a circle around (1 0).
    const wkb = Buffer.alloc(9 + 48);
    wkb[0] = 1;
    wkb.writeUInt32LE(8, 1);
    wkb.writeUInt32LE(3, 5);
    [0, 0, 1, 1, 2, 0].forEach((value, i) => {
      wkb.writeDoubleLE(value, 9 + 8 * i);
    });
    const { layer, features } = await featuresIn(
      `${table("geom GEOMETRY")};\nINSERT INTO t VALUES (1, ?)`,
      blobOf(wkb),
    );
    const { type, coordinates } = features[0]!.geometry as { type: string; coordinates: number[][] };
    expect(type).toBe("LineString");
    expect(coordinates.length).toBeGreaterThanOrEqual(46);
    for (const [x, y] of coordinates) expect(Math.hypot(x! - 1, y!)).toBeCloseTo(1, 12);
    expect(layer.losses).toMatchObject([{ code: "curve-linearized", count: 1 }]);
  });

  it("geometries with another srs_id than their layer get a notice", async () => {
    const { layer } = await featuresIn(
      `${table("geom POINT")};\nINSERT INTO t VALUES (1, ?)`,
      blobOf(pointWkb(1, 2), { srsId: 3857 }),
    );
    expect(layer.notices).toMatchObject([{ code: "srs-differs", count: 1 }]);
  });

  it.each([
    ["of an extension", blobOf(Buffer.from("ABCDxx"), { flags: 0x20 }), "ABCD"],
    ["cut off", blobOf(pointWkb(1, 2).subarray(0, 15)), "is truncated"],
    ["of an envelope that there is not", blobOf(pointWkb(1, 2), { kind: 5 }), "envelope of kind 5"],
    ["text", "POINT (1 2)", "not a blob"],
    ["of no kind", Buffer.from("GP\0\x01____hello"), "is no"],
  ])("%s are rejects that name their row, and the others are read", async (_, value, words) => {
    const { layer, features } = await featuresIn(
      `${table("geom BLOB, n INTEGER")};\nINSERT INTO t VALUES (7, ?, 1), (8, ?, 2), (9, NULL, 3)`,
      value,
      blobOf(pointWkb(1, 2)),
    );
    expect(layer.rejects).toHaveLength(1);
    expect(layer.rejects[0]).toMatchObject({ code: "geometry-malformed", place: { record: 1 } });
    expect(layer.rejects[0]!.reason).toContain(words);
    expect(layer.rejects[0]!.reason).toContain("rowid 7");
    expect(features.map((feature) => [feature.id, feature.geometry?.type ?? null])).toEqual([
      [8, "Point"],
      [9, null],
    ]);
    expect(layer.records).toEqual([2, 3]);
  });
});

describe("types of columns", () => {
  it("are those of the standard's table, and SQLite's own rules for others", async () => {
    const declared = {
      a: ["BOOLEAN", "boolean"],
      b: ["TINYINT", "int32"],
      c: ["SMALLINT", "int32"],
      d: ["MEDIUMINT", "int32"],
      e: ["INT", "int64"],
      f: ["INTEGER", "int64"],
      g: ["FLOAT", "double"],
      h: ["DOUBLE", "double"],
      i: ["REAL", "double"],
      j: ["TEXT", "text"],
      k: ["TEXT(20)", "text"],
      l: ["BLOB", "binary"],
      m: ["BLOB(5)", "binary"],
      n: ["DATE", "date"],
      o: ["DATETIME", "datetime"],
      p: ["VARCHAR(10)", "text"],
      q: ["BIGINT", "int64"],
      r: ["DOUBLE PRECISION", "double"],
      s: ["boolean", "boolean"],
    } as const;
    const columns = Object.entries(declared).map(([name, [type]]) => `${name} ${type}`);
    const { layer } = await featuresIn(`${table(columns.join(", "))};\nINSERT INTO t (fid) VALUES (1)`);
    expect(layer.info.fields!.map(({ name, type }) => [name, type])).toEqual(
      Object.entries(declared).map(([name, [, type]]) => [name, type]),
    );
  });

  it("of columns that say nothing come from all their values", async () => {
    const { layer, features } = await featuresIn(
      `${table("a, b NUMERIC(5, 2), c, d, e")};\nINSERT INTO t VALUES (1, 1, 1, 'x', x'00', NULL), (2, 2, 2.5, 7, 'y', NULL)`,
    );
    expect(layer.info.fields!.map((field) => field.type)).toEqual(["int64", "double", "text", "binary", "text"]);
    expect(features.map((feature) => feature.properties)).toEqual([
      { a: 1, b: 1, c: "x", d: "AA==", e: null },
      { a: 2, b: 2.5, c: "7", d: "eQ==", e: null },
    ]);
  });

  it("values that do not fit their column's type become null, with a loss", async () => {
    const { layer, features } = await featuresIn(
      `${table("b BOOLEAN, i MEDIUMINT, l INTEGER, r REAL, d DATE, t DATETIME")};\nINSERT INTO t VALUES
        (1, 2, 3000000000, 1.5, 'many', '2020-13-01', 'yesterday'),
        (2, 1, 7, 9007199254740993, 3, '2020/01/02', '2020-01-02 03:04'),
        (3, 'true', -8, 4, 9007199254740993, '2020-01-02', '2020-01-02T03:04:05.678Z')`,
    );
    expect(layer.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["value-unreadable", "b", 1],
      ["value-unreadable", "i", 1],
      ["value-unreadable", "l", 1],
      ["value-unreadable", "r", 1],
      ["value-unreadable", "d", 1],
      ["value-unreadable", "t", 1],
    ]);
    expect(features.map((feature) => Object.values(feature.properties))).toEqual([
      [null, null, null, null, null, null],
      [true, 7, "9007199254740993", 3, "2020-01-02", "2020-01-02T03:04:00"],
      [true, -8, 4, 9007199254740992, "2020-01-02", "2020-01-02T03:04:05.678Z"],
    ]);
  });

  it("days that the calendar does not have become null, with a loss", async () => {
    const { layer, features } = await featuresIn(
      `${table("d DATE, t DATETIME")};\nINSERT INTO t VALUES
        (1, '2023-06-31', '2023-02-29T12:00:00Z'), (2, '2023/06/31', '2023-02-29 12:00'), (3, '2024-02-29', '2024-02-29T12:00:00Z')`,
    );
    expect(layer.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["value-unreadable", "d", 2],
      ["value-unreadable", "t", 2],
    ]);
    expect(features.map((feature) => Object.values(feature.properties))).toEqual([
      [null, null],
      [null, null],
      ["2024-02-29", "2024-02-29T12:00:00Z"],
    ]);
  });

  it("text that is no UTF-8 keeps what can be read of it", async () => {
    const { layer, features } = await featuresIn(
      `${table("a TEXT")};\nINSERT INTO t VALUES (1, CAST(x'41ff42' AS TEXT))`,
    );
    expect(features[0]!.properties).toEqual({ a: "A\uFFFDB" });
    expect(layer.losses).toMatchObject([{ code: "text-undecodable", field: "a", count: 1 }]);
  });

  it("text that is declared as JSON is JSON", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(`${table("a TEXT")}; INSERT INTO t VALUES (1, '{"x":[1]}'), (2, 'plain');
      CREATE TABLE gpkg_data_columns (table_name TEXT, column_name TEXT, mime_type TEXT);
      INSERT INTO gpkg_data_columns VALUES ('T', 'A', 'application/json')`);
    register(database, "t");
    database.close();
    const [layer] = await readLayers(path);
    expect(featuresOf(layer!).map((feature) => feature.properties)).toEqual([{ a: { x: [1] } }, { a: "plain" }]);
  });

  it("rows that are older than a column without a type have its default, which makes the type", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(`${table("a TEXT")}; INSERT INTO t VALUES (1, 'old');
      ALTER TABLE t ADD COLUMN n DECIMAL(10, 2) DEFAULT (5.5); INSERT INTO t VALUES (2, 'new', 6)`);
    register(database, "t");
    database.close();
    const [layer] = await readLayers(path);
    expect(featuresOf(layer!).map((feature) => feature.properties.n)).toEqual([5.5, 6]);
  });

  it("a further geometry column is kept as the bytes that it holds", async () => {
    const { features } = await featuresIn(
      `${table("a LINESTRING, b POINT")};\nINSERT INTO t VALUES (1, NULL, ?)`,
      Buffer.from([255]),
    );
    expect(features.map((feature) => feature.properties.b)).toEqual(["/w=="]);
  });

  it("rows that are older than a column have its default", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(`${table("a TEXT")}; INSERT INTO t VALUES (1, 'old');
      ALTER TABLE t ADD COLUMN n INTEGER DEFAULT -5; ALTER TABLE t ADD COLUMN s TEXT DEFAULT 'it''s';
      INSERT INTO t VALUES (2, 'new', 6, 'mine')`);
    register(database, "t");
    database.close();
    const [layer] = await readLayers(path);
    expect(featuresOf(layer!).map((feature) => feature.properties)).toEqual([
      { a: "old", n: -5, s: "it's" },
      { a: "new", n: 6, s: "mine" },
    ]);
  });
});

describe("ids", () => {
  it("beyond 32 bits and below zero are kept", async () => {
    const { features } = await featuresIn(
      `${table("a")};\nINSERT INTO t VALUES (-9223372036854775808, 1), (-5, 2), (4294967296, 3), (9223372036854775807, 4)`,
    );
    expect(features.map((feature) => feature.id)).toEqual([
      "-9223372036854775808",
      -5,
      4294967296,
      "9223372036854775807",
    ]);
  });

  it("are rowids where the key is no whole number, which stays a field", async () => {
    const { features } = await featuresIn(
      "CREATE TABLE t (code TEXT PRIMARY KEY, n INTEGER);\nINSERT INTO t VALUES ('b', 1), ('a', 2)",
    );
    expect(features).toMatchObject([
      { id: 1, properties: { code: "b", n: 1 } },
      { id: 2, properties: { code: "a", n: 2 } },
    ]);
  });

  it("a table without a rowid and one with a computed column are read by SQLite", async () => {
    const without = await featuresIn(
      "CREATE TABLE t (code TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;\nINSERT INTO t VALUES ('b', 1), ('a', 2)",
    );
    expect(without.features.map((feature) => feature.properties)).toEqual([
      { code: "a", n: 2 },
      { code: "b", n: 1 },
    ]);
    const computed = await featuresIn(
      `${table("n INTEGER, twice INTEGER AS (2 * n), geom POINT")};\nINSERT INTO t (fid, n, geom) VALUES (3, 21, ?)`,
      blobOf(pointWkb(1, 2)),
    );
    expect(computed.features).toMatchObject([
      { geometry: { type: "Point", coordinates: [1, 2] }, properties: { n: 21, twice: 42 } },
    ]);
  });
});

describe("layers", () => {
  const names = async (fill: (database: ReturnType<typeof newPackage>) => void) => {
    const path = newPath();
    const database = newPackage(path);
    fill(database);
    database.close();
    return (await readLayers(path)).map((layer) => layer.info.name);
  };
  const make = (database: ReturnType<typeof newPackage>, ...tables: readonly string[]) => {
    for (const name of tables) database.exec(`CREATE TABLE "${name}" (fid INTEGER PRIMARY KEY, a)`);
  };

  it("are in the order of gpkg_contents, with names in any letter case", async () => {
    expect(
      await names((database) => {
        make(database, "Zebra", "apple");
        register(database, "ZEBRA");
        register(database, "Apple");
      }),
    ).toEqual(["ZEBRA", "Apple"]);
  });

  it("are also those that are not listed, unless tables of attributes are", async () => {
    const fill = (attributes: boolean) => (database: ReturnType<typeof newPackage>) => {
      make(database, "listed", "other", "idx_x");
      database.exec("CREATE VIEW seen AS SELECT a FROM listed; CREATE VIEW spatial_ref_sys AS SELECT 1");
      database.exec("INSERT INTO gpkg_contents (table_name, data_type) VALUES ('listed', 'features')");
      if (attributes) register(database, "other");
    };
    expect(await names(fill(false))).toEqual(["listed", "other", "seen"]);
    expect(await names(fill(true))).toEqual(["listed", "other"]);
  });

  it("a view has the types of what it shows, and the geometry that is registered", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(
      `${table("geom POINT, n MEDIUMINT, s TEXT")}; CREATE VIEW v AS SELECT fid, geom AS shape, n, n / 2.0 AS half FROM t`,
    );
    database.prepare("INSERT INTO t VALUES (1, ?, 5, 'x')").run(blobOf(pointWkb(3, 4)));
    register(database, "t", "geom");
    register(database, "v", "shape");
    database.close();
    const [, view] = await readLayers(path);
    expect(view!.info.fields!.map(({ name, type }) => [name, type])).toEqual([
      ["fid", "int64"],
      ["n", "int32"],
      ["half", "double"],
    ]);
    expect(featuresOf(view!)).toMatchObject([
      { geometry: { type: "Point", coordinates: [3, 4] }, properties: { fid: 1, n: 5, half: 2.5 } },
    ]);
    expect(view!.info.crs?.id).toBe("EPSG:4326");
  });

  it("have the system of their column; -1, 0 and undefined ones are none", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec(`INSERT INTO gpkg_spatial_ref_sys VALUES
      ('custom', 99999, 'NONE', 99999, 'LOCAL_CS["Undefined SRS",UNIT["unknown",0]]', NULL),
      ('utm', 5, 'epsg', 32633, 'undefined', NULL)`);
    const ids = { plane: -1, globe: 0, local: 99999, utm: 5, wgs: 4326, lost: 12345 };
    for (const [name, id] of Object.entries(ids)) {
      database.exec(`CREATE TABLE ${name} (fid INTEGER PRIMARY KEY, geom POINT)`);
      register(database, name, "geom", id);
    }
    database.close();
    const layers = await readLayers(path);
    expect(layers.map((layer) => [layer.info.name, layer.info.crs?.id ?? null])).toEqual([
      ["plane", null],
      ["globe", null],
      ["local", null],
      ["utm", "EPSG:32633"],
      ["wgs", "EPSG:4326"],
      ["lost", null],
    ]);
    expect(layers[0]!.notices).toMatchObject([{ code: "crs-unreadable" }]);
  });
});

describe("what a file is", () => {
  const identify = (head: Buffer, name = "x.db") =>
    geopackage.identify(head, { name, size: head.length, findSibling: () => null });

  it("a GeoPackage is identified by its content", () => {
    const path = newPath();
    newPackage(path).close();
    const bytes = readFileSync(path);
    for (const [id, likeness] of [
      ["GPKG", "yes"],
      ["GP10", "yes"],
      ["GP11", "yes"],
      ["\0\0\0\0", "yes"],
    ] as const) {
      bytes.write(id, 68, "latin1");
      expect(identify(bytes), id).toBe(likeness);
    }
    const plain = Buffer.alloc(4096);
    plain.write("SQLite format 3\0", 0, "latin1");
    expect(identify(plain)).toBe("no");
    expect(identify(plain, "x.gpkg")).toBe("maybe");
    expect(identify(Buffer.from("{}"))).toBe("no");
  });

  it.each([
    ["a text", Buffer.from("not a database".repeat(20)), /not an SQLite database/],
    ["a header alone", null, /ends early/],
    ["half of it", 0.5, /ends early/],
  ])("%s that is called a GeoPackage is refused in words", async (_, what, words) => {
    const path = newPath();
    const database = newPackage(path);
    database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
    database.exec(
      `INSERT INTO t (a) VALUES ${Array(400).fill("('text of some length, so that there are pages')").join(",")}`,
    );
    register(database, "t");
    database.close();
    const bytes = readFileSync(path);
    const cut = typeof what === "number" ? Math.floor(bytes.length * what) : 100;
    writeFileSync(path, what instanceof Buffer ? what : bytes.subarray(0, cut));
    await expect(readLayers(path)).rejects.toMatchObject({ kind: "input" });
    await expect(readLayers(path)).rejects.toThrow(words);
  });

  it("damage is the error with --skip-errors if no layer is left", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
    register(database, "t");
    database.exec(`INSERT INTO t (a) VALUES ${Array(2000).fill("('text of some length')").join(",")}`);
    // The schema does not fit the first page any more: what it says of the table stands at the end of the file now.
    for (let n = 0; n < 50; n++) {
      database.exec(`CREATE TRIGGER t${n} AFTER INSERT ON t BEGIN SELECT '${"x".repeat(200)}'; END`);
    }
    database.close();
    const bytes = readFileSync(path);
    const [pages, left] = [bytes.length / 4096, Math.floor(bytes.length / 2)];
    writeFileSync(path, bytes.subarray(0, left));
    const expected = {
      code: "input-truncated",
      message: expect.stringContaining(`byte ${left}: the file ends early: ${pages} pages`),
    };
    await expect(readLayers(path, {}, true)).rejects.toMatchObject(expected);
  });

  it("with --skip-errors the rows outside of the damage are read", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
    database.exec(
      `INSERT INTO t (a) VALUES ${Array(2000).fill("('text of some length, so that there are pages')").join(",")}`,
    );
    register(database, "t");
    const [{ rootpage }] = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 't'").all() as [
      { rootpage: number },
    ];
    database.close();
    const bytes = readFileSync(path);
    // A leaf in the middle: the second child of the root.
    const root = (rootpage - 1) * 4096;
    const leaf = bytes.readUInt32BE(root + bytes.readUInt16BE(root + 12 + 2));
    bytes.fill(0xee, (leaf - 1) * 4096, leaf * 4096);
    writeFileSync(path, bytes);
    await expect(readLayers(path)).rejects.toThrow(
      new RegExp(`byte ${(leaf - 1) * 4096}: page ${leaf}.*read past it with --skip-errors$`),
    );
    const context = new RecordingContext(true);
    await using dataset = await openDataset(geopackage, path, context);
    let count = 0;
    for await (const batch of dataset.layers[0]!.batches()) count += batch.length;
    expect(count).toBeGreaterThan(1900);
    expect(count).toBeLessThan(2000);
    expect(context.skippedRanges).toMatchObject([{ place: { byte: (leaf - 1) * 4096 } }]);
  });

  /** A table of a single page, five rows on it, and what is done to the page. */
  async function damagedPage(damage: (page: Buffer) => void) {
    const path = newPath();
    const database = newPackage(path);
    database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
    database.exec("INSERT INTO t (a) VALUES ('one'), ('two'), ('three'), ('four'), ('fives')");
    register(database, "t");
    const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 't'").get() as {
      rootpage: number;
    };
    database.close();
    const bytes = readFileSync(path);
    const at = (rootpage - 1) * 4096;
    damage(bytes.subarray(at, at + 4096));
    writeFileSync(path, bytes);
    const whole = new Sqlite(path);
    const verdict = whole.pragma("integrity_check", { simple: true });
    whole.close();
    const error = await readLayers(path).catch((thrown: unknown) => thrown);
    const context = new RecordingContext(true);
    await using dataset = await openDataset(geopackage, path, context);
    const values = [];
    for await (const batch of dataset.layers[0]!.batches()) {
      for (const { properties } of (batch as Batch).features()) values.push(properties.a);
    }
    return { verdict, error, values, gaps: context.skippedRanges, at };
  }

  it.each([
    ["has lost its last row", (page: Buffer) => page.writeUInt16BE(4, 3), ["one", "two", "three", "four"]],
    ["has lost all rows", (page: Buffer) => page.writeUInt16BE(0, 3), []],
    // "three" and "fives" take as many bytes.
    [
      "names one row twice and another one not at all",
      (page: Buffer) => page.copy(page, 8 + 2 * 4, 8 + 2 * 2, 8 + 2 * 3),
      ["one", "two", "three", "four", "three"],
    ],
  ])("is an error, as it is for SQLite, where a page %s", async (_, damage, read) => {
    const { verdict, error, values, gaps, at } = await damagedPage(damage);
    expect(verdict).not.toBe("ok");
    expect(error).toMatchObject({ code: "input-corrupt", message: expect.stringContaining(`byte ${at}: page`) });
    expect(values).toEqual(read);
    expect(gaps).toMatchObject([{ place: { byte: at } }]);
  });

  it("is an error, as it is for SQLite, where the page above those of the rows has lost all but the last", async () => {
    const path = newPath();
    const database = newPackage(path);
    database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
    const texts = Array(2000).fill("('text of some length, so that there are pages')");
    database.exec(`INSERT INTO t (a) VALUES ${texts.join(",")}`);
    register(database, "t");
    const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = 't'").get() as {
      rootpage: number;
    };
    database.close();
    const bytes = readFileSync(path);
    const at = (rootpage - 1) * 4096;
    expect(bytes[at]).toBe(5);
    bytes.writeUInt16BE(0, at + 3);
    writeFileSync(path, bytes);
    const whole = new Sqlite(path);
    expect(whole.pragma("integrity_check", { simple: true })).not.toBe("ok");
    whole.close();
    await expect(readLayers(path)).rejects.toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining(`byte ${at}: page ${rootpage}: 0 entries have 0 bytes`),
    });
  });

  it.each([512, 4096, 65_536])(
    "is whole, with pages of %i bytes, where rows were often changed and deleted",
    async (size) => {
      const path = newPath();
      const database = newPackage(path, `PRAGMA page_size = ${size}`);
      database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, a)");
      register(database, "t");
      const random = new Random(size);
      const put = database.prepare("INSERT OR REPLACE INTO t VALUES (?, ?)");
      const remove = database.prepare("DELETE FROM t WHERE fid = ?");
      database.transaction(() => {
        for (let n = 0; n < 6000; n++) {
          const [id, width] = [
            random.below(700) - 50,
            random.below(4) === 0 ? random.below(2 * size) : random.below(30),
          ];
          if (random.below(3) === 0) remove.run(id);
          else put.run(id, "x".repeat(width));
        }
      })();
      const rows = database.prepare("SELECT fid AS id, length(a) AS length FROM t ORDER BY fid").all();
      expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
      database.close();
      const [layer] = await readLayers(path);
      const found = featuresOf(layer!).map(({ id, properties }) => ({ id, length: (properties.a as string).length }));
      expect(found).toEqual(rows);
    },
  );
});

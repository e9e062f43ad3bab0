/** Tables read page by page, against SQLite's own reading of the same file. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../../plugins/geopackage/sqlite/database.js";
import { FileSource } from "../../../src/io/input/source.js";
import { RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { createRandom } from "../../support/random.js";
import { blobOf, featuresOf, newPackage, pointWkb, readLayers, register } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Random = () => number;

function valueFrom(random: Random): null | bigint | number | string | Buffer {
  const length = random() < 0.1 ? Math.floor(random() * 20_000) : Math.floor(random() * 30);
  switch (Math.floor(random() * 7)) {
    case 0:
      return null;
    case 1:
      return BigInt(Math.floor((random() - 0.5) * 2 ** Math.floor(random() * 53)));
    case 2:
      return BigInt.asIntN(64, BigInt(Math.floor(random() * 2 ** 53)) << 11n);
    case 3:
      return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
    case 4:
      return "aßé字🗺 '\"".repeat(20_000).slice(0, length);
    case 5:
      return BigInt(Math.floor(random() * 2));
    default:
      return Buffer.alloc(length, Math.floor(random() * 256));
  }
}

/** What page-by-page reading gives of a table: rowids and values. */
async function rowsOf(path: string, table: string) {
  const database = await Database.open(FileSource.at(path), new RecordingContext(), null);
  try {
    const entry = (await database.schema()).get(table)!;
    const rows: unknown[] = [];
    for await (const { rowid, values } of database.rows(entry.root)) rows.push([rowid, ...values]);
    return rows;
  } finally {
    await database.close();
  }
}

/** Numbers and bigints of one value are one; a row may lack what was added to its table later. */
const plain = (value: unknown) =>
  typeof value === "bigint" ? Number(value) : value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;

describe("tables of any layout hold what SQLite reads from them", () => {
  const layouts = [512, 1024, 4096, 65_536].flatMap((pageSize) =>
    ["UTF-8", "UTF-16le", "UTF-16be"].map((encoding) => ({ pageSize, encoding })),
  );
  it.each(layouts)("pages of $pageSize bytes, $encoding", async ({ pageSize, encoding }) => {
    const path = scratch.path(`layout-${pageSize}-${encoding}.gpkg`);
    const random = createRandom(pageSize + encoding.length);
    const vacuum = random() < 0.5 ? "FULL" : "NONE";
    const before = `PRAGMA page_size=${pageSize}; PRAGMA encoding='${encoding}'; PRAGMA auto_vacuum=${vacuum};`;
    const database = newPackage(path, before);
    database.exec("CREATE TABLE t (a, b, c, d, e)");
    const insert = database.prepare("INSERT INTO t (rowid, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)");
    database.transaction(() => {
      for (let i = 0; i < 600; i++) {
        const rowid = random() < 0.02 ? -BigInt(i + 1) : BigInt(Math.floor(i * 2 ** (random() < 0.01 ? 40 : 3)));
        const values = Array.from({ length: 5 }, () => valueFrom(random));
        try {
          insert.run(rowid, ...values);
        } catch {
          // A rowid that is taken.
        }
      }
      database.exec("DELETE FROM t WHERE rowid % 3 = 1");
    })();
    const expected = database
      .prepare("SELECT rowid, * FROM t ORDER BY rowid")
      .safeIntegers()
      .raw()
      .all() as unknown[][];
    database.close();
    const read = (await rowsOf(path, "t")) as unknown[][];
    expect(read.map((row) => row.map(plain))).toEqual(expected.map((row) => row.map(plain)));
    expect(read.length).toBeGreaterThan(300);
  });
});

describe("what a program left beside the database", () => {
  it("a write-ahead log is read, and left as it is", async () => {
    const path = scratch.path("wal.gpkg");
    const database = newPackage(path);
    database.pragma("journal_mode = WAL");
    database.pragma("wal_autocheckpoint = 0");
    database.exec("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('in the log'), ('also')");
    const rows = await rowsOf(path, "t");
    expect(rows).toEqual([
      [1, "in the log"],
      [2, "also"],
    ]);
    database.exec("BEGIN; INSERT INTO t VALUES ('not committed')");
    expect(await rowsOf(path, "t")).toHaveLength(2);
    database.exec("COMMIT");
    expect(await rowsOf(path, "t")).toHaveLength(3);
    database.close();
  });

  it("a transaction that was not finished does not count", async () => {
    const path = scratch.path("journal.gpkg");
    const database = newPackage(path);
    database.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('before')");
    database.pragma("cache_size = 1");
    database.pragma("cache_spill = 1");
    database.exec("BEGIN; UPDATE t SET a = 'after'");
    // More than the cache holds goes into the file before the commit.
    for (let i = 0; i < 2000; i++) database.prepare("INSERT INTO t VALUES (?)").run("x".repeat(500));
    expect(await rowsOf(path, "t")).toEqual([[1, "before"]]);
    database.exec("COMMIT");
    expect(await rowsOf(path, "t")).toHaveLength(2001);
    database.close();
  });

  it("a log of pages of another size is refused, unless it holds nothing", async () => {
    const path = scratch.path("sizes.gpkg");
    const database = newPackage(path);
    database.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('in the file')");
    database.close();
    const other = newPackage(scratch.path("other.gpkg"), "PRAGMA page_size = 1024");
    other.pragma("journal_mode = WAL");
    other.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('of another')");
    const log = readFileSync(scratch.path("other.gpkg-wal"));
    other.close();
    writeFileSync(`${path}-wal`, log);
    const refused = rowsOf(path, "t");
    await expect(refused).rejects.toMatchObject({ code: "input-corrupt" });
    await expect(refused).rejects.toThrow(/log beside it has pages of 1024 bytes.*pages of 4096/);
    // The header alone, and then a first frame whose checksum is wrong: SQLite takes nothing from either.
    writeFileSync(`${path}-wal`, log.subarray(0, 32));
    expect(await rowsOf(path, "t")).toEqual([[1, "in the file"]]);
    writeFileSync(`${path}-wal`, log.fill(0xff, 100, 200));
    expect(await rowsOf(path, "t")).toEqual([[1, "in the file"]]);
  });

  describe("a journal is read as SQLite rolls it back", () => {
    let sound: { file: Buffer; journal: Buffer };
    beforeAll(() => {
      const path = scratch.path("half.gpkg");
      const database = newPackage(path);
      database.exec("CREATE TABLE t (a)");
      for (let i = 0; i < 500; i++) database.prepare("INSERT INTO t VALUES (?)").run("before".repeat(50));
      database.pragma("cache_size = 1");
      database.pragma("cache_spill = 1");
      database.exec("BEGIN; UPDATE t SET a = replace(a, 'before', 'after!')");
      for (let i = 0; i < 500; i++) database.prepare("INSERT INTO t VALUES (?)").run("x".repeat(500));
      sound = { file: readFileSync(path), journal: readFileSync(`${path}-journal`) };
      database.close();
    });
    /** SQLite wrote each page at once: a header in a sector of 512 bytes, then a record, up to the end of a sector. */
    const recordAt = (n: number) => (n - 1) * 5120 + 512;

    it.each<[string, (journal: Buffer) => unknown]>([
      ["whole", (journal) => expect(journal.readUInt32BE(recordAt(2) - 512 + 8)).toBe(1)],
      ["with a wrong checksum in its fourth record", (journal) => journal.writeUInt32BE(7, recordAt(4) + 4100)],
      ["with a page 0 in its third record", (journal) => journal.writeUInt32BE(0, recordAt(3))],
      ["with a page beyond the end in its third record", (journal) => journal.writeUInt32BE(99_999, recordAt(3))],
      ["with a page twice", (journal) => journal.copy(journal, recordAt(5), recordAt(2), recordAt(2) + 4)],
      ["with a fifth header that is none", (journal) => journal.fill(0, recordAt(5) - 512, recordAt(5))],
    ])("rolls back a journal as SQLite does: %s", async (name, spoil) => {
      const path = scratch.path(`${name.replaceAll(" ", "-")}.gpkg`);
      const journal = Buffer.from(sound.journal);
      spoil(journal);
      writeFileSync(path, sound.file);
      writeFileSync(`${path}-journal`, journal);
      const database = await Database.open(FileSource.at(path), new RecordingContext(), null);
      const pages: Buffer[] = [];
      for (let page = 1; page <= database.pages.count; page++) pages.push(Buffer.from(await database.pages.page(page)));
      await database.close();

      const sqlite = new Sqlite(path);
      sqlite.pragma("schema_version");
      sqlite.close();
      expect(existsSync(`${path}-journal`)).toBe(false);
      expect(Buffer.concat(pages).equals(readFileSync(path))).toBe(true);
    });
  });
});

describe("tables about tables that are none", () => {
  const packageWith = (path: string, change: string) => {
    const database = newPackage(path);
    database.exec("CREATE TABLE places (id INTEGER PRIMARY KEY, shape POINT, secret BLOB)");
    database.prepare("INSERT INTO places VALUES (1, ?, NULL)").run(blobOf(pointWkb(1, 2)));
    register(database, "places", "shape");
    register(database, "gone");
    database.exec("UPDATE gpkg_contents SET data_type = 'tiles' WHERE table_name = 'gone'");
    database.exec(change);
    database.close();
    return path;
  };

  it.each([
    [
      "views",
      ["gpkg_contents", "gpkg_geometry_columns", "gpkg_spatial_ref_sys"]
        .map((name) => `ALTER TABLE ${name} RENAME TO ${name}_base; CREATE VIEW ${name} AS SELECT * FROM ${name}_base;`)
        .join(" "),
    ],
    [
      "without a rowid",
      `ALTER TABLE gpkg_geometry_columns RENAME TO gpkg_old;
       CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER,
         z TINYINT, m TINYINT, PRIMARY KEY (table_name, column_name)) WITHOUT ROWID;
       INSERT INTO gpkg_geometry_columns SELECT * FROM gpkg_old; DROP TABLE gpkg_old`,
    ],
  ])("are read all the same: %s", async (_, change) => {
    const [layer, ...others] = await readLayers(packageWith(scratch.path("about.gpkg"), change));
    expect(others).toEqual([]);
    expect(layer!.info).toMatchObject({ name: "places", crs: { id: "EPSG:4326" } });
    expect(featuresOf(layer!)).toMatchObject([{ id: 1, geometry: { type: "Point", coordinates: [1, 2] } }]);
    rmSync(scratch.path("about.gpkg"));
  });

  it("are refused where SQLite refuses them", async () => {
    const change = "DROP TABLE gpkg_contents; CREATE VIEW gpkg_contents AS SELECT * FROM nowhere";
    const refused = readLayers(packageWith(scratch.path("nowhere.gpkg"), change));
    await expect(refused).rejects.toMatchObject({ code: "unsupported" });
    await expect(refused).rejects.toThrow(/the view "gpkg_contents" cannot be read: .*nowhere/);
  });
});

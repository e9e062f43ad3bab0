/** Tables read page by page, against SQLite's own reading of the same file. */
import { afterAll, describe, expect, it } from "vitest";
import { Database } from "../../../plugins/geopackage/database.js";
import { FileSource } from "../../../src/io/source.js";
import { Recording, Scratch } from "../../../src/testing/index.js";
import { randomFrom } from "../../support/random.js";
import { newPackage } from "./support.js";

const scratch = new Scratch();
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
  const database = await Database.open(FileSource.at(path), new Recording(), null);
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
    const random = randomFrom(pageSize + encoding.length);
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
});

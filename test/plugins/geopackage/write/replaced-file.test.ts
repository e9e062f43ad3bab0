/** A GeoPackage that replaces another, which other programs may be writing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const input = scratch.path("in.csv");
const base = scratch.path("base.gpkg");
let files = 0;
const copyOfBase = () => {
  const path = scratch.path(`copy${files++}.gpkg`);
  copyFileSync(base, path);
  return path;
};
const overwrite = { overwrite: true, layerName: "new" };

beforeAll(async () => {
  writeFileSync(input, "id,lon,lat\n1,10,50\n2,11,51\n");
  await convertFile(input, base, { layerName: "old" });
  const database = new Sqlite(base);
  // Without the triggers of a layer, which need functions of their own.
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  database.close();
});

/** Runs SQL in another process, which then keeps the database open until `end` runs the rest or kills it. */
async function openElsewhere(path: string, sql: string) {
  const script = `
    const database = new (require("better-sqlite3"))(process.argv[1]);
    database.exec(process.argv[2]);
    process.stdout.write("ready");
    process.stdin.on("data", (sql) => { database.exec(String(sql)); database.close(); process.exit(); });`;
  const child = spawn(process.execPath, ["-e", script, path, sql], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended.then(() => Promise.reject(new Error("the program failed")))]);
  return {
    async end(rest: string) {
      child.stdin.write(rest);
      await ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const tables = (path: string) => {
  const database = new Sqlite(path);
  try {
    return database.prepare("SELECT table_name FROM gpkg_contents").pluck().all();
  } finally {
    database.close();
  }
};

const edit = "INSERT INTO notes VALUES (7)";

describe("a file in which another program has uncommitted changes is not replaced", () => {
  test.each([
    ["an insert", `BEGIN; ${edit}`],
    ["BEGIN IMMEDIATE", "BEGIN IMMEDIATE"],
    ["BEGIN EXCLUSIVE", "BEGIN EXCLUSIVE"],
    ["an insert into a write-ahead log", `PRAGMA journal_mode = WAL; BEGIN; ${edit}`],
  ])("%s", async (_, sql) => {
    const path = copyOfBase();
    const other = await openElsewhere(path, sql);
    try {
      await expect(convertFile(input, path, overwrite)).rejects.toMatchObject({
        code: "output-locked",
        kind: "locked",
      });
    } finally {
      await other.end(sql.includes(edit) ? "COMMIT" : `${edit}; COMMIT`);
    }
    const database = new Sqlite(path);
    expect(database.prepare("SELECT count(*) FROM notes").pluck().get()).toBe(1);
    database.close();
  });
});

describe("a file is replaced", () => {
  test("when another program has committed its changes, without blocking this thread", async () => {
    const path = copyOfBase();
    const other = new Sqlite(path);
    other.exec(`BEGIN; ${edit}`);
    // A timer of the same thread, which only runs if nothing blocks it.
    const timer = setTimeout(() => other.exec("COMMIT"), 500);
    await convertFile(input, path, overwrite).finally(() => clearTimeout(timer));
    other.close();
    expect(tables(path)).toEqual(["new"]);
  });

  test("while another program reads it", async () => {
    const path = copyOfBase();
    const other = await openElsewhere(path, "BEGIN; SELECT * FROM old");
    await convertFile(input, path, overwrite);
    await other.end("ROLLBACK");
    expect(tables(path)).toEqual(["new"]);
  });

  test.each([
    ["write-ahead log", "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"],
    // Changes that exceed the cache are written to the file, so that the journal is needed.
    ["journal", "PRAGMA cache_size = 1; PRAGMA cache_spill = 1;"],
  ])("beside the %s of a killed program", async (_, first) => {
    const path = copyOfBase();
    const rows = "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)";
    const other = await openElsewhere(path, `${first} BEGIN; ${rows} INSERT INTO notes SELECT i FROM n`);
    await other.kill();
    await convertFile(input, path, overwrite);
    expect(tables(path)).toEqual(["new"]);
  });

  test("that is no database, or a damaged one", async () => {
    const damaged = Buffer.concat([readFileSync(base).subarray(0, 100), Buffer.alloc(500, 0xff)]);
    for (const content of ["text", "", damaged]) {
      const path = scratch.path(`other${files++}.gpkg`);
      writeFileSync(path, content);
      await convertFile(input, path, overwrite);
      expect(tables(path)).toEqual(["new"]);
    }
  });
});

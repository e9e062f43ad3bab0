/** Files with malicious SQL, names or metadata tables. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { blobOf, featuresOf, newPackage, pointWkb, readLayers, register } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

/** A package with a harmless layer `t` and what `fill` adds. */
function hostile(fill: (database: Database) => void): string {
  const path = scratch.path(`h${files++}.gpkg`);
  const database = newPackage(path);
  database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, geom POINT, a TEXT)");
  database.prepare("INSERT INTO t VALUES (1, ?, 'x')").run(blobOf(pointWkb(1, 2)));
  register(database, "t", "geom");
  fill(database);
  database.close();
  return path;
}

const endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)";
const quick = { viewTimeout: "1", viewRows: "5000" };

describe("views", () => {
  it.each([
    ["never has a first row", `SELECT count(*) AS a FROM (${endless} SELECT x FROM r)`],
    ["asks for more memory than there is", "SELECT hex(zeroblob(900000000)) || hex(zeroblob(900000000)) AS a"],
    ["loads code", "SELECT load_extension('/tmp/evil') AS a"],
    ["writes files", "SELECT writefile('/tmp/evil', 'x') AS a"],
    ["has lost its table", "SELECT a FROM gone"],
  ])("that %s is left out with a loss, and the rest is read", async (_, select) => {
    const path = hostile((database) => {
      database.unsafeMode(true);
      database.pragma("writable_schema = ON");
      // What SQLite would refuse to create, as a file can have it all the same.
      database
        .prepare("INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('view', 'v', 'v', 0, ?)")
        .run(`CREATE VIEW v AS ${select}`);
    });
    const layers = await readLayers(path, quick);
    expect(layers.map((layer) => layer.info.name)).toEqual(["t"]);
    expect(featuresOf(layers[0]!)).toHaveLength(1);
    expect(layers[0]!.losses).toMatchObject([{ code: "layer-unreadable" }]);
  });

  it("that never ends is stopped at the rows that are allowed", async () => {
    const path = hostile((database) => database.exec(`CREATE VIEW v AS SELECT a FROM t, (${endless} SELECT x FROM r)`));
    // On a busy machine, opening alone may take longer than a short timeout, which leaves the view out before its rows.
    const patient = { viewTimeout: "60", viewRows: "5000" };
    await expect(readLayers(path, patient)).rejects.toMatchObject({ kind: "unsupported" });
    await expect(readLayers(path, patient)).rejects.toThrow(/more than 5000 rows.*viewRows/);
  });

  it("that takes more memory than is allowed is stopped, and what allows more is named", async () => {
    // Two texts of 480 MB: a row may have a billion bytes in SQLite.
    const many = "group_concat(hex(zeroblob(8000000)) || x)";
    const select = `WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 30) SELECT ${many} AS a, ${many} AS b FROM r`;
    const path = hostile((database) => database.exec(`CREATE VIEW v AS ${select}`));
    const [layer] = await readLayers(path, { viewMemory: "256" });
    expect(layer!.info.name).toBe("t");
    expect(layer!.losses).toMatchObject([{ code: "layer-unreadable", example: expect.stringContaining("viewMemory") }]);
  });

  it("without an end do not keep a conversion from being interrupted", async () => {
    const path = hostile((database) =>
      database.exec(`CREATE VIEW v AS SELECT a FROM t WHERE a = (${endless} SELECT max(x) FROM r)`),
    );
    const aborter = new AbortController();
    const { openDataset, RecordingContext } = await import("../../../src/testing/index.js");
    const { default: geopackage } = await import("../../../plugins/geopackage/index.js");
    await using dataset = await openDataset(
      geopackage,
      path,
      new RecordingContext(false, undefined, aborter.signal),
      {},
    );
    const view = dataset.layers.find((layer) => layer.name === "v")!;
    const reading = view.batches()[Symbol.asyncIterator]().next();
    setTimeout(() => aborter.abort(new Error("interrupted")), 300);
    await expect(reading).rejects.toThrow("interrupted");
  });
});

describe("what only looks like tables", () => {
  it("gpkg_contents entries for system tables and missing tables are skipped with a notice", async () => {
    const path = hostile((database) => {
      for (const name of ["sqlite_master", "sqlite_schema", "gpkg_contents", "not there", '"; DROP TABLE t; --']) {
        register(database, name);
      }
    });
    const layers = await readLayers(path);
    expect(layers.map((layer) => layer.info.name)).toEqual(["t"]);
    expect(layers[0]!.notices).toMatchObject([{ code: "table-missing", count: 5 }]);
  });

  it("a view in place of gpkg_contents that never answers is given up", async () => {
    const path = hostile((database) => {
      database.exec("DROP TABLE gpkg_contents");
      database.exec(
        `CREATE VIEW gpkg_contents AS SELECT 'v' AS table_name, 'features' AS data_type, (${endless} SELECT max(x) FROM r) AS srs_id`,
      );
    });
    const refused = readLayers(path, quick);
    await expect(refused).rejects.toMatchObject({ code: "unsupported" });
    await expect(refused).rejects.toThrow(/the view "gpkg_contents" cannot be read/);
  });

  it("a view in place of gpkg_contents that never ends is given up", async () => {
    const path = hostile((database) => {
      database.exec("DROP TABLE gpkg_contents");
      database.exec(
        `CREATE VIEW gpkg_contents AS ${endless} SELECT 't' || x AS table_name, 'features' AS data_type FROM r`,
      );
    });
    await expect(readLayers(path, { viewTimeout: "60" })).rejects.toThrow(
      /"gpkg_contents" cannot be read: more than 100000 rows/,
    );
  });

  it("virtual tables are skipped with a notice", async () => {
    const path = hostile((database) => {
      database.exec("CREATE VIRTUAL TABLE words USING fts5(a)");
      register(database, "words");
    });
    const layers = await readLayers(path);
    expect(layers[0]!.info.name).toBe("t");
    expect(layers[0]!.notices).toMatchObject([{ code: "table-virtual" }]);
  });

  it("a tree that leads to itself ends with an error that names the page", async () => {
    const path = hostile((database) => {
      database.exec("CREATE TABLE big (a)");
      register(database, "big");
      database.exec(`INSERT INTO big VALUES ${Array(3000).fill("('some text that fills pages')").join(",")}`);
    });
    const { Database } = await import("../../../plugins/geopackage/sqlite/database.js");
    const { FileSource } = await import("../../../src/io/input/source.js");
    const { RecordingContext } = await import("../../../src/testing/index.js");
    const known = await Database.open(FileSource.at(path), new RecordingContext(), null);
    const root = (await known.schema()).get("big")!.root;
    await known.close();
    const bytes = readFileSync(path);
    const page = (root - 1) * 4096;
    // The second child of the root is the root.
    bytes.writeUInt32BE(root, page + bytes.readUInt16BE(page + 12 + 2));
    const { writeFileSync } = await import("node:fs");
    writeFileSync(path, bytes);
    await expect(readLayers(path)).rejects.toThrow(new RegExp(`page ${root}`));
  });
});

describe("names and triggers", () => {
  it("names that are SQL stay names", async () => {
    const table = `x"; DROP TABLE t; --'`;
    const path = hostile((database) => {
      database.exec(`CREATE TABLE "x""; DROP TABLE t; --'" (fid INTEGER PRIMARY KEY, "a"" ); --" TEXT, [b, (c] TEXT)`);
      database.prepare(`INSERT INTO "x""; DROP TABLE t; --'" VALUES (1, 'one', 'two')`).run();
      register(database, table);
    });
    const layers = await readLayers(path);
    expect(layers.map((layer) => layer.info.name)).toEqual(["t", table]);
    expect(Object.values(featuresOf(layers[1]!)[0]!.properties)).toEqual(["one", "two"]);
    const output = scratch.path("names.gpkg");
    await convertFile(path, output, { overwrite: true });
    const again = await readLayers(output);
    expect(again.map((layer) => layer.info.name)).toEqual(["t", table]);
    expect(featuresOf(again[1]!)[0]!.properties).toEqual(featuresOf(layers[1]!)[0]!.properties);
  });

  it("reading fires no trigger and changes neither the file nor its folder", async () => {
    const path = hostile((database) => {
      database.exec("CREATE TRIGGER bad AFTER INSERT ON t BEGIN DELETE FROM t; END");
      database.exec("CREATE VIEW v AS SELECT a FROM t");
      database.pragma("journal_mode = WAL");
    });
    const before = [readFileSync(path), statSync(path).mtimeMs, readdirSync(dirname(path))];
    const layers = await readLayers(path);
    expect(layers.map((layer) => featuresOf(layer).length)).toEqual([1, 1]);
    expect([readFileSync(path), statSync(path).mtimeMs, readdirSync(dirname(path))]).toEqual(before);
  });
});

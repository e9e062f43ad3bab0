import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import postgis from "../../../plugins/postgis/index.js";
import { AddressSource } from "../../../src/io/source.js";
import type { Layer, Split } from "../../../src/model/layer.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { batchesOf, Recording } from "../../../src/testing/index.js";
import { geoferry } from "../../support/command.js";
import { postgisDatabase, readTable } from "./support.js";

const database = await postgisDatabase();
const folder = mkdtempSync(join(tmpdir(), "geoferry-test-postgis-"));
afterAll(() => rmSync(folder, { recursive: true }));

const points = join(folder, "points.geojson");
const features = [9, 4].map((id) => ({
  type: "Feature",
  id,
  properties: { n: id },
  geometry: { type: "Point", coordinates: [id, 1] },
}));
writeFileSync(points, JSON.stringify({ type: "FeatureCollection", features }));

describe.runIf(database)("a table that others change while it is read", () => {
  const { sql, address } = database!;

  async function countOf(layer: Layer, split?: Split): Promise<number> {
    let rows = 0;
    for await (const batch of batchesOf(layer, split)) rows += batch.length;
    return rows;
  }

  /** Opens a database, has it changed, and reads on. */
  async function readAcross(name: string, change: string, options: Readonly<Record<string, string>> = {}) {
    const reader = await postgis.reader!.load();
    const parsed = parseOptions("postgis", postgis.reader!.options, options);
    await using dataset = await reader.open(new AddressSource(address), parsed, new Recording());
    const layer = dataset.layers.find((one) => one.name === name)!;
    const splits: Split[] = [];
    for await (const split of layer.splits?.() ?? []) splits.push(split);
    const before = splits[0] ? await countOf(layer, splits[0]) : 0;
    await sql(change);
    const rest = splits[0] ? splits.slice(1) : [undefined];
    let after = 0;
    for (const split of rest) after += await countOf(layer, split);
    return before + after;
  }

  // Some ten megabytes: more than one piece.
  const fill = (table: string) =>
    `INSERT INTO ${table} SELECT i, repeat('x', 1000), 'SRID=4326;POINT(1 2)' FROM generate_series(1, 8000) AS i`;
  const make = (table: string) => `CREATE TABLE ${table} (id int, t text, g geometry(Point, 4326)); ${fill(table)}`;

  test.each([
    ["emptied and filled again", "emptied", `TRUNCATE emptied; ${fill("emptied")}`],
    ["replaced", "replaced", `DROP TABLE replaced; ${make("replaced")}`],
    ["rewritten", "rewritten", "ALTER TABLE rewritten ALTER id TYPE bigint"],
  ])("is not read to a false end: %s", async (_, table, change) => {
    await sql(make(table));
    await expect(readAcross(table, change)).rejects.toMatchObject({ code: "database-changed" });
  });

  test("nor is one behind a view or a query", async () => {
    await sql(`${make("behind")}; CREATE VIEW before_it AS SELECT * FROM behind`);
    await expect(readAcross("before_it", "TRUNCATE behind")).rejects.toMatchObject({ code: "database-changed" });
    await sql(fill("behind"));
    const query = readAcross("query", "TRUNCATE behind", { sql: "SELECT * FROM behind" });
    await expect(query).rejects.toMatchObject({ code: "database-changed" });
  });

  test("is read as it was where rows come and go", async () => {
    await sql(make("busy"));
    const change = "DELETE FROM busy; INSERT INTO busy VALUES (1, 'y', NULL)";
    expect(await readAcross("busy", change)).toBe(8000);
  });
});

test.runIf(database)("a table that somebody has locked keeps no other from being read", async () => {
  const { sql, address } = database!;
  await sql(`CREATE TABLE taken (g geometry(Point, 4326));
    CREATE TABLE open AS SELECT 'SRID=4326;POINT(1 2)'::geometry(Point, 4326) AS g`);
  const other = new pg.Client(address);
  await other.connect();
  try {
    await other.query("BEGIN; LOCK TABLE taken");
    expect((await readTable(database!, "open")).batches.map(({ length }) => length)).toEqual([1]);
  } finally {
    await other.end();
  }
});

describe.runIf(database)("a table that is there", () => {
  const { sql, address } = database!;
  const run = (...args: string[]) => geoferry(["convert", points, address, ...args]);

  test("keeps ids that come to a key that is always generated", async () => {
    await sql(`CREATE TABLE always (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int, geom geometry(Point, 4326));
      INSERT INTO always (n) VALUES (0)`);
    const { status, stderr } = run("--layer-name", "always", "--append");
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    await sql("INSERT INTO always (n) VALUES (-1)");
    expect(await sql("SELECT id, n FROM always ORDER BY id")).toEqual([
      { id: 1, n: 0 },
      { id: 4, n: 4 },
      { id: 9, n: 9 },
      { id: 10, n: -1 },
    ]);
  });

  test("is not taken out of the table that it is a partition of", async () => {
    await sql(`CREATE TABLE whole (n int, geom geometry(Point, 4326)) PARTITION BY RANGE (n);
      CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (100); INSERT INTO whole VALUES (1)`);
    const { status, stderr } = run("--layer-name", "part", "--replace-layer");
    expect([status, stderr]).toEqual([4, expect.stringContaining("--append")]);
    expect(await sql("SELECT n FROM whole")).toEqual([{ n: 1 }]);
    const joined = run("--layer-name", "whole", "--replace-layer");
    expect([joined.status, joined.stderr]).toEqual([0, expect.stringContaining("partitions-joined")]);
  });

  test("shows nobody more than before, when it is replaced", async () => {
    const role = `geoferry_test_${process.pid}`;
    await sql(`CREATE ROLE ${role}`);
    try {
      await sql(`CREATE TABLE closed (n int, geom geometry(Point, 4326)); GRANT SELECT (n) ON closed TO ${role};
        ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${role}`);
      expect(run("--layer-name", "closed", "--replace-layer").status).toBe(0);
      const [rights] = await sql(`SELECT has_column_privilege('${role}', 'closed', 'n', 'SELECT') AS n,
        has_column_privilege('${role}', 'closed', 'geom', 'SELECT') AS geom`);
      expect(rights).toEqual({ n: true, geom: false });
    } finally {
      await sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});

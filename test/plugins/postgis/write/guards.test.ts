import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import postgis from "../../../../plugins/postgis/index.js";
import { AddressSource } from "../../../../src/io/input/source.js";
import type { Layer, Split } from "../../../../src/model/layer.js";
import { parseOptions } from "../../../../src/plugin/options.js";
import { layerBatches, RecordingContext } from "../../../../src/testing/index.js";
import { geoferry } from "../../../support/command.js";
import { postgisDatabase, readTable } from "../support.js";

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
    for await (const batch of layerBatches(layer, split)) rows += batch.length;
    return rows;
  }

  /** Opens a database, has it changed, and reads on. */
  async function readAcross(name: string, change: string, options: Readonly<Record<string, string>> = {}) {
    const reader = await postgis.reader!.load();
    const parsed = parseOptions("postgis", postgis.reader!.options, options);
    await using dataset = await reader.open(new AddressSource(address), parsed, new RecordingContext());
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

  test("stays a partition, or a table with partitions, where its rows are replaced", async () => {
    await sql(`CREATE TABLE whole (id int, n int, geom geometry(Point, 4326), PRIMARY KEY (id, n)) PARTITION BY RANGE (n);
      CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (100); INSERT INTO whole VALUES (1, 1)`);
    const result = run("--layer-name", "part", "--replace-layer");
    expect([result.status, result.stderr]).toEqual([4, expect.stringContaining("--append")]);
    expect(await sql("SELECT n FROM whole")).toEqual([{ n: 1 }]);
    await sql(`CREATE TABLE whole_1 (id int PRIMARY KEY, n int, geom geometry(Point, 4326)) PARTITION BY RANGE (id);
      CREATE TABLE part_1 PARTITION OF whole_1 FOR VALUES FROM (0) TO (100); INSERT INTO whole_1 VALUES (1, 1)`);
    expect(run("--layer-name", "part_1", "--replace-layer").status).toBe(0);
    expect(await sql("SELECT id, n FROM whole_1 ORDER BY id")).toEqual([
      { id: 4, n: 4 },
      { id: 9, n: 9 },
    ]);
    expect(run("--layer-name", "whole_1", "--replace-layer").status).toBe(0);
    expect(await sql("SELECT count(*)::int AS n FROM part_1")).toEqual([{ n: 2 }]);
    expect(await sql("SELECT relkind AS kind FROM pg_class WHERE relname = 'whole_1'")).toEqual([{ kind: "p" }]);
  });

  test("keeps everything that is made of it where its rows are replaced", async () => {
    await sql(`CREATE TABLE made (id serial PRIMARY KEY, n bigint NOT NULL, seen date DEFAULT '2001-02-03', more text,
        geom geometry(Point, 4326));
      INSERT INTO made (n) VALUES (7); CREATE VIEW of_made AS SELECT n FROM made; CREATE PUBLICATION published FOR TABLE made;
      ALTER TABLE made ENABLE ROW LEVEL SECURITY; CREATE POLICY all_of_it ON made USING (true)`);
    const facts = () =>
      sql(`SELECT 'made'::regclass::oid::text AS oid, (SELECT count(*)::int FROM pg_publication_tables WHERE tablename = 'made') AS published,
        (SELECT count(*)::int FROM pg_policies WHERE tablename = 'made') AS policies,
        (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnotnull AND attnum > 0) AS needed`);
    const before = await facts();
    const { status, stderr } = run("--layer-name", "made", "--replace-layer");
    expect([status, stderr]).toEqual([0, expect.stringContaining("column-emptied of more")]);
    expect(await facts()).toEqual(before);
    expect(await sql("SELECT n FROM of_made ORDER BY n")).toEqual([{ n: "4" }, { n: "9" }]);
    await sql("INSERT INTO made (n) VALUES (10)");
    expect(await sql("SELECT id, seen::text AS seen FROM made ORDER BY id")).toEqual([
      { id: 4, seen: "2001-02-03" },
      { id: 9, seen: "2001-02-03" },
      { id: 10, seen: "2001-02-03" },
    ]);
  });

  test("recreates what fits the new table, and reports the rest", async () => {
    await sql(`CREATE TABLE narrow (id serial PRIMARY KEY, n date NOT NULL DEFAULT '2001-02-03', other int NOT NULL DEFAULT 3,
        geom geometry(Point, 4326) NOT NULL);
      CREATE PUBLICATION narrow_told FOR TABLE narrow`);
    const { status, stderr } = run("--layer-name", "narrow", "--replace-layer");
    expect(status).toBe(0);
    expect(stderr).toContain('its column "n" does not hold int32');
    expect(stderr).toContain("definition-dropped");
    const [row] =
      await sql(`SELECT (SELECT count(*)::int FROM pg_publication_tables WHERE tablename = 'narrow') AS published,
        (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'narrow'::regclass AND attnotnull AND attnum > 0) AS needed`);
    expect(row).toEqual({ published: 1, needed: "fid,geom,n" });
  });

  test("is refused where rows of others refer to its rows", async () => {
    await sql(`CREATE TABLE parent (id serial PRIMARY KEY, n int, geom geometry(Point, 4326)); INSERT INTO parent (n) VALUES (1);
      CREATE TABLE child (of int REFERENCES parent); INSERT INTO child VALUES (1)`);
    const { status, stderr } = run("--layer-name", "parent", "--replace-layer");
    expect([status, stderr]).toEqual([4, expect.stringContaining("child")]);
    expect(await sql("SELECT n FROM parent")).toEqual([{ n: 1 }]);
  });

  test.each([
    [
      "a trigger drops",
      "--append",
      "BEFORE INSERT ON TABLE FOR EACH ROW WHEN (NEW.n = 4) EXECUTE FUNCTION drop_row()",
      1,
    ],
    ["a trigger drops", "--replace-layer", "BEFORE INSERT ON TABLE FOR EACH ROW EXECUTE FUNCTION drop_row()", 0],
    ["a rule drops", "--append", "AS ON INSERT TO TABLE WHERE NEW.n = 4 DO INSTEAD NOTHING", 1],
    ["a rule redirects", "--replace-layer", "AS ON INSERT TO TABLE DO INSTEAD INSERT INTO elsewhere VALUES (NEW.n)", 0],
  ])("is unchanged if %s rows (%s)", async (_, mode, definition, taken) => {
    const kind = definition.startsWith("AS") ? "RULE" : "TRIGGER";
    await sql(`DROP TABLE IF EXISTS dropping; CREATE TABLE IF NOT EXISTS elsewhere (n int);
      CREATE TABLE dropping (id serial PRIMARY KEY, n int, geom geometry(Point, 4326)); INSERT INTO dropping (n) VALUES (1);
      CREATE OR REPLACE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE ${kind} dropper ${definition.replace("TABLE", "dropping")}`);
    const { status, stderr } = run("--layer-name", "dropping", mode);
    expect([status, stderr]).toEqual([6, expect.stringContaining(`"dropping" took ${taken} of 2 rows`)]);
    expect(stderr).toMatch(/a trigger or a rule/);
    expect(await sql("SELECT n FROM dropping")).toEqual([{ n: 1 }]);
    expect(await sql("SELECT n FROM elsewhere")).toEqual([]);
  });

  test("takes rows that a trigger moves to tables that inherit from it, and that a rule copies", async () => {
    await sql(`CREATE TABLE heir_of (id serial PRIMARY KEY, n int, geom geometry(Point, 4326));
      CREATE TABLE heir () INHERITS (heir_of); CREATE TABLE heir_copies (n int);
      CREATE FUNCTION to_heir() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN INSERT INTO heir VALUES (NEW.*); RETURN NULL; END';
      CREATE TRIGGER moves BEFORE INSERT ON heir_of FOR EACH ROW EXECUTE FUNCTION to_heir();
      CREATE TABLE copied (id serial PRIMARY KEY, n int, geom geometry(Point, 4326));
      CREATE RULE copies AS ON INSERT TO copied DO ALSO INSERT INTO heir_copies SELECT NEW.n FROM generate_series(1, 2)`);
    const first = run("--layer-name", "heir_of", "--append");
    expect([first.status, first.stderr]).toEqual([0, expect.any(String)]);
    expect(await sql("SELECT n FROM heir ORDER BY n")).toEqual([{ n: 4 }, { n: 9 }]);
    const second = run("--layer-name", "copied", "--append");
    expect([second.status, second.stderr]).toEqual([0, expect.any(String)]);
    expect(await sql("SELECT n FROM copied ORDER BY n")).toEqual([{ n: 4 }, { n: 9 }]);
  });

  test("shows no one more than before, when it is replaced", async () => {
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

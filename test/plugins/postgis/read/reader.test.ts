import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Feature } from "../../../../src/model/batch.js";
import { convert } from "../../../../src/pipeline/convert.js";
import { geoferry, hasProgram, samples } from "../../../support/command.js";
import { createTestHost } from "../../../support/host.js";
import { featuresOf, ogrGeojson, postgisDatabase, readTable } from "../support.js";

const database = await postgisDatabase();
const hasOgr = hasProgram("ogr2ogr");
const folder = mkdtempSync(join(tmpdir(), "geoferry-test-postgis-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(database)("reading", () => {
  const { sql, address, ogr } = database!;

  test("every type of PostgreSQL is a field", async () => {
    await sql(`
      CREATE TYPE mood AS ENUM ('sad', 'ok');
      CREATE TYPE pair AS (a int, b text);
      CREATE DOMAIN share AS numeric(5, 2) CHECK (VALUE <= 100);
      CREATE DOMAIN code AS text;
      CREATE TABLE typed (
        id bigint PRIMARY KEY, geom geometry(Point, 4326), b boolean, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8,
        n numeric, n0 numeric(4, 0), n18 numeric(18, 0), n2 numeric(10, 2), n40 numeric(40, 20), t text, v varchar(9), c char(5),
        bytes bytea, d date, tm time, ts timestamp, tz timestamptz, ttz timetz, span interval, u uuid, j json, jb jsonb,
        ints int[], texts text[], m mood, p pair, s share, k code, r int4range, net inet, x xml, o oid);
      INSERT INTO typed VALUES
        (9007199254740993, 'SRID=4326;POINT(1 2)', true, -2, 2147483647, -9223372036854775808, 0.1, 1e-300,
         12345678901234567890.12, 1234, 123456789012345678, 12345678.91, 0.5, 'ä😀', 'nine', 'ab',
         '\\x00ff', '2024-02-29', '10:11:12.5', '2024-02-29 23:59:59.123456', '2024-06-30 12:00:00+02', '10:00:00+02', '1 day 02:00',
         '6e8bc430-9c3a-11d9-9669-0800200c9a66', '{"b": 1,  "a": 2}', '{"b": 1, "a": 2}',
         '{1,NULL,3}', '{"a","b,c"}', 'ok', '(1,x)', 99.5, 'k1', '[1,5)', '10.0.0.1/8', '<a/>', 4000000000),
        (-1, NULL, NULL, NULL, NULL, NULL, 'NaN', 'Infinity', 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         NULL, 'infinity', '24:00', '-infinity', '0044-03-15 00:00:00+00 BC', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`);
    const read = await readTable(database!, "typed");
    const [batch] = read.batches;
    const types = Object.fromEntries(batch!.fields.map(({ name, type }) => [name, type]));
    expect(types).toEqual({
      b: "boolean",
      i2: "int32",
      i4: "int32",
      i8: "int64",
      f4: "double",
      f8: "double",
      n: "double",
      n0: "int32",
      n18: "int64",
      n2: "double",
      n40: "double",
      t: "text",
      v: "text",
      c: "text",
      bytes: "binary",
      d: "date",
      tm: "time",
      ts: "datetime",
      tz: "datetime",
      ttz: "text",
      span: "text",
      u: "text",
      j: "json",
      jb: "json",
      ints: "json",
      texts: "json",
      m: "text",
      p: "json",
      s: "double",
      k: "text",
      r: "text",
      net: "text",
      x: "text",
      o: "int64",
    });
    const [first, second] = featuresOf(read);
    expect(first).toEqual({
      type: "Feature",
      id: "9007199254740993",
      geometry: { type: "Point", coordinates: [1, 2] },
      properties: {
        b: true,
        i2: -2,
        i4: 2147483647,
        i8: "-9223372036854775808",
        f4: 0.1,
        f8: 1e-300,
        n: 12345678901234567000,
        n0: 1234,
        n18: "123456789012345678",
        n2: 12345678.91,
        n40: 0.5,
        t: "ä😀",
        v: "nine",
        c: "ab",
        bytes: "AP8=",
        d: "2024-02-29",
        tm: "10:11:12.500",
        ts: "2024-02-29T23:59:59.123456",
        tz: "2024-06-30T10:00:00Z",
        ttz: "10:00:00+02",
        span: "P1DT2H",
        u: "6e8bc430-9c3a-11d9-9669-0800200c9a66",
        j: { b: 1, a: 2 },
        jb: { a: 2, b: 1 },
        ints: [1, null, 3],
        texts: ["a", "b,c"],
        m: "ok",
        p: { a: 1, b: "x" },
        s: 99.5,
        k: "k1",
        r: "[1,5)",
        net: "10.0.0.1/8",
        x: "<a/>",
        o: 4000000000,
      },
    });
    expect(second!.id).toBe(-1);
    expect(second!.geometry).toBeNull();
    expect([second!.properties.d, second!.properties.tm, second!.properties.ts, second!.properties.tz]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(read.context.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["number-rounded", "n", 1],
      ["date-unreadable", "d", 1],
      ["date-unreadable", "tm", 1],
      ["date-unreadable", "ts", 1],
      ["date-unreadable", "tz", 1],
    ]);
    const text = featuresOf(await readTable(database!, "typed", { numeric: "text" }));
    expect(text[0]!.properties.n).toBe("12345678901234567890.12");
    expect(text[0]!.properties.n40).toBe("0.50000000000000000000");
  });

  test("geometries of all kinds, curves among them", async () => {
    await sql(`
      CREATE TABLE shapes (id int PRIMARY KEY, g geometry);
      INSERT INTO shapes SELECT n, ST_SetSRID(ST_GeomFromText(w), 25832) FROM (VALUES
        (1, 'POINT ZM (1 2 3 4)'), (2, 'LINESTRING M (0 0 1, 1 1 2)'), (3, 'POLYGON Z ((0 0 1, 4 0 1, 4 4 1, 0 0 1), (1 0.5 1, 2 1 1, 2 0.5 1, 1 0.5 1))'),
        (4, 'MULTIPOINT (1 2, 3 4)'), (5, 'MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))'), (6, 'MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))'),
        (7, 'GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))'), (8, 'POINT EMPTY'), (9, 'CIRCULARSTRING (0 0, 1 1, 2 0)'),
        (10, 'TIN (((0 0 0, 1 0 0, 0 1 0, 0 0 0)))')) AS v (n, w)`);
    const read = await readTable(database!, "shapes");
    expect(read.crs?.id).toBe("EPSG:25832");
    const geometries = featuresOf(read).map(({ geometry }) => geometry);
    const expected = await sql<{ g: string | null }>(
      "SELECT ST_AsGeoJSON(g, 15, 0) AS g FROM shapes WHERE id < 8 ORDER BY id",
    );
    expect(geometries.slice(0, 7)).toEqual(expected.map(({ g }) => JSON.parse(g!)));
    expect(geometries[7]).toEqual({ type: "Point", coordinates: [] });
    expect(geometries[8]).toMatchObject({ type: "LineString" });
    expect(geometries[9]).toMatchObject({ type: "MultiPolygon" });
    expect([...read.batches[0]!.geometry.m!].slice(0, 3)).toEqual([4, 1, 2]);
    expect(read.context.losses).toMatchObject([{ code: "curve-linearized", count: 1 }]);
  });

  test("a geometry in another system than its layer is a reject", async () => {
    await sql(`CREATE TABLE several_systems (id int PRIMARY KEY, g geometry);
      INSERT INTO several_systems VALUES (1, 'SRID=4326;POINT(1 2)'), (2, 'SRID=3857;POINT(1 2)'), (3, 'POINT(1 2)'), (4, 'SRID=4326;POINT(3 4)')`);
    const read = await readTable(database!, "several_systems");
    expect(featuresOf(read).map(({ id }) => id)).toEqual([1, 4]);
    expect(read.context.rejects.map(({ code, place }) => [code, place.record])).toEqual([
      ["geometry-malformed", 2],
      ["geometry-malformed", 3],
    ]);
  });

  test("views, geography, several columns of geometry, keys of text and partitions", async () => {
    await sql(`
      CREATE SCHEMA "odd.schema";
      CREATE TABLE "odd.schema"."Odd ""table""" (code text PRIMARY KEY, "a b" int, g geography(Point), h geometry(LineString, 3857));
      INSERT INTO "odd.schema"."Odd ""table""" VALUES ('x', 1, 'POINT(16 48)', 'SRID=3857;LINESTRING(0 0, 1 1)');
      CREATE VIEW seen AS SELECT code, h FROM "odd.schema"."Odd ""table""";
      CREATE TABLE parted (id int, g geometry(Point, 4326)) PARTITION BY RANGE (id);
      CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
      CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
      INSERT INTO parted SELECT n, ST_SetSRID(ST_Point(n, n), 4326) FROM generate_series(0, 19) AS n;
      CREATE TABLE plain (id int, name text); INSERT INTO plain VALUES (1, 'one')`);
    const name = 'odd.schema.Odd "table"';
    const odd = await readTable(database!, name);
    expect(odd.crs?.id).toBe("EPSG:4326");
    const [feature] = featuresOf(odd);
    expect(feature!.id).toBeUndefined();
    expect(feature!.properties).toMatchObject({ code: "x", "a b": 1 });
    expect(odd.batches[0]!.fields.find((field) => field.name === "h")!.type).toBe("binary");
    const byOther = featuresOf(await readTable(database!, name, { geometry: "h", id: "code" }));
    expect(byOther[0]).toMatchObject({ id: "x", geometry: { type: "LineString" } });
    expect((await readTable(database!, "seen")).crs?.id).toBe("EPSG:3857");
    expect(featuresOf(await readTable(database!, "parted"))).toHaveLength(20);
    const info = geoferry(["info", address, "--json"]);
    const layers = info.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).layer);
    expect(layers).toContain("parted");
    expect(layers).toContain(name);
    expect(layers).not.toContain("parted_1");
    expect(layers).not.toContain("plain");
    const asked = geoferry(["convert", address, "-", "--to", "csv", "--layer", "public.plain", "-q"]);
    expect([asked.stdout, asked.status]).toEqual(["id,name\n1,one\n", 0]);
  });

  test("a query is one statement that reads", async () => {
    await sql("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    const rows = featuresOf(
      await readTable(database!, "query", {
        sql: "SELECT n, n + 1 AS n, ST_SetSRID(ST_Point(n, 2), 4326) AS p FROM kept -- yes\n;",
      }),
    );
    expect(rows.map(({ properties, geometry }) => [properties, geometry])).toEqual([
      [
        { n: 1, n_1: 2 },
        { type: "Point", coordinates: [1, 2] },
      ],
    ]);
    for (const text of [
      "SELECT 1) AS q; DROP TABLE kept; SELECT (1",
      "DELETE FROM kept RETURNING n",
      "SELEC",
      "SELECT nextval('x')",
    ]) {
      await expect(readTable(database!, "query", { sql: text })).rejects.toMatchObject({
        kind: "input",
        code: "database-refused",
      });
    }
    await sql("CREATE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM kept RETURNING n'");
    await expect(readTable(database!, "query", { sql: "SELECT wipe()" })).rejects.toThrow(/read-only/);
    expect(await sql("SELECT n FROM kept")).toEqual([{ n: 1 }]);
  });

  test("pieces of a table are the table, for any number of workers", async () => {
    await sql(`CREATE TABLE many AS SELECT n AS id, ST_SetSRID(ST_Point(n % 180, n % 90), 4326) AS g, repeat('x', n % 200) AS t
      FROM generate_series(1, 60000) AS n; ALTER TABLE many ADD PRIMARY KEY (id); DELETE FROM many WHERE id % 1000 = 7`);
    const whole = geoferry(["convert", address, "-", "--to", "geojsonseq", "--layer", "many", "--workers", "1", "-q"]);
    const lines = whole.stdout.trim().split("\n");
    expect(lines).toHaveLength(59940);
    const ids = lines.map((line) => (JSON.parse(line) as Feature).id);
    expect(new Set(ids).size).toBe(59940);
    const shared = geoferry(["convert", address, "-", "--to", "geojsonseq", "--layer", "many", "--workers", "3", "-q"]);
    expect(shared.stdout === whole.stdout).toBe(true);
  });

  test("rows that come and go meanwhile make no difference", async () => {
    await sql(
      "CREATE TABLE moving AS SELECT n AS id, ST_SetSRID(ST_Point(n % 180, 0), 4326) AS g FROM generate_series(1, 50000) AS n",
    );
    let disturbed: Promise<unknown> | undefined;
    const onLayers = () => {
      disturbed = sql(
        "DELETE FROM moving WHERE id % 2 = 0; INSERT INTO moving SELECT 100000 + n, NULL FROM generate_series(1, 999) AS n",
      );
    };
    const request = { inputs: [address], output: join(folder, "moving.csv"), layers: ["moving"], workers: 1 };
    const report = await convert(request, { ...createTestHost(), onLayers });
    expect(report.read).toBe(50000);
    await disturbed;
    expect(await sql("SELECT count(*)::int AS n FROM moving")).toEqual([{ n: 25999 }]);
  });

  test("a table without a declared SRID keeps its geometries while another session locks it", async () => {
    await sql("CREATE TABLE locked AS SELECT n, ST_SetSRID(ST_Point(n, 0), 4326) AS g FROM generate_series(1, 3) AS n");
    // Longer than the query for the SRID may take.
    const locking = sql("BEGIN; LOCK TABLE locked; SELECT pg_sleep(8); COMMIT");
    await expect
      .poll(() => sql("SELECT 1 FROM pg_locks WHERE relation = 'locked'::regclass AND mode = 'AccessExclusiveLock'"))
      .toHaveLength(1);
    const report = await convert(
      { inputs: [address], output: join(folder, "locked.geojsonl"), to: "geojsonseq", layers: ["locked"], workers: 1 },
      createTestHost(),
    );
    await locking;
    expect([report.read, report.withoutGeometry, report.notices]).toEqual([3, 0, []]);
  });

  test.runIf(hasOgr)("what ogr2ogr writes is what we read", async () => {
    for (const name of ["capitals", "parks", "rivers"]) {
      const input = join(samples, `${name}.geojson`);
      execFileSync("ogr2ogr", ["-f", "PostgreSQL", ogr, input, "-nln", `ogr_${name}`, "-lco", "LAUNDER=NO"], {
        stdio: "ignore",
      });
      const ours = featuresOf(await readTable(database!, `ogr_${name}`)).map(({ geometry, properties }) => ({
        geometry,
        properties,
      }));
      const theirs = ogrGeojson(input, name).features.map(({ geometry, properties }) => ({ geometry, properties }));
      expect(ours).toHaveLength(theirs.length);
      expect(ours.map(({ properties }) => Object.keys(properties))).toEqual(
        theirs.map(({ properties }) => Object.keys(properties as object)),
      );
      const multi = (geometry: unknown) => JSON.stringify(geometry).replaceAll(/"Multi/g, '"');
      for (const [n, { geometry, properties }] of ours.entries()) {
        expect(properties).toEqual(properties && theirs[n]!.properties);
        expect(multi(geometry).replaceAll(/\[\[\[\[|\]\]\]\]/g, "")).toBe(
          multi(theirs[n]!.geometry).replaceAll(/\[\[\[\[|\]\]\]\]/g, ""),
        );
      }
    }
  });
});

describe.runIf(database)("what stands in the way ends with its exit status", () => {
  const { sql, address } = database!;
  const at = new URL(address);

  test("a server that is away", () => {
    const away = geoferry(["info", `pg://postgres@127.0.0.1:1/${at.pathname.slice(1)}`]);
    expect([away.status, away.stderr]).toEqual([8, expect.stringContaining("does not answer")]);
  });

  test("a database that is not there", () => {
    const other = new URL(address);
    other.pathname = "/no_such_database";
    expect(geoferry(["info", other.href]).status).toBe(3);
  });

  test("a user who may not log in, and one who may not read", async () => {
    const unprivileged = new URL(address);
    unprivileged.username = "geoferry_test_nobody";
    expect(geoferry(["info", unprivileged.href]).status).toBe(9);
    await sql("CREATE TABLE secret (id int PRIMARY KEY, g geometry(Point, 4326))");
    await sql("DO $$ BEGIN CREATE ROLE geoferry_test_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    try {
      const reader = new URL(address);
      reader.username = "geoferry_test_reader";
      const asked = geoferry(["info", reader.href, "--layer", "secret"]);
      expect([asked.status, asked.stderr]).toEqual([9, expect.stringContaining("permissions of the user")]);
      const written = geoferry(["convert", join(samples, "capitals.geojson"), reader.href]);
      expect([written.status, written.stderr]).toEqual([9, expect.stringContaining("permission denied")]);
    } finally {
      await sql("DROP ROLE geoferry_test_reader");
    }
  });

  test("a password in the address", () => {
    const result = geoferry(["info", "pg://me:geheim@127.0.0.1/x", "--json"]);
    expect(result.status).toBe(2);
    expect(result.stdout + result.stderr).not.toContain("geheim");
    expect(
      geoferry(["convert", join(samples, "capitals.geojson"), "pg:dbname=x password=geheim"]).stderr,
    ).not.toContain("geheim");
  });

  test("a layer that is not there, and an address of another format", () => {
    expect(geoferry(["info", address, "--layer", "nothing"]).status).toBe(3);
    expect(geoferry(["info", address, "--from", "csv"]).status).toBe(2);
    expect(geoferry(["convert", join(samples, "capitals.geojson"), "out.x", "--to", "postgis"]).status).toBe(2);
  });
});

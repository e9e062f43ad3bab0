import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { Batch } from "../../../../src/model/batch.js";
import { fieldTypes } from "../../../../src/model/field.js";
import { forEachPosition } from "../../../../src/model/for-each-position.js";
import { allGeometryTypes } from "../../../../src/model/geometry.js";
import { assertOnlyReportedChanges, edgeFieldNames, sampleBatch } from "../../../../src/testing/index.js";
import { geoferry, hasProgram, main, samples } from "../../../support/command.js";
import { featuresOf, ogrGeojson, postgisDatabase, readTable, writeTable } from "../support.js";

const database = await postgisDatabase();
const hasOgr = hasProgram("ogr2ogr");
const folder = mkdtempSync(join(tmpdir(), "geoferry-test-postgis-"));
afterAll(() => rmSync(folder, { recursive: true }));

const capitals = join(samples, "capitals.geojson");
const exact = {
  tolerance: 0,
  singleIsMulti: false,
  absentIsNull: true,
  ids: "given",
  keepsTypes: [...fieldTypes],
} as const;

function geojsonFile(name: string, features: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
  return path;
}

const point = (id: number | undefined, properties: object, coordinates = [1, 2]) => ({
  type: "Feature",
  ...(id === undefined ? {} : { id }),
  properties,
  geometry: { type: "Point", coordinates },
});

describe.runIf(database)("writing", () => {
  const { sql, address, ogr } = database!;
  const columnsOf = (table: string) =>
    sql<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    ).then((rows) => Object.fromEntries(rows.map(({ name, type }) => [name, type])));
  const countOf = async (table: string) => (await sql<{ n: string }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n;

  const dimensions = ["xy", "xyz", "xym", "xyzm", "some-z"] as const;
  test.each(allGeometryTypes.flatMap((type) => dimensions.map((each) => [type, each] as const)))(
    "%s %s comes back, and PostGIS says the same of it",
    async (type, each) => {
      const name = `g_${type}_${each}`;
      const batch = sampleBatch({ features: 40, types: [type], dimensions: each, empty: true, nulls: true });
      const { given, losses } = await writeTable(database!, name, batch);
      const read = await readTable(database!, name);
      assertOnlyReportedChanges(losses, given, read.batches, exact);
      const isCollection = type === "GeometryCollection";
      // PostGIS has no GeoJSON for collections in collections: of those the positions are counted.
      const said = await sql<{ g: string | null; positions: number | null; srid: number | null }>(
        `SELECT ${isCollection ? "NULL" : "ST_AsGeoJSON(geom, 17, 0)"} AS g, ST_NPoints(geom) AS positions,
           ST_SRID(geom) AS srid FROM "${name}" ORDER BY fid`,
      );
      const geometries = featuresOf(read).map(({ geometry }) => geometry);
      expect(said.map(({ srid }) => srid)).toEqual(geometries.map((geometry) => geometry && 4326));
      expect(said.map(({ positions }) => positions)).toEqual(
        geometries.map((geometry) => {
          let count = 0;
          forEachPosition(geometry, () => count++);
          return geometry && count;
        }),
      );
      if (!isCollection) expect(said.map(({ g }) => (g === null ? null : JSON.parse(g)))).toEqual(geometries);
    },
  );

  test("mixed types and every field type come back", async () => {
    const types = allGeometryTypes;
    const batch = sampleBatch({ features: 60, types, fieldTypes, ids: "int32", nulls: true });
    const { given, losses } = await writeTable(database!, "every type", batch);
    assertOnlyReportedChanges(losses, given, (await readTable(database!, "every type")).batches, exact);
    expect(await columnsOf('"every type"')).toEqual({
      fid: "integer",
      geom: "geometry(Geometry,4326)",
      f_boolean: "boolean",
      f_int32: "integer",
      f_int64: "bigint",
      f_double: "double precision",
      f_text: "text",
      f_date: "date",
      f_time: "time without time zone",
      f_datetime: "timestamp with time zone",
      f_binary: "bytea",
      f_json: "json",
    });
  });

  test("names are what they are, and never SQL", async () => {
    const odd = [...edgeFieldNames, 'x"; DROP TABLE every; --', "xmin", "CTID", "ctid", "%I", "$1", "\\", "select"];
    const fields = odd.map((name, n) => ({ name, type: "int32" as const, values: [n] }));
    const name = `it's "a" table; DROP TABLE x --`;
    const { given, losses } = await writeTable(database!, name, sampleBatch({ features: 3, types: ["Point"], fields }));
    const read = await readTable(database!, name);
    assertOnlyReportedChanges(losses, given, read.batches, exact);
    expect(given[0]!.fields.map((field) => field.name)).toContain("xmin_1");
  });

  test("times have a zone where one has", async () => {
    const of = (values: readonly string[]) =>
      sampleBatch({ features: 20, types: [], fields: [{ name: "t", type: "datetime", values }] });
    const [plain, zoned] = ["2024-01-02T03:04:05", "2024-01-02T03:04:05.123456+02:00"];
    await writeTable(database!, "times plain", of([plain]), null);
    await writeTable(database!, "times zoned", of([zoned]), null);
    const late = [...Array.from({ length: 15 }, () => plain), zoned, zoned, zoned, zoned, zoned];
    const { losses } = await writeTable(database!, "times late", of(late), null);
    expect((await columnsOf('"times plain"')).t).toBe("timestamp without time zone");
    expect((await columnsOf('"times zoned"')).t).toBe("timestamp with time zone");
    expect((await columnsOf('"times late"')).t).toBe("timestamp with time zone");
    expect(losses.map(({ code, count }) => [code, count])).toEqual([
      ["zone-dropped", 5],
      ["zone-assumed", 15],
    ]);
    const rows = await sql<{ t: string }>(
      `SELECT DISTINCT (t AT TIME ZONE 'UTC')::text AS t FROM "times late" ORDER BY 1`,
    );
    expect(rows.map(({ t }) => t)).toEqual(["2024-01-02 01:04:05.123456", "2024-01-02 03:04:05"]);
  });

  test("ids are given where they are missing or taken, and go on", async () => {
    const features = [point(5, {}), point(5, {}), point(undefined, {}), point(2, {}), point(6, {})];
    const result = geoferry(["convert", geojsonFile("ids.geojson", features), address, "--layer-name", "ids"]);
    expect(result.stderr).toContain("id-changed");
    const ids = await sql<{ fid: number }>("SELECT fid FROM ids ORDER BY fid");
    expect(ids.map(({ fid }) => fid)).toEqual([2, 5, 6, 7, 8]);
    expect(await sql("INSERT INTO ids DEFAULT VALUES RETURNING fid")).toEqual([{ fid: 9 }]);
  });

  test.runIf(hasOgr)("ogr2ogr reads what we write", async () => {
    for (const name of ["capitals", "parks", "rivers", "trail"]) {
      expect(geoferry(["convert", join(samples, `${name}.geojson`), address, "--layer-name", `s_${name}`]).status).toBe(
        0,
      );
      const ours = ogrGeojson(ogr, `s_${name}`).features.map(({ geometry, properties }) => ({ geometry, properties }));
      const input = ogrGeojson(join(samples, `${name}.geojson`), name).features;
      expect(ours).toEqual(input.map(({ geometry, properties }) => ({ geometry, properties })));
    }
  });

  test("a table that is there is refused, replaced or added to", async () => {
    const input = geojsonFile("two.geojson", [point(1, { a: "x" }), point(2, { a: "y" })]);
    const run = (...flags: readonly string[]) =>
      geoferry(["convert", input, address, "--layer-name", "kept", "-q", ...flags]);
    expect(run().status).toBe(0);
    const again = run();
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining("--overwrite")]);
    expect(run("--append").status).toBe(0);
    expect((await sql<{ fid: number }>("SELECT fid FROM kept ORDER BY 1")).map(({ fid }) => fid)).toEqual([1, 2, 3, 4]);
    await sql(`COMMENT ON TABLE kept IS 'it''s'; CREATE INDEX by_a ON kept (a); GRANT SELECT ON kept TO PUBLIC;
      COMMENT ON COLUMN kept.a IS 'letter'; ALTER TABLE kept ADD CHECK (a <> 'z')`);
    expect(run("--replace-layer").status).toBe(0);
    expect(await countOf("kept")).toBe("2");
    const [facts] =
      await sql(`SELECT obj_description('kept'::regclass) AS comment, col_description('kept'::regclass, 3) AS letter,
      has_table_privilege('public', 'kept', 'SELECT') AS granted,
      (SELECT array_agg(indexrelid::regclass::text ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = 'kept'::regclass) AS indexes,
      (SELECT count(*)::int FROM pg_constraint WHERE conrelid = 'kept'::regclass AND contype = 'c') AS checks`);
    expect(facts).toEqual({
      comment: "it's",
      letter: "letter",
      granted: true,
      indexes: ["by_a", "kept_geom_idx", "kept_pkey"],
      checks: 1,
    });
    const empty = geoferry([
      "convert",
      geojsonFile("none.geojson", []),
      address,
      "--layer-name",
      "kept",
      "--overwrite",
      "-q",
    ]);
    expect(empty.status).toBe(7);
    await sql("CREATE VIEW of_kept AS SELECT * FROM kept");
    const wider = geojsonFile("wider.geojson", [point(1, { a: 5 })]);
    const refused = geoferry(["convert", wider, address, "--layer-name", "kept", "-q", "--overwrite"]);
    expect([refused.status, refused.stderr]).toEqual([4, expect.stringContaining("view of_kept")]);
    expect(await countOf("kept")).toBe("2");
    expect(geoferry(["convert", input, address, "--layer-name", "of_kept", "--overwrite", "-q"]).status).toBe(4);
  });

  test("what is appended takes the table's types, system and form", async () => {
    await sql(`CREATE TYPE kind AS ENUM ('park', 'lake');
      CREATE TABLE strict (gid serial PRIMARY KEY, k kind, n numeric(6, 1), u uuid, v varchar(4), g geometry(MultiPolygon, 3857), r real);
      INSERT INTO strict (k, n) VALUES ('lake', 1)`);
    const square = {
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    };
    const properties = {
      k: "park",
      n: 2.25,
      u: "6E8BC430-9C3A-11D9-9669-0800200C9A66",
      v: "abcd",
      extra: true,
      r: 0.1,
    };
    const feature = { type: "Feature", properties, geometry: square };
    const result = geoferry([
      "convert",
      geojsonFile("append.geojson", [feature]),
      address,
      "--layer-name",
      "strict",
      "--append",
    ]);
    expect(result.status).toBe(0);
    expect(result.stderr).toMatch(/value-changed of n/);
    expect(result.stderr).toMatch(/column-added of extra/);
    const rows = await sql(
      `SELECT gid, k, n, u, v, r, extra, GeometryType(g) AS type, ST_SRID(g) AS srid, round(ST_XMax(g)) AS x FROM strict ORDER BY gid`,
    );
    expect(rows[1]).toEqual({
      gid: 2,
      k: "park",
      n: "2.3",
      u: "6e8bc430-9c3a-11d9-9669-0800200c9a66",
      v: "abcd",
      r: 0.1,
      extra: true,
      type: "MULTIPOLYGON",
      srid: 3857,
      x: 111319,
    });
    const fails = (change: object, word: RegExp) => {
      const file = geojsonFile("fails.geojson", [{ ...feature, properties: { ...properties, ...change } }]);
      const { status, stderr } = geoferry(["convert", file, address, "--layer-name", "strict", "--append", "-q"]);
      expect([status, stderr]).toEqual([6, expect.stringMatching(word)]);
    };
    fails({ k: "sea" }, /"k" of "strict" is kind/);
    fails({ n: 1e9 }, /"n".*overflow/);
    fails({ v: "abcde" }, /too long/);
    const line = geojsonFile("line.geojson", [
      {
        ...feature,
        geometry: {
          type: "LineString",
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      },
    ]);
    expect(geoferry(["convert", line, address, "--layer-name", "strict", "--append", "-q"]).stderr).toMatch(
      /does not match column type/,
    );
    const other = geoferry([
      "convert",
      geojsonFile("append.geojson", [feature]),
      address,
      "--layer-name",
      "strict",
      "--append",
      "--target-crs",
      "EPSG:25832",
    ]);
    expect([other.status, other.stderr]).toEqual([2, expect.stringContaining("omit --target-crs")]);
    expect(await countOf("strict")).toBe("2");
  });

  test("a table can be replaced by a query on itself, and added to itself", async () => {
    await sql(
      "CREATE TABLE self AS SELECT n AS id, ST_SetSRID(ST_Point(n % 180, 1), 4326) AS geom FROM generate_series(1, 20000) AS n; ALTER TABLE self ADD PRIMARY KEY (id)",
    );
    const query = "sql=SELECT * FROM self WHERE id % 2 = 0";
    const replaced = geoferry([
      "convert",
      address,
      address,
      "--in",
      query,
      "--in",
      "id=id",
      "--layer-name",
      "self",
      "--overwrite",
      "-q",
    ]);
    expect([replaced.status, replaced.stderr]).toEqual([0, ""]);
    expect(await countOf("self")).toBe("10000");
    const added = geoferry(["convert", address, address, "--layer", "self", "--append", "--workers", "2"]);
    expect([added.status, added.stderr]).toEqual([0, expect.stringContaining("id-changed")]);
    expect(await countOf("self")).toBe("20000");
  });

  test("schemas, systems without a code, geography and jsonb", async () => {
    await sql("CREATE SCHEMA staging");
    expect(geoferry(["convert", capitals, address, "--layer-name", "staging.capitals", "-q"]).status).toBe(0);
    expect(await countOf("staging.capitals")).toBe("195");
    expect(geoferry(["convert", capitals, address, "--layer-name", "staging.capitals", "-q", "--append"]).status).toBe(
      0,
    );
    expect(await countOf("staging.capitals")).toBe("390");
    const laea = "+proj=laea +lat_0=10 +lon_0=20 +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs";
    const odd = geoferry(["convert", capitals, address, "--layer-name", "laea", "--target-crs", laea]);
    expect([odd.status, odd.stderr]).toEqual([0, expect.stringContaining("crs-added")]);
    expect((await readTable(database!, "laea")).crs?.kind).toBe("projected");
    const again = geoferry(["convert", capitals, address, "--layer-name", "laea2", "--target-crs", laea]);
    expect(again.stderr).not.toContain("crs-added");
    const globe = geoferry(["convert", capitals, address, "--layer-name", "globe", "--out", "type=geography", "-q"]);
    expect(globe.status).toBe(0);
    expect((await columnsOf("globe")).geom).toBe("geography(Point,4326)");
    const plane = geoferry([
      "convert",
      capitals,
      address,
      "--layer-name",
      "plane",
      "--out",
      "type=geography",
      "--target-crs",
      "EPSG:3857",
      "-q",
    ]);
    expect(plane.status).toBe(4);
    const nested = geojsonFile("nested.geojson", [point(1, { j: { b: [1, { c: null }] } })]);
    expect(geoferry(["convert", nested, address, "--layer-name", "nested", "--out", "json=jsonb", "-q"]).status).toBe(
      0,
    );
    expect(await sql("SELECT j FROM nested")).toEqual([{ j: { b: [1, { c: null }] } }]);
    expect(await columnsOf("nested")).toMatchObject({ j: "jsonb" });
  });

  test("text that PostgreSQL cannot store is a loss", async () => {
    const input = geojsonFile("nul.geojson", [point(1, { t: "a\0b", d: "x" }), point(2, { t: "c", d: "y" })]);
    const result = geoferry(["convert", input, address, "--layer-name", "nul"]);
    expect([result.status, result.stderr]).toEqual([0, expect.stringContaining("character-dropped of t")]);
    expect(await sql("SELECT t FROM nul ORDER BY fid")).toEqual([{ t: "ab" }, { t: "c" }]);
  });

  test("rejects go beside, and --strict leaves nothing", async () => {
    const input = geojsonFile("far.geojson", [point(1, {}), point(2, {}, [1000, 2])]);
    const result = geoferry(["convert", input, address, "--layer-name", "far"], { cwd: folder });
    expect(result.status).toBe(5);
    expect(result.stderr).toMatch(/geoferry_test_\w+\.rejects\.geojsonl/);
    const strict = geoferry([
      "convert",
      join(samples, "mixed.geojson"),
      address,
      "--layer-name",
      "strictly",
      "--strict",
    ]);
    expect(strict.status).toBe(4);
    expect(await sql("SELECT to_regclass('strictly') AS t")).toEqual([{ t: null }]);
  });

  test("a database without PostGIS says so, and takes tables without geometry", async () => {
    const name = `${new URL(address).pathname.slice(1)}_plain`;
    await sql(`CREATE DATABASE ${name} TEMPLATE template0`);
    const plain = new URL(address);
    plain.pathname = `/${name}`;
    try {
      const refused = geoferry(["convert", capitals, plain.href, "-q"]);
      expect([refused.status, refused.stderr]).toEqual([4, expect.stringContaining("CREATE EXTENSION postgis")]);
      const table = join(folder, "table.csv");
      writeFileSync(table, "a,b\n1,x\n");
      expect(geoferry(["convert", table, plain.href, "-q"]).status).toBe(0);
      expect(geoferry(["convert", plain.href, "-", "--to", "csv", "--layer", "table", "-q"]).stdout).toContain("1,x");
    } finally {
      await sql(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test("waits for a lock on the table, then fails with output-locked", async () => {
    const input = geojsonFile("one.geojson", [point(1, {})]);
    const args = ["convert", input, address, "--layer-name", "held", "-q", "--out", "lockTimeout=1"];
    expect(geoferry(args).status).toBe(0);
    const holder = sql("BEGIN; LOCK TABLE held IN ACCESS SHARE MODE; SELECT pg_sleep(20)").catch(() => undefined);
    await sleep(500);
    const result = geoferry([...args, "--overwrite"]);
    expect([result.status, result.stderr]).toEqual([11, expect.stringContaining("another program")]);
    await sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()",
    );
    await holder;
    expect(await countOf("held")).toBe("1");
  });

  test.each(["SIGKILL", "SIGINT"] as const)("a run that ends by %s in the middle leaves nothing", async (signal) => {
    await sql(
      "CREATE TABLE IF NOT EXISTS endless AS SELECT n AS id, ST_SetSRID(ST_Point(n % 180, 1), 4326) AS geom FROM generate_series(1, 200000) AS n",
    );
    const child = spawn(
      process.execPath,
      [main, "convert", address, address, "--layer", "endless", "--layer-name", `half_${signal}`, "-q"],
      { stdio: "ignore" },
    );
    const ended = once(child, "exit");
    for (let tries = 0; tries < 600; tries++) {
      const [row] = await sql<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_progress_copy WHERE command = 'COPY FROM' AND tuples_processed > 0",
      );
      if (row!.n > 0) break;
      await sleep(20);
    }
    child.kill(signal);
    const [status] = await ended;
    expect(status).toBe(signal === "SIGINT" ? 130 : null);
    for (let tries = 0; tries < 100; tries++) {
      const [row] = await sql<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'geoferry' AND datname = current_database()",
      );
      if (row!.n === 0) break;
      await sleep(100);
    }
    expect(await sql(`SELECT to_regclass('"half_${signal}"') AS t`)).toEqual([{ t: null }]);
    expect(await sql("SELECT relname FROM pg_class WHERE relname LIKE '%half%'")).toEqual([]);
    expect(
      await sql(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'geoferry' AND datname = current_database()",
      ),
    ).toEqual([]);
  });

  test("a batch of none makes an empty table", async () => {
    const batch = new Batch({ ...sampleBatch({ features: 1, types: ["Point"], fieldTypes: ["text"] }).toData() });
    await writeTable(database!, "empty", batch.take(new Uint32Array()));
    expect(await countOf("empty")).toBe("0");
  });
});

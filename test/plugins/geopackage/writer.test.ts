import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { hasProgram, samples } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { featuresOf, readLayers } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const newPath = (extension = "gpkg") => scratch.path(`w${files++}.${extension}`);

interface Row {
  readonly id?: unknown;
  readonly geometry?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A GeoPackage of these features. */
async function written(features: readonly Row[], options: Record<string, string> = {}, request = {}) {
  const input = newPath("geojson");
  const list = features.map((feature) => ({ type: "Feature", geometry: null, properties: {}, ...feature }));
  writeFileSync(input, JSON.stringify({ type: "FeatureCollection", features: list }));
  const path = newPath();
  const report = await convertFile(input, path, { writerOptions: options, layerName: "t", ...request });
  return { path, report };
}

/** What SQLite itself has to say of a file, and that it is sound. */
function query<T>(path: string, sql: string): T[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    return database.prepare(sql).all() as T[];
  } finally {
    database.close();
  }
}

/** Every check that SQLite has of its own structures. */
function expectSound(path: string): void {
  const database = new Sqlite(path, { readonly: true });
  try {
    expect(database.pragma("integrity_check")).toEqual([{ integrity_check: "ok" }]);
    expect(database.pragma("foreign_key_check")).toEqual([]);
    const trees = database
      .prepare("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING rtree%'")
      .all() as { name: string }[];
    for (const { name } of trees) {
      expect(database.prepare("SELECT rtreecheck(?) AS said").get(name), name).toEqual({ said: "ok" });
    }
  } finally {
    database.close();
  }
}

const pointAt = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

describe("ids", () => {
  const idsOf = async (path: string) => featuresOf((await readLayers(path))[0]!).map((feature) => feature.id);

  it("that ascend, with gaps, are kept", async () => {
    const { path } = await written([-7, 0, 3, 2 ** 40].map((id) => ({ id, geometry: pointAt(id % 90, 1) })));
    expect(await idsOf(path)).toEqual([-7, 0, 3, 2 ** 40]);
    expectSound(path);
  });

  it("in any order are kept too, and every feature is found by the index", async () => {
    const random = createRandom(5);
    const ids = Array.from({ length: 3000 }, (_, i) => i * 3 + 1).sort(() => random() - 0.5);
    const { path } = await written(ids.map((id) => ({ id, geometry: pointAt(id / 100, 1), properties: { id } })));
    const features = featuresOf((await readLayers(path))[0]!);
    expect(features.map((feature) => feature.id)).toEqual([...ids].sort((a, b) => a - b));
    expect(features.every((feature) => feature.properties.id === feature.id)).toBe(true);
    expect(query(path, "SELECT count(*) AS n FROM rtree_t_geom")).toEqual([{ n: 3000 }]);
    expectSound(path);
  });

  it("that are taken get another number, which is a loss", async () => {
    const { path, report } = await written([5, 5, 6, 5].map((id) => ({ id, geometry: pointAt(1, 2) })));
    expect(await idsOf(path)).toEqual([5, 6, 7, 8]);
    expect(report.losses.filter(({ code }) => code === "id-changed")).toMatchObject([{ count: 3 }]);
    expectSound(path);
  });

  it("that are texts become a field", async () => {
    const { path, report } = await written([{ id: "a" }, { id: "b" }]);
    expect(featuresOf((await readLayers(path))[0]!).map(({ id, properties }) => [id, properties])).toEqual([
      [1, { id: "a" }],
      [2, { id: "b" }],
    ]);
    expect(report.notices.map(({ code }) => code)).toContain("id-as-field");
  });

  it("go on behind the greatest when a program adds features", async () => {
    const { path } = await written([{ id: 41, geometry: pointAt(1, 2) }]);
    expect(query(path, "SELECT name, seq FROM sqlite_sequence")).toEqual([{ name: "t", seq: 41 }]);
  });
});

describe("tables", () => {
  it("of many pages and levels, with records longer than a page, are what SQLite takes for sound", async () => {
    const random = createRandom(9);
    const features = Array.from({ length: 60_000 }, (_, i) => {
      const [x, y] = [random() * 360 - 180, random() * 180 - 90];
      const text = i % 997 === 0 ? "long ".repeat(Math.floor(random() * 9000)) : `name ${i}`;
      return { geometry: pointAt(x, y), properties: { i, text } };
    });
    const { path } = await written(features);
    expectSound(path);
    const rows = query<{ i: number; text: string }>(path, "SELECT i, text FROM t ORDER BY fid");
    const digest = (list: readonly { i: number; text: string }[]) =>
      createHash("sha1")
        .update(JSON.stringify(list.map(({ i, text }) => [i, text])))
        .digest("hex");
    expect(digest(rows)).toBe(digest(features.map((feature) => feature.properties)));
    // What the index finds in a window is what looking at every feature finds.
    for (const [west, south, east, north] of [
      [10, 40, 20, 50],
      [-180, -90, 180, 90],
      [5, 5, 5.5, 5.5],
      [170, -10, 180, 0],
    ] as const) {
      const found = query<{ id: number }>(
        path,
        `SELECT id FROM rtree_t_geom WHERE maxx >= ${west} AND minx <= ${east} AND maxy >= ${south} AND miny <= ${north} ORDER BY id`,
      ).map(({ id }) => id);
      const inside = features.flatMap(({ geometry: { coordinates: c } }, i) =>
        c[0]! >= west && c[0]! <= east && c[1]! >= south && c[1]! <= north ? [i + 1] : [],
      );
      // 32-bit boxes reach a little further.
      expect(inside.filter((id) => !found.includes(id))).toEqual([]);
      expect(found.length - inside.length).toBeLessThan(3);
    }
  });

  it("of different sizes around those of nodes and pages are sound", async () => {
    for (const count of [0, 1, 2, 50, 51, 52, 102, 2601, 2602, 2653]) {
      const features = Array.from({ length: count }, (_, i) => ({ geometry: pointAt(i % 180, i % 90) }));
      const { path } = await written(features, {}, { allowEmpty: true });
      expectSound(path);
      const { name } =
        query<{ name: string }>(path, "SELECT name FROM sqlite_master WHERE sql LIKE '%USING rtree%'")[0] ?? {};
      if (count > 0) expect(query(path, `SELECT count(*) AS n FROM "${name}"`), `${count}`).toEqual([{ n: count }]);
    }
  });

  it("have columns of the standard's types, and JSON and times say what they are", async () => {
    const input = newPath("csv");
    writeFileSync(
      input,
      "lon,lat,b,i,l,d,t,day,hour,moment\n1,2,true,7,12345678901,0.5,text,2020-02-29,10:11:12,2020-02-29T10:11:12.5Z\n",
    );
    const path = newPath();
    await convertFile(input, path, { layerName: "t" });
    const [{ sql }] = query<{ sql: string }>(path, "SELECT sql FROM sqlite_master WHERE name = 't'") as [
      { sql: string },
    ];
    expect(sql.replace(/\s+/g, " ")).toBe(
      'CREATE TABLE "t" ( "fid" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "geom" POINT, "b" BOOLEAN, "i" MEDIUMINT, "l" INTEGER, "d" DOUBLE, "t" TEXT, "day" DATE, "hour" TEXT, "moment" DATETIME )',
    );
    expect(query(path, "SELECT b, i, l, d, t, day, hour, moment FROM t")).toEqual([
      {
        b: 1,
        i: 7,
        l: 12345678901,
        d: 0.5,
        t: "text",
        day: "2020-02-29",
        hour: "10:11:12",
        moment: "2020-02-29T10:11:12.500Z",
      },
    ]);
    const [layer] = await readLayers(path);
    expect(layer!.info.fields!.map((field) => field.type)).toEqual([
      "boolean",
      "int32",
      "int64",
      "double",
      "text",
      "date",
      "time",
      "datetime",
    ]);
  });

  it("times are in UTC: what had no zone or another offset is a loss", async () => {
    const input = newPath("csv");
    writeFileSync(
      input,
      "a\n2020-01-01T12:00:00+05:45\n2020-01-01T12:00:00\n2020-01-01T12:00:00.1239Z\n2020-01-01T12:00:00Z\n",
    );
    const path = newPath();
    const report = await convertFile(input, path, { layerName: "t" });
    expect(query(path, "SELECT a FROM t").map((row) => (row as { a: string }).a)).toEqual([
      "2020-01-01T06:15:00.000Z",
      "2020-01-01T12:00:00.000Z",
      "2020-01-01T12:00:00.123Z",
      "2020-01-01T12:00:00.000Z",
    ]);
    expect(report.losses.map(({ code, count }) => [code, count])).toEqual([
      ["zone-assumed", 1],
      ["zone-dropped", 1],
      ["time-rounded", 1],
    ]);
  });

  it("names that belong to others, and columns that clash with the key, get other ones", async () => {
    const { path } = await written(
      [{ geometry: pointAt(1, 2), properties: { FID: "x", Geom: "y" } }],
      {},
      { layerName: "gpkg_contents" },
    );
    expect(query(path, "SELECT * FROM layer_gpkg_contents")).toMatchObject([{ fid_1: 1, FID: "x", Geom: "y" }]);
    expect(query(path, "SELECT column_name FROM gpkg_geometry_columns")).toEqual([{ column_name: "geom_1" }]);
  });
});

describe("what a file says of itself", () => {
  it("type, extent, heights and change of a layer", async () => {
    const line = (...coordinates: number[][]) => ({ type: "LineString", coordinates });
    const { path } = await written([
      { geometry: line([1, 2, 3], [4, 5, 6]) },
      { geometry: line([-1, 9], [0, 0]) },
      { geometry: null },
    ]);
    expect(query(path, "SELECT * FROM gpkg_contents")).toEqual([
      {
        table_name: "t",
        data_type: "features",
        identifier: "t",
        description: "",
        last_change: "2001-02-03T04:05:06.000Z",
        min_x: -1,
        min_y: 0,
        max_x: 4,
        max_y: 9,
        srs_id: 4326,
      },
    ]);
    expect(query(path, "SELECT geometry_type_name, srs_id, z, m FROM gpkg_geometry_columns")).toEqual([
      { geometry_type_name: "LINESTRING", srs_id: 4326, z: 2, m: 0 },
    ]);
    expect(query(path, "SELECT srs_id FROM gpkg_spatial_ref_sys ORDER BY srs_id")).toEqual([
      { srs_id: -1 },
      { srs_id: 0 },
      { srs_id: 4326 },
    ]);
  });

  it("several kinds of geometry are GEOMETRY, none is a table of attributes", async () => {
    const { path } = await written([
      { geometry: pointAt(1, 2) },
      {
        geometry: {
          type: "LineString",
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      },
    ]);
    expect(query(path, "SELECT geometry_type_name AS type FROM gpkg_geometry_columns")).toEqual([{ type: "GEOMETRY" }]);
    const table = await written([{ properties: { a: 1 } }]);
    expect(query(table.path, "SELECT data_type FROM gpkg_contents")).toEqual([{ data_type: "attributes" }]);
    expectSound(table.path);
  });

  it("a system of its own, also one that WKT 1 cannot say", async () => {
    const { path } = await written([{ geometry: pointAt(16, 48) }], {}, { targetCrs: "EPSG:31287" });
    expect(
      query(
        path,
        "SELECT organization, organization_coordsys_id AS code, srs_id FROM gpkg_spatial_ref_sys WHERE srs_id > 4326",
      ),
    ).toEqual([{ organization: "EPSG", code: 31287, srs_id: 31287 }]);
    const own = "+proj=laea +lat_0=47.5 +lon_0=13.5 +datum=WGS84 +units=m";
    const other = await written([{ geometry: pointAt(13.5, 47.5) }], {}, { targetCrs: own });
    const [layer] = await readLayers(other.path);
    expect(layer!.info.crs?.kind).toBe("projected");
    expect(layer!.notices).toEqual([]);
    expectSound(other.path);
  });

  it.each([
    ["1.4", 10400, ["delete", "insert", "update2", "update4", "update5", "update6", "update7"]],
    ["1.2", 10200, ["delete", "insert", "update1", "update2", "update3", "update4"]],
  ])("version %s has its number and its triggers", async (version, number, triggers) => {
    const { path } = await written([{ geometry: pointAt(1, 2) }], { version });
    expect(query(path, "PRAGMA user_version")).toEqual([{ user_version: number }]);
    expect(query(path, "PRAGMA application_id")).toEqual([{ application_id: 0x47504b47 }]);
    const names = query<{ name: string }>(path, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name");
    expect(names.map(({ name }) => name)).toEqual(triggers.map((trigger) => `rtree_t_geom_${trigger}`));
    expect(query(path, "SELECT table_name, column_name, extension_name, scope FROM gpkg_extensions")).toEqual([
      { table_name: "t", column_name: "geom", extension_name: "gpkg_rtree_index", scope: "write-only" },
    ]);
  });

  it("without an index where none is asked for", async () => {
    const { path } = await written([{ geometry: pointAt(1, 2) }], { index: "no" });
    expect(query(path, "SELECT name FROM sqlite_master WHERE name LIKE 'rtree%'")).toEqual([]);
    expectSound(path);
  });

  it("the same bytes come for the same input", async () => {
    const bytes = [newPath(), newPath()];
    for (const path of bytes) await convertFile(`${samples}/parks.geojson`, path, { layerName: "parks" });
    expect(readFileSync(bytes[0]!).equals(readFileSync(bytes[1]!))).toBe(true);
  });
});

describe.runIf(hasProgram("ogrinfo"))("other programs", () => {
  it.each(["capitals", "parks", "rivers", "mixed", "huts"])("GDAL opens %s without a warning", async (name) => {
    const path = newPath();
    await convertFile(`${samples}/${name}.geojson`, path, { writerOptions: { version: "1.2" } });
    const said = execFileSync("sh", ["-c", `ogrinfo -al -so "${path}" 2>&1`], { encoding: "utf8" });
    expect(said).not.toMatch(/warning|error/i);
    expect(said).toContain(`Feature Count: ${featuresOf((await readLayers(path))[0]!).length}`);
  });
});

/** GDAL's validator, with the Python that has GDAL's modules. */
const validator = ["/usr/bin/python3", "python3"].find(
  (python) => spawnSync(python, ["-c", "import osgeo_utils.samples.validate_gpkg"]).status === 0,
);

describe.runIf(validator !== undefined || process.env.CI)("GDAL's validator", () => {
  it.each(["capitals", "parks", "mixed"])("finds no fault in %s", async (name) => {
    const path = newPath();
    await convertFile(`${samples}/${name}.geojson`, path, { writerOptions: { version: "1.2" } });
    await convertFile(`${samples}/rivers.geojson`, path, { append: true });
    const check = spawnSync(validator!, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", path], { encoding: "utf8" });
    expect(check.stdout + check.stderr).toBe("");
    expect(check.status).toBe(0);
  });
});

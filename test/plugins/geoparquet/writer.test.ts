import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { featuresOf, geoOf, metadataOf, readLayer, rowsOf } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

type Geometry = { type: string; coordinates?: unknown; geometries?: unknown } | null;
const feature = (properties: object, geometry: Geometry) => ({ type: "Feature", properties, geometry });

/** Writes features to a GeoJSON, and that to a Parquet. */
async function write(features: object[], writerOptions: Record<string, string> = {}, request: object = {}) {
  const source = scratch.path(`s${files}.geojson`);
  const path = scratch.path(`w${files++}.parquet`);
  writeFileSync(source, JSON.stringify({ type: "FeatureCollection", features }));
  const report = await convertFile(source, path, { writerOptions, ...request });
  return { path, report };
}

const at = (x: number, y: number): Geometry => ({ type: "Point", coordinates: [x, y] });
const line: Geometry = {
  type: "LineString",
  coordinates: [
    [1, 2],
    [3, 8],
  ],
};

/** The point of little-endian WKB (OGC 06-103r4, 8.2.8). */
function wkbPoint(x: number, y: number): Uint8Array {
  const bytes = Buffer.alloc(21);
  bytes[0] = 1;
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(x, 5);
  bytes.writeDoubleLE(y, 13);
  return Uint8Array.from(bytes);
}

describe("columns", () => {
  it("hold the values of every type, as another library reads them", async () => {
    const values = {
      boolean: [true, false, null],
      int32: [-5, null, 2147483647],
      int64: [9007199254740991, 1, null],
      double: [0.1, null, -1e300],
      text: ["ä😀", "", null],
      date: ["1969-12-31", null, "2024-02-29"],
      datetime: ["2024-02-29T23:59:59.123456Z", "1900-01-01T00:00:00Z", null],
      time: ["00:00:01.5", null, "23:59:59"],
      json: [{ a: [1, null] }, [1], null],
    };
    const names = Object.keys(values) as (keyof typeof values)[];
    const features = [0, 1, 2].map((row) =>
      feature(Object.fromEntries(names.map((name) => [name, values[name][row]])), at(row, row)),
    );
    const { path, report } = await write(features);
    expect(report.losses).toEqual([]);
    const schema = metadataOf(path).schema.slice(1, 1 + names.length);
    expect(schema.map(({ name, type, logical_type }) => [name, type, logical_type?.type ?? null])).toEqual([
      ["boolean", "BOOLEAN", null],
      ["int32", "INT32", null],
      ["int64", "INT64", null],
      ["double", "DOUBLE", null],
      ["text", "BYTE_ARRAY", "STRING"],
      ["date", "INT32", "DATE"],
      ["datetime", "INT64", "TIMESTAMP"],
      ["time", "INT64", "TIME"],
      ["json", "BYTE_ARRAY", "JSON"],
    ]);
    expect(schema[6]!.logical_type).toEqual({ type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" });
    const rows = await rowsOf(path);
    const column = (name: string) => rows.map((row) => row[name] ?? null);
    for (const name of ["boolean", "int32", "double", "text", "json"] as const)
      expect(column(name)).toEqual(values[name]);
    expect(column("int64")).toEqual([9007199254740991n, 1n, null]);
    expect(column("date")).toEqual([new Date("1969-12-31"), null, new Date("2024-02-29")]);
    expect(column("datetime")).toEqual([new Date("2024-02-29T23:59:59.123Z"), new Date("1900-01-01T00:00:00Z"), null]);
    expect(column("time").map((value) => (value === null ? null : Number(value)))).toEqual([
      1500000,
      null,
      86399000000,
    ]);
    expect(rows[2]!.geometry).toEqual(wkbPoint(2, 2));
  });

  it("of times have a zone if some have, and the rest is reported", async () => {
    const times = (list: string[]) => list.map((t) => feature({ t }, at(0, 0)));
    const local = await write(times(["2020-01-01T00:00:00", "2020-01-02T00:00:00"]));
    expect(metadataOf(local.path).schema[1]!.logical_type).toMatchObject({ isAdjustedToUTC: false });
    expect(local.report.losses).toEqual([]);
    const mixed = await write(
      times(["2020-01-01T00:00:00+02:00", "2020-01-02T00:00:00", "2020-01-01T00:00:00.1234567Z"]),
    );
    expect(metadataOf(mixed.path).schema[1]!.logical_type).toMatchObject({ isAdjustedToUTC: true });
    expect(mixed.report.losses.map(({ code, count }) => [code, count])).toEqual([
      ["time-rounded", 1],
      ["zone-dropped", 1],
      ["zone-assumed", 1],
    ]);
    expect((await rowsOf(mixed.path))[0]!.t).toEqual(new Date("2019-12-31T22:00:00Z"));
  });

  it("of times have years of four digits in UTC", async () => {
    const { path, report } = await write([
      feature({ t: "9999-12-31T23:30:00-05:00" }, at(0, 0)),
      feature({ t: "9999-12-31T23:30:00Z" }, at(0, 0)),
    ]);
    expect(report.losses.map(({ code, count }) => [code, count])).toEqual([["date-out-of-range", 1]]);
    expect((await rowsOf(path)).map(({ t }) => t ?? null)).toEqual([null, new Date("9999-12-31T23:30:00Z")]);
  });

  it("have statistics", async () => {
    const { path } = await write([
      feature({ n: 3, d: 0.5, s: "b" }, at(1.1, 2.2)),
      feature({ n: -7, d: -2, s: "ä" }, line),
      feature({ n: null, d: null, s: "" }, null),
    ]);
    const [n, d, s, geometry, ...box] = metadataOf(path).row_groups[0]!.columns.map((column) => column.meta_data!);
    expect(n!.statistics).toMatchObject({ min_value: -7, max_value: 3, null_count: 1n });
    expect(d!.statistics).toMatchObject({ min_value: -2, max_value: 0.5, null_count: 1n });
    expect(s!.statistics).toMatchObject({ min_value: "", max_value: "ä", null_count: 0n });
    expect(geometry!.statistics).toMatchObject({ null_count: 1n });
    expect(geometry!.statistics!.min_value).toBeUndefined();
    // Floats that are not greater and not less than the coordinates.
    const [xmin, ymin, xmax, ymax] = box.map(({ statistics }) => statistics!);
    expect(xmin!.min_value).toBe(1);
    expect([1, 2].includes(ymin!.min_value as number)).toBe(true);
    expect(xmax!.max_value).toBe(3);
    expect(ymax!.max_value).toBe(8);
    expect(xmin!.null_count).toBe(1n);
  });
});

describe("metadata", () => {
  it("says what is in the geometry column", async () => {
    const { path } = await write([
      feature({ n: 1 }, at(1.1, -2.2)),
      feature({ n: 2 }, { type: "Point", coordinates: [5, 6, 7] }),
      feature({ n: 3 }, line),
    ]);
    expect(geoOf(path)).toEqual({
      version: "1.1.0",
      primary_column: "geometry",
      columns: {
        geometry: {
          encoding: "WKB",
          geometry_types: ["Point", "LineString", "Point Z"],
          bbox: [1, -2.2, 5, 8],
          covering: {
            bbox: { xmin: ["bbox", "xmin"], ymin: ["bbox", "ymin"], xmax: ["bbox", "xmax"], ymax: ["bbox", "ymax"] },
          },
        },
      },
    });
    const rows = await rowsOf(path);
    const box = rows[0]!.bbox as Record<string, number>;
    expect(box.xmin!).toBeLessThanOrEqual(1.1);
    expect(box.xmax!).toBeGreaterThanOrEqual(1.1);
    expect(box.ymin!).toBeLessThanOrEqual(-2.2);
    expect(box.ymax!).toBeGreaterThanOrEqual(-2.2);
    for (const side of Object.values(box)) expect(Math.fround(side)).toBe(side);
    expect(box.xmax! - box.xmin!).toBeLessThan(1e-6);
  });

  it("has the reference system as PROJJSON", async () => {
    const { path } = await write([feature({}, at(9, 48))], {}, { targetCrs: "EPSG:25832" });
    expect(geoOf(path).columns.geometry!.crs).toMatchObject({
      type: "ProjectedCRS",
      name: "ETRS89 / UTM zone 32N",
      base_crs: { name: "ETRS89", datum: { ellipsoid: { name: "GRS 1980", semi_major_axis: 6378137 } } },
      conversion: {
        method: { name: "Transverse Mercator", id: { authority: "EPSG", code: 9807 } },
        parameters: [
          { name: "Latitude of natural origin", value: 0, unit: "degree", id: { authority: "EPSG", code: 8801 } },
          { name: "Longitude of natural origin", value: 9, unit: "degree" },
          { name: "Scale factor at natural origin", value: 0.9996, unit: "unity" },
          { name: "False easting", value: 500000, unit: "metre" },
          { name: "False northing", value: 0, unit: "metre" },
        ],
      },
      id: { authority: "EPSG", code: 25832 },
    });
  });

  it("of the logical type GEOMETRY has statistics and a crs", async () => {
    const features = [feature({}, at(9, 48)), feature({}, { type: "Point", coordinates: [10, 47, 5] })];
    const plain = await write(features, { geometryType: "parquet", bbox: "no" });
    expect(metadataOf(plain.path).schema[1]).toMatchObject({ name: "geometry", logical_type: { type: "GEOMETRY" } });
    expect(metadataOf(plain.path).row_groups[0]!.columns[0]!.meta_data!.geospatial_statistics).toEqual({
      bbox: { xmin: 9, xmax: 10, ymin: 47, ymax: 48 },
      geospatial_types: [1, 1001],
    });
    expect(geoOf(plain.path).columns.geometry).not.toHaveProperty("covering");
    const utm = await write(features, { geometryType: "parquet" }, { targetCrs: "EPSG:25832" });
    expect(metadataOf(utm.path).schema[1]!.logical_type).toEqual({ type: "GEOMETRY", crs: "srid:25832" });
  });
});

describe("files", () => {
  const many = Array.from({ length: 5000 }, (_, n) => feature({ n, s: `name ${n % 10}` }, at(n / 100, n / 200)));

  it.each(["snappy", "gzip", "brotli", "none"])("in %s are read by another library", async (compression) => {
    const { path } = await write(many, { compression, rowGroup: "2000" });
    const { row_groups } = metadataOf(path);
    expect(row_groups.map(({ num_rows }) => num_rows)).toEqual([2000n, 2000n, 1000n]);
    const codec = compression === "none" ? "UNCOMPRESSED" : compression.toUpperCase();
    expect(row_groups[0]!.columns[0]!.meta_data!.codec).toBe(codec);
    const rows = await rowsOf(path);
    expect(rows.map(({ n }) => n)).toEqual(many.map((_, n) => n));
    expect(rows[4999]).toMatchObject({ s: "name 9", geometry: wkbPoint(49.99, 24.995) });
    const features = featuresOf(await readLayer(path));
    expect(features.map(({ properties }) => properties)).toEqual(many.map(({ properties }) => properties));
    expect(features[4999]!.geometry).toEqual(at(49.99, 24.995));
  });

  it("are the same for any number of workers", async () => {
    const one = await write(many, { rowGroup: "2000" }, { workers: 1 });
    const source = one.path.replace(/w(\d+)\.parquet$/, "s$1.geojson");
    const other = scratch.path("three.parquet");
    await convertFile(source, other, { writerOptions: { rowGroup: "2000" }, workers: 3 });
    expect(readFileSync(other).equals(readFileSync(one.path))).toBe(true);
  });

  it("of tables without geometry have no metadata of GeoParquet", async () => {
    const { path } = await write([feature({ n: 1 }, null)]);
    expect(metadataOf(path).key_value_metadata ?? []).toEqual([]);
    expect(metadataOf(path).schema.map(({ name }) => name)).toEqual(["schema", "n"]);
  });

  it("name columns that no field has", async () => {
    const { path } = await write([feature({ geometry: 1, bbox: 2 }, at(1, 2))]);
    expect(metadataOf(path).schema.map(({ name }) => name)).toEqual(expect.arrayContaining(["geometry_1", "bbox_1"]));
    expect(geoOf(path).primary_column).toBe("geometry_1");
  });

  it("drop measures, unless the geometry has the logical type", async () => {
    const source = scratch.path("m.csv");
    writeFileSync(source, 'wkt,n\n"LINESTRING M (1 2 3,4 5 6)",1\n');
    const dropped = await convertFile(source, scratch.path("m.parquet"));
    expect(dropped.losses).toMatchObject([{ code: "m-dropped" }]);
    const kept = scratch.path("km.parquet");
    const report = await convertFile(source, kept, { writerOptions: { geometryType: "parquet" } });
    expect(report.losses).toEqual([]);
    expect(geoOf(kept).columns.geometry!.geometry_types).toEqual([]);
  });
});

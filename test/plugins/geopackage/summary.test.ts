import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import geopackage from "../../../plugins/geopackage/index.js";
import { WkbWriter } from "../../../plugins/shared/wkb/index.js";
import {
  type Batch,
  type Extent,
  type Geometry,
  GeometryBuilder,
  Kind,
  packFeatures,
  Summarizer,
} from "../../../src/model/index.js";
import { openDataset, RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { blobOf, newPackage, register } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

const line = {
  type: "LineString",
  coordinates: [
    [1, 2],
    [3, 4],
  ],
} satisfies Geometry;
const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];
const polygon = { type: "Polygon", coordinates: [ring, ring] } satisfies Geometry;

function blob(geometry: Geometry): Buffer {
  const builder = new GeometryBuilder();
  builder.addGeoJson(geometry);
  return blobOf(Buffer.from(new WkbWriter().write(builder.finish(), 0)));
}

/** The summary of a layer with these geometries, each with its number as a name and as a value. */
async function summaryOf(geometries: readonly (Buffer | null)[], unchangedExtent: Extent | null = null) {
  const path = scratch.path(`s${files++}.gpkg`);
  const database = newPackage(path);
  database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY, name TEXT, n MEDIUMINT)");
  register(database, "t", "geom");
  const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  for (const [i, geometry] of geometries.entries()) insert.run(i + 1, geometry, i === 0 ? null : `name ${i}`, -i);
  database.close();
  const context = new RecordingContext(false);
  await using dataset = await openDataset(geopackage, path, context);
  const summary = await dataset.layers[0]!.summary!({ unchangedExtent, isLimited: false, needsExtent: false });
  expect(context.losses).toEqual([]);
  return summary;
}

it("geometry types come from WKB headers, fields from encoded values", async () => {
  const multi = [
    { type: "MultiLineString", coordinates: [line.coordinates, line.coordinates] },
    { type: "MultiPolygon", coordinates: [polygon.coordinates, [ring]] },
    { type: "MultiPoint", coordinates: ring },
  ] satisfies Geometry[];
  const summary = await summaryOf([null, blob(line), blob(polygon), ...multi.map(blob), blob(line)]);
  const expected = Array(8).fill(0);
  expected[Kind.none] = expected[Kind.Polygon] = 1;
  expected[Kind.LineString] = 2;
  expected[Kind.MultiLineString] = expected[Kind.MultiPolygon] = expected[Kind.MultiPoint] = 1;
  expect(summary!.kinds.map((kind) => kind.count)).toEqual(expected);
  expect(summary).toMatchObject({ featureCount: 7, hasZ: false, hasM: false });
  expect(summary!.fields).toMatchObject([
    { name: "name", type: "text", values: 6, maxBytes: 6 },
    { name: "n", type: "int32", values: 7, maxBytes: 2 },
  ]);
});

const cut = blob(polygon);
it.each([
  ["points, which are decoded as soon", blob({ type: "Point", coordinates: [1, 2] })],
  [
    "heights",
    blob({
      type: "LineString",
      coordinates: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    }),
  ],
  ["collections", blob({ type: "GeometryCollection", geometries: [line] })],
  ["a geometry that is cut off", cut.subarray(0, cut.length - 1)],
  ["a geometry with bytes behind it", Buffer.concat([cut, Buffer.of(0)])],
  ["what is no geometry", Buffer.from("no geometry")],
])("a layer with %s has no summary without decoding", async (_, odd) => {
  expect(await summaryOf([blob(line), odd])).toBeNull();
});

it("of texts, dates and numbers is what the rows say once they are read, also where they must be converted", async () => {
  const path = scratch.path("values.gpkg");
  const database = newPackage(path);
  database.exec(
    "CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY, name TEXT, day DATE, at DATETIME, big INTEGER, share DOUBLE, yes BOOLEAN)",
  );
  register(database, "t", "geom");
  const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  insert.run(1, blob(line), "Zürich", "2024-02-29", "2024-02-29T01:02:03.5Z", 281474976710655n, 0.5, 1);
  insert.run(-70000, blob(line), "Ø", null, null, -7n, 3, 0);
  database.close();
  const summarize = async () => {
    await using dataset = await openDataset(geopackage, path, new RecordingContext(false));
    const { fields, maxIdBytes } = (await dataset.layers[0]!.summary!({
      unchangedExtent: null,
      isLimited: false,
      needsExtent: false,
    }))!;
    return { idBytes: maxIdBytes, fields: fields.map(({ name, values, maxBytes }) => [name, values, maxBytes]) };
  };
  // "Zürich" takes seven bytes as UTF-8, the greatest integer fifteen digits; 24 and 5 are what any double and boolean may take.
  const expected = [
    ["name", 2, 7],
    ["day", 1, 10],
    ["at", 1, 22],
    ["big", 2, 15],
    ["share", 2, 24],
    ["yes", 2, 5],
  ];
  expect(await summarize()).toEqual({ idBytes: 6, fields: expected });
  const again = new Sqlite(path);
  again.prepare("INSERT INTO t (fid, geom, day) VALUES (2, ?, '2024/3/1')").run(blob(line));
  again.close();
  expected[1] = ["day", 2, 10];
  expect(await summarize()).toEqual({ idBytes: 6, fields: expected });
});

const point = (x: number, y: number) => blob({ type: "Point", coordinates: [x, y] });
const globe: Extent = [-180, -90, 180, 90];

it("a layer of points is summarized with its box only if an extent is given", async () => {
  const points = [point(-180, 90), null, point(1.5, -2), point(7, 0)];
  const summary = (await summaryOf(points, globe))!;
  expect(summary.kinds.map((kind) => kind.count)).toEqual([1, 3, 0, 0, 0, 0, 0, 0]);
  expect(summary).toMatchObject({ featureCount: 4, extent: [-180, -2, 7, 90] });
  expect(summary.kinds[Kind.Point]!.box).toEqual([-180, -2, 7, 90]);
  expect(await summaryOf(points)).toBeNull();
});

const bigEndian = point(1, 2);
bigEndian[bigEndian.length - 21] = 0;
bigEndian.writeUInt32BE(1, bigEndian.length - 20);
it.each([
  ["beyond the box", point(180.0000000001, 0)],
  ["at infinity", point(Number.POSITIVE_INFINITY, 0)],
  ["without a place", point(Number.NaN, Number.NaN)],
  ["of heights", blob({ type: "Point", coordinates: [1, 2, 3] })],
  ["with other bytes", bigEndian],
  ["beside lines", blob(line)],
])("a layer of points has no summary if one is %s", async (_, odd) => {
  for (const order of [
    [point(1, 2), odd],
    [odd, point(1, 2)],
  ])
    expect(await summaryOf(order, globe)).toBeNull();
});

it("of points is what a full reading says", async () => {
  const text = fc.option(fc.string({ unit: "grapheme", maxLength: 12 }).map((name) => name.replaceAll("\0", "")));
  const row = fc.record({
    place: fc.option(
      fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true })),
    ),
    name: text,
    n: fc.option(fc.integer()),
    share: fc.option(fc.double({ noNaN: true })),
    day: fc.option(
      fc
        .date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 10)),
    ),
  });
  const rows = fc.array(row, { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(rows, async (all) => {
      const path = scratch.path(`p${files++}.gpkg`);
      const database = newPackage(path);
      database.exec(
        "CREATE TABLE t (fid INTEGER PRIMARY KEY, geom POINT, name TEXT, n MEDIUMINT, share DOUBLE, day DATE)",
      );
      register(database, "t", "geom");
      const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)");
      for (const [i, { place, name, n, share, day }] of all.entries())
        insert.run(7 * i - 40, place && point(...place), name, n, share, day);
      database.close();
      await using dataset = await openDataset(geopackage, path, new RecordingContext(false));
      const layer = dataset.layers[0]!;
      const full = new Summarizer(false);
      full.add(packFeatures([], 1, layer.fields));
      for await (const batch of layer.batches()) full.add(batch as Batch);
      const summary = await layer.summary!({ unchangedExtent: globe, isLimited: false, needsExtent: false });
      expect(summary ?? "nothing").toEqual(full.summary());
    }),
    { numRuns: 60 },
  );
});

/** Values as SQLite may store them in a column of any type, those of its own type most often. */
const stored = (own: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 30, arbitrary: own },
    { weight: 10, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.double({ noNaN: true }),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.string(),
      ),
    },
  );

const days = fc
  .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const valuesOfRow = fc.tuple(
  stored(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.nat(9000).map((size) => "ä".repeat(size)),
    ),
  ),
  stored(days),
  stored(fc.maxSafeInteger()),
  stored(fc.integer()),
  stored(fc.double({ noNaN: true, noDefaultInfinity: true })),
  stored(fc.constantFrom(0, 1)),
);

it("of any stored values is what a full reading says, rows of several pages included", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(valuesOfRow, { minLength: 1, maxLength: 40 }), async (rows) => {
      const path = scratch.path(`s${files++}.gpkg`);
      const database = newPackage(path);
      database.exec(
        "CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY, name TEXT, day DATE, big INTEGER, n MEDIUMINT, share DOUBLE, yes BOOLEAN)",
      );
      register(database, "t", "geom");
      const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
      for (const [i, values] of rows.entries()) insert.run(7 * i - 20, blob(i % 2 === 0 ? line : polygon), ...values);
      database.close();
      await using dataset = await openDataset(geopackage, path, new RecordingContext(false));
      const layer = dataset.layers[0]!;
      const found = await layer.summary!({ unchangedExtent: null, isLimited: false, needsExtent: false });
      const summarizer = new Summarizer(false);
      for await (const batch of layer.batches()) summarizer.add(batch as Batch);
      const { fields, kinds, maxIdBytes } = summarizer.summary();
      expect(found!.fields).toEqual(fields);
      expect(found!.kinds.map((kind) => kind.count)).toEqual(kinds.map((kind) => kind.count));
      expect(found!.maxIdBytes).toBe(maxIdBytes);
    }),
    { numRuns: 60 },
  );
});

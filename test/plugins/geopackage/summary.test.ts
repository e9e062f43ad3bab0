import Sqlite from "better-sqlite3";
import { afterAll, expect, it } from "vitest";
import geopackage from "../../../plugins/geopackage/index.js";
import { WkbWriter } from "../../../plugins/shared/wkb.js";
import { type Geometry, GeometryBuilder, Kind } from "../../../src/model/index.js";
import { openFile, Recording, Scratch } from "../../../src/testing/index.js";
import { blobOf, newPackage, register } from "./support.js";

const scratch = new Scratch();
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
  builder.geojson(geometry);
  return blobOf(Buffer.from(new WkbWriter().write(builder.finish(), 0)));
}

/** What a layer of these geometries tells of itself, each with its number as a name and as a value. */
async function summaryOf(geometries: readonly (Buffer | null)[]) {
  const path = scratch.path(`s${files++}.gpkg`);
  const database = newPackage(path);
  database.exec("CREATE TABLE t (fid INTEGER PRIMARY KEY, geom GEOMETRY, name TEXT, n MEDIUMINT)");
  register(database, "t", "geom");
  const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  for (const [i, geometry] of geometries.entries()) insert.run(i + 1, geometry, i === 0 ? null : `name ${i}`, -i);
  database.close();
  const context = new Recording(false);
  await using dataset = await openFile(geopackage, path, context);
  const summary = await dataset.layers[0]!.summary!();
  expect(context.losses).toEqual([]);
  return summary;
}

it("kinds are told by heads, and fields by their values", async () => {
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
])("nothing is told of a layer with %s", async (_, odd) => {
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
  const told = async () => {
    await using dataset = await openFile(geopackage, path, new Recording(false));
    const { fields, idBytes } = (await dataset.layers[0]!.summary!())!;
    return { idBytes, fields: fields.map(({ name, values, maxBytes }) => [name, values, maxBytes]) };
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
  expect(await told()).toEqual({ idBytes: 6, fields: expected });
  const again = new Sqlite(path);
  again.prepare("INSERT INTO t (fid, geom, day) VALUES (2, ?, '2024/3/1')").run(blob(line));
  again.close();
  expected[1] = ["day", 2, 10];
  expect(await told()).toEqual({ idBytes: 6, fields: expected });
});

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type Geometry, Kind, type Position } from "../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { validityProblem } from "../../../src/stages/geometry/make-valid.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** Twice nothing clever: the shoelace formula, holes taken off. */
function area(geometry: Geometry | null): number {
  if (geometry?.type === "GeometryCollection") return geometry.geometries.reduce((sum, g) => sum + area(g), 0);
  const polygons =
    geometry?.type === "Polygon"
      ? [geometry.coordinates]
      : geometry?.type === "MultiPolygon"
        ? geometry.coordinates
        : [];
  const ringArea = (ring: Position[]) =>
    Math.abs(ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i]![0]! * y! - x! * ring[i]![1]!, 0)) / 2;
  return polygons.reduce((sum, [shell, ...holes]) => {
    return sum + ringArea(shell ?? []) - holes.reduce((inner, hole) => inner + ringArea(hole), 0);
  }, 0);
}

/** `0 0, 4 0, …` */
const ring = (text: string): Position[] => text.split(",").map((pair) => pair.trim().split(" ").map(Number));
const polygon = (...rings: string[]): Geometry => ({ type: "Polygon", coordinates: rings.map(ring) });
const square = "0 0,4 0,4 4,0 4,0 0";

async function repair(geometries: readonly (Geometry | null)[]) {
  const { batch, heard } = await applyStage("make-valid", {}, batchOf(geometries));
  return { geometries: [...batch.features()].map((feature) => feature.geometry), heard };
}

describe("repairs, with the areas they must have", () => {
  test.each<[string, Geometry, string, number]>([
    ["a bow-tie", polygon("0 0,2 2,2 0,0 2,0 0"), "MultiPolygon", 2],
    ["a spike", polygon("0 0,4 0,4 4,4 8,4 4,0 4,0 0"), "Polygon", 16],
    ["a ring that touches itself", polygon("0 0,4 0,4 4,2 0,0 4,0 0"), "MultiPolygon", 8],
    ["a hole outside its shell", polygon(square, "5 5,6 5,6 6,5 5"), "MultiPolygon", 16.5],
    ["a ring that overlaps itself", polygon("0 0,9 0,9 9,3 9,3 3,6 3,6 6,0 6,0 0"), "Polygon", 72],
    ["nested holes", polygon("0 0,10 0,10 10,0 10,0 0", "2 2,8 2,8 8,2 8,2 2", "3 3,4 3,4 4,3 4,3 3"), "Polygon", 64],
    ["an unclosed ring", polygon("0 0,4 0,4 4,0 4"), "Polygon", 16],
    [
      "parts that overlap",
      { type: "MultiPolygon", coordinates: [[ring(square)], [ring("2 2,6 2,6 6,2 6,2 2")]] },
      "MultiPolygon",
      28,
    ],
    ["a flat hole", polygon(square, "1 1,2 1,1 1,1 1"), "Polygon", 16],
  ])("the repaired geometry has the expected area: %s", async (_, given, type, expected) => {
    const { geometries, heard } = await repair([given]);
    expect(geometries[0]?.type).toBe(type);
    expect(area(geometries[0] ?? null)).toBeCloseTo(expected, 12);
    expect(heard.notices).toMatchObject([{ code: "made-valid", count: 1 }]);
    expect(heard.losses).toEqual([]);
    expect((await repair(geometries)).geometries).toEqual(geometries);
    expect((await repair(geometries)).heard.notices).toEqual([]);
  });
});

test("valid geometries are unchanged to the bit, repeated positions and heights included", async () => {
  const valid: (Geometry | null)[] = [
    {
      type: "Polygon",
      coordinates: [
        [
          [0.1, 0.2, 5],
          [4, 0, 6],
          [4, 0, 6],
          [4, 4, 7],
          [0.1, 0.2, 5],
        ],
      ],
    },
    null,
    { type: "Point", coordinates: [1, 2, 3] },
    { type: "Polygon", coordinates: [] },
    {
      type: "LineString",
      coordinates: [
        [0, 0],
        [2, 2],
        [2, 0],
        [0, 2],
      ],
    },
    { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }] },
  ];
  const { batch } = await applyStage("make-valid", {}, batchOf(valid));
  expect([...batch.features()].map((feature) => feature.geometry)).toEqual(valid);
  const beside = await repair([...valid, polygon("0 0,2 2,2 0,0 2,0 0")]);
  expect(beside.geometries.slice(0, -1)).toEqual(valid);
});

test("new vertices get an interpolated height", async () => {
  const bowTie: Geometry = {
    type: "Polygon",
    coordinates: [
      [
        [0, 0, 1],
        [2, 2, 2],
        [2, 0, 3],
        [0, 2, 4],
        [0, 0, 1],
      ],
    ],
  };
  const [made] = (await repair([bowTie])).geometries;
  const heights = made?.type === "MultiPolygon" ? made.coordinates.flat(2).filter(([x, y]) => x === 1 && y === 1) : [];
  // Half-way on 1 to 2 is 1.5, half-way on 3 to 4 is 3.5; GEOS takes their mean.
  expect(heights.every((position) => position[2] === 2.5)).toBe(true);
  expect(heights.length).toBeGreaterThan(0);
});

test("members of collections are repaired, and the whole is rejected if one cannot be", async () => {
  const point: Geometry = { type: "Point", coordinates: [9, 9] };
  const bowTie = polygon("0 0,2 2,2 0,0 2,0 0");
  const flat = polygon("0 0,4 0,0 0,0 0");
  const { geometries, heard } = await repair([
    { type: "GeometryCollection", geometries: [point, bowTie] },
    bowTie,
    { type: "GeometryCollection", geometries: [bowTie, flat] },
    { type: "GeometryCollection", geometries: [{ type: "GeometryCollection", geometries: [point, bowTie] }] },
    point,
  ]);
  expect(geometries.map(area)).toEqual([2, 2, 2, 0]);
  expect(geometries[0]).toMatchObject({ geometries: [point, { type: "MultiPolygon" }] });
  expect(heard.notices).toMatchObject([{ code: "made-valid", count: 3 }]);
  expect(heard.rejects.map((reject) => reject.place.record)).toEqual([3]);
});

test("reports collapsed parts and dropped measures", async () => {
  const partly: Geometry = { type: "MultiPolygon", coordinates: [[ring(square)], [ring("9 9,10 9,9 9,9 9")]] };
  const lines: Geometry = { type: "MultiLineString", coordinates: [ring("1 1,1 1"), ring("0 0,1 1")] };
  const { geometries, heard } = await repair([partly, lines]);
  expect(area(geometries[0]!)).toBe(16);
  expect(geometries[1]).toEqual({ type: "MultiLineString", coordinates: [ring("0 0,1 1")] });
  expect(heard.losses).toMatchObject([{ code: "collapsed-part", count: 2 }]);

  const builder = new GeometryBuilder();
  builder.begin(Kind.Polygon);
  builder.beginPart();
  builder.beginRing();
  for (const [x, y] of ring("0 0,2 2,2 0,0 2,0 0")) builder.addPositionZM(x!, y!, Number.NaN, 7);
  builder.end();
  const given = batchOf([null]).with({ geometry: builder.finish() });
  expect((await applyStage("make-valid", {}, given)).heard.losses).toMatchObject([{ code: "m-dropped", count: 1 }]);
});

test("geometries that cannot be repaired are rejected, in order and with the record", async () => {
  const { geometries, heard } = await repair([
    polygon("0 0,4 0,0 0,0 0"),
    polygon(square),
    { type: "LineString", coordinates: ring("1 1,1 1") },
    { type: "LineString", coordinates: ring("1 1") },
    { type: "Point", coordinates: [Number.NaN, 1] },
    polygon("0 0,1 1,2 NaN,0 0"),
    polygon(square, square),
  ]);
  expect(geometries).toEqual([polygon(square)]);
  expect(heard.rejects.map((reject) => reject.place.record)).toEqual([1, 3, 4, 5, 6, 7]);
  expect(new Set(heard.rejects.map((reject) => reject.code))).toEqual(new Set(["not-repairable"]));
});

test("validityProblem returns the reason and the place", async () => {
  const { geometry } = batchOf([
    polygon("0 0,2 2,2 0,0 2,0 0"),
    polygon(square, "5 5,6 5,6 6,5 5"),
    polygon(square),
    polygon("0 0,4 0,4 4,0 4"),
    null,
  ]);
  expect(await validityProblem(geometry, 0)).toBe("Self-intersection at 1 1");
  expect(await validityProblem(geometry, 1)).toBe("Hole lies outside shell at 5 5");
  expect(await validityProblem(geometry, 2)).toBe(null);
  expect(await validityProblem(geometry, 3)).toBe("a ring is not closed at 0 4");
  expect(await validityProblem(geometry, 4)).toBe(null);
});

test("GEOS is usable after thousands of failures", async () => {
  const broken = Array.from({ length: 6000 }, () => polygon("1e308 0,-1e308 1e308,1e308 1e308,-1e308 0,1e308 0"));
  await repair(broken);
  expect((await repair([polygon("0 0,2 2,2 0,0 2,0 0")])).geometries.map(area)).toEqual([2]);
});

test("repaired areas equal those of ogr2ogr -makevalid", async () => {
  // Quadrilaterals and holes that cross an edge: where GDAL's method and ours agree on what is inside.
  const at = fc.integer({ min: 0, max: 1000 });
  const corner = fc.tuple(at, at);
  const quadrilateral = fc
    .uniqueArray(corner, { minLength: 4, maxLength: 4, selector: String })
    .map((corners): Geometry => ({ type: "Polygon", coordinates: [[...corners, corners[0]!]] }));
  const geometries = fc.sample(quadrilateral, { seed: 3, numRuns: 1000 });
  const [from, to] = [scratch.path("invalid.geojson"), scratch.path("valid.geojson")];
  const features = geometries.map((geometry, n) => ({ type: "Feature", geometry, properties: { n } }));
  writeFileSync(from, JSON.stringify({ type: "FeatureCollection", features }));
  const arguments_ = ["-f", "GeoJSON", to, from, "-makevalid", "-lco", "COORDINATE_PRECISION=15"];
  execFileSync("ogr2ogr", arguments_, { stdio: "ignore" });
  const oracle = JSON.parse(readFileSync(to, "utf8")) as { features: { geometry: Geometry }[] };

  const { batch, heard } = await applyStage("make-valid", {}, batchOf(geometries));
  const made = new Map([...batch.features()].map((feature) => [feature.properties.n, feature.geometry]));
  expect(heard.notices[0]!.count).toBeGreaterThan(200);
  oracle.features.forEach((feature, i) => {
    expect(area(made.get(i + 1) ?? null)).toBeCloseTo(area(feature.geometry), 6);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Batch } from "../../../src/model/batch.js";
import type { Geometry, Position } from "../../../src/model/geometry.js";
import { Kind } from "../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const [a, b, c]: Position[] = [
  [0, 0],
  [9, 0],
  [9, 9],
];
const line = [a!, c!];
const ring = [a!, b!, c!, a!];
const short = [a!, c!, a!];
const lineString = (coordinates: Position[]): Geometry => ({ type: "LineString", coordinates });
const polygon = (...coordinates: Position[][]): Geometry => ({ type: "Polygon", coordinates });
const lines = (...coordinates: Position[][]): Geometry => ({ type: "MultiLineString", coordinates });
const polygons = (...coordinates: Position[][][]): Geometry => ({ type: "MultiPolygon", coordinates });
const collection = (...geometries: Geometry[]): Geometry => ({ type: "GeometryCollection", geometries });
const point: Geometry = { type: "Point", coordinates: [1, 2] };
const geometries = (batch: Batch) => [...batch.features()].map((feature) => feature.geometry);
const drop = (given: (Geometry | null)[], shortLines = false) =>
  applyStage("drop-degenerate", { shortLines }, batchOf(given));

test("well-formed geometries are unchanged, including repeated positions and empty geometries", async () => {
  const given = batchOf([
    null,
    point,
    { type: "MultiPoint", coordinates: [[1, 2]] },
    lineString([a!, a!]),
    lineString([]),
    polygon(ring, ring),
    polygon([a!, a!, a!, a!]),
    polygons([ring], [ring]),
    collection(point, lineString(line)),
    collection(),
  ]);
  const { batch, heard } = await applyStage("drop-degenerate", { shortLines: false }, given);
  expect(batch).toBe(given);
  expect([heard.losses, heard.notices, heard.rejects]).toEqual([[], [], []]);
});

test.each<[string, Geometry, Geometry, number]>([
  ["a line among lines", lines([a!], line, [c!]), lines(line), 2],
  ["a hole", polygon(ring, short, [b!]), polygon(ring), 2],
  ["a polygon among polygons, with its holes", polygons([short, ring], [ring]), polygons([ring]), 1],
  ["a member of a collection", collection(lineString([a!]), point), collection(point), 1],
  ["a part of a member", collection(lines([a!], line)), collection(lines(line)), 1],
  [
    "a member of a collection in a collection",
    collection(collection(polygon(short)), point, collection(polygon([a!]), point)),
    collection(point, collection(point)),
    2,
  ],
])("%s is left out and counted", async (_, given, left, count) => {
  const { batch, heard } = await drop([point, given, point]);
  expect(geometries(batch)).toEqual([point, left, point]);
  expect(heard.losses).toMatchObject([{ code: "degenerate-part", count }]);
  expect(heard.rejects).toEqual([]);
});

test.each<[string, Geometry, string]>([
  ["a line of one position", lineString([c!]), "a line of one position at 9 9"],
  ["lines of one position", lines([a!], [c!]), "a line of one position at 0 0"],
  ["a ring of three positions", polygon(short, ring), "a ring of 3 positions at 0 0"],
  ["a ring of one position", polygon([c!]), "a ring of one position at 9 9"],
  ["two positions that do not close", polygon([a!, c!]), "a ring of 2 positions at 0 0"],
  ["polygons of such rings", polygons([short], [[c!]]), "a ring of 3 positions at 0 0"],
  ["a collection of nothing else", collection(lineString([c!]), polygon(short)), "a line of one position at 9 9"],
])("a feature of %s is rejected with its original geometry", async (_, given, reason) => {
  const { batch, heard } = await drop([point, given, lines([a!], line)]);
  expect(geometries(batch)).toEqual([point, lines(line)]);
  expect(batch.recordAt(1)).toBe(3);
  expect(heard.rejects).toMatchObject([{ code: "degenerate-geometry", reason, place: { record: 2 } }]);
  expect(heard.rejects[0]!.feature).toMatchObject({ geometry: given, properties: { n: 2 } });
  // Of the feature that is rejected, no loss is counted.
  expect(heard.losses).toMatchObject([{ code: "degenerate-part", count: 1, example: expect.stringContaining("0 0") }]);
});

test("an open ring is closed, with its height and measure, and counted", async () => {
  const builder = new GeometryBuilder();
  builder.begin(Kind.Polygon);
  builder.beginPart();
  builder.beginRing();
  for (const [x, y, z, m] of [
    [0, 0, 5, 1],
    [9, 0, 6, 2],
    [9, 9, 7, 3],
  ]) {
    builder.addPositionZM(x!, y!, z!, m!);
  }
  builder.end();
  const given = batchOf([null]).with({ geometry: builder.finish() });
  const { batch, heard } = await applyStage("drop-degenerate", { shortLines: false }, given);
  expect([...batch.geometry.xy]).toEqual([0, 0, 9, 0, 9, 9, 0, 0]);
  expect([...batch.geometry.z!]).toEqual([5, 6, 7, 5]);
  expect([...batch.geometry.m!]).toEqual([1, 2, 3, 1]);
  expect(heard.notices).toMatchObject([{ code: "ring-closed", count: 1 }]);
});

describe("a ring that ends above its beginning", () => {
  const given = (): Batch => {
    const builder = new GeometryBuilder();
    for (const heights of [
      [5, 6, 7, 8],
      [5, 6, 7, Number.NaN],
      [0, 6, 7, -0],
    ]) {
      builder.begin(Kind.Polygon);
      builder.beginPart();
      builder.beginRing();
      ring.forEach(([x, y], k) => {
        builder.addPositionZM(x!, y!, heights[k]!, Number.NaN);
      });
      builder.end();
    }
    return batchOf([null, null, null]).with({ geometry: builder.finish() });
  };

  test("a ring that ends above its start is closed for a target with heights: the first and last positions are identical (RFC 7946, 3.1.6), and one whose last position lacks a height gets it there", async () => {
    const { batch, heard } = await applyStage("drop-degenerate", { shortLines: false, z: true }, given());
    expect([...batch.geometry.positionOffsets]).toEqual([0, 5, 9, 13]);
    expect([...batch.geometry.xy.subarray(0, 10)]).toEqual([0, 0, 9, 0, 9, 9, 0, 0, 0, 0]);
    expect([...batch.geometry.z!]).toEqual([5, 6, 7, 8, 5, 5, 6, 7, 5, 0, 6, 7, -0]);
    expect(heard.notices).toMatchObject([{ code: "ring-closed", count: 2 }]);
  });

  test("a ring that ends above its start is unchanged for a target without heights", async () => {
    const batch = given();
    expect((await applyStage("drop-degenerate", { shortLines: false, z: false }, batch)).batch).toBe(batch);
  });
});

test("parts without positions are left out with a notice, and are not degenerate", async () => {
  const { batch, heard } = await drop([lines([], line), polygons([[]], [ring, []]), lines([])]);
  expect(geometries(batch)).toEqual([lines(line), polygons([ring]), lines()]);
  expect(heard.notices).toMatchObject([{ code: "empty-part", count: 4 }]);
  expect([heard.losses, heard.rejects]).toEqual([[], []]);
});

test("lines of one position stay if the target supports them; rings are closed everywhere", async () => {
  const { batch, heard } = await drop([lineString([a!]), lines([a!], line), polygon(short)], true);
  expect(geometries(batch)).toEqual([lineString([a!]), lines([a!], line)]);
  expect(heard.losses).toEqual([]);
  expect(heard.rejects).toMatchObject([{ code: "degenerate-geometry" }]);
});

describe("generated geometries", () => {
  const position = fc.tuple(fc.nat(2), fc.nat(2)).map(([x, y]): Position => [x, y]);
  const positions = fc.array(position, { maxLength: 5 });
  const part = fc.array(positions, { maxLength: 3 });
  const simple = fc.oneof(
    position.map((coordinates): Geometry => ({ type: "Point", coordinates })),
    positions.map(lineString),
    positions.map((coordinates): Geometry => ({ type: "MultiPoint", coordinates })),
    part.map((all) => polygon(...all)),
    part.map((all) => lines(...all)),
    fc.array(part, { maxLength: 3 }).map((all) => polygons(...all)),
  );
  const any = fc.oneof(
    simple,
    fc
      .array(
        fc.oneof(
          simple,
          fc.array(simple, { maxLength: 2 }).map((all) => collection(...all)),
        ),
        { maxLength: 4 },
      )
      .map((all) => collection(...all)),
  );

  /** RFC 7946, 3.1.4 and 3.1.6, word for word. */
  function isSound(geometry: Geometry | null): boolean {
    const isRing = (of: Position[]) => of.length >= 4 && of[0]!.every((value, d) => value === of.at(-1)![d]);
    switch (geometry?.type) {
      case "LineString":
        return geometry.coordinates.length !== 1;
      case "MultiLineString":
        return geometry.coordinates.every((each) => each.length > 1);
      case "Polygon":
        return geometry.coordinates.every(isRing);
      case "MultiPolygon":
        return geometry.coordinates.every((each) => each.length > 0 && each.every(isRing));
      case "GeometryCollection":
        return geometry.geometries.every(isSound);
      default:
        return true;
    }
  }

  test("generated geometries become well-formed, are unchanged by a second pass, and no feature is lost", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: 1, maxLength: 6 }), async (given) => {
        const { batch, heard } = await drop(given);
        expect(geometries(batch).every(isSound)).toBe(true);
        expect(batch.length + heard.rejects.length).toBe(given.length);
        const again = await applyStage("drop-degenerate", { shortLines: false }, batch);
        expect(again.batch).toBe(batch);
        for (const [n, feature] of [...batch.features()].entries()) {
          const was = given[batch.recordAt(n) - 1]!;
          if (isSound(was) && JSON.stringify(was) !== JSON.stringify(feature.geometry)) {
            expect(feature.geometry).toEqual(was);
          }
        }
      }),
      { numRuns: 1500 },
    );
  });
});

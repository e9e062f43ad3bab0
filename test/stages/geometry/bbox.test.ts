import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Geometry, Position } from "../../../src/model/geometry.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { applyStage, batchOf } from "../stage-fixture.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

type Box = [number, number, number, number];

async function numbers(geometries: readonly (Geometry | null)[], box: Box): Promise<unknown[]> {
  const { batch } = await applyStage("bbox", { box }, batchOf(geometries));
  return [...batch.features()].map((feature) => feature.properties.n);
}

const square = (x: number, y: number, size: number): Position[] => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
];

describe("by hand, with the box 0 0 10 10", () => {
  const box: Box = [0, 0, 10, 10];
  test.each<[string, Geometry | null, boolean]>([
    ["no geometry", null, false],
    ["a point on the corner", { type: "Point", coordinates: [10, 10] }, true],
    ["a point beside", { type: "Point", coordinates: [10.0001, 10] }, false],
    ["an empty point", { type: "Point", coordinates: [] }, false],
    [
      "a line across two edges, no vertex inside",
      {
        type: "LineString",
        coordinates: [
          [-1, 5],
          [5, 11],
        ],
      },
      true,
    ],
    [
      "a line past the corner, envelopes overlapping",
      {
        type: "LineString",
        coordinates: [
          [-2, 9],
          [2, 13],
        ],
      },
      false,
    ],
    [
      "a line that touches the corner",
      {
        type: "LineString",
        coordinates: [
          [-1, 9],
          [1, 11],
        ],
      },
      true,
    ],
    ["a polygon around the box", { type: "Polygon", coordinates: [square(-5, -5, 30)] }, true],
    ["the box in the hole", { type: "Polygon", coordinates: [square(-5, -5, 30), square(-1, -1, 12)] }, false],
    ["a hole that cuts the box", { type: "Polygon", coordinates: [square(-5, -5, 30), square(-1, -1, 5)] }, true],
    [
      "an L around the box",
      {
        type: "Polygon",
        coordinates: [
          [
            [-5, -5],
            [20, -5],
            [20, -1],
            [-1, -1],
            [-1, 20],
            [-5, 20],
            [-5, -5],
          ],
        ],
      },
      false,
    ],
    [
      "two polygons over each other",
      { type: "MultiPolygon", coordinates: [[square(-5, -5, 30)], [square(-6, -6, 40)]] },
      true,
    ],
    [
      "points around",
      {
        type: "MultiPoint",
        coordinates: [
          [-1, -1],
          [11, 11],
        ],
      },
      false,
    ],
    [
      "a collection of which one is in",
      {
        type: "GeometryCollection",
        geometries: [
          { type: "Point", coordinates: [50, 50] },
          { type: "Point", coordinates: [5, 5] },
        ],
      },
      true,
    ],
    ["an empty collection", { type: "GeometryCollection", geometries: [] }, false],
  ])("the bbox 0 0 10 10: %s", async (_, geometry, expected) => {
    expect(await numbers([geometry], box)).toEqual(expected ? [1] : []);
  });
});

test("bbox keeps the features that ogr2ogr -spat keeps", async () => {
  const near = fc.integer({ min: -12, max: 12 });
  const position = fc.tuple(near, near);
  const star = fc
    .tuple(position, fc.array(fc.double({ min: 0.5, max: 14, noNaN: true }), { minLength: 4, maxLength: 12 }))
    .map(([[x, y], radii]): Position[] => {
      const ring = radii.map((radius, i) => {
        const angle = (2 * Math.PI * i) / radii.length;
        return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      });
      return [...ring, ring[0]!];
    });
  const holed = fc
    .tuple(near, near, fc.integer({ min: 3, max: 25 }))
    .map(([x, y, size]) => [square(x, y, size), square(x + 1, y + 1, size - 2)]);
  const line = fc.array(position, { minLength: 2, maxLength: 4 });
  const geometry: fc.Arbitrary<Geometry> = fc.oneof(
    position.map((coordinates): Geometry => ({ type: "Point", coordinates })),
    fc
      .array(position, { minLength: 1, maxLength: 3 })
      .map((coordinates): Geometry => ({ type: "MultiPoint", coordinates })),
    line.map((coordinates): Geometry => ({ type: "LineString", coordinates })),
    fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map((coordinates): Geometry => ({ type: "MultiLineString", coordinates })),
    star.map((ring): Geometry => ({ type: "Polygon", coordinates: [ring] })),
    holed.map((coordinates): Geometry => ({ type: "Polygon", coordinates })),
  );
  const geometries = fc.sample(geometry, { seed: 5, numRuns: 3000 });
  const path = scratch.path("all.geojson");
  const features = geometries.map((g, i) => ({ type: "Feature", geometry: g, properties: { n: i + 1 } }));
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
  for (const box of [
    [0, 0, 4, 4],
    [-3, -1, 0, 7],
    [2, 2, 2, 2],
    [-0.25, -0.5, 0.125, 0.5],
  ] as Box[]) {
    const out = execFileSync("ogr2ogr", ["-f", "CSV", "/vsistdout/", path, "-spat", ...box.map(String)], {
      encoding: "utf8",
    });
    const expected = out
      .trim()
      .split("\n")
      .slice(1)
      .map((n) => Number(n.replaceAll('"', "")));
    expect(expected.length).toBeGreaterThan(100);
    expect(await numbers(geometries, box)).toEqual(expected);
  }
});

test("a bbox whose west is greater than its east crosses the antimeridian", async () => {
  const box: Box = [170, -20, -170, 20];
  const squareAt = (x: number): Geometry => ({ type: "Polygon", coordinates: [square(x, 0, 4)] });
  const cut: Geometry = { type: "MultiPolygon", coordinates: [[square(176, 0, 4)], [square(-180, 0, 4)]] };
  // In it: west of the line, east of it, on both sides, over it beyond 180° and below −180°. Beside it: three.
  const geometries = [172, -175, 178, -182, 100, -160, 0].map(squareAt);
  expect(await numbers([...geometries, cut], box)).toEqual([1, 2, 3, 4, 8]);
});

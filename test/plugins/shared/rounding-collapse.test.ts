import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCollapsedGeometries } from "../../../plugins/shared/rounding-collapse.js";
import type { Geometry, Position } from "../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";

function lost(decimals: number, ...geometries: (Geometry | null)[]) {
  const builder = new GeometryBuilder();
  for (const geometry of geometries) builder.addGeoJson(geometry);
  return findCollapsedGeometries(builder.finish(), decimals);
}
const line = (...coordinates: Position[]): Geometry => ({ type: "LineString", coordinates });
const polygon = (...coordinates: Position[][]): Geometry => ({ type: "Polygon", coordinates });
/** A right triangle of this side, counter-clockwise. */
const triangle = (x: number, y: number, side: number): Position[] => [
  [x, y],
  [x + side, y],
  [x + side, y + side],
  [x, y],
];

describe("what 7 decimals cannot distinguish", () => {
  test.each<[string, Geometry, number]>([
    ["a line of 4e-8", line([16, 48], [16.00000004, 48]), 1],
    ["a line of 4e-8 across a rounding edge", line([16.00000003, 48], [16.00000007, 48]), 0],
    ["a line of 1e-6", line([16, 48], [16.000001, 48]), 0],
    ["a line there and back", line([16, 48], [17, 48], [16, 48]), 0],
    ["a line of repeated positions", line([16, 48], [16, 48]), 0],
    ["a line of one position", line([16, 48]), 0],
    ["a triangle of 4e-8", polygon(triangle(16, 48, 4e-8)), 1],
    ["a triangle of 1e-6", polygon(triangle(16, 48, 1e-6)), 0],
    ["a hole of 4e-8", polygon(triangle(16, 48, 1), triangle(16.5, 48.25, 4e-8)), 1],
    // 10 degrees long, 3e-8 wide: it becomes a line there and back.
    [
      "a sliver",
      polygon([
        [0, 0],
        [10, 0],
        [10, 3e-8],
        [0, 0],
      ]),
      1,
    ],
    [
      "a ring without area",
      polygon([
        [0, 0],
        [0.1, 0.1],
        [0.3, 0.3],
        [0, 0],
      ]),
      0,
    ],
    [
      "a ring of one place",
      polygon([
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
      ]),
      0,
    ],
    [
      "points",
      {
        type: "MultiPoint",
        coordinates: [
          [1, 1],
          [1, 1.00000001],
        ],
      },
      0,
    ],
    [
      "a part of several",
      {
        type: "MultiLineString",
        coordinates: [
          [
            [0, 0],
            [1, 1],
          ],
          [
            [0, 0],
            [0, 1e-9],
          ],
        ],
      },
      1,
    ],
    [
      "a member of a member",
      {
        type: "GeometryCollection",
        geometries: [{ type: "GeometryCollection", geometries: [line([0, 0], [0, 1e-9])] }],
      },
      1,
    ],
  ])("what 7 decimals cannot distinguish: %s", (_, geometry, count) =>
    expect(lost(7, null, geometry, line()).count).toBe(count),
  );

  test("features are counted once, with the place of the first", () => {
    const { count, example } = lost(3, line([0, 0], [5, 5]), polygon(triangle(1.5, 2.5, 1e-5), triangle(9, 9, 1e-5)));
    expect(count).toBe(1);
    expect(example).toBe("a ring lost its area at 1.5 2.5: 3 decimals cannot tell its positions apart");
  });
});

describe("by the texts that are written, for anything generated", () => {
  const value = fc.integer({ min: -40, max: 40 }).map((n) => 10 + n / 1000);
  const position = fc.tuple(value, value).map(([x, y]): Position => [x, y]);
  const written = (of: Position[], decimals: number) =>
    of.map(([x, y]) => [x!.toFixed(decimals), y!.toFixed(decimals)]);

  test("a line is lost where all its texts are one and its positions were not", () => {
    fc.assert(
      fc.property(fc.array(position, { minLength: 2, maxLength: 4 }), fc.nat(3), (positions, decimals) => {
        const texts = new Set(written(positions, decimals).map((text) => text.join(" ")));
        const places = new Set(positions.map((text) => text.join(" ")));
        expect(lost(decimals, line(...positions)).count).toBe(texts.size === 1 && places.size > 1 ? 1 : 0);
      }),
      { numRuns: 3000 },
    );
  });

  test("a ring is lost where its texts are on one line and its positions were not", () => {
    /** Whether all are on one line, in thousandths: exact in integers. */
    const isFlat = (of: readonly (readonly (string | number)[])[]) => {
      const whole = of.map((p) => p.map((n) => Math.round(Number(n) * 1000)));
      return whole.every(([x1, y1]) =>
        whole.every(([x2, y2]) => {
          const [x0, y0] = whole[0]!;
          return (x1! - x0!) * (y2! - y0!) === (x2! - x0!) * (y1! - y0!);
        }),
      );
    };
    fc.assert(
      fc.property(fc.array(position, { minLength: 3, maxLength: 5 }), fc.nat(2), (positions, decimals) => {
        const ring = [...positions, positions[0]!];
        const expected = isFlat(written(ring, decimals)) && !isFlat(ring) ? 1 : 0;
        expect(lost(decimals, polygon(ring)).count).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });
});

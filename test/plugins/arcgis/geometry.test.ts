/** Geometries by Esri's page "Geometry objects"; expected coordinates are computed by hand. */
import { afterAll, describe, expect, it } from "vitest";
import type { Geometry } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { featuresOf, geometrySet, readSet, writeFeatureSet } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

async function read(geometries: readonly unknown[], members: object = {}) {
  const layer = await readSet(writeFeatureSet(scratch, geometrySet(geometries, members)));
  return { ...layer, geometries: featuresOf(layer).map(({ geometry }) => geometry) };
}

const square = (x: number, y: number, size: number, clockwise = true): number[][] => {
  const ring = [
    [x, y],
    [x, y + size],
    [x + size, y + size],
    [x + size, y],
    [x, y],
  ];
  return clockwise ? ring : ring.reverse();
};

describe("points", () => {
  it("have z and m by name, and are empty where x is null or NaN", async () => {
    const { geometries, batches } = await read([
      { x: 1, y: 2 },
      { x: 1, y: 2, z: 3, m: 4 },
      { x: 1, y: 2, z: null, m: "NaN" },
      { x: null, y: null },
      { x: "NaN", y: "NaN", z: 1 },
      null,
      {},
    ]);
    expect(geometries).toEqual([
      { type: "Point", coordinates: [1, 2] },
      { type: "Point", coordinates: [1, 2, 3] },
      { type: "Point", coordinates: [1, 2] },
      { type: "Point", coordinates: [] },
      { type: "Point", coordinates: [] },
      null,
      null,
    ]);
    expect([...batches[0]!.geometry.m!]).toEqual([Number.NaN, 4, Number.NaN]);
  });

  it("without one of their coordinates are rejected", async () => {
    const { geometries, rejects } = await read([
      { x: 1, y: null },
      { x: "east", y: 2 },
      { x: 3, y: 4 },
    ]);
    expect(geometries).toEqual([{ type: "Point", coordinates: [3, 4] }]);
    expect(rejects.map(({ code, reason, place }) => [code, reason, place.record])).toEqual([
      ["geometry-malformed", "the point has no x or no y", 1],
      ["geometry-malformed", '"east" is not a coordinate', 2],
    ]);
  });
});

describe("the numbers of a position", () => {
  const positions = [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ];
  const dimensions = async (flags: object, members: object = {}) => {
    const { batches } = await read([{ paths: [positions], ...flags }], members);
    const { z, m } = batches[0]!.geometry;
    return [z && [...z], m && [...m]];
  };

  it("are z and m as the geometry declares", async () => {
    expect(await dimensions({ hasZ: true, hasM: true })).toEqual([
      [3, 7],
      [4, 8],
    ]);
    expect(await dimensions({ hasZ: false, hasM: true })).toEqual([null, [3, 7]]);
    expect(await dimensions({ hasZ: true, hasM: false })).toEqual([[3, 7], null]);
  });

  it("are z and m as the feature set declares, unless the geometry does", async () => {
    expect(await dimensions({}, { hasZ: false, hasM: true })).toEqual([null, [3, 7]]);
    expect(await dimensions({ hasZ: true }, { hasZ: false, hasM: true })).toEqual([
      [3, 7],
      [4, 8],
    ]);
  });

  it("that nothing declares are z and m in this order, as ogr2ogr reads them", async () => {
    expect(await dimensions({})).toEqual([
      [3, 7],
      [4, 8],
    ]);
  });

  it("beyond those declared are reported", async () => {
    const { losses } = await read([{ paths: [positions], hasZ: true, hasM: false }]);
    expect(losses.map(({ code, count }) => [code, count])).toEqual([["extra-ordinates", 2]]);
  });
});

describe("multipoints and polylines", () => {
  it("keep their type, and leave out empty parts", async () => {
    const { geometries, notices } = await read([
      {
        points: [
          [1, 2],
          [3, 4],
        ],
      },
      { points: [] },
      {
        paths: [
          [
            [0, 0],
            [1, 1],
          ],
          [],
          [
            [2, 2],
            [3, 3],
          ],
        ],
      },
      {
        paths: [
          [],
          [
            [0, 0],
            [1, 1],
          ],
        ],
      },
      { paths: [] },
    ]);
    expect(geometries).toEqual([
      {
        type: "MultiPoint",
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      { type: "MultiPoint", coordinates: [] },
      {
        type: "MultiLineString",
        coordinates: [
          [
            [0, 0],
            [1, 1],
          ],
          [
            [2, 2],
            [3, 3],
          ],
        ],
      },
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
      { type: "LineString", coordinates: [] },
    ]);
    expect(notices.map(({ code, count }) => [code, count])).toEqual([["empty-part", 2]]);
  });

  it("with a position that has no x are rejected, unless another part is whole", async () => {
    const { geometries, rejects, notices } = await read([
      {
        paths: [
          [
            ["NaN", 0],
            [1, 1],
          ],
        ],
      },
      {
        paths: [
          [
            ["NaN", 0],
            [1, 1],
          ],
          [
            [2, 2],
            [3, 3],
          ],
        ],
      },
    ]);
    expect(rejects).toHaveLength(1);
    expect(geometries).toEqual([
      {
        type: "MultiLineString",
        coordinates: [
          [
            [Number.NaN, 0],
            [1, 1],
          ],
          [
            [2, 2],
            [3, 3],
          ],
        ],
      },
    ]);
    expect(notices.map(({ code }) => code)).toEqual(["part-unreadable"]);
  });
});

describe("the rings of a polygon", () => {
  it("are shells where they are clockwise, and belong to the smallest shell around them where they are not", async () => {
    const [outer, hole, island, other] = [
      square(0, 0, 100),
      square(10, 10, 50, false),
      square(20, 20, 20),
      square(200, 0, 10),
    ];
    const pond = square(25, 25, 5, false);
    const { geometries, notices } = await read([
      { rings: [pond, other, hole, outer, island] },
      { rings: [hole, outer] },
    ]);
    expect(geometries).toEqual([
      { type: "MultiPolygon", coordinates: [[other], [outer, hole], [island, pond]] },
      { type: "Polygon", coordinates: [outer, hole] },
    ] satisfies Geometry[]);
    expect(notices).toEqual([]);
  });

  it("are closed, and classified by nesting where no direction is right", async () => {
    const { geometries, notices } = await read([
      { rings: [square(0, 0, 10).slice(0, 4)] },
      { rings: [square(0, 0, 10, false), square(20, 0, 10, false)] },
    ]);
    expect(geometries).toEqual([
      { type: "Polygon", coordinates: [square(0, 0, 10)] },
      { type: "MultiPolygon", coordinates: [[square(0, 0, 10, false)], [square(20, 0, 10, false)]] },
    ]);
    expect(notices.map(({ code, count }) => [code, count])).toEqual([
      ["ring-closed", 1],
      ["ring-direction", 1],
    ]);
  });

  it("are split where they touch themselves, as ArcGIS allows", async () => {
    // A square whose hole hangs at its corner: one ring.
    const ring = [
      [0, 0],
      [0, 10],
      [10, 10],
      [10, 0],
      [0, 0],
      [6, 2],
      [6, 4],
      [0, 0],
    ].map(([x, y]) => [x!, y!]);
    const { geometries, notices } = await read([{ rings: [ring] }]);
    expect(geometries[0]!.type).toBe("Polygon");
    expect((geometries[0] as { coordinates: number[][][] }).coordinates.map((each) => each.length)).toEqual([5, 4]);
    expect(notices.map(({ code }) => code)).toEqual(["ring-split"]);
  });

  it("may be none, and an envelope is a polygon", async () => {
    const { geometries } = await read([{ rings: [] }, { xmin: 1, ymin: 2, xmax: 3, ymax: 5 }]);
    expect(geometries).toEqual([
      { type: "Polygon", coordinates: [] },
      {
        type: "Polygon",
        coordinates: [
          [
            [1, 2],
            [1, 5],
            [3, 5],
            [3, 2],
            [1, 2],
          ],
        ],
      },
    ]);
  });
});

describe("curves", () => {
  const lineOf = async (path: readonly unknown[], flags: object = {}) => {
    const { geometries, losses } = await read([{ curvePaths: [path], ...flags }]);
    expect(losses.map(({ code }) => code)).toEqual(["curve-linearized"]);
    return (geometries[0] as { coordinates: number[][] }).coordinates;
  };
  const distances = (line: number[][], x: number, y: number) => line.map(([px, py]) => Math.hypot(px! - x, py! - y));
  /** The largest deviation of the circle of radius 5 from a chord of 4 degrees. */
  const sagitta = 5 * (1 - Math.cos(Math.PI / 90));

  it("by three positions are circular arcs with a position every 4 degrees or less", async () => {
    const line = await lineOf([
      [0, 0],
      {
        c: [
          [10, 0],
          [5, 5],
        ],
      },
      [20, 0],
    ]);
    expect(line[0]).toEqual([0, 0]);
    expect(line.at(-1)).toEqual([20, 0]);
    expect(line.at(-2)).toEqual([10, 0]);
    const arc = line.slice(0, -1);
    expect(arc).toHaveLength(47);
    for (const distance of distances(arc, 5, 0)) expect(distance).toBeCloseTo(5, 9);
    for (const [, y] of arc) expect(y).toBeGreaterThanOrEqual(0);
    const middles = arc.slice(1).map(([x, y], k) => [(x! + arc[k]![0]!) / 2, (y! + arc[k]![1]!) / 2]);
    for (const distance of distances(middles, 5, 0)) expect(5 - distance).toBeLessThanOrEqual(sagitta * 1.0001);
  });

  it("by a center are circular arcs in the direction that they say", async () => {
    const below = await lineOf([[0, 0], { a: [[10, 0], [5, 0], 0, 0] }]);
    const above = await lineOf([[0, 0], { a: [[10, 0], [5, 0], 0, 1] }]);
    for (const distance of [...distances(below, 5, 0), ...distances(above, 5, 0)]) expect(distance).toBeCloseTo(5, 9);
    expect(Math.min(...below.map(([, y]) => y!))).toBeCloseTo(-5, 1);
    expect(Math.max(...above.map(([, y]) => y!))).toBeCloseTo(5, 1);
  });

  it("by a center and axes are elliptic arcs", async () => {
    // A quarter of x²/16 + y²/4 = 1, turned by 90 degrees: from (0, 4) to (-2, 0), counter-clockwise.
    const line = await lineOf([[0, 4], { a: [[-2, 0], [0, 0], 1, 0, Math.PI / 2, 4, 0.5] }]);
    expect(line[0]).toEqual([0, 4]);
    expect(line.at(-1)).toEqual([-2, 0]);
    for (const [x, y] of line) {
      expect((y! * y!) / 16 + (x! * x!) / 4).toBeCloseTo(1, 9);
      expect(x).toBeLessThanOrEqual(1e-9);
      expect(y).toBeGreaterThanOrEqual(-1e-9);
    }
  });

  it("by control points are cubic Bézier curves", async () => {
    const line = await lineOf([
      [0, 0],
      {
        b: [
          [3, 0],
          [1, 2],
          [2, 2],
        ],
      },
    ]);
    // At t = 1/2: (0 + 3·1 + 3·2 + 3) / 8, (0 + 3·2 + 3·2 + 0) / 8.
    const middle = line[(line.length - 1) / 2];
    expect(line.length % 2 === 1 ? middle : [1.5, 1.5]).toEqual([1.5, 1.5]);
    expect(line.length).toBeGreaterThan(10);
    expect(line.at(-1)).toEqual([3, 0]);
    expect(Math.max(...line.map(([, y]) => y!))).toBeCloseTo(1.5, 2);
  });

  it("have z along their way, and rings of them are closed", async () => {
    const line = await lineOf(
      [
        [0, 0, 1],
        {
          c: [
            [10, 0, 3],
            [5, 5],
          ],
        },
      ],
      { hasZ: true },
    );
    expect(line[0]![2]).toBe(1);
    expect(line.at(-1)![2]).toBe(3);
    for (const [k, [, , z]] of line.entries()) if (k > 0) expect(z).toBeGreaterThan(line[k - 1]![2]!);
    const { geometries } = await read([
      {
        curveRings: [
          [
            [0, 0],
            {
              c: [
                [10, 0],
                [5, 5],
              ],
            },
            [0, 0],
          ],
        ],
      },
    ]);
    expect(geometries[0]!.type).toBe("Polygon");
  });

  it("that lack a part are rejected with the reason", async () => {
    const { rejects } = await read([
      {
        curvePaths: [
          [
            {
              c: [
                [10, 0],
                [5, 5],
              ],
            },
          ],
        ],
      },
      {
        curvePaths: [
          [
            [0, 0],
            {
              a: [
                [10, 0],
                [5, 0],
              ],
            },
          ],
        ],
      },
      { curvePaths: [[[0, 0], { s: [] }]] },
    ]);
    expect(rejects.map(({ reason }) => reason)).toEqual([
      "a path begins with a curve segment instead of a position",
      "an elliptic arc lacks some of its numbers",
      "a curve segment is not a list",
    ]);
  });
});

/** Tiles. Web Mercator maps the world to a square; 66.5132604° is a quarter of its side from the equator: atan(sinh(π / 2)). */
import { afterAll, describe, expect, test } from "vitest";
import { RingType } from "../../src/view/shape-record.js";
import { clipLine, clipRing } from "../../src/view/tiles/clip.js";
import { decodeTile, encodeTile, notInTile, type TileContent } from "../../src/view/tiles/tile-content.js";
import { levelOf, toLatitude, toLongitude, toWorldX, toWorldY, worldSize } from "../../src/view/world.js";
import { area, boxRing, feature, LayerMaker, point } from "./layer.js";

const maker = new LayerMaker();
afterAll(() => maker.remove());

const quarter = 66.51326044311186;

/** As an array of shapes: type and positions of each ring. */
function ringsOf({ shapes }: TileContent): { type: number; xy: number[] }[] {
  let at = 0;
  return Array.from(shapes.ringTypes, (type, r) => {
    const length = 2 * shapes.ringLengths[r]!;
    at += length;
    return { type, xy: [...shapes.xy.subarray(at - length, at)] };
  });
}

/** Begins where x + y is least, so that the start of the ring does not matter. */
function normalized(xy: readonly number[]): string[] {
  const positions = Array.from({ length: xy.length / 2 }, (_, k) => `${xy[2 * k]} ${xy[2 * k + 1]}`);
  return [...new Set(positions)].sort();
}

describe("the plane", () => {
  test("has the values of Web Mercator", () => {
    expect([toWorldX(-180), toWorldX(0), toWorldX(180)]).toEqual([0, worldSize / 2, worldSize]);
    expect([toWorldY(0), toWorldY(quarter), toWorldY(-quarter)]).toEqual([
      worldSize / 2,
      worldSize / 4,
      (3 * worldSize) / 4,
    ]);
    expect([toLongitude(worldSize / 4), toLatitude(worldSize / 4)]).toEqual([-90, expect.closeTo(quarter, 6)]);
    // EPSG Guidance Note 7-2, 3.2.1.2: 24°22'54.433" N, 100°20'00" W is 11169055.58 W, 2800000 N, of a sphere of 6378137 m.
    const metres = (x: number) => (x / worldSize - 0.5) * 2 * Math.PI * 6_378_137;
    expect(metres(toWorldX(-(100 + 20 / 60)))).toBeCloseTo(-11_169_055.58, 1);
    expect(-metres(toWorldY(24 + 22 / 60 + 54.433 / 3600))).toBeCloseTo(2_800_000, 1);
  });

  test("latitudes beyond it lie on its edge", () => {
    expect([toWorldY(90), toWorldY(-90)]).toEqual([0, worldSize - 1]);
  });

  test("a feature has a shape from the zoom on at which it is two pixels", () => {
    // At zoom 0, the world has 512 pixels.
    expect(levelOf(worldSize / 256)).toBe(0);
    expect(levelOf(worldSize / 257)).toBe(1);
    expect(levelOf(worldSize / 512)).toBe(1);
    expect(levelOf(worldSize / 513)).toBe(2);
    expect(levelOf(0)).toBe(31);
  });
});

describe("dots", () => {
  const layer = maker.make(
    [feature(point(0, 0)), feature(point(0, 0)), feature(point(90, quarter)), feature(null)],
    [feature(point(0.0001, 0))],
  );

  test("one stands for all features of a cell, with their number", async () => {
    const tile = await layer.tile({ z: 0, x: 0, y: 0 }, null, null);
    expect([...tile.dots.xy]).toEqual([3072, 1024, 2048, 2048]);
    // 16 log2(3) = 25.4
    expect([...tile.dots.weights]).toEqual([0, 25]);
    expect([tile.dotted, tile.shapes.rows.length]).toEqual([4, 0]);
  });

  test("those of a neighbor reach into a tile, but are not counted", async () => {
    const tile = await layer.tile({ z: 1, x: 0, y: 0 }, null, null);
    expect([[...tile.dots.xy], tile.dotted]).toEqual([[4096, 4096], 0]);
    const own = await layer.tile({ z: 1, x: 1, y: 1 }, null, null);
    expect([[...own.dots.xy], own.dotted]).toEqual([[0, 0], 3]);
  });

  test("cells get smaller with each zoom, until the features are apart", async () => {
    // 0.0001° are 0.07 pixels at zoom 9, and 4.7 pixels at zoom 15.
    const near = await layer.tile({ z: 9, x: 256, y: 256 }, null, null);
    const far = await layer.tile({ z: 15, x: 16_384, y: 16_384 }, null, null);
    expect([near.dots.weights.length, far.dots.weights.length]).toEqual([1, 2]);
  });

  test("a filter leaves out others, also from the counts", async () => {
    const tile = await layer.tile({ z: 0, x: 0, y: 0 }, "$type = 'Line'", null);
    expect([tile.dotted, tile.dots.xy.length]).toEqual([0, 0]);
  });
});

describe("shapes", () => {
  const square = boxRing(-90, -quarter, 90, quarter);
  const hole = boxRing(-45, -10, 45, 10);

  test("an area has its rings in units of the tile", async () => {
    const layer = maker.make([feature(area(square, hole))]);
    const tile = await layer.tile({ z: 0, x: 0, y: 0 }, null, null);
    const [shell, inner] = ringsOf(tile);
    expect([shell!.type, inner!.type]).toEqual([RingType.shell, RingType.hole]);
    expect(normalized(shell!.xy)).toEqual(["1024 1024", "1024 3072", "3072 1024", "3072 3072"]);
    // asinh(tan 10°) / 2π × 4096 = 114.4
    expect(normalized(inner!.xy)).toEqual(["1536 1934", "1536 2162", "2560 1934", "2560 2162"]);
    expect([...tile.shapes.rows]).toEqual([0]);
  });

  test("is clipped to the tile and 32 pixels around it", async () => {
    const layer = maker.make([feature(area(square))]);
    const [ring] = ringsOf(await layer.tile({ z: 1, x: 0, y: 0 }, null, null));
    expect(normalized(ring!.xy)).toEqual(["2048 2048", "2048 4352", "4352 2048", "4352 4352"]);
    const inside = await layer.tile({ z: 3, x: 4, y: 4 }, null, null);
    expect(normalized(ringsOf(inside)[0]!.xy)).toEqual(["-256 -256", "-256 4352", "4352 -256", "4352 4352"]);
    expect([...inside.shapes.rows]).toEqual([0]);
  });

  test("of which only the margin has a part is not in the tile", async () => {
    const layer = maker.make([
      feature({
        type: "LineString",
        coordinates: [
          [1, 30],
          [1, 31],
        ],
      }),
    ]);
    const tile = await layer.tile({ z: 3, x: 3, y: 3 }, null, null);
    expect([...tile.shapes.rows]).toEqual([notInTile]);
  });

  test("smaller than two pixels is a dot, and a shape at a greater zoom", async () => {
    // 0.5° are 0.7 pixels at zoom 0, and 2.8 pixels at zoom 2.
    const layer = maker.make([feature(area(boxRing(10, 10, 10.5, 10.5)))]);
    const world = await layer.tile({ z: 0, x: 0, y: 0 }, null, null);
    expect([world.dots.xy.length, world.shapes.rows.length, world.dotted]).toEqual([2, 0, 1]);
    const near = await layer.tile({ z: 2, x: 2, y: 1 }, null, null);
    expect([near.dots.xy.length, near.shapes.rows.length]).toEqual([0, 1]);
  });

  test("across the antimeridian is in the tiles of both sides", async () => {
    const layer = maker.make([feature(area(boxRing(170, -10, 190, 10)))]);
    const east = ringsOf(await layer.tile({ z: 1, x: 1, y: 0 }, null, null));
    const west = ringsOf(await layer.tile({ z: 1, x: 0, y: 0 }, null, null));
    // 170° is 10/180 of the tile's side from its end: 4096 − 227.6.
    expect([
      Math.min(...east[0]!.xy.filter((_, k) => k % 2 === 0)),
      Math.max(...west[0]!.xy.filter((_, k) => k % 2 === 0)),
    ]).toEqual([3868, 228]);
  });

  test("of many positions is simplified at small zooms, and exact at great ones", async () => {
    const circle = Array.from({ length: 721 }, (_, k) => [
      10 * Math.cos((k * Math.PI) / 360),
      10 * Math.sin((k * Math.PI) / 360),
    ]);
    circle[720] = circle[0]!;
    const layer = maker.make([feature(area(circle))]);
    const positions = async (z: number, x: number, y: number) =>
      (await layer.tile({ z, x, y }, null, null)).shapes.xy.length / 2;
    const world = await positions(0, 0, 0);
    expect(world).toBeGreaterThan(7);
    expect(world).toBeLessThan(50);
    const record = layer.data.record(0, 20)!;
    expect(record.at(1 + 3 * (record[0]! - 1) + 2)).toBe(1 + 1 + 2 * 721);
  });

  test("several points of a feature are in the tile as points", async () => {
    const layer = maker.make([
      feature({
        type: "MultiPoint",
        coordinates: [
          [0, 0],
          [90, 0],
        ],
      }),
    ]);
    const rings = ringsOf(await layer.tile({ z: 0, x: 0, y: 0 }, null, null));
    expect(rings).toEqual([{ type: RingType.points, xy: [2048, 2048, 3072, 2048] }]);
  });
});

test("a tile is the same after its way to the page", async () => {
  const layer = maker.make([feature(area(boxRing(0, 0, 50, 50))), feature(point(-50, -50))]);
  const tile = await layer.tile({ z: 0, x: 0, y: 0 }, null, null);
  const bytes = encodeTile(tile);
  expect(decodeTile(bytes.buffer)).toEqual(tile);
});

test("lines are cut where they leave the square, and rings keep their area", () => {
  expect(clipLine([-10, 5, 20, 5], 0, 10)).toEqual([[0, 5, 10, 5]]);
  expect(clipLine([5, 5, 5, 20, 8, 20, 8, 5], 0, 10)).toEqual([
    [5, 5, 5, 10],
    [8, 10, 8, 5],
  ]);
  expect(clipLine([-5, -5, -5, 20], 0, 10)).toEqual([]);
  expect(normalized(clipRing([-5, -5, 5, -5, 5, 5, -5, 5], 0, 10))).toEqual(["0 0", "0 5", "5 0", "5 5"]);
  expect(clipRing([20, 20, 30, 20, 30, 30], 0, 10)).toEqual([]);
});

test("fifty thousand features are counted exactly at every zoom", async () => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const batches = Array.from({ length: 50 }, () =>
    Array.from({ length: 1000 }, () => feature(point(random() * 340 - 170, random() * 160 - 80))),
  );
  const layer = maker.make(...batches);
  for (const z of [0, 1, 2]) {
    const side = 2 ** z;
    let dotted = 0;
    for (let x = 0; x < side; x++)
      for (let y = 0; y < side; y++) {
        const tile = await layer.tile({ z, x, y }, null, null);
        dotted += tile.dotted;
        expect(tile.dots.weights.length).toBeLessThanOrEqual(264 * 264);
      }
    expect(dotted).toBe(50_000);
  }
});

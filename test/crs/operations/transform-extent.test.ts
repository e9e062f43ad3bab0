/** Boxes of other systems in degrees; what is expected are positions that PROJ's cs2cs gave. */
import { describe, expect, test } from "vitest";
import { crsContext, findOperation, geographicBox, transformExtent } from "../../../src/crs/index.js";
import type { Extent } from "../../../src/model/geometry.js";

async function inDegrees(code: string, extent: Extent): Promise<Extent | null> {
  const operation = await findOperation(await crsContext.parse(code), crsContext.wgs84, { accuracy: 5 });
  return transformExtent(extent, operation);
}

describe("the box around a box that was transformed", () => {
  test("a transformed box bulges where an edge becomes a curve: on one northing of UTM the middle is farthest north", async () => {
    const box = await inDegrees("EPSG:32632", [300000, 5200000, 700000, 5300000]);
    const [west, south, east, north] = box!;
    // Corners 300000 5300000 and 700000 5300000, corner 300000 5200000, and the middle 500000 5300000.
    expect(west).toBeCloseTo(6.327945222, 8);
    expect(east).toBeCloseTo(11.672054778, 8);
    expect(south).toBeCloseTo(46.92338122, 8);
    expect(north).toBeCloseTo(47.853341946, 8);
  });

  test("a transformed box contains the pole inside of it", async () => {
    const [, south, , north] = (await inDegrees("EPSG:3995", [-1000000, -1000000, 1000000, 1000000]))!;
    // Corner 1000000 1000000.
    expect(south).toBeCloseTo(77.037400635, 8);
    expect(north).toBeCloseTo(90, 8);
  });

  test("a box between equal systems is unchanged", async () => {
    expect(await inDegrees("EPSG:4326", [1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
  });

  test("a box without transformable positions is null", async () => {
    expect(await inDegrees("EPSG:32632", [1e30, 1e30, 2e30, 2e30])).toBeNull();
  });
});

describe("the box in degrees around a declared box", () => {
  const around = async (code: string, extent: Extent) => geographicBox(await crsContext.parse(code), extent);

  test("a declared box crosses the antimeridian if the features lie on both sides of it", async () => {
    // Fiji Map Grid, by cs2cs: 177.5 -18.5 and -179 -16.5.
    const [west, south, east, north] = (await around("EPSG:3460", [1867827, 3832882, 2238000, 4057000]))!;
    expect(west).toBeGreaterThan(177);
    expect(west).toBeLessThan(178);
    expect(east).toBeLessThan(-178);
    expect(east).toBeGreaterThan(-180);
    expect([Math.round(south), Math.round(north)]).toEqual([-19, -16]);
  });

  test("a declared box is the area of use if its longitudes span the whole map", async () => {
    // NZGD2000: 160.6°E to 171.2°W.
    const [west, south, east, north] = (await around("EPSG:4167", [-179.9, -48, 179.9, -30]))!;
    expect([west, east]).toEqual([160.6, -171.2]);
    expect([Math.round(south), Math.round(north)]).toEqual([-48, -30]);
  });

  test("a declared box is otherwise unchanged, and shifted if it continues beyond 180°", async () => {
    const rounded = async (code: string, extent: Extent) =>
      (await around(code, extent))!.map((degrees) => Number(degrees.toFixed(9)));
    expect(await rounded("EPSG:4258", [-10, 35, 30, 70])).toEqual([-10, 35, 30, 70]);
    expect(await rounded("EPSG:4167", [170, -48, 185, -30])).toEqual([170, -48, -175, -30]);
    expect(await rounded("EPSG:4258", [-170, 35, 170, 70])).toEqual([-170, 35, 170, 70]);
  });
});

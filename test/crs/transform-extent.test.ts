/** Boxes of other systems in degrees; what is expected are positions that PROJ's cs2cs gave. */
import { describe, expect, test } from "vitest";
import { crsContext, findOperation, transformExtent } from "../../src/crs/index.js";
import type { Extent } from "../../src/model/geometry.js";

async function inDegrees(code: string, extent: Extent): Promise<Extent | null> {
  const operation = await findOperation(await crsContext.parse(code), crsContext.wgs84, { accuracy: 5 });
  return transformExtent(extent, operation);
}

describe("the box around a box that was transformed", () => {
  test("bulges where an edge becomes a curve: on one northing of UTM the middle is farthest north", async () => {
    const box = await inDegrees("EPSG:32632", [300000, 5200000, 700000, 5300000]);
    const [west, south, east, north] = box!;
    // Corners 300000 5300000 and 700000 5300000, corner 300000 5200000, and the middle 500000 5300000.
    expect(west).toBeCloseTo(6.327945222, 8);
    expect(east).toBeCloseTo(11.672054778, 8);
    expect(south).toBeCloseTo(46.92338122, 8);
    expect(north).toBeCloseTo(47.853341946, 8);
  });

  test("holds the pole that lies inside of it", async () => {
    const [, south, , north] = (await inDegrees("EPSG:3995", [-1000000, -1000000, 1000000, 1000000]))!;
    // Corner 1000000 1000000.
    expect(south).toBeCloseTo(77.037400635, 8);
    expect(north).toBeCloseTo(90, 8);
  });

  test("is itself between equal systems", async () => {
    expect(await inDegrees("EPSG:4326", [1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
  });

  test("is none where nothing can be transformed", async () => {
    expect(await inDegrees("EPSG:32632", [1e30, 1e30, 2e30, 2e30])).toBeNull();
  });
});

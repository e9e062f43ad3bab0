/** Features across the antimeridian keep their width in reprojections, or the report names them. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Position } from "geojson";
import { afterAll, describe, expect, test } from "vitest";
import { convertFile } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let count = 0;

const rectangle = (west: number, east: number, south: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

function write(coordinates: Position[][]): string {
  const path = scratch.path(`in${count++}.geojson`);
  const feature = { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates } };
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: [feature] }));
  return path;
}

const ringsOf = (path: string): Position[][] => JSON.parse(readFileSync(path, "utf8")).features[0].geometry.coordinates;
const width = (ring: readonly Position[]) => Math.max(...ring.map(([x]) => x!)) - Math.min(...ring.map(([x]) => x!));

describe("from a projected system", () => {
  test("longitudes continue beyond 180 degrees along a ring and its holes", async () => {
    // EPSG:3832 is centered on 150° E. Positions by its definition: x = a·(longitude − 150°), Mercator's y.
    const source = write([rectangle(179.5, 180.5, -17, -16), rectangle(180.1, 180.2, -16.6, -16.4)]);
    const projected = scratch.path(`p${count}.gpkg`);
    await convertFile(source, projected, { targetCrs: "EPSG:3832" });
    const back = scratch.path(`back${count}.geojson`);
    const { losses } = await convertFile(projected, back, {});
    const [shell, hole] = ringsOf(back);
    expect(losses).toEqual([]);
    expect(shell!.map(([x]) => x!).sort()).toEqual([179.5, 179.5, 179.5, 180.5, 180.5]);
    expect(width(hole!)).toBeCloseTo(0.1, 6);
    expect(Math.min(...hole!.map(([x]) => x!))).toBeCloseTo(180.1, 6);
  });

  test("the two parts are cut at 180 degrees on request", async () => {
    const source = write([rectangle(179.5, 180.5, -17, -16)]);
    const projected = scratch.path(`p${count}.gpkg`);
    await convertFile(source, projected, { targetCrs: "EPSG:3832" });
    const cut = scratch.path(`cut${count}.geojson`);
    await convertFile(projected, cut, { writerOptions: { antimeridian: "cut" } });
    const { geometry } = JSON.parse(readFileSync(cut, "utf8")).features[0];
    expect(geometry.type).toBe("MultiPolygon");
    for (const [ring] of geometry.coordinates as Position[][][]) expect(width(ring!)).toBeCloseTo(0.5, 6);
  });

  test("a rectangle around the world keeps its longitudes", async () => {
    const source = write([rectangle(-180, 180, -60, 60)]);
    const projected = scratch.path(`w${count}.gpkg`);
    await convertFile(source, projected, { targetCrs: "EPSG:3857" });
    const back = scratch.path(`w${count}.geojson`);
    await convertFile(projected, back, {});
    expect(width(ringsOf(back)[0]!)).toBeCloseTo(360, 6);
  });
});

describe("to a projected system", () => {
  test.each(["EPSG:3857", "EPSG:6933", "EPSG:4087"])(
    "a ring that crosses the edge of the map is a loss: %s",
    async (crs) => {
      const path = write([rectangle(179.5, 180.5, -17, -16)]);
      const { losses } = await convertFile(path, scratch.path(`e${count++}.gpkg`), { targetCrs: crs });
      expect(losses).toMatchObject([
        { code: "antimeridian-wrapped", count: 1, example: expect.stringContaining("--out antimeridian=cut") },
      ]);
    },
  );

  test.each([
    ["a system with another center", "EPSG:3832", rectangle(179.5, 180.5, -17, -16)],
    ["a wide ring that does not cross the edge", "EPSG:3857", rectangle(-170, 170, -60, 80)],
    ["a ring near the pole", "EPSG:3413", rectangle(170, 179, 70, 89)],
  ])("there is no loss for %s", async (_, crs, ring) => {
    const { losses } = await convertFile(write([ring]), scratch.path(`n${count++}.gpkg`), { targetCrs: crs });
    expect(losses).toEqual([]);
  });
});

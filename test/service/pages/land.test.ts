/** The outline of the land from the build, compared with known places. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const manifest = createRequire(import.meta.url).resolve("#service-assets");
const names = JSON.parse(readFileSync(manifest, "utf8")) as Record<string, string>;
const land = JSON.parse(readFileSync(join(dirname(manifest), names["land.json"]!), "utf8"));
const polygons: readonly (readonly [number, number][])[][] = land.geometry.coordinates;

/** Whether a ray to the east crosses the ring an odd number of times. */
function isInside(ring: readonly (readonly number[])[], x: number, y: number): boolean {
  let inside = false;
  for (let at = 1; at < ring.length; at++) {
    const [[x1, y1], [x2, y2]] = [ring[at - 1] as [number, number], ring[at] as [number, number]];
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) inside = !inside;
  }
  return inside;
}

/** As a map draws it: with copies of the world to both sides, and holes by the even-odd rule. */
const isLand = (longitude: number, latitude: number): boolean =>
  polygons.some((rings) =>
    [-360, 0, 360].some((turn) => rings.filter((ring) => isInside(ring, longitude + turn, latitude)).length % 2 === 1),
  );

test.each([
  ["Moscow", 37.6, 55.75],
  ["Alice Springs", 133.9, -23.7],
  ["Chukotka, west of the antimeridian", 178, 67.5],
  ["Chukotka, east of the antimeridian", -176, 67],
  ["Wrangel Island", 179.7, 71.2],
  ["Vanua Levu", 179.2, -16.6],
  ["the South Pole", 0, -89.9],
  ["Antarctica at the antimeridian", 180, -86],
  ["Greenland", -40, 72],
])("%s is land", (_, longitude, latitude) => {
  expect(isLand(longitude, latitude)).toBe(true);
});

test.each([
  ["the North Atlantic", -40, 43],
  ["the North Pacific, east", -160, 43],
  ["the North Pacific, west", 170, 43],
  ["the Caspian Sea", 51, 42],
  ["the North Pole", 0, 89],
  ["the Southern Ocean", -120, -60],
  ["the Ross Sea", -175, -75],
  ["the Bering Strait", -169, 65.9],
  ["the sea around Fiji", -178, -14],
])("%s is sea", (_, longitude, latitude) => {
  expect(isLand(longitude, latitude)).toBe(false);
});

test("rings are closed, circle the world at most once, and jump only along the poles", () => {
  expect(polygons.length).toBeGreaterThan(100);
  for (const ring of polygons.flat()) {
    expect(ring[0]).toEqual(ring.at(-1));
    const longitudes = ring.map(([longitude]) => longitude);
    expect(Math.max(...longitudes) - Math.min(...longitudes)).toBeLessThanOrEqual(360);
    for (let at = 1; at < ring.length; at++) {
      const [[x1, y1], [x2]] = [ring[at - 1]!, ring[at]!];
      expect(Math.abs(x2 - x1) < 30 || y1 === -90).toBe(true);
    }
  }
});

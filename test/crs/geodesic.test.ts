import { expect, test } from "vitest";
import { geodesicDistance } from "../../src/crs/geodesic.js";

/** Latitudes and longitudes as PROJ 9.1.1 takes them, with its result: `echo "50 8 50 8.001" | geod +ellps=WGS84 -I -F %.5f`. */
const measured = [
  [[50, 8], [50, 8.001], 71.6958],
  [[38, -6], [38, -4], 175_661.5414],
  [[0, 0], [0, 1], 111_319.49079],
  [[-45.5, 170], [-45.6, -170], 1_557_754.16925],
  [[89, 0], [89, 180], 223_387.72983],
  [[52.5200066, 13.404954], [48.856614, 2.3522219], 879_694.54936],
  [[10, 10], [10.000001, 10], 0.11061],
] as const;

test.each(measured)("from %s to %s it is as far as PROJ says", ([lat1, lon1], [lat2, lon2], metres) => {
  expect(Math.abs(geodesicDistance(lon1, lat1, lon2, lat2) - metres)).toBeLessThan(0.0005);
  expect(Math.abs(geodesicDistance(lon2, lat2, lon1, lat1) - metres)).toBeLessThan(0.0005);
});

test("nearly opposite points are as far apart as PROJ says, to 0.6 %", () => {
  const distance = geodesicDistance(0, 0, 179.7, 0.5);
  expect(Math.abs(distance / 19_944_127.42075 - 1)).toBeLessThan(0.006);
});

test("a position is 0 m from itself", () => {
  expect(geodesicDistance(13.4, 52.5, 13.4, 52.5)).toBe(0);
  expect(geodesicDistance(-180, 10, 180, 10)).toBe(0);
});

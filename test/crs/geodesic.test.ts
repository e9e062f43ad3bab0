import { expect, test } from "vitest";
import { geodesicDistance, geodesicRingArea } from "../../src/crs/geodesic.js";

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

/** Longitudes and latitudes, with the distance of pyproj (PROJ 9.9.0), which rounds to a few nanometres. */
const short = [
  [8, 50, 8.001, 50, 71.69575361543222],
  [13.4, 52.5, 13.40001, 52.50001, 1.3036231183182494],
  [-70.3, -33.4, -70.26, -33.44, 5789.913353805354],
  [179.98, 66.5, 179.95, 66.46, 4656.4950388058005],
  [25, 89.97, 25.05, 89.99, 2233.880226149721],
  [-120, -80, -119.951, -80.049, 5552.861618662008],
  [10, 0.01, 10.04, -0.03, 6276.138767936784],
  [10, 10, 10, 10.000001, 0.11060776505353055],
] as const;

test.each(short)("from %d, %d to the near %d, %d it is as far as PROJ says, to 5 nm", (x1, y1, x2, y2, metres) => {
  expect(Math.abs(geodesicDistance(x1, y1, x2, y2) - metres)).toBeLessThan(5e-9);
  expect(Math.abs(geodesicDistance(x2, y2, x1, y1) - metres)).toBeLessThan(5e-9);
});

/** Longitudes and latitudes, with the distance of pyproj (PROJ 9.9.0): `Geod(ellps="WGS84").inv(…)[2]`. */
const nearlyOpposite = [
  [0, 0, 180, 0, 20_003_931.45863],
  [0, 0, 179.9, 0.1, 19_992_082.10791],
  [0, 0, 179.7, 0.5, 19_944_127.42075],
  [0, 0, 179.5, 0.5, 19_936_288.57897],
  [10, 30, -170.2, -29.9, 19_989_832.82761],
  [10, 30, -170, -30, 20_003_931.45863],
  [0, -89.5, 180, 89.4, 19_992_762.0711],
  [5, 0, -175.5, 0, 19_980_861.90889],
  [0, 0, 179.4, 0, 19_970_715.5166],
  [0, 0.3, 179.6, -0.3, 19_989_165.41604],
  [-60, -45, 120.3, 45.2, 19_976_798.0253],
  [0, 1e-6, 179.99999, 0, 20_003_931.34804],
] as const;

test.each(nearlyOpposite)(
  "from %d, %d to the nearly opposite %d, %d it is as far as PROJ says",
  (x1, y1, x2, y2, metres) => {
    expect(Math.abs(geodesicDistance(x1, y1, x2, y2) - metres)).toBeLessThan(0.001);
    expect(Math.abs(geodesicDistance(x2, y2, x1, y1) - metres)).toBeLessThan(0.001);
  },
);

test("a position is 0 m from itself", () => {
  expect(geodesicDistance(13.4, 52.5, 13.4, 52.5)).toBe(0);
  expect(geodesicDistance(-180, 10, 180, 10)).toBe(0);
});

/** Rings of longitudes and latitudes, with the area from PROJ 9: pyproj's `Geod(ellps="WGS84").polygon_area_perimeter`. */
const surrounded = [
  ["a degree at the equator", [0, 0, 1, 0, 1, 1, 0, 1, 0, 0], 12_308_778_361.469452],
  ["a small house", [10, 50, 10.0001, 50, 10.0001, 50.0001, 10, 50.0001, 10, 50], 79.74643364548683],
  ["a field", [9, 48, 9.02, 48.003, 9.018, 48.02, 8.999, 48.015, 9, 48], 2_638_173.1912714243],
  ["an island in the north", [20, 79, 20.04, 79.01, 20.03, 79.04, 20.01, 79.03, 20, 79], 2_138_328.194867134],
  ["half a continent", [10, 50, 40, 45, 35, 70, 5, 65, 10, 50], 3_935_976_127_256.296],
  ["across the antimeridian", [179, -10, -179, -10, -178, 10, 178, 12, 179, -10], 771_109_573_533.3486],
  ["around the north pole", [0, 80, 90, 80, 180, 80, -90, 80, 0, 80], 2_507_270_031_169.875],
  ["around the south pole", [0, -60, -90, -70, 180, -65, 90, -62, 0, -60], 17_030_665_767_461.062],
] as const;

test("the area of a house that is not aligned with the axes is that of PROJ, to a ten millionth", () => {
  const corners = [
    [10.00008775825619, 60.00004794255386],
    [9.999952057446139, 60.000087758256186],
    [9.99991224174381, 59.99995205744614],
    [10.000047942553861, 59.999912241743814],
    [10.00008775825619, 60.00004794255386],
  ];
  expect(Math.abs(geodesicRingArea(Float64Array.from(corners.flat()), 0, 5) / 124.33611270040274 - 1)).toBeLessThan(
    1e-7,
  );
});

test("the area of a tile of ten centimetres is that of a plane with the scales of its middle", () => {
  const ring = Float64Array.of(10, 50, 10.000001, 50, 10.000001, 50.000001, 10, 50.000001, 10, 50);
  // M N cos φ dφ dλ at 50.0000005 degrees.
  expect(Math.abs(geodesicRingArea(ring, 0, 5) / 0.007974651484647344 - 1)).toBeLessThan(1e-7);
});

test.each(surrounded)("the area of %s is that of PROJ, in both directions", (_, positions, squareMetres) => {
  const xy = Float64Array.from(positions);
  const count = positions.length / 2;
  const reversed = Float64Array.from(positions, (_value, k) => xy[2 * (count - 1 - (k >> 1)) + (k & 1)]!);
  for (const ring of [xy, reversed])
    expect(Math.abs(geodesicRingArea(ring, 0, count) / squareMetres - 1)).toBeLessThan(1e-9);
});

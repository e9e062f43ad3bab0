import { afterAll, expect, test } from "vitest";
import { featureDetail, pickFeatures } from "../../src/view/feature-detail.js";
import { geometryText } from "../../src/view/geometry-text.js";
import { RingType } from "../../src/view/shape-record.js";
import type { ViewLayer } from "../../src/view/view-layer.js";
import { toWorldX, toWorldY, worldSize } from "../../src/view/world.js";
import { area, boxRing, feature, LayerMaker, point } from "./layer.js";

const maker = new LayerMaker();
afterAll(() => maker.remove());

/** Rows of the features at a place; at zoom 8, seven pixels are about 0.02°. */
async function at(layer: ViewLayer, longitude: number, latitude: number, where: string | null = null) {
  const place = [toWorldX(longitude), toWorldY(latitude)] as const;
  const picked = await pickFeatures([{ id: 3, layer, where }], ...place, 8);
  expect(picked.features.every(({ layer }) => layer === 3)).toBe(true);
  return picked.features.map(({ row }) => row);
}

const layer = maker.make([
  feature(area(boxRing(0, 0, 10, 10), boxRing(4, 4, 6, 6)), { name: "ring" }),
  feature(area(boxRing(1, 1, 2, 2)), { name: "small" }),
  feature(
    {
      type: "LineString",
      coordinates: [
        [-5, 8],
        [20, 8],
      ],
    },
    { name: "road" },
  ),
  feature(point(1.5, 1.5), { name: "tree" }),
  feature(area(boxRing(175, -5, 185, 5)), { name: "far" }),
]);

test("points come before the areas around them, and small areas before large ones", async () => {
  expect(await at(layer, 1.5, 1.5)).toEqual([3, 1, 0]);
});

test("a line is found near it, and not far from it", async () => {
  expect(await at(layer, -3, 8.01)).toEqual([2]);
  expect(await at(layer, -3, 8.1)).toEqual([]);
});

test("the hole of an area is not part of it", async () => {
  expect(await at(layer, 5, 5)).toEqual([]);
  expect(await at(layer, 3, 5)).toEqual([0]);
});

test("an area across the antimeridian is found on both sides", async () => {
  expect(await at(layer, 178, 0)).toEqual([4]);
  expect(await at(layer, -177, 0)).toEqual([4]);
  expect(await at(layer, -170, 0)).toEqual([]);
});

test("a filter leaves out others", async () => {
  expect(await at(layer, 1.5, 1.5, "name <> 'tree'")).toEqual([1, 0]);
});

test("all features at a place are counted, and a hundred listed", async () => {
  const crowd = maker.make(Array.from({ length: 250 }, () => feature(point(5, 5))));
  const picked = await pickFeatures([{ id: 0, layer: crowd, where: null }], toWorldX(5), toWorldY(5), 3);
  expect([picked.count, picked.features.length]).toEqual([250, 100]);
});

test("the detail of a feature has its values, center and rings", () => {
  const detail = featureDetail(layer, 1, 12, "POLYGON …");
  expect(detail.cells).toEqual(["small"]);
  expect(detail.center![0]).toBe(toWorldX(1.5));
  expect(detail.rings.map(({ type, xy }) => [type, xy.length])).toEqual([[RingType.shell, 10]]);
  const far = featureDetail(layer, 4, 12, null);
  expect((far.center![0] + 1) % worldSize).toBeLessThanOrEqual(2);
});

test("geometries are written as WKT, to seven decimals", () => {
  expect(geometryText(point(13.123456789, 52))).toBe("POINT (13.1234568 52)");
  expect(geometryText({ type: "Point", coordinates: [1, 2, 3.5] })).toBe("POINT Z (1 2 3.5)");
  expect(geometryText(area(boxRing(0, 0, 1, 1)))).toBe("POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))");
  expect(geometryText({ type: "GeometryCollection", geometries: [point(1, 2)] })).toBe(
    "GEOMETRYCOLLECTION (POINT (1 2))",
  );
  expect(geometryText({ type: "MultiPoint", coordinates: [] })).toBe("MULTIPOINT EMPTY");
  expect(geometryText({ type: "LineString", coordinates: Array.from({ length: 600 }, (_, k) => [k, k]) })).toBeNull();
  expect(geometryText(null)).toBeNull();
});

import { describe, expect, test } from "vitest";
import { type Box, boundingBoxOf, FeatureExtent } from "../../src/model/feature-extent.js";

const extentOf = (...boxes: Box[]) => {
  const extent = new FeatureExtent();
  for (const box of boxes) extent.add(box);
  return extent.box();
};

describe("FeatureExtent", () => {
  test("is null without features", () => {
    expect(extentOf()).toBeNull();
  });

  test("is the box of a single feature", () => {
    expect(extentOf([7.25, 50, 7.75, 51])).toEqual([7.25, 50, 7.75, 51]);
    expect(extentOf([180, -90, 180, -90])).toEqual([180, -90, 180, -90]);
  });

  test("covers several features", () => {
    expect(extentOf([-3, 50, -2, 51], [10.5, 58, 11, 60.5], [4, 52, 4, 52])).toEqual([-3, 50, 11, 60.5]);
  });

  test("crosses the antimeridian for features on both sides of it", () => {
    expect(extentOf([178.5, -18, 179.5, -17], [-175.25, -21, -175, -20])).toEqual([178.5, -21, 185, -17]);
  });

  test("is the whole earth for features around it", () => {
    expect(extentOf([-180, -90, 180, 90])).toEqual([-180, -90, 180, 90]);
    expect(extentOf([-180, -85, -60, 80], [-60, -85, 60, 80], [60, -85, 180, 80])).toEqual([-180, -85, 180, 80]);
  });

  test("takes the shorter way around", () => {
    expect(extentOf([-100, 0, -99, 1], [99, 0, 100, 1])).toEqual([99, 0, 261, 1]);
    expect(extentOf([-80, 0, -79, 1], [79, 0, 80, 1])).toEqual([-80, 0, 80, 1]);
  });
});

describe("boundingBoxOf", () => {
  test("covers all positions of all parts", () => {
    expect(boundingBoxOf({ type: "Point", coordinates: [1, 2, 3] })).toEqual([1, 2, 1, 2]);
    const ring = [
      [0, 0],
      [4, 0],
      [4, 3],
      [0, 0],
    ];
    expect(boundingBoxOf({ type: "Polygon", coordinates: [ring] })).toEqual([0, 0, 4, 3]);
    const line = {
      type: "LineString" as const,
      coordinates: [
        [-5, 1],
        [-6, 2],
      ],
    };
    const polygons = { type: "MultiPolygon" as const, coordinates: [[ring]] };
    expect(boundingBoxOf({ type: "GeometryCollection", geometries: [line, polygons] })).toEqual([-6, 0, 4, 3]);
  });

  test("is null without positions", () => {
    expect(boundingBoxOf({ type: "MultiPoint", coordinates: [] })).toBeNull();
    expect(boundingBoxOf({ type: "GeometryCollection", geometries: [] })).toBeNull();
    expect(boundingBoxOf({ type: "Polygon", coordinates: [[]] })).toBeNull();
  });
});

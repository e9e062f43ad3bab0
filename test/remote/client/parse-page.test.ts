/** Accepts valid pages of a map and rejects malformed ones. */
import { describe, expect, test } from "vitest";
import { parsePage } from "../../../src/remote/client/parse-page.js";
import { ServiceResponse } from "../../../src/remote/http/send-request.js";

const pageOf = (features: unknown, headers: Record<string, string> = {}, type = "FeatureCollection") =>
  parsePage(new ServiceResponse(200, headers, JSON.stringify({ type, features })));

const point = { type: "Point", coordinates: [7.5, 47.25] };
const feature = (changes: object = {}) => ({ type: "Feature", id: "a", geometry: point, properties: {}, ...changes });

describe("parsePage", () => {
  test.each<[string, object, object]>([
    ["a point", {}, { id: "a", geometry: point, properties: {} }],
    ["no geometry", { geometry: null }, { geometry: null }],
    ["no member geometry", { geometry: undefined }, { geometry: null }],
    ["no properties", { properties: null }, { properties: {} }],
    ["further members", { bbox: [0, 0, 1, 1], title: "x" }, { id: "a" }],
    [
      "an empty geometry",
      { geometry: { type: "MultiPolygon", coordinates: [] } },
      { geometry: { type: "MultiPolygon" } },
    ],
    [
      "a collection",
      { geometry: { type: "GeometryCollection", geometries: [point] } },
      { geometry: { type: "GeometryCollection" } },
    ],
    [
      "a hole",
      {
        geometry: {
          type: "Polygon",
          coordinates: [
            [
              [0, 0],
              [9, 0],
              [9, 9],
              [0, 0],
            ],
            [
              [3, 1],
              [4, 1],
              [4, 2],
              [3, 1],
            ],
          ],
        },
      },
      { geometry: { type: "Polygon" } },
    ],
  ])("parsePage accepts a feature with %s", (_name, changes, expected) => {
    const [read] = pageOf([feature(changes)]);
    expect(read).toMatchObject(expected);
    expect(Object.keys(read!)).toEqual(["type", "id", "geometry", "properties"]);
  });

  // `JSON.parse` turns it into Infinity, which `JSON.stringify` writes as null.
  test.each([
    ["a property", '{"type":"Point","coordinates":[1,2]}', '{"v":1e400}'],
    ["a list in a property", "null", '{"v":{"w":[0,-1e309]}}'],
    ["a coordinate", '{"type":"Point","coordinates":[1e400,2]}', "{}"],
    ["a part", '{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[1,-2e308]]}]}', "{}"],
  ])("rejects a number beyond the range of a double in %s", (_name, geometry, properties) => {
    const feature = `{"type":"Feature","id":"a","geometry":${geometry},"properties":${properties}}`;
    const answer = new ServiceResponse(200, {}, `{"type":"FeatureCollection","features":[${feature}]}`);
    expect(() => parsePage(answer)).toThrow("has a number beyond the range of a double (1.8e308) in feature a");
  });

  test.each<[string, unknown, string]>([
    ["no list", {}, "is not a FeatureCollection"],
    ["a feature that is none", [null], "has something other than a Feature at position 1"],
    ["a feature of another type", [feature({ type: "feature" })], "has something other than a Feature at position 1"],
    ["a feature without an id", [feature(), feature({ id: undefined })], "has no string id on its feature 2"],
    ["a number as an id", [feature({ id: 7 })], "has no string id on its feature 1"],
    ["an id twice", [feature(), feature()], "has two features with the id a"],
    ["a list of properties", [feature({ properties: [] })], "has properties that are not an object in feature a"],
    ["a geometry without coordinates", [feature({ geometry: { type: "Point" } })], "has no valid GeoJSON geometry"],
    ["a circle", [feature({ geometry: { type: "Circle", coordinates: [1, 2] } })], "has no valid GeoJSON geometry"],
    ["one number", [feature({ geometry: { type: "Point", coordinates: [1] } })], "has no valid GeoJSON geometry"],
    ["text", [feature({ geometry: { type: "Point", coordinates: ["1", "2"] } })], "has no valid GeoJSON geometry"],
    [
      "a level too few",
      [feature({ geometry: { type: "LineString", coordinates: [1, 2] } })],
      "has no valid GeoJSON geometry",
    ],
    [
      "more than 500",
      Array.from({ length: 501 }, (_, i) => feature({ id: String(i) })),
      "has 501 features, more than the 500",
    ],
  ])("rejects a page with %s", (_name, features, words) => {
    expect(() => pageOf(features)).toThrow(words);
  });

  test("rejects an object other than a FeatureCollection", () => {
    expect(() => pageOf([], {}, "Feature")).toThrow("is not a FeatureCollection");
  });

  test("rejects a short page if another one follows", () => {
    const link = '</api/v1/maps/m/features?page=2>; rel="next"';
    expect(() => pageOf([feature()], { link })).toThrow("has 1 features, not 500, although another page follows");
    expect(pageOf([feature()], { link: '</first>; rel="first"' })).toHaveLength(1);
  });
});

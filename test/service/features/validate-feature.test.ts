/** Which features are valid (RFC 7946), where errors are reported, and that the schemas of /openapi.json agree. */
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import { Feature, FeatureChange } from "../../../src/service/features/schemas.js";
import { validateFeature } from "../../../src/service/features/validate-feature.js";

const feature = (geometry: unknown, properties: unknown = {}) => ({ type: "Feature", geometry, properties });
const mistakeIn = (geometry: unknown, properties?: unknown) =>
  validateFeature(feature(geometry, properties), "whole").failure;
const ring = (...positions: number[][]) => [...positions, positions[0]!];
const square = ring([0, 0], [1, 0], [1, 1]);

describe("validateFeature", () => {
  test.each([
    [[180, 90], null],
    [[-180, -90], null],
    [[0, 0, -11034], null],
    [[180.0000001, 0], "geometry.coordinates[0]"],
    [[0, -90.0000001], "geometry.coordinates[1]"],
    [[0], "geometry.coordinates"],
    [[0, 0, 0, 0], "geometry.coordinates"],
    [["0", 0], "geometry.coordinates[0]"],
    [[0, null], "geometry.coordinates[1]"],
    [[0, 0, Number.POSITIVE_INFINITY], "geometry.coordinates[2]"],
    [[0, 0, 2 ** 53], "geometry.coordinates[2]"],
    [{}, "geometry.coordinates"],
    [undefined, "geometry.coordinates"],
  ])("has a point at %j only if it is on earth", (coordinates, path) => {
    expect(mistakeIn({ type: "Point", coordinates })?.path ?? null).toBe(path);
  });

  test.each([
    ["LineString", [[0, 0]], "geometry.coordinates"],
    [
      "LineString",
      [
        [0, 0],
        [0, 91],
      ],
      "geometry.coordinates[1][1]",
    ],
    ["LineString", [], null],
    ["MultiPoint", [[0, 0], 7], "geometry.coordinates[1]"],
    [
      "MultiLineString",
      [
        [
          [0, 0],
          [1, 1],
        ],
        [[0, 0]],
      ],
      "geometry.coordinates[1]",
    ],
    ["MultiLineString", [[]], "geometry.coordinates[0]"],
    [
      "Polygon",
      [
        square,
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      ],
      "geometry.coordinates[1]",
    ],
    [
      "Polygon",
      [
        [
          [0, 0],
          [1, 0],
          [0, 0],
        ],
      ],
      "geometry.coordinates[0]",
    ],
    ["Polygon", [ring([0, 0, 1], [1, 0, 1], [1, 1, 1])], null],
    ["Polygon", [[...square.slice(0, -1), [0, 0, 5]]], "geometry.coordinates[0]"],
    ["Polygon", [[]], "geometry.coordinates[0]"],
    ["MultiPolygon", [[square], []], "geometry.coordinates[1]"],
    [
      "MultiPolygon",
      [
        [
          square,
          [
            [0, 0],
            [181, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      ],
      "geometry.coordinates[0][1][1][0]",
    ],
    ["Circle", [0, 0], "geometry.type"],
    ["toString", [0, 0], "geometry.type"],
    ["__proto__", [0, 0], "geometry.type"],
    [7, [0, 0], "geometry.type"],
  ])("has a %s of %j only if RFC 7946 allows it", (type, coordinates, path) => {
    expect(mistakeIn({ type, coordinates })?.path ?? null).toBe(path);
  });

  test("reports the path of an error in a geometry collection", () => {
    const inner = { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [0, 91] }] };
    const { path } = mistakeIn({
      type: "GeometryCollection",
      geometries: [{ type: "Point", coordinates: [] }, inner],
    })!;
    expect(path).toBe("geometry.geometries[1].geometries[0].coordinates[1]");
    expect(mistakeIn({ type: "GeometryCollection", geometries: [null] })!.path).toBe("geometry.geometries[0]");
    expect(mistakeIn({ type: "GeometryCollection" })!.path).toBe("geometry.geometries");
  });

  test("reports the path of an error in properties", () => {
    expect(mistakeIn(null, { a: [{ "b c": "\0" }] })!.path).toBe('properties.a[0]["b c"]');
    expect(mistakeIn(null, { "": 2 ** 53 })!.path).toBe('properties[""]');
    expect(mistakeIn(null, { a: { "\ud800": 1 } })!.path).toBe("properties.a");
  });

  test("serializes GeoJSON members only", () => {
    const kept = validateFeature(
      feature({ crs: 1, coordinates: [1, -0], bbox: [], type: "Point" }, { b: 1, a: null }),
      "whole",
    );
    expect(kept).toEqual({ geometry: '{"type":"Point","coordinates":[1,0]}', properties: '{"b":1,"a":null}' });
    expect(validateFeature({ properties: { a: 1 } }, "change")).toEqual({ properties: '{"a":1}' });
    expect(validateFeature({}, "change")).toEqual({});
  });

  describe("compared with the schemas", () => {
    const [whole, change] = [Compile(Feature), Compile(FeatureChange)];
    const number = fc.oneof(fc.double({ min: -200, max: 200, noNaN: true }), fc.constantFrom<unknown>("1", null));
    const nested = fc.letrec((tie) => ({
      coordinates: fc.oneof(
        { maxDepth: 4 },
        fc.array(number, { maxLength: 4 }),
        fc.array(tie("coordinates"), { maxLength: 5 }),
      ),
    })).coordinates;
    const longitude = fc.double({ min: -180, max: 180, noNaN: true });
    const latitude = fc.double({ min: -90, max: 90, noNaN: true });
    const position = fc.tuple(longitude, latitude);
    const line = fc.array(position, { maxLength: 5 });
    const ringed = fc.array(position, { minLength: 3, maxLength: 4 }).map((positions) => ring(...positions));
    const coordinates = fc.oneof(
      nested,
      position,
      line,
      ringed,
      fc.array(ringed, { maxLength: 2 }),
      fc.array(fc.array(ringed, { maxLength: 2 }), { maxLength: 2 }),
    );
    const types = ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "Sphere"];
    const geometry = fc.oneof(
      fc.constantFrom<unknown>(null, undefined, 7, [], "POINT (1 2)"),
      fc.record({ type: fc.constantFrom(...types), coordinates }, { requiredKeys: [] }),
    );
    const properties = fc.oneof(
      fc.constantFrom<unknown>(null, undefined, []),
      fc.record({ a: fc.string({ unit: "grapheme" }), b: fc.boolean() }),
    );
    const features = fc.oneof(
      fc.constantFrom<unknown>(null, 7, [], "x"),
      fc.record({ type: fc.constantFrom("Feature", "Point"), geometry, properties }, { requiredKeys: [] }),
    );

    /** Rules that a schema cannot express: closed rings, and texts and numbers that cannot be stored. */
    const beyond = /first\.$|U\+0000|surrogate|2\^53/;

    test("validation and schemas reject the same features", () => {
      let [good, bad] = [0, 0];
      const check = (value: unknown, demand: "whole" | "change", agrees: boolean) => {
        const { failure } = validateFeature(value, demand);
        if (failure && beyond.test(failure.message)) return;
        if (failure) bad++;
        else good++;
        expect({ value, agrees, failure }).toEqual({ value, agrees: failure === undefined, failure });
      };
      fc.assert(
        fc.property(features, (sent) => {
          // As received: without values that JSON cannot represent.
          const value = JSON.parse(JSON.stringify(sent));
          check(value, "whole", whole.Check(value));
          check(value, "change", change.Check(value));
        }),
        { numRuns: 5000, seed: 7946 },
      );
      expect(Math.min(good, bad)).toBeGreaterThan(300);
    });
  });
});

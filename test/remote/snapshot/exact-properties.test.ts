import { describe, expect, test } from "vitest";
import {
  parseExactFeature,
  parseWithExactFeatures,
  restoreExactProperties,
} from "../../../src/remote/exact-properties.js";
import type { WireFeature } from "../../../src/remote/wire.js";

const featureText = (properties: string, more = "") =>
  `{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[12345678901234567,2]},"properties":${properties}${more}}`;
const geometry = { type: "Point", coordinates: [12345678901234568, 2] };

describe("parseExactFeature", () => {
  test.each<[string, unknown]>([
    ['{"n":9007199254740993}', { n: 9007199254740993n }],
    [
      '{"n":-9007199254740993,"m":[{"geometry":12345678901234567891}]}',
      { n: -9007199254740993n, m: [{ geometry: 12345678901234567891n }] },
    ],
    ['{"n":9007199254740991,"t":":12345678901234567,"}', { n: 9007199254740991, t: ":12345678901234567," }],
    ['{"n":1234567890123456.5}', { n: 1234567890123456.5 }],
    ["null", null],
    ['{},"properties":{"n":9007199254740993}', { n: 9007199254740993n }],
  ])("%s", (text, properties) => {
    expect(parseExactFeature(featureText(text))).toEqual({ type: "Feature", id: "a", geometry, properties });
  });
});

test("features that are members keep digits in their properties only", () => {
  const text = `{"action":"update","before":${featureText('{"n":9007199254740993}')},"feature":${featureText("{}")},"n":1}`;
  const feature = { type: "Feature", id: "a", geometry };
  expect(parseWithExactFeatures(text, ["before", "feature", "other"])).toEqual({
    action: "update",
    before: { ...feature, properties: { n: 9007199254740993n } },
    feature: { ...feature, properties: {} },
    n: 1,
  });
});

test("members unknown to GeoJSON that are deeply nested do no harm", () => {
  const deep = `,"foreign":${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const read: WireFeature = { type: "Feature", id: "a", geometry: null, properties: { n: 2 ** 53 } };
  const collection = `{"type":"FeatureCollection","features":[${featureText('{"n":9007199254740993}', deep)}]}`;
  expect(restoreExactProperties([read], collection)).toEqual([{ ...read, properties: { n: 9007199254740993n } }]);
});

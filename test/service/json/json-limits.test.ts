import { describe, expect, test } from "vitest";
import { parseCollection } from "../../../src/service/features/parse-collection.js";

const limits = { bodyDepth: 10, featureMembers: 20 };
const read = (text: string) => parseCollection(text, limits);

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const named = (count: number) => `{${Array.from({ length: count }, (_, i) => `"name ${i}":${i}`).join(",")}}`;
const feature = (properties: string, geometry = "null") =>
  `{"type":"Feature","geometry":${geometry},"properties":${properties}}`;
const collection = (...features: string[]) => `{"type":"FeatureCollection","features":[${features.join(",")}]}`;
const area = '{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}';

describe("the nesting limit", () => {
  // Collection, array, feature and properties are four of ten levels.
  test.each([
    ["in canonical form", collection(feature(`{"a":${nested(6)}}`)), collection(feature(`{"a":${nested(7)}}`))],
    ["with white space", collection(feature(`{"a": ${nested(6)}}`)), collection(feature(`{"a": ${nested(7)}}`))],
    [
      "objects",
      collection(feature('{"a":{"b":{"c":{"d":{"e":{"f":{}}}}}}}')),
      collection(feature('{"a":{"b":{"c":{"d":{"e":{"f":{"g":[]}}}}}}}')),
    ],
    ["beside features", `{"crs":${nested(9)},"features":[]}`, `{"crs":${nested(10)},"features":[]}`],
    ["not a collection", nested(10), nested(11)],
  ])("the nesting limit: %s", async (_what, deep, deeper) => {
    expect(await read(deep)).toBeDefined();
    await expect(read(deeper)).rejects.toMatchObject({ code: "nested-too-deeply" });
  });

  test("counts the nesting of geometries", async () => {
    const text = collection(feature("{}", area));
    expect(await parseCollection(text, { bodyDepth: 8, featureMembers: 20 })).toBeDefined();
    await expect(parseCollection(text, { bodyDepth: 7, featureMembers: 20 })).rejects.toMatchObject({
      code: "nested-too-deeply",
    });
  });

  test("is checked before invalid JSON that follows", async () => {
    await expect(read(`${"[".repeat(1000)}x`)).rejects.toMatchObject({ code: "nested-too-deeply" });
    await expect(read(`{"features":[${"[".repeat(1000)}`)).rejects.toMatchObject({ code: "nested-too-deeply" });
    await expect(read(`{"features":[{}x,${"[".repeat(1000)}`)).rejects.toMatchObject({ code: "nested-too-deeply" });
  });
});

describe("the member limit", () => {
  // A feature has three members itself.
  test.each([
    ["in a feature", collection(feature(named(17)), feature(named(17))), collection(feature(named(18)))],
    [
      "with short names",
      collection(feature(`{"a":[${'{"":0},'.repeat(15)}{"":0}]}`)),
      collection(feature(`{"a":[${'{"":0},'.repeat(16)}{"":0}]}`)),
    ],
    [
      "with blanks",
      collection(feature(named(17).replace(":", ": "))),
      collection(feature(named(18).replace(":", ": "))),
    ],
    ["beside features", `{"crs":${named(18)},"features":[]}`, `{"crs":${named(19)},"features":[]}`],
    ["of the collection itself", named(20), named(21)],
    [
      "of the collection, with features",
      `{"features":[],${named(19).slice(1)}`,
      `{"features":[],${named(20).slice(1)}`,
    ],
    ["beside features, in several members", `{"a":${named(9)},"b":${named(9)}}`, `{"a":${named(9)},"b":${named(10)}}`],
    ["not a collection", `[${named(20)},${named(0)}]`, `[1,${named(21)}]`],
  ])("the member limit: %s", async (_what, many, more) => {
    expect(await read(many)).toBeDefined();
    await expect(read(more)).rejects.toMatchObject({ code: "too-many-members" });
  });
});

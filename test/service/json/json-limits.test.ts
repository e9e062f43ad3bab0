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

describe("how deep it may be", () => {
  // A collection, its features, a feature and its properties are four of ten levels.
  test.each([
    ["as it is kept", collection(feature(`{"a":${nested(6)}}`)), collection(feature(`{"a":${nested(7)}}`))],
    ["with blanks", collection(feature(`{"a": ${nested(6)}}`)), collection(feature(`{"a": ${nested(7)}}`))],
    [
      "objects",
      collection(feature('{"a":{"b":{"c":{"d":{"e":{"f":{}}}}}}}')),
      collection(feature('{"a":{"b":{"c":{"d":{"e":{"f":{"g":[]}}}}}}}')),
    ],
    ["beside features", `{"crs":${nested(9)},"features":[]}`, `{"crs":${nested(10)},"features":[]}`],
    ["no collection", nested(10), nested(11)],
  ])("%s", async (_what, deep, deeper) => {
    expect(await read(deep)).toBeDefined();
    await expect(read(deeper)).rejects.toMatchObject({ code: "nested-too-deeply" });
  });

  test("a geometry counts, too", async () => {
    const text = collection(feature("{}", area));
    expect(await parseCollection(text, { bodyDepth: 8, featureMembers: 20 })).toBeDefined();
    await expect(parseCollection(text, { bodyDepth: 7, featureMembers: 20 })).rejects.toMatchObject({
      code: "nested-too-deeply",
    });
  });

  test("told before what is wrong behind it", async () => {
    await expect(read(`${"[".repeat(1000)}x`)).rejects.toMatchObject({ code: "nested-too-deeply" });
    await expect(read(`{"features":[${"[".repeat(1000)}`)).rejects.toMatchObject({ code: "nested-too-deeply" });
    await expect(read(`{"features":[{}x,${"[".repeat(1000)}`)).rejects.toMatchObject({ code: "nested-too-deeply" });
  });
});

describe("how many members there may be", () => {
  // Three are the feature's own.
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
    ["beside features, by parts", `{"a":${named(9)},"b":${named(9)}}`, `{"a":${named(9)},"b":${named(10)}}`],
    ["no collection", `[${named(20)},${named(0)}]`, `[1,${named(21)}]`],
  ])("%s", async (_what, many, more) => {
    expect(await read(many)).toBeDefined();
    await expect(read(more)).rejects.toMatchObject({ code: "too-many-members" });
  });
});

/** Exact comparison of features by their JSON texts; expected values follow RFC 8259. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  canonicalExactText,
  findExactDifferences,
  normalizeNumber,
  splitFeatureTexts,
} from "../../../src/remote/snapshot/exact-feature.js";

describe("normalizeNumber", () => {
  test.each([
    ["120", "1.2e2", "120.0", "12e1", "1200E-1", "0.12e+3"],
    ["0", "-0", "0.000", "0e99", "-0E-7"],
    ["9007199254740993", "9007199254740993.0", "9.007199254740993e15"],
    ["1e400", "10e399", "0.1e401"],
    ["-7.5", "-75e-1", "-7.50"],
  ])("%s has several equal notations", (...ways) => {
    expect(new Set(ways.map(normalizeNumber)).size).toBe(1);
  });

  test.each([
    ["9007199254740993", "9007199254740992"],
    ["0.1", "0.1000000000000000055511151231257827"],
    ["1e400", "2e400"],
    ["1e400", "-1e400"],
    ["1e-400", "0"],
    ["47.00000001", "47.00000002"],
    ["1e9007199254740993", "1e9007199254740992"],
  ])("%s differs from %s", (one, other) => {
    expect(normalizeNumber(one)).not.toBe(normalizeNumber(other));
  });
});

test("both JavaScript notations of a double are equal, and differ from other doubles", () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(finite, finite, (one, other) => {
      expect(normalizeNumber(String(one))).toBe(normalizeNumber(one.toExponential()));
      // Zero is one number, regardless of sign.
      expect(normalizeNumber(String(one)) === normalizeNumber(other.toExponential())).toBe(one === other);
    }),
  );
});

const feature = (more: string, id = "a") => `{"type":"Feature","id":"${id}",${more}}`;

test.each([
  ["the id", feature('"properties":{}', "a"), feature('"properties":{}', "b")],
  [
    "the order of members",
    feature('"properties":{"a":1,"b":2}'),
    '{"properties":{"b":2,"a":1},"id":"a","type":"Feature"}',
  ],
  ["white space", feature('"properties":{"a":[1,2]}'), ` ${feature('"properties" : {\n"a"\t: [ 1 ,2 ] } ')}`],
  ["escapes", feature('"properties":{"\u00e4":"\\u0041\\/"}'), feature('"properties":{"\\u00e4":"A/"}')],
])("exact comparison ignores a difference in %s", (_name, one, other) => {
  expect(findExactDifferences(one, other)).toEqual([]);
  expect(canonicalExactText(one)).toBe(canonicalExactText(other));
});

test.each([
  ["properties.n", '"properties":{"n":9007199254740993}', '"properties":{"n":9007199254740992}'],
  ["properties.n", '"properties":{"n":{"m":[1e400]}}', '"properties":{"n":{"m":[1e401]}}'],
  ["properties.n", '"properties":{"n":null}', '"properties":{}'],
  ["properties.n", '"properties":{"n":1}', '"properties":{"n":"1"}'],
  ["properties.n", '"properties":{"n":1,"n":2}', '"properties":{"n":2}'],
  ["title", '"title":"one"', '"title":"two"'],
  [
    "geometry",
    '"geometry":{"type":"Point","coordinates":[1,2]}',
    '"geometry":{"type":"Point","coordinates":[1,2.00000001]}',
  ],
  [
    "geometry",
    '"geometry":{"type":"Point","coordinates":[1,2]}',
    '"geometry":{"type":"Point","coordinates":[1,2],"bbox":[1,2,1,2]}',
  ],
])("exact comparison detects a difference in %s", (name, one, other) => {
  expect(findExactDifferences(feature(one), feature(other))).toEqual([name]);
  expect(canonicalExactText(feature(one))).not.toBe(canonicalExactText(feature(other)));
});

test("exact comparison keeps deeply nested members verbatim", () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  expect(canonicalExactText(feature(`"title":${deep}`))).toBe(canonicalExactText(feature(`"title":${deep}`)));
});

it("exact comparison finds the features of a page", () => {
  const features = [feature('"properties":{"a":"]}\\"{["}'), feature('"n":-1.5e3'), "{}"];
  const page = `{"links":[{"features":[1]},"x",true,12 ],"features" : [\n${features.join(" ,\n")} ],"n":3 }`;
  expect(splitFeatureTexts(page)).toEqual(features);
  expect(splitFeatureTexts('{"features":[]}')).toEqual([]);
});

it("exact comparison treats equivalent JSON as equal and keeps every text unchanged", () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue())),
      fc.boolean(),
      (objects, spaced) => {
        const indent = spaced ? 1 : undefined;
        const texts = splitFeatureTexts(JSON.stringify({ type: "FeatureCollection", features: objects }, null, indent));
        expect(texts.map((text) => JSON.parse(text))).toEqual(objects.map((one) => JSON.parse(JSON.stringify(one))));
        for (const [n, text] of texts.entries())
          expect(canonicalExactText(text)).toBe(canonicalExactText(JSON.stringify(objects[n], null, 3)));
      },
    ),
    { numRuns: 60 },
  );
});

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { parseCollection, UnparsedFeature, ValidFeature } from "../../../src/service/features/parse-collection.js";
import { validateFeature } from "../../../src/service/features/validate-feature.js";
import { defaultSettings } from "../../../src/service/settings.js";

/** The stored form of a feature, by parsing and serializing it. */
const keptOf = (feature: unknown) => {
  const { geometry, properties, failure } = validateFeature(feature, "whole");
  return failure ?? { geometry, properties };
};

async function read(text: string): Promise<unknown> {
  try {
    return await parseCollection(text, defaultSettings);
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return "no JSON";
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return "no JSON";
  }
}

/** Parses a text in both ways, and returns how many features are reused verbatim. */
async function compare(written: string): Promise<number> {
  // Text decoded from UTF-8 contains no lone surrogates.
  const text = Buffer.from(written).toString();
  const expected = parsed(text);
  const found = await read(text);
  if (typeof found !== "object" || found === null || !("features" in found) || !Array.isArray(found.features)) {
    expect(found).toEqual(expected);
    return 0;
  }
  const { features: sent, ...envelope } = found;
  const { features, ...rest } = expected as { features: unknown[] };
  expect(envelope).toEqual(rest);
  expect(sent.length).toBe(features.length);
  let taken = 0;
  for (const [i, one] of sent.entries()) {
    if (one instanceof UnparsedFeature) expect(one.parse()).toEqual(features[i]);
    else {
      expect(one).toBeInstanceOf(ValidFeature);
      const { id, geometry, properties } = one as ValidFeature;
      if (text.includes(geometry) && text.includes(properties)) taken++;
      expect({ geometry, properties }).toEqual(keptOf(features[i]));
      expect(id).toBe((features[i] as { id?: unknown }).id);
    }
  }
  return taken;
}

const collection = (feature: string) => `{"type":"FeatureCollection","remoteField":"ref","features":[${feature}]}`;
const withGeometry = (geometry: string) => collection(`{"type":"Feature","geometry":${geometry},"properties":{}}`);
const withProperties = (properties: string) =>
  collection(`{"type":"Feature","geometry":null,"properties":${properties}}`);

describe("a canonical feature is stored verbatim", () => {
  test.each([
    ["a point", withGeometry('{"type":"Point","coordinates":[7.45,46.95]}')],
    ["the corners of the earth", withGeometry('{"type":"MultiPoint","coordinates":[[-180,-90],[180,90]]}')],
    ["seventeen digits", withGeometry('{"type":"Point","coordinates":[-172.08100000000002,0.000001]}')],
    ["a height", withGeometry('{"type":"LineString","coordinates":[[1,2,3.5],[4,5,-6]]}')],
    ["a ring", withGeometry('{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}')],
    ["two polygons", withGeometry('{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}')],
    ["members in any order", collection('{"properties":{},"id":"A","geometry":null,"type":"Feature"}')],
    ["an id at the end", collection('{"type":"Feature","geometry":null,"properties":{"a":1},"id":"7"}')],
    ["white space between members", collection('{ "type" : "Feature",\n"geometry": null, "properties": {"a":1} }')],
    ["values of every kind", withProperties('{"a":"é\\n\\"\\\\","b":[1,{"c":null},[]],"d":{"e":true},"f":-0.5}')],
    ["unusual names", withProperties('{"__proto__":1,"constructor":{},"1a":2,"":3}')],
  ])("%s is stored verbatim", async (_what, text) => {
    expect(await compare(text)).toBe(1);
  });

  test("with other names than the previous feature", async () => {
    const features = ['{"a":1,"b":2}', '{"a":1}', '{"b":1,"a":2}', '{"a":1,"b":2,"c":3}', '{"a":0,"c":1,"b":1}'];
    const all = features.map((properties) => `{"type":"Feature","geometry":null,"properties":${properties}}`);
    expect(await compare(collection(all.join()))).toBe(features.length);
  });
});

describe("a non-canonical feature is normalized", () => {
  test.each([
    ["a longitude out of range", withGeometry('{"type":"Point","coordinates":[180.5,0]}')],
    ["a latitude slightly out of range", withGeometry('{"type":"Point","coordinates":[0,90.00000000000001]}')],
    ["four numbers", withGeometry('{"type":"Point","coordinates":[1,2,3,4]}')],
    ["an open ring", withGeometry('{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0.5]]]}')],
    ["a short ring", withGeometry('{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}')],
    ["a line with a single position", withGeometry('{"type":"LineString","coordinates":[[1,2]]}')],
    ["no positions", withGeometry('{"type":"Polygon","coordinates":[]}')],
    ["foreign members of a geometry", withGeometry('{"type":"Point","coordinates":[1,2],"bbox":[1,2,1,2]}')],
    ["another member order in a geometry", withGeometry('{"coordinates":[1,2],"type":"Point"}')],
    ["trailing zeros", withGeometry('{"type":"Point","coordinates":[1.50,2]}')],
    ["minus zero", withGeometry('{"type":"Point","coordinates":[-0,2]}')],
    ["a small number", withProperties('{"a":0.0000001}')],
    ["an exponent", withProperties('{"a":1e2}')],
    ["an integer beyond 2^53", withProperties('{"a":9007199254740993}')],
    ["a number that overflows", withProperties('{"a":1e999}')],
    ["more digits than a double has", withProperties('{"a":0.12345678901234567890}')],
    ["a duplicate name", withProperties('{"a":1,"a":2}')],
    ["a nested duplicate name", withProperties('{"a":[{"b":1,"b":2}]}')],
    ["an integer name", withProperties('{"b":1,"2":2}')],
    ["a \\u escape", withProperties('{"a":"\\u00e9"}')],
    ["a lone surrogate", withProperties('{"a":"\\ud800"}')],
    ["U+0000", withProperties('{"a":"\\u0000"}')],
    ["an escaped slash", withProperties('{"a":"\\/"}')],
    ["white space within properties", withProperties('{"a": 1}')],
    ["properties that are not an object", withProperties("[1]")],
    ["no geometry", collection('{"type":"Feature","properties":{}}')],
    ["another type", collection('{"type":"feature","geometry":null,"properties":{}}')],
    ["a duplicate member", collection('{"type":"Feature","geometry":null,"properties":{},"properties":{"a":1}}')],
    ["a foreign member", collection('{"type":"Feature","geometry":null,"properties":{},"bbox":[]}')],
    ["an id that is a number", collection('{"type":"Feature","id":7,"geometry":null,"properties":{}}')],
    ["a value that is not a feature", collection("null")],
  ])("%s is normalized", async (_what, text) => {
    await compare(text);
  });
});

test.each([
  "",
  "[]",
  "{}",
  '{"features":[]}',
  '{"features":[],"features":[1]}',
  '{"features":{}}',
  '{"features":{},"features":[]}',
  '{"name":"Parks","crs":{"type":"name"},"features":[{}],"bbox":[1,2,3,4]}',
  '{"\\u0066eatures":[{}],"__proto__":{"features":1}}',
  '{"features":[],"a":}',
  '{"features":[],"a\u0001":1}',
  '{"name":"Map","private":true}',
  '{"features":[{"type":"Feature"}',
  '{"features":[{"type":"Feature","geometry":null,"properties":{"a":}}]}',
  '{"features":[{"type":"Feature","geometry":null,"properties":{"a":01}}]}',
  '{"features":[{"type":"Feature","geometry":null,"properties":{}}}]',
  '{"features":[{"type":"Feature","geometry":nullx,"properties":{}}]}',
  '{"features":[{}{}]}',
  '{"features":[{}],}',
  '{"features":[{}]} x',
  '{"__proto__":{"features":[]}}',
])("%j is what JSON.parse makes of it", async (text) => {
  await compare(text);
});

test("any features are parsed to the same as with JSON.parse and JSON.stringify", async () => {
  const number = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom("1.0", "-0", "1E2", "0.1", "12345678901234567890"),
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "binary" }),
      number,
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("value"), { maxLength: 3 }),
    object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("a", "b", "7")), tie("value"), { maxKeys: 4 }),
  }));
  const degrees = fc.oneof(fc.double({ min: -91, max: 91 }), fc.integer({ min: -181, max: 181 }));
  const position = fc.array(degrees, { minLength: 2, maxLength: 3 });
  const coordinates = fc.oneof(
    position,
    fc.array(position, { maxLength: 5 }),
    fc.array(fc.array(position, { maxLength: 5 }), { maxLength: 2 }),
  );
  const geometry = fc.oneof(
    fc.constant(null),
    fc.record({
      type: fc.constantFrom("Point", "MultiPoint", "LineString", "Polygon", "MultiLineString"),
      coordinates,
    }),
  );
  const feature = fc.record({ type: fc.constant("Feature"), geometry, properties: json.object });
  // Valid notations of numbers that JSON.stringify does not write.
  const written = (value: unknown) =>
    JSON.stringify(value).replace(/"(1\.0|-0|1E2|0\.1|12345678901234567890)"(?!:)/g, "$1");
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(feature, { maxLength: 4 }),
      fc.nat(),
      fc.integer({ min: 0, max: 126 }),
      async (features, at, unit) => {
        const text = written({ features });
        taken += await compare(text);
        // The same with an error at some position.
        const place = at % text.length;
        await compare(text.slice(0, place) + String.fromCharCode(unit) + text.slice(place + 1));
      },
    ),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test.each(["1", "{}", '{"type":"Feature"}'])(
  "of 20,000 times %s none beyond the limit of a request is parsed",
  async (text) => {
    const parse = vi.spyOn(JSON, "parse");
    try {
      const collection = await parseCollection(`{"features":[${Array(20_000).fill(text).join(",")}]}`, defaultSettings);
      expect((collection as { features: unknown[] }).features.length).toBe(20_000);
      // Names of members and features.
      expect(parse.mock.calls.length).toBeLessThan(1100);
    } finally {
      parse.mockRestore();
    }
  },
);

test("what is no JSON beyond the limit of a request is an error", async () => {
  const ones = Array(2000).fill("1").join(",");
  await expect(parseCollection(`{"features":[${ones},]}`, defaultSettings)).rejects.toThrow(SyntaxError);
  await expect(parseCollection(`{"features":[${ones},`, defaultSettings)).rejects.toThrow(SyntaxError);
});

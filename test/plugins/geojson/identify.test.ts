import { describe, expect, it } from "vitest";
import { geojson, geojsonseq } from "../../../plugins/geojson/index.js";
import { collection, feature, point } from "./read-geojson.js";

function identify(text: string | Buffer, name = "a.geojson", size?: number): string {
  const head = Buffer.from(text).subarray(0, 65536);
  const source = { name, size: size ?? Buffer.byteLength(text), findSibling: () => null };
  return `${geojson.identify(head, source)} ${geojsonseq.identify(head, source)}`;
}

const a = feature(point(1, 2), { a: 1 });
const json = JSON.stringify;
const pretty = (value: unknown) => JSON.stringify(value, null, 2);
const long = "x".repeat(100_000);

describe("identify", () => {
  const table: [string, string, string, string?][] = [
    ["a collection", json(collection(a)), "yes no"],
    ["a collection of many lines", pretty(collection(a, a)), "yes no"],
    [
      "a collection with a feature a line",
      `{"type":"FeatureCollection","features":[\n${json(a)},\n${json(a)}\n]}`,
      "yes no",
    ],
    ["a byte order mark", `\ufeff${json(collection(a))}`, "yes no"],
    ["features before the type", `{"features":[${json(a)}],"type":"FeatureCollection"}`, "yes no"],
    ["a feature", pretty(a), "yes no"],
    ["a feature larger than the head", json(feature(point(1, 2), { long })), "yes no"],
    ["a geometry", json(point(1, 2)), "yes no"],
    ["lines, with any extension", `${json(a)}\n${json(a)}\n`, "no yes"],
    ["lines larger than the head, by their name", `${json(feature(null, { long }))}\n`, "no yes", "a.geojsonl"],
    ["one line, by its name", `${json(a)}\n`, "no yes", "a.ndjson"],
    ["record separators", `\x1e${json(a)}\n`, "no yes"],
    ["objects one after another", json(a) + json(a), "no yes"],
    ["TopoJSON", '{"type":"Topology","objects":{"a":{"type":"Point","coordinates":[0,0]}},"arcs":[]}', "no no"],
    [
      "Esri JSON",
      '{"displayFieldName":"a","geometryType":"esriGeometryPoint","features":[{"attributes":{}}]}',
      "no no",
    ],
    ["other JSON", '{"a":1,"type":"module"}', "no no"],
    ["text", "hello, world", "no no"],
    ["nothing", "", "no no"],
    ["XML", '<?xml version="1.0"?><gpx/>', "no no"],
  ];
  for (const [what, text, expected, name] of table) {
    it(`identify, ${what}: ${expected}`, () => expect(identify(text, name)).toBe(expected));
  }

  it("the two formats never both identify a file", () => {
    const texts = [
      json(collection(a)),
      `${json(a)}\n${json(a)}`,
      json([a]),
      `\x1e${json(a)}`,
      '{"x":{"type":"Point"}}',
    ];
    for (const text of texts) {
      for (let length = 0; length <= text.length; length++) {
        for (const name of ["a.json", "a.geojsonl"]) {
          expect(identify(text.slice(0, length), name, text.length)).toMatch(/no/);
        }
      }
    }
  });
});

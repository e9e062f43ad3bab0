import { afterAll, describe, expect, it } from "vitest";
import type { GeoferryError } from "../../../src/errors.js";
import type { Feature } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { collection, feature, point, read } from "./read-geojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const one = (geometry: string, properties = "{}") =>
  `{"type":"Feature","geometry":${geometry},"properties":${properties}}`;
const inside = (...features: string[]) => `{"type":"FeatureCollection","features":[${features.join(",")}]}`;

describe("examples of RFC 7946", () => {
  it("reads the collection of RFC 7946, section 1.5", async () => {
    const text = `{
       "type": "FeatureCollection",
       "features": [{
           "type": "Feature",
           "geometry": { "type": "Point", "coordinates": [102.0, 0.5] },
           "properties": { "prop0": "value0" }
       }, {
           "type": "Feature",
           "geometry": { "type": "LineString",
             "coordinates": [ [102.0, 0.0], [103.0, 1.0], [104.0, 0.0], [105.0, 1.0] ] },
           "properties": { "prop0": "value0", "prop1": 0.0 }
       }, {
           "type": "Feature",
           "geometry": { "type": "Polygon",
             "coordinates": [ [ [100.0, 0.0], [101.0, 0.0], [101.0, 1.0], [100.0, 1.0], [100.0, 0.0] ] ] },
           "properties": { "prop0": "value0", "prop1": { "this": "that" } }
       }]
    }`;
    const { features, context, crs, name } = await read(scratch, text);
    expect(features).toEqual(JSON.parse(text).features);
    expect(context.notices).toEqual([]);
    expect(crs).toBe("EPSG:4326");
    expect(name).toBe("places");
  });

  it("reads each bare geometry of RFC 7946, appendix A", async () => {
    const geometries = [
      { type: "Point", coordinates: [100, 0] },
      {
        type: "LineString",
        coordinates: [
          [100, 0],
          [101, 1],
        ],
      },
      {
        type: "Polygon",
        coordinates: [
          [
            [100, 0],
            [101, 0],
            [101, 1],
            [100, 1],
            [100, 0],
          ],
          [
            [100.8, 0.8],
            [100.8, 0.2],
            [100.2, 0.2],
            [100.2, 0.8],
            [100.8, 0.8],
          ],
        ],
      },
      {
        type: "MultiPoint",
        coordinates: [
          [100, 0],
          [101, 1],
        ],
      },
      {
        type: "MultiLineString",
        coordinates: [
          [
            [100, 0],
            [101, 1],
          ],
          [
            [102, 2],
            [103, 3],
          ],
        ],
      },
      {
        type: "MultiPolygon",
        coordinates: [
          [
            [
              [102, 2],
              [103, 2],
              [103, 3],
              [102, 3],
              [102, 2],
            ],
          ],
          [
            [
              [100, 0],
              [101, 0],
              [101, 1],
              [100, 1],
              [100, 0],
            ],
            [
              [100.2, 0.2],
              [100.2, 0.8],
              [100.8, 0.8],
              [100.8, 0.2],
              [100.2, 0.2],
            ],
          ],
        ],
      },
      {
        type: "GeometryCollection",
        geometries: [
          { type: "Point", coordinates: [100, 0] },
          {
            type: "LineString",
            coordinates: [
              [101, 0],
              [102, 1],
            ],
          },
        ],
      },
    ];
    for (const geometry of geometries) {
      const { features } = await read(scratch, JSON.stringify(geometry));
      expect(features).toEqual([{ type: "Feature", geometry, properties: {} }]);
    }
  });
});

describe("layouts", () => {
  const a = feature(point(1, 2), { a: 1 });
  const b = feature(point(3, 4), { a: 2 });
  const json = JSON.stringify;
  const pretty = (value: unknown) => JSON.stringify(value, null, 2);
  const layouts: Record<string, string> = {
    "one collection": json(collection(a, b)),
    "a byte order mark": `\uFEFF${json(collection(a, b))}`,
    "features before the type": `{"features":[${json(a)},${json(b)}],"type":"FeatureCollection"}`,
    "a collection without a type": `{"features":[${json(a)},${json(b)}]}`,
    lines: `${json(a)}\n${json(b)}\n`,
    "lines without an end": `${json(a)}\n${json(b)}`,
    "lines ended the Windows way, with empty ones": `${json(a)}\r\n\r\n${json(b)}\r\n`,
    "RFC 8142": `\x1e${json(a)}\n\x1e${json(b)}\n`,
    "RFC 8142, pretty": `\x1e${pretty(a)}\n\x1e${pretty(b)}\n`,
    "objects without anything between them": json(a) + json(b),
    "pretty objects": `${pretty(a)}\n${pretty(b)}\n`,
    "pretty collections": `${pretty(collection(a))}\n${pretty(collection(b))}\n`,
    "collections by lines": `${json(collection(a))}\n${json(collection(b))}\n`,
    "a bare array": json([a, b]),
    "a collection, then a feature": `${pretty(collection(a))}${json(b)}`,
  };
  for (const [name, text] of Object.entries(layouts)) {
    it(name, async () => {
      for (const splitSize of [1, 1 << 22]) {
        const { features, context } = await read(scratch, text, { splitSize });
        expect(features).toEqual([a, b]);
        expect(context.rejects).toEqual([]);
        expect(context.records).toBe(2);
      }
    });
  }

  it("a single feature is a file", async () => {
    expect((await read(scratch, pretty(a))).features).toEqual([a]);
    expect((await read(scratch, `${json(a)}\n`, { file: "a.geojsonl" })).features).toEqual([a]);
  });

  it("a collection without features is an empty layer", async () => {
    expect((await read(scratch, '{"type":"FeatureCollection","features":[]}')).features).toEqual([]);
    expect((await read(scratch, '{"features":[ \n ],"type":"FeatureCollection"}')).features).toEqual([]);
  });
});

describe("names, ids and reference systems", () => {
  it("the layer name is the name member if it is text, before or after the features", async () => {
    expect((await read(scratch, '{"type":"FeatureCollection","name":"wells","features":[]}')).name).toBe("wells");
    expect((await read(scratch, '{"type":"FeatureCollection","features":[],"name":"w\\u00e9"}')).name).toBe("wé");
    expect((await read(scratch, '{"type":"FeatureCollection","name":7,"features":[]}')).name).toBe("places");
  });

  it("the old crs member is recognized in all notations of WGS 84, before or after the features", async () => {
    for (const crs of ["urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326"]) {
      const member = `"crs":{"type":"name","properties":{"name":"${crs}"}}`;
      expect((await read(scratch, `{"type":"FeatureCollection",${member},"features":[]}`)).crs).toBe("EPSG:4326");
      expect((await read(scratch, `{"type":"FeatureCollection","features":[],${member}}`)).crs).toBe("EPSG:4326");
    }
  });

  it("a crs that is null, a link or unknown is not guessed, with a notice", async () => {
    const members = [
      "null",
      '{"type":"link","properties":{"href":"http://example.com/crs/42","type":"proj4"}}',
      '{"type":"name","properties":{"name":"our grid"}}',
      '{"type":"name","properties":null}',
    ];
    for (const member of members) {
      const text = `{"type":"FeatureCollection","features":[],"crs":${member}}`;
      const { crs, context } = await read(scratch, text);
      expect(crs).toBeNull();
      expect(context.notices.map((n) => n.code)).toEqual(["crs-member"]);
    }
  });

  it("ids of any kind are kept, and written to a field on request", async () => {
    const made = [7, "seven", undefined, 7].map((id) => feature(null, { a: 1 }, id === undefined ? {} : { id }));
    const { features } = await read(scratch, JSON.stringify(collection(...made)));
    expect(features).toEqual(JSON.parse(JSON.stringify(made)));
    const shown = await read(scratch, JSON.stringify(collection(feature(null, { a: 1 }, { id: 4 }))), { fid: "ref" });
    expect(shown.features[0]!.properties).toEqual({ ref: 4, a: 1 });
  });
});

describe("properties", () => {
  const properties = async (...rows: string[]) => {
    const { features, context } = await read(scratch, inside(...rows.map((row) => one("null", row))));
    return { rows: features.map((f) => f.properties), context };
  };

  it("null properties differ from missing ones, and properties are optional", async () => {
    const { rows } = await properties('{"a":1,"b":null}', '{"b":2}', "null");
    expect(rows).toEqual([{ a: 1, b: null }, { b: 2 }, {}]);
    const { features } = await read(scratch, '{"type":"FeatureCollection","features":[{"type":"Feature"}]}');
    expect(features).toEqual([feature(null, {})]);
  });

  it("integers of 64 bits are kept, and larger ones as written", async () => {
    const path = inside(one("null", '{"a":9007199254740993,"b":-9223372036854775808,"c":9223372036854775808}'));
    const { features } = await read(scratch, path);
    expect(features[0]!.properties).toMatchObject({ a: "9007199254740993", b: "-9223372036854775808" });
  });

  it("an integer among decimals is never rounded", async () => {
    const { rows } = await properties('{"a":1,"b":1}', '{"a":2.5,"b":9007199254740993}', '{"a":-3,"b":0.5}');
    expect(rows.map((row) => row.a)).toEqual([1, 2.5, -3]);
    expect(rows[0]!.b).toBe(1);
    expect(rows[2]!.b).toBe(0.5);
  });

  it("all values of a column of several types are kept", async () => {
    const values = [1, "1", true, null, [1, { a: "ü\n" }], { "": 0 }, 1.5, 'a\\"b'];
    const { rows } = await properties(...values.map((a) => JSON.stringify({ a })));
    expect(rows.map((row) => row.a)).toEqual(values);
  });

  it("escapes are decoded, and lone surrogates replaced", async () => {
    const { rows, context } = await properties('{"a":"\\u00e9\\ud83d\\ude00\\/\\t\\"","b\\u0041":"\\ud83d!"}');
    expect(rows).toEqual([{ a: 'é😀/\t"', bA: "\ufffd!" }]);
    expect(context.losses).toMatchObject([{ code: "lone-surrogate", field: "bA", count: 1 }]);
  });

  it("bytes that are not UTF-8 are replaced", async () => {
    const text = Buffer.from(inside(one("null", '{"a":"x~y","b":"\u00fc"}')));
    text[text.indexOf("~")] = 0xe9;
    const { features, context } = await read(scratch, text);
    expect(features[0]!.properties).toEqual({ a: "x\ufffdy", b: "ü" });
    expect(context.losses).toMatchObject([{ code: "invalid-utf8", field: "a", count: 1 }]);
  });

  it("names that are not UTF-8 or have lone surrogates are replaced, which is a loss", async () => {
    const features = [1, 2].map((value) => one("null", `{"a~":${value},"\\ud83db":null}`));
    const text = Buffer.from(inside(...features, one("null", '{"c":3}')));
    for (let at = text.indexOf("~"); at >= 0; at = text.indexOf("~")) text[at] = 0xe9;
    const { features: found, context } = await read(scratch, text);
    expect(found[1]!.properties).toEqual({ "a\ufffd": 2, "\ufffdb": null });
    expect(context.losses).toMatchObject([
      { code: "invalid-utf8", field: "a\ufffd", count: 2 },
      { code: "lone-surrogate", field: "\ufffdb", count: 2 },
    ]);
  });

  it("the last of two members with one name is used, for any name", async () => {
    const { rows } = await properties('{"a":1,"a":"x","__proto__":2,"":3,"constructor":4}');
    expect(Object.entries(rows[0]!)).toEqual([
      ["a", "x"],
      ["__proto__", 2],
      ["", 3],
      ["constructor", 4],
    ]);
  });

  it("NaN and infinities, which JSON does not allow, become null with a notice", async () => {
    const { rows, context } = await properties('{"a":NaN,"b":[1,-Infinity,"NaN"]}', '{"a":1.5,"b":null}');
    expect(rows).toEqual([
      { a: null, b: [1, null, "NaN"] },
      { a: 1.5, b: null },
    ]);
    expect(context.losses).toMatchObject([
      { code: "non-finite-value", field: "a" },
      { code: "non-finite-value", field: "b" },
    ]);
  });

  it("raw control characters in text are kept", async () => {
    const { rows, context } = await properties('{"a":"x\ty","b":["x\ny"]}');
    expect(rows).toEqual([{ a: "x\ty", b: ["x\ny"] }]);
    expect(context.notices.map((n) => n.code)).toEqual(["control-character", "control-character"]);
  });

  it("a crs member that is used is not reported as foreign", async () => {
    const crs = '"crs": {"type":"name","properties":{"name":"EPSG:25832"}}';
    const one = `{"type":"Feature",${crs},"geometry":null,"properties":{}}`;
    const bare = `{${crs},"type":"Point","coordinates":[500000,5700000]}`;
    for (const text of [one, bare, `${one}\n${one}\n`]) {
      const result = await read(scratch, text);
      expect(result.crs).toBe("EPSG:25832");
      expect(result.context.notices).toEqual([]);
    }
    const inside = await read(scratch, `{"type":"FeatureCollection","features":[${one}]}`);
    expect(inside.context.losses).toMatchObject([{ code: "foreign-member", field: "crs", count: 1 }]);
    const other = await read(scratch, `${one}\n${one.replace("25832", "25833")}\n`);
    expect(other.context.losses).toMatchObject([{ code: "foreign-member", field: "crs", count: 1 }]);
  });

  it("the last value of a repeated name is kept, with a loss", async () => {
    const { rows, context } = await properties('{"a":1,"b":1,"a":null,"a":3}', '{"a":4,"\\u0061":5}', '{"a":6,"b":7}');
    expect(rows).toEqual([{ a: 3, b: 1 }, { a: 5 }, { a: 6, b: 7 }]);
    expect(context.losses).toMatchObject([{ code: "duplicate-member", field: "a", count: 3 }]);
  });

  it("reports repeated members of a feature", async () => {
    const { features, context } = await read(
      scratch,
      '{"type":"Feature","id":1,"geometry":null,"properties":{"a":1},"id":2,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{"b":2}}',
    );
    expect(features).toMatchObject([{ id: 2, geometry: point(1, 2), properties: { b: 2 } }]);
    expect(context.losses).toMatchObject([
      { code: "duplicate-member", field: "id", count: 1 },
      { code: "duplicate-member", field: "geometry", count: 1 },
      { code: "duplicate-member", field: "properties", count: 1 },
    ]);
  });

  it("members of a feature beside its properties are reported", async () => {
    const { context } = await read(
      scratch,
      '{"type":"Feature","geometry":null,"properties":{},"style":{"a":1},"bbox":[]}',
    );
    expect(context.losses).toMatchObject([{ code: "foreign-member", field: "style", count: 1 }]);
  });

  it("members of geometries beside coordinates are reported in every feature", async () => {
    const one = (n: number) =>
      `{"type":"Feature","geometry":{"type":"Point","coordinates":[${n},2],"accuracy":3,"bbox":[1,2,1,2]},"properties":{"n":${n}}}`;
    const nested =
      '{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2],"accuracy":1}]},"properties":{}}';
    const list = [1, 2, 3, 4, 5, 6, 7, 8].map(one);
    const { context } = await read(scratch, `{"type":"FeatureCollection","features":[${[...list, nested].join()}]}`);
    expect(context.losses).toMatchObject([{ code: "foreign-member", field: "accuracy", count: 9 }]);
    expect(context.notices).toEqual([]);
  });

  it("members beside the features are reported, except those that describe the file or are empty", async () => {
    const { context } = await read(
      scratch,
      '{"type":"FeatureCollection","name":"n","licence":"CC0","count":3,"none":null,"timeStamp":"2020","bbox":[1,2,1,2],"features":[{"type":"Feature","geometry":null,"properties":{}}]}',
    );
    expect(context.losses.map(({ code, field }) => [code, field])).toEqual([
      ["foreign-member", "licence"],
      ["foreign-member", "count"],
    ]);
    expect(context.notices.map(({ field }) => field)).toEqual(["timeStamp", "bbox"]);
  });
});

describe("geometries", () => {
  it("heights are kept if positions have them, and further numbers dropped", async () => {
    const line = {
      type: "LineString",
      coordinates: [
        [1, 2, 3, 4],
        [5, 6],
        [7, 8, 9],
      ],
    };
    const { features, context } = await read(scratch, JSON.stringify(line));
    expect(features[0]!.geometry).toEqual({
      type: "LineString",
      coordinates: [
        [1, 2, 3],
        [5, 6],
        [7, 8, 9],
      ],
    });
    expect(context.losses).toMatchObject([{ code: "extra-ordinates", count: 1 }]);
  });

  it("members of a geometry are read in any order", async () => {
    const { features } = await read(
      scratch,
      '{"properties":{"a":1},"geometry":{"geometries":[{"coordinates":[1,2],"type":"Point"}],"type":"GeometryCollection"},"id":1,"type":"Feature"}',
    );
    expect(features).toEqual([feature({ type: "GeometryCollection", geometries: [point(1, 2)] }, { a: 1 }, { id: 1 })]);
  });

  it("empty geometries are read", async () => {
    const types = ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"];
    const empty = types.map((type) => feature({ type, coordinates: [] }));
    empty.push(feature({ type: "GeometryCollection", geometries: [] }));
    const { features } = await read(scratch, JSON.stringify(collection(...empty)));
    expect(features).toEqual(empty);
  });

  it("open rings are closed and parts without positions left out, with a notice", async () => {
    const open = {
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
        ],
        [],
      ],
    };
    const { features, context } = await read(scratch, JSON.stringify(open));
    expect(features[0]!.geometry).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    });
    expect(context.notices.map((n) => n.code)).toEqual(["ring-closed", "empty-part"]);
  });

  it("nested collections are kept", async () => {
    const inner = {
      type: "GeometryCollection",
      geometries: [point(1, 2), { type: "GeometryCollection", geometries: [] }],
    };
    const outer = { type: "GeometryCollection", geometries: [inner, point(3, 4, 5)] };
    const made = [feature(point(0, 0)), feature(outer), feature(inner)];
    expect((await read(scratch, JSON.stringify(collection(...made)))).features).toEqual(made);
  });

  it("an invalid geometry is rejected with its place, and reading continues", async () => {
    const bad: [string, RegExp][] = [
      ['{"type":"Point","coordinates":[1]}', /fewer than two/],
      ['{"type":"Point","coordinates":[1,1e400]}', /beyond the range/],
      ['{"type":"Point","coordinates":[1,NaN]}', /not an array of numbers/],
      ['{"type":"Point","coordinates":[[1,2]]}', /nested 2 deep where its type needs 1/],
      ['{"type":"LineString","coordinates":[1,2]}', /nested 1 deep where its type needs 2/],
      ['{"type":"Polygon","coordinates":[[1,2],[[3,4]]]}', /nested/],
      ['{"type":"Polygon","coordinates":[[[1,2]],[3,4]]}', /unevenly/],
      ['{"type":"MultiPoint","coordinates":[[]]}', /fewer than two/],
      ['{"type":"Polygon","coordinates":[[],[[1,2],[3,4],[5,6],[1,2]]]}', /exterior ring is empty/],
      ['{"type":"Point","coordinates":["1","2"]}', /not an array of numbers/],
      ['{"type":"Point","coordinates":null}', /not an array of numbers/],
      ['{"type":"Point"}', /no coordinates/],
      ['{"type":"Curve","coordinates":[1,2]}', /a type that GeoJSON does not have/],
      ['{"coordinates":[1,2]}', /no type/],
      ['{"type":"GeometryCollection"}', /no geometries/],
      ['{"type":"GeometryCollection","geometries":[{"type":"Point"}]}', /no coordinates/],
      ["[1,2]", /not an object/],
    ];
    const good = one('{"type":"Point","coordinates":[1,2]}', '{"a":1}');
    for (const [geometry, reason] of bad) {
      const text = inside(good, one(geometry, '{"b":2}'), good);
      const { features, context } = await read(scratch, text);
      expect(features).toEqual([feature(point(1, 2), { a: 1 }), feature(point(1, 2), { a: 1 })]);
      expect(context.rejects).toHaveLength(1);
      const [reject] = context.rejects;
      expect(reject!.reason).toMatch(reason);
      expect(reject!.place).toEqual({ record: 2, byte: text.indexOf(good) + good.length + 1 });
      expect(reject!.text).toBe(one(geometry, '{"b":2}'));
    }
  });

  it("an invalid feature is rejected", async () => {
    const { features, context } = await read(
      scratch,
      inside('{"type":"feature","geometry":null}', "7", "null", '{"a":1}', one("null", "[1]"), one("null")),
    );
    expect(features).toHaveLength(1);
    expect(context.rejects.map((r) => [r.place.record, r.reason])).toEqual([
      [1, 'its type is "feature"'],
      [2, "it is not a JSON object"],
      [3, "it is not a JSON object"],
      [4, "it has no type"],
      [5, "its properties are not an object"],
    ]);
  });
});

describe("a comma before what closes an array or object", () => {
  const line = (coordinates: string) => `{"type":"LineString","coordinates":${coordinates}}`;
  const plain = `{"type":"FeatureCollection","features":[${one(line("[[1,2],[3,4]]"), '{"a":1,"b":[1,{"c":2}]}')}]}`;
  const commas: readonly [string, string][] = [
    ["the features", plain.replace("}]}", "},\n]}")],
    ["the collection", plain.replace(/\]\}$/, "],}")],
    ["a feature", plain.replace(/\}\]\}$/, ",}]}")],
    ["properties", plain.replace("}]}}]}", "}],}}]}")],
    ["a nested object", plain.replace('"c":2}', '"c":2, }')],
    ["a nested array", plain.replace('"c":2}]', '"c":2},]')],
    ["a position", plain.replace("[1,2]", "[1,2 , ]")],
    ["positions", plain.replace("[3,4]]", "[3,4],]")],
    ["a geometry", plain.replace("[3,4]]}", "[3,4]],}")],
  ];
  const others: readonly [string, string][] = [
    ["geometries", inside(one(`{"type":"GeometryCollection","geometries":[${line("[[1,2],[3,4]]")},]}`))],
  ];

  it.each([...commas, ...others])("an extra comma is ignored with a note: behind %s", async (_, text) => {
    expect(() => JSON.parse(text)).toThrow();
    const { features, context } = await read(scratch, text);
    expect(features.map(({ geometry, properties }) => ({ geometry, properties }))).toEqual(
      JSON.parse(text.replace(/,(?=\s*[\]}])/g, "")).features.map(({ geometry, properties }: Feature) => ({
        geometry,
        properties,
      })),
    );
    expect(context.notices).toMatchObject([{ code: "extra-comma", count: 1 }]);
    expect(context.losses).toEqual([]);
  });

  it("extra commas are counted in each of many features, in splits of any size", async () => {
    const many = Array.from({ length: 50 }, () => one(line("[[1,2],[3,4],]"), '{"a":1,}')).join(",");
    for (const splitSize of [64, 1 << 22]) {
      const { features, context } = await read(scratch, inside(many), { splitSize });
      expect(features).toHaveLength(50);
      expect(context.notices).toMatchObject([{ code: "extra-comma", count: 100 }]);
    }
  });

  it("an extra comma is damage if the file ends after it", async () => {
    const text = inside(one("null")).replace(/\]\}$/, ",");
    await expect(read(scratch, text)).rejects.toMatchObject({ code: "input-truncated" });
  });
});

describe("damage", () => {
  const fails = async (text: string, code: string, byte: number) => {
    const failure = await read(scratch, text).then(
      () => null,
      (error: GeoferryError) => error,
    );
    expect(failure).toMatchObject({ code });
    expect(failure!.message).toContain(`places.geojson, byte ${byte}:`);
    return failure!.message;
  };
  const good = one('{"type":"Point","coordinates":[1,2]}');

  it("an error on damage names the byte and what was expected", async () => {
    const comma = inside(good, good).replace("},{", "}{");
    expect(await fails(comma, "input-corrupt", comma.indexOf("}{") + 1)).toContain("expected ',' or ']', found \"{\"");
    const word = inside(good, one("nil"));
    expect(await fails(word, "input-corrupt", word.indexOf("nil") + 1)).toContain("the word null");
    const number = inside(one('{"type":"Point","coordinates":[1.,2]}'));
    expect(await fails(number, "input-corrupt", number.indexOf("1.,") + 2)).toContain("a digit");
    const letter = inside(one("null", '{"a":"\\x"}'));
    await fails(letter, "input-corrupt", letter.indexOf("\\x") + 1);
    const comma2 = inside(`${good},,`);
    await fails(comma2, "input-corrupt", comma2.indexOf(",,") + 1);
  });

  it("a truncated file is reported", async () => {
    const text = inside(good, good);
    for (const length of [text.length - 1, text.length - 2, text.length - 20, 60]) {
      await fails(text.slice(0, length), "input-truncated", length);
    }
    await fails('{"type":', "input-truncated", 8);
  });

  it.each([
    ["its first name", '{"type" "FeatureCollection","features":[]}'],
    ["a member before the features", `{"type":"FeatureCollection","name":"x" ${inside(good).slice(1)}`],
    ["the end, before the features", '{"type":"FeatureColl'],
  ])("an error on damage does not advise skipping it if that does not help: %s", async (_, text) => {
    for (const skipErrors of [false, true]) {
      const error = await read(scratch, text, { skipErrors }).catch((thrown: GeoferryError) => thrown);
      expect(error).toMatchObject({ kind: "input", message: expect.not.stringContaining("skip-errors") });
    }
  });

  it("content after the document is refused", async () => {
    const text = `${inside(good)}\nend`;
    await fails(text, "input-corrupt", text.length - 3);
    const closed = `${good}}`;
    await fails(closed, "input-corrupt", good.length);
  });

  it("JSON that is not GeoJSON is refused", async () => {
    expect(await fails('{"type":"Topology","objects":{}}', "input-corrupt", 0)).toContain("TopoJSON");
    await fails('{"a":1}', "input-corrupt", 0);
    await fails("hello", "input-corrupt", 0);
    await fails("\ufeff[}", "input-corrupt", 4);
    await expect(read(scratch, "")).rejects.toMatchObject({ code: "input-empty" });
    await expect(read(scratch, Buffer.from(`\ufeff${good}`, "utf16le"))).rejects.toMatchObject({
      code: "input-corrupt",
    });
  });

  it("deep nesting does not overflow the stack", async () => {
    const deep = inside(one("null", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`));
    await expect(read(scratch, deep)).rejects.toMatchObject({ code: "input-corrupt" });
    const nested = `${'{"type":"GeometryCollection","geometries":['.repeat(200)}${"]}".repeat(200)}`;
    const { context } = await read(scratch, nested);
    expect(context.rejects[0]!.reason).toMatch(/nested more than/);
  });

  const numbered = (n: number) => one(`{"type":"Point","coordinates":[${n},${n}]}`, `{"n":${n},"t":"x"}`);
  const numbers = (features: { properties: Record<string, unknown> }[]) => features.map((f) => f.properties.n);
  const spoil: Record<string, (text: string) => string> = {
    "a missing bracket": (text) => text.replace("[3,3]", "[3,3"),
    "a missing brace": (text) => text.replace('"n":3,"t":"x"}', '"n":3,"t":"x"'),
    "a bracket too many": (text) => text.replace("[3,3]", "[3,3]]"),
    "a brace too many": (text) => text.replace('"n":3,"t":"x"}', '"n":3,"t":"x"}}'),
    "a missing quote": (text) => text.replace('"n":3,"t":"x"', '"n":3,"t":"x'),
    "a bad number": (text) => text.replace("[3,3]", "[3,3.]"),
    "zero bytes": (text) => text.replace("[3,3]", "\0\0\0\0\0"),
  };
  for (const [name, change] of Object.entries(spoil)) {
    it(`only one feature is rejected for ${name} when damage is skipped`, async () => {
      const sound = [1, 2, 3, 4, 5, 6].map(numbered);
      for (const text of [
        inside(...sound),
        sound.join("\n"),
        sound.map((s) => `\x1e${s}\n`).join(""),
        sound.join(" "),
      ]) {
        const spoilt = change(text);
        expect(spoilt).not.toBe(text);
        for (const splitSize of [100, 1 << 22]) {
          const { features, context } = await read(scratch, spoilt, { skipErrors: true, splitSize });
          // A brace after the end of a feature leaves that whole, but for a line, which is taken as one.
          const kept = name === "a brace too many" ? numbers(features).filter((n) => n !== 3) : numbers(features);
          expect(kept).toEqual([1, 2, 4, 5, 6]);
          expect(context.rejects.length).toBeGreaterThan(0);
          const third = text.indexOf(numbered(3));
          const { byte } = context.rejects[0]!.place;
          expect(byte).toBeGreaterThanOrEqual(third);
          expect(byte).toBeLessThan(third + numbered(3).length + numbered(4).length + 2);
        }
      }
    });
  }

  it("the good part of a truncated file is read when damage is skipped", async () => {
    const text = inside(...[1, 2, 3].map(numbered));
    const second = text.indexOf(numbered(2)) + numbered(2).length;
    for (let length = second; length < text.length; length += 7) {
      for (const splitSize of [1, 1 << 22]) {
        const { features, context } = await read(scratch, text.slice(0, length), { skipErrors: true, splitSize });
        expect(numbers(features).slice(0, 2)).toEqual([1, 2]);
        expect(features.length + context.rejects.length).toBeLessThanOrEqual(3);
        expect(context.skippedRanges).toHaveLength(1);
      }
    }
  });
});

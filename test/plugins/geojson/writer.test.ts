import { afterAll, describe, expect, it } from "vitest";
import { Batch, type Column, type Feature, GeometryBuilder, packFeatures } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { feature, point } from "./read-geojson.js";
import { write, writeBatches } from "./write-geojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const pack = (...features: unknown[]) => packFeatures(features as Feature[], 1);

/** A batch of null geometries with these columns. */
function table(columns: Record<string, Column>): Batch {
  const length = Object.values(columns)[0]!.presence.length;
  const geometry = new GeometryBuilder();
  for (let i = 0; i < length; i++) geometry.addNull();
  return new Batch({
    length,
    ids: null,
    fields: Object.entries(columns).map(([name, column]) => ({ name, type: column.type })),
    columns: Object.values(columns),
    geometry: geometry.finish(),
    recordNumbers: null,
    firstRecord: 1,
  });
}
const present = (n: number) => new Uint8Array(n).fill(1);

describe("writing a collection", () => {
  it("each feature is written on a line of its own", async () => {
    const { text } = await writeBatches(scratch, [
      pack(feature(point(1, 2), { a: 1, b: "x" }, { id: 7 }), feature(null, {})),
      pack(feature(point(3.5, -4.25, 10), { a: null }, { id: "q" })),
    ]);
    expect(text).toBe(
      [
        '{"type":"FeatureCollection","features":[',
        '{"type":"Feature","id":7,"properties":{"a":1,"b":"x"},"geometry":{"type":"Point","coordinates":[1,2]}},',
        '{"type":"Feature","properties":{},"geometry":null},',
        '{"type":"Feature","id":"q","properties":{"a":null},"geometry":{"type":"Point","coordinates":[3.5,-4.25,10]}}',
        "]}",
        "",
      ].join("\n"),
    );
  });

  it("a collection without features is complete JSON", async () => {
    expect((await writeBatches(scratch, [])).text).toBe('{"type":"FeatureCollection","features":[\n]}\n');
  });

  it("coordinates are rounded to 7 decimals and heights to 3, unless an option differs", async () => {
    const made = [feature(point(1.123456789, -0.000000001, 2.34567))];
    expect((await write(scratch, made)).text).toContain("[1.1234568,0,2.346]");
    expect((await write(scratch, made, { precision: "9", "z-precision": "0" })).text).toContain(
      "[1.123456789,-0.000000001,2]",
    );
  });

  it("exterior rings are written counter-clockwise and holes clockwise by default", async () => {
    const clockwise = [
      [0, 0],
      [0, 4],
      [4, 4],
      [4, 0],
      [0, 0],
    ];
    const hole = [
      [1, 1],
      [2, 1],
      [2, 2],
      [1, 2],
      [1, 1],
    ];
    const made = [feature({ type: "Polygon", coordinates: [clockwise, hole] })];
    const turned = JSON.stringify([[...clockwise].reverse(), [...hole].reverse()]);
    expect((await write(scratch, made)).text).toContain(`"coordinates":${turned}`);
    expect((await write(scratch, made, { rfc7946: "no" })).text).toContain(JSON.stringify([clockwise, hole]));
    const right = [feature({ type: "MultiPolygon", coordinates: [JSON.parse(turned), JSON.parse(turned)] })];
    expect((await write(scratch, right)).text).toContain(`"coordinates":[${turned},${turned}]`);
  });

  it("every geometry type is written, and empty ones", async () => {
    const made = [
      { type: "Point", coordinates: [] },
      {
        type: "MultiPoint",
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      { type: "LineString", coordinates: [] },
      {
        type: "LineString",
        coordinates: [
          [1, 2, 3],
          [3, 4],
        ],
      },
      {
        type: "MultiLineString",
        coordinates: [
          [
            [1, 2],
            [3, 4],
          ],
          [
            [5, 6],
            [7, 8],
          ],
        ],
      },
      { type: "Polygon", coordinates: [] },
      { type: "MultiPolygon", coordinates: [] },
      { type: "GeometryCollection", geometries: [] },
      {
        type: "GeometryCollection",
        geometries: [point(1, 2), { type: "GeometryCollection", geometries: [point(3, 4)] }],
      },
    ].map((geometry) => feature(geometry));
    const { text } = await write(scratch, made);
    expect(JSON.parse(text).features).toEqual(made);
  });

  it("bounding boxes are written on request", async () => {
    const made = [
      feature({
        type: "LineString",
        coordinates: [
          [-10, 5],
          [20, -6],
        ],
      }),
      feature({ type: "GeometryCollection", geometries: [point(30, 1, 9)] }),
      feature(null),
    ];
    const { text } = await write(scratch, made, { bbox: "both" });
    const parsed = JSON.parse(text);
    expect(parsed.bbox).toEqual([-10, -6, 9, 30, 5, 9]);
    expect(parsed.features.map((f: { bbox?: number[] }) => f.bbox)).toEqual([
      [-10, -6, 20, 5],
      [30, 1, 9, 30, 1, 9],
      undefined,
    ]);
    expect((await write(scratch, made)).text).not.toContain("bbox");
  });

  it("the reference system is named only on request, and only if it has a code", async () => {
    const grid = { id: "EPSG:25832", name: "UTM 32N", definition: "EPSG:25832", kind: "projected" } as const;
    const { text } = await writeBatches(scratch, [pack(feature(point(500000, 5700000)))], { crs: "yes" }, false, grid);
    expect(JSON.parse(text).crs).toEqual({ type: "name", properties: { name: "urn:ogc:def:crs:EPSG::25832" } });
    expect((await writeBatches(scratch, [], {}, false, grid)).text).not.toContain("crs");
    await expect(writeBatches(scratch, [], { crs: "yes" }, false, { ...grid, id: null })).rejects.toMatchObject({
      code: "crs-not-writable",
    });
  });

  it("ids are written as the option asks", async () => {
    const made = [feature(null, { ref: "a7", n: 1 }, { id: 3 })];
    expect((await write(scratch, made, { ids: "no" })).text).toContain(
      '{"type":"Feature","properties":{"ref":"a7","n":1}',
    );
    expect((await write(scratch, made, { "id-field": "ref" })).text).toContain('"id":"a7","properties":{"n":1}');
  });
});

describe("values", () => {
  it("only characters that JSON requires to be escaped are escaped", async () => {
    const text = 'q"b\\s/\b\f\n\r\t\u0001\u001f\u007fé€😀';
    const written = (await write(scratch, [feature(null, { [text]: text })])).text;
    expect(JSON.parse(written).features[0].properties).toEqual({ [text]: text });
    expect(written).toContain(`:${JSON.stringify(text)}}`);
    expect(written.split("\n")).toHaveLength(4);
  });

  it("int64 beyond 2^53 is written as text, with a loss", async () => {
    const values = BigInt64Array.from([9007199254740991n, 9007199254740993n, -9223372036854775808n]);
    const { text, context } = await writeBatches(scratch, [
      table({ big: { type: "int64", presence: present(3), values } }),
    ]);
    expect(text).toContain('"big":9007199254740991}');
    expect(text).toContain('"big":"9007199254740993"}');
    expect(text).toContain('"big":"-9223372036854775808"}');
    expect(context.losses).toMatchObject([{ code: "int64-as-text", field: "big", count: 2 }]);
  });

  it("ids beyond 2^53 are written as text, with a loss", async () => {
    const values = BigInt64Array.from([9007199254740991n, 9007199254740993n, -9223372036854775808n]);
    const ids: Column = { type: "int64", presence: present(3), values };
    const { fields, columns, geometry } = table({
      n: { type: "int64", presence: present(3), values: new BigInt64Array(3) },
    });
    const batch = new Batch({ length: 3, ids, fields, columns, geometry, recordNumbers: null, firstRecord: 1 });
    const { text, context } = await writeBatches(scratch, [batch]);
    expect(text).toContain('"id":9007199254740991,');
    expect(text).toContain('"id":"9007199254740993",');
    expect(text).toContain('"id":"-9223372036854775808",');
    expect(context.losses).toMatchObject([{ code: "int64-as-text", field: "id", count: 2 }]);
  });

  it("numbers read back the same, and non-finite ones are written as null", async () => {
    const numbers = [0.1, -0, 1e21, 1e-7, 123456789.125, 5e-324, Number.NaN, Number.POSITIVE_INFINITY];
    const { text, context } = await writeBatches(scratch, [
      table({ d: { type: "double", presence: present(8), values: Float64Array.from(numbers) } }),
    ]);
    const read = JSON.parse(text).features.map((f: Feature) => f.properties.d);
    expect(read).toEqual([0.1, -0, 1e21, 1e-7, 123456789.125, 5e-324, null, null]);
    expect(context.losses).toMatchObject([{ code: "non-finite-value", field: "d", count: 2 }]);
  });

  it("a geometry with non-finite coordinates is written as null, with a loss", async () => {
    const { text, context } = await write(scratch, [feature(point(Number.NaN, 1)), feature(point(1, 1))]);
    expect(JSON.parse(text).features.map((f: Feature) => f.geometry)).toEqual([null, point(1, 1)]);
    expect(context.losses).toMatchObject([{ code: "non-finite-value", count: 1 }]);
  });

  it("json values are written unchanged, on one line", async () => {
    const json = '{\r\n  "a": [1.0, "x\\n"]\n}';
    const bytes = Buffer.from(json);
    const column: Column = { type: "json", presence: present(1), offsets: Uint32Array.of(0, bytes.length), bytes };
    const { text } = await writeBatches(scratch, [table({ j: column })], {}, true);
    expect(text.trimEnd()).not.toContain("\n");
    expect(text).toContain('"a": [1.0, "x\\n"]');
    expect(JSON.parse(text).properties.j).toEqual({ a: [1, "x\n"] });
  });
});

describe("writing a sequence", () => {
  it("a sequence has one feature per line", async () => {
    const { text } = await write(scratch, [feature(point(1, 2), { a: 1 }), feature(null)], {}, true);
    expect(text).toBe(
      '{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}\n' +
        '{"type":"Feature","properties":{},"geometry":null}\n',
    );
  });

  it("records of a sequence begin with a record separator on request", async () => {
    const { text } = await write(scratch, [feature(null), feature(null)], { rs: "yes" }, true);
    expect(
      text
        .split("\x1e")
        .slice(1)
        .map((part) => JSON.parse(part).type),
    ).toEqual(["Feature", "Feature"]);
    expect(text.split("\n")).toHaveLength(3);
  });
});

import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import type { ColumnSource } from "hyparquet-writer";
import { afterAll, describe, expect, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { featuresOf, geoKey, point, readLayer, schemaOf, withPoints, wkb, writeParquet } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const nextPath = () => scratch.path(`f${files++}.parquet`);

/** Reads a column of one type; the values as GeoJSON has them. */
async function readColumn(element: Omit<SchemaElement, "name">, data: unknown[]) {
  const path = writeParquet(nextPath(), {
    schema: schemaOf({ name: "a", repetition_type: "OPTIONAL", ...element }),
    columnData: [{ name: "a", data }],
  });
  const layer = await readLayer(path);
  return { type: layer.info.fields![0]!.type, values: featuresOf(layer).map(({ properties }) => properties.a), layer };
}

describe("types of columns", () => {
  const timestamp = (unit: "MILLIS" | "MICROS" | "NANOS", isAdjustedToUTC: boolean) =>
    ({ type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit } }) as const;
  it.each([
    ["boolean", { type: "BOOLEAN" }, [true, false, null], [true, false, null]],
    ["int32", { type: "INT32" }, [-2147483648, 5, null], [-2147483648, 5, null]],
    ["int64", { type: "INT64" }, [9007199254740993n, -1n, null], ["9007199254740993", -1, null]],
    ["int64", { type: "INT32", converted_type: "UINT_32" }, [4294967295, null], [4294967295, null]],
    ["int64", { type: "INT64", converted_type: "UINT_64" }, [5n, null], [5, null]],
    ["text", { type: "INT64", converted_type: "UINT_64" }, [18446744073709551615n, 0n], ["18446744073709551615", "0"]],
    ["double", { type: "FLOAT" }, [0.5, null, 0.1], [0.5, null, Math.fround(0.1)]],
    ["double", { type: "DOUBLE" }, [0.1, null, -0], [0.1, null, -0]],
    ["text", { type: "BYTE_ARRAY", converted_type: "UTF8" }, ["ä😀", "", null], ["ä😀", "", null]],
    ["json", { type: "BYTE_ARRAY", converted_type: "JSON" }, [{ a: [1] }, null], [{ a: [1] }, null]],
    ["binary", { type: "BYTE_ARRAY" }, [Uint8Array.of(1, 255), null], ["Af8=", null]],
    [
      "date",
      { type: "INT32", converted_type: "DATE" },
      [new Date("1969-12-31"), new Date("2024-02-29")],
      ["1969-12-31", "2024-02-29"],
    ],
    [
      "datetime",
      timestamp("MILLIS", true),
      [new Date("2024-02-29T23:59:59.001Z"), null],
      ["2024-02-29T23:59:59.001Z", null],
    ],
    ["datetime", timestamp("MICROS", false), [new Date("1900-01-01T00:00:00.500Z")], ["1900-01-01T00:00:00.500"]],
    ["datetime", timestamp("NANOS", true), [new Date("2262-01-01T00:00:00Z")], ["2262-01-01T00:00:00Z"]],
    ["double", { type: "INT32", converted_type: "DECIMAL", precision: 9, scale: 2 }, [12.34, -0.01], [12.34, -0.01]],
    [
      "text",
      { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, logical_type: { type: "UUID" } },
      ["00112233-4455-6677-8899-aabbccddeeff"],
      ["00112233-4455-6677-8899-aabbccddeeff"],
    ],
    [
      "double",
      { type: "FIXED_LEN_BYTE_ARRAY", type_length: 2, logical_type: { type: "FLOAT16" } },
      [1.5, -65504],
      [1.5, -65504],
    ],
  ] as [string, Omit<SchemaElement, "name">, unknown[], unknown[]][])(
    "%s from %o",
    async (type, element, data, expected) => {
      const found = await readColumn(element, data);
      expect(found.type).toBe(type);
      expect(found.values).toEqual(expected);
    },
  );

  it("lists, structs and maps are JSON", async () => {
    const schema: SchemaElement[] = [
      { name: "schema", num_children: 3 },
      { name: "l", repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", repetition_type: "OPTIONAL", type: "INT64" },
      { name: "s", repetition_type: "OPTIONAL", num_children: 2 },
      { name: "x", repetition_type: "OPTIONAL", type: "DOUBLE" },
      { name: "d", repetition_type: "OPTIONAL", type: "INT32", converted_type: "DATE" },
      { name: "m", repetition_type: "OPTIONAL", num_children: 1, converted_type: "MAP" },
      { name: "key_value", repetition_type: "REPEATED", num_children: 2 },
      { name: "key", repetition_type: "REQUIRED", type: "BYTE_ARRAY", converted_type: "UTF8" },
      { name: "value", repetition_type: "OPTIONAL", type: "INT32" },
    ];
    const path = writeParquet(nextPath(), {
      schema,
      columnData: [
        { name: "l", data: [[1n, null, 9007199254740993n], [], null] },
        { name: "s", data: [{ x: 0.5, d: new Date("2020-01-02") }, null, { x: null, d: null }] },
        { name: "m", data: [{ a: 1, b: null }, {}, null] },
      ],
    });
    const layer = await readLayer(path);
    expect(layer.info.fields!.map(({ type }) => type)).toEqual(["json", "json", "json"]);
    expect(featuresOf(layer).map(({ properties }) => properties)).toStrictEqual([
      { l: [1, null, "9007199254740993"], s: { x: 0.5, d: "2020-01-02" }, m: { a: 1, b: null } },
      { l: [], s: null, m: {} },
      { l: null, s: { x: null, d: null }, m: null },
    ]);
  });

  it("report numbers in lists that JSON does not have", async () => {
    const path = writeParquet(nextPath(), {
      schema: [
        { name: "schema", num_children: 1 },
        { name: "l", repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        { name: "element", repetition_type: "OPTIONAL", type: "DOUBLE" },
      ],
      columnData: [{ name: "l", data: [[1, Number.NaN], [Number.POSITIVE_INFINITY]] }],
    });
    const layer = await readLayer(path);
    expect(featuresOf(layer).map(({ properties }) => properties.l)).toEqual([[1, null], [null]]);
    expect(layer.losses).toMatchObject([{ code: "non-finite-value", field: "l", count: 2 }]);
  });

  it("text that is not UTF-8 is repaired and reported, as is JSON that is none", async () => {
    const bytes = [Buffer.from("ok"), Uint8Array.of(0x61, 0xff)];
    const text = await readColumn({ type: "BYTE_ARRAY", logical_type: { type: "STRING" } }, bytes);
    expect(text.values).toEqual(["ok", "a\ufffd"]);
    expect(text.layer.losses).toMatchObject([{ code: "text-undecodable", field: "a", count: 1 }]);
    const json = await readColumn({ type: "BYTE_ARRAY", logical_type: { type: "JSON" } }, [Buffer.from("{oops")]);
    expect(json.values).toEqual(["{oops"]);
    expect(json.layer.notices).toMatchObject([{ code: "json-as-text" }]);
  });
});

describe("pages", () => {
  const data = Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? null : `value ${i % 50}`));
  const numbers = Array.from({ length: 5000 }, (_, i) => i * i);
  it.each(["SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4_RAW", "UNCOMPRESSED"] as const)(
    "of several row groups in %s",
    async (codec) => {
      const columnData = withPoints([
        { name: "t", type: "STRING", data },
        { name: "n", type: "INT32", data: numbers, encoding: "DELTA_BINARY_PACKED" },
        { name: "u", type: "STRING", data: numbers.map((n) => `${n}`), encoding: "DELTA_BYTE_ARRAY" },
        { name: "d", type: "DOUBLE", data: numbers.map((n) => n / 8), encoding: "BYTE_STREAM_SPLIT" },
      ]);
      const path = writeParquet(nextPath(), {
        columnData,
        codec,
        pageSize: 3000,
        rowGroupSize: 1700,
        kvMetadata: [geoKey()],
      });
      for (const bySplits of [false, true]) {
        const layer = await readLayer(path, { bySplits });
        if (bySplits) expect(layer.splits).toHaveLength(3);
        const features = featuresOf(layer);
        expect(features.map(({ properties }) => properties.t)).toEqual(data);
        expect(features.map(({ properties }) => properties.n)).toEqual(numbers);
        expect(features.map(({ properties }) => properties.u)).toEqual(numbers.map((n) => `${n}`));
        expect(features.map(({ properties }) => properties.d)).toEqual(numbers.map((n) => n / 8));
        expect(features[4999]!.geometry).toEqual({ type: "Point", coordinates: [4999, -4999] });
        expect(layer.records.at(-1)).toBe(5000);
      }
    },
  );

  it("of a large row group are read in several splits", async () => {
    const count = 150_000;
    const columnData = withPoints([
      { name: "n", type: "INT32", data: Int32Array.from({ length: count }, (_, i) => i) },
    ]);
    const path = writeParquet(nextPath(), {
      columnData,
      pageSize: 20_000,
      rowGroupSize: count,
      kvMetadata: [geoKey()],
    });
    const layer = await readLayer(path, { bySplits: true });
    expect(layer.splits).toHaveLength(2);
    let next = 0;
    for (const batch of layer.batches) {
      for (let row = 0; row < batch.length; row++, next++) {
        if (batch.columns[0]!.type !== "int32" || batch.columns[0]!.values[row] !== next) expect.fail(`row ${next}`);
        if (batch.geometry.xy[2 * row] !== next) expect.fail(`point ${next}`);
      }
    }
    expect(next).toBe(count);
  });
});

describe("geometry columns", () => {
  const columnData = withPoints([{ name: "n", type: "INT32", data: [1, 2] }]);
  const utm = { type: "ProjectedCRS", name: "some name", id: { authority: "EPSG", code: 25832 } };

  it.each([
    ["of no crs is OGC:CRS84", {}, "EPSG:4326"],
    ["of a null crs is unknown", { crs: null }, undefined],
    ["has a crs by its code", { crs: utm }, "EPSG:25832"],
  ])("a geometry column %s", async (_, column, expected) => {
    const layer = await readLayer(writeParquet(nextPath(), { columnData, kvMetadata: [geoKey(column)] }));
    expect(layer.info.crs?.id).toBe(expected);
    expect(layer.notices).toEqual([]);
  });

  it("reports edges, epochs and systems that cannot be parsed", async () => {
    const column = { edges: "spherical", epoch: 2021.5, crs: { type: "ProjectedCRS", name: "?" } };
    const layer = await readLayer(writeParquet(nextPath(), { columnData, kvMetadata: [geoKey(column)] }));
    expect(layer.notices.map(({ code }) => code)).toEqual(["edges-spherical", "epoch-ignored", "crs-unreadable"]);
    expect(layer.info.crs).toBeNull();
  });

  it("without metadata is found by its name and reported", async () => {
    const layer = await readLayer(writeParquet(nextPath(), { columnData }));
    expect(layer.notices).toMatchObject([{ code: "geometry-undeclared" }]);
    expect(layer.info.crs).toBeNull();
    expect(featuresOf(layer)[1]!.geometry).toEqual({ type: "Point", coordinates: [1, -1] });
  });

  it.each([
    ["GEOMETRY", "", "EPSG:4326"],
    ["GEOMETRY", "srid:3857", "EPSG:3857"],
    ["GEOMETRY", "srid:0", undefined],
    ["GEOMETRY", "projjson:mine", "EPSG:25832"],
    ["GEOMETRY", JSON.stringify(utm), "EPSG:25832"],
    ["GEOGRAPHY", "EPSG:4258", "EPSG:4258"],
  ] as const)("of the logical type %s with crs %s", async (type, crs, expected) => {
    const logical_type = crs === "" ? { type } : { type, crs };
    const path = writeParquet(nextPath(), {
      schema: schemaOf({
        name: "place",
        type: "BYTE_ARRAY",
        repetition_type: "OPTIONAL",
        logical_type,
      } as SchemaElement),
      columnData: [{ name: "place", data: [{ type: "Point", coordinates: [3, 4] }, null] }],
      kvMetadata: [{ key: "mine", value: JSON.stringify(utm) }],
    });
    const layer = await readLayer(path);
    expect(layer.info.crs?.id).toBe(expected);
    expect(featuresOf(layer).map(({ geometry }) => geometry)).toEqual([{ type: "Point", coordinates: [3, 4] }, null]);
    expect(layer.notices.map(({ code }) => code)).toEqual(type === "GEOGRAPHY" ? ["edges-spherical"] : []);
  });

  it("beside the primary one are left out with a loss, and read with the option", async () => {
    const other: ColumnSource = { name: "other", type: "BYTE_ARRAY", data: [point(7, 8), point(9, 9)] };
    const value = JSON.stringify({
      version: "1.1.0",
      primary_column: "geometry",
      columns: { geometry: { encoding: "WKB" }, other: { encoding: "WKB", crs: utm } },
    });
    const path = writeParquet(nextPath(), { columnData: [...columnData, other], kvMetadata: [{ key: "geo", value }] });
    const layer = await readLayer(path);
    expect(layer.losses).toMatchObject([{ code: "geometry-column-left-out", field: "other" }]);
    const second = await readLayer(path, { options: { geometry: "other" } });
    expect(second.info.crs?.id).toBe("EPSG:25832");
    expect(featuresOf(second)[0]!.geometry).toEqual({ type: "Point", coordinates: [7, 8] });
    await expect(readLayer(path, { options: { geometry: "gone" } })).rejects.toMatchObject({ code: "option-invalid" });
  });

  it("with WKB that is damaged gives rejects, one of points alone does not", async () => {
    const data = [
      point(1, 2),
      Uint8Array.of(1, 2, 3),
      wkb({
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      }),
    ];
    const path = writeParquet(nextPath(), {
      columnData: [{ name: "geometry", type: "BYTE_ARRAY", data }],
      kvMetadata: [geoKey()],
    });
    const layer = await readLayer(path);
    expect(featuresOf(layer)).toHaveLength(2);
    expect(layer.rejects).toMatchObject([{ code: "geometry-malformed", place: { record: 2 } }]);
  });

  it("that covers another is no field", async () => {
    const boxes = [0, 1].map((i) => ({ xmin: i, ymin: -i, xmax: i, ymax: -i }));
    const side = (name: string): SchemaElement => ({ name, type: "FLOAT", repetition_type: "REQUIRED" });
    const schema = [
      { name: "schema", num_children: 2 },
      { name: "geometry", type: "BYTE_ARRAY", repetition_type: "OPTIONAL" },
      { name: "bbox", num_children: 4, repetition_type: "OPTIONAL" },
      ...["xmin", "ymin", "xmax", "ymax"].map(side),
    ] as SchemaElement[];
    const path = writeParquet(nextPath(), {
      schema,
      columnData: [columnData[1]!, { name: "bbox", data: boxes }].map(({ name, data }) => ({ name, data })),
      kvMetadata: [geoKey()],
    });
    expect((await readLayer(path)).info.fields).toEqual([]);
  });
});

describe("native encodings", () => {
  const coordinate = (z = false): SchemaElement[] =>
    (z ? ["x", "y", "z"] : ["x", "y"]).map((name) => ({ name, type: "DOUBLE", repetition_type: "REQUIRED" }));
  /** A geometry column of lists, `depth` deep, of structs. */
  function schemaOfDepth(depth: number, z = false): SchemaElement[] {
    const elements: SchemaElement[] = [{ name: "schema", num_children: 1 }];
    for (let level = 0; level < depth; level++) {
      const name = level === 0 ? "geometry" : "element";
      elements.push({ name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" });
      elements.push({ name: "list", repetition_type: "REPEATED", num_children: 1 });
    }
    const name = depth === 0 ? "geometry" : "element";
    return [...elements, { name, repetition_type: "OPTIONAL", num_children: z ? 3 : 2 }, ...coordinate(z)];
  }
  const at = ([x, y, z]: number[]) => (z === undefined ? { x, y } : { x, y, z });
  const ring = [
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 0],
  ];
  const hole = [
    [2, 1],
    [3, 1],
    [3, 2],
    [2, 1],
  ];
  const far = [
    [9, 9],
    [10, 9],
    [10, 10],
    [9, 9],
  ];
  it.each([
    ["point", 0, [at([1, 2]), null], [{ type: "Point", coordinates: [1, 2] }, null]],
    ["point", 0, [at([1, 2, 3])], [{ type: "Point", coordinates: [1, 2, 3] }]],
    [
      "linestring",
      1,
      [ring.map(at), null, []],
      [{ type: "LineString", coordinates: ring }, null, { type: "LineString", coordinates: [] }],
    ],
    ["multipoint", 1, [hole.map(at)], [{ type: "MultiPoint", coordinates: hole }]],
    [
      "polygon",
      2,
      [[ring.map(at), hole.map(at)], null, [], [far.map(at)]],
      [
        { type: "Polygon", coordinates: [ring, hole] },
        null,
        { type: "Polygon", coordinates: [] },
        { type: "Polygon", coordinates: [far] },
      ],
    ],
    ["multilinestring", 2, [[ring.map(at), hole.map(at)]], [{ type: "MultiLineString", coordinates: [ring, hole] }]],
    [
      "multipolygon",
      3,
      [[[ring.map(at), hole.map(at)], [far.map(at)]], [], [[far.map(at)]]],
      [
        { type: "MultiPolygon", coordinates: [[ring, hole], [far]] },
        { type: "MultiPolygon", coordinates: [] },
        { type: "MultiPolygon", coordinates: [[far]] },
      ],
    ],
  ] as [string, number, unknown[], unknown[]][])(
    "reads the native encoding %s",
    async (encoding, depth, data, expected) => {
      const path = writeParquet(nextPath(), {
        schema: schemaOfDepth(depth, JSON.stringify(data).includes('"z"')),
        columnData: [{ name: "geometry", data }],
        kvMetadata: [geoKey({ encoding })],
      });
      expect(featuresOf(await readLayer(path)).map(({ geometry }) => geometry)).toEqual(expected);
    },
  );

  it("close open rings, and refuse other structures", async () => {
    const columnData = [{ name: "geometry", data: [[ring.slice(0, 3).map(at)]] }];
    const path = writeParquet(nextPath(), {
      schema: schemaOfDepth(2),
      columnData,
      kvMetadata: [geoKey({ encoding: "polygon" })],
    });
    const layer = await readLayer(path);
    expect(featuresOf(layer)[0]!.geometry).toEqual({ type: "Polygon", coordinates: [ring] });
    expect(layer.notices).toMatchObject([{ code: "ring-closed", count: 1 }]);
    const wrong = writeParquet(nextPath(), {
      schema: schemaOfDepth(2),
      columnData,
      kvMetadata: [geoKey({ encoding: "point" })],
    });
    await expect(readLayer(wrong)).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("damaged files", () => {
  const columnData = withPoints([{ name: "n", type: "INT32", data: Array.from({ length: 3000 }, (_, i) => i) }]);
  const intact = () => writeParquet(nextPath(), { columnData, rowGroupSize: 1000, kvMetadata: [geoKey()] });

  it.each([
    ["an empty file", 0, "input-empty"],
    ["a file without its end", 5000, "input-truncated"],
  ])("%s is an error", async (_, size, code) => {
    const path = intact();
    truncateSync(path, size);
    await expect(readLayer(path)).rejects.toMatchObject({ code });
  });

  it("with a damaged page are refused, or read past it", async () => {
    const path = intact();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4, 40);
    writeFileSync(path, bytes);
    await expect(readLayer(path)).rejects.toMatchObject({ code: "input-corrupt" });
    const report = await convertFile(path, scratch.path("rest.geojson"), { skipErrors: true });
    expect(report.skippedRanges).toHaveLength(1);
    expect(report.outputs.reduce((sum, { features }) => sum + features, 0)).toBe(2000);
  });

  it("say that they are encrypted", async () => {
    const path = intact();
    const bytes = readFileSync(path);
    bytes.write("PARE", bytes.length - 4);
    writeFileSync(path, bytes);
    await expect(readLayer(path)).rejects.toMatchObject({ code: "unsupported" });
  });
});

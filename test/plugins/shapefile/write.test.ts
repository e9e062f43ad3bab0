import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createAssembler, createEncoder } from "../../../plugins/shapefile/writer.js";
import { crsContext } from "../../../src/crs/index.js";
import {
  Batch,
  type Feature,
  type Field,
  type Geometry,
  GeometryBuilder,
  Kind,
  packFeatures,
  Summarizer,
} from "../../../src/model/index.js";
import type { Sink } from "../../../src/plugin/format.js";
import { PlainSink, RecordingContext, TemporaryFolder } from "../../support/read-layers.js";
import { ogrFeatures, ogrinfo, openAt, readBySplits, readFeatures, writeBatches, writeFeatures } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let stems = 0;
const stem = () => `w${stems++}`;

const feature = (geometry: Geometry | null, properties: Record<string, unknown> = {}): Feature => ({
  type: "Feature",
  geometry,
  properties,
});
const at = (x: number, y: number): Geometry => ({ type: "Point", coordinates: [x, y] });
const hex = (path: string) => readFileSync(path).toString("hex");
const double = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.toString("hex");
};

describe("the bytes of a small file", () => {
  it("the bytes of a small file are those of the technical description", async () => {
    const fields: Field[] = [
      { name: "id", type: "int32" },
      { name: "ok", type: "boolean" },
    ];
    const { path } = await writeFeatures(
      scratch,
      "bytes",
      [feature(at(1, 2), { id: -7, ok: true }), feature(null, { id: null, ok: null })],
      fields,
    );
    const header = (words: string) =>
      `0000270a${"00".repeat(20)}${words}e803000001000000${double(1)}${double(2)}${double(1)}${double(2)}${"00".repeat(32)}`;
    // 100 bytes of header, a point of 28, a null shape of 12: 140 bytes are 70 words.
    expect(hex(path)).toBe(
      `${header("00000046")}000000010000000a01000000${double(1)}${double(2)}000000020000000200000000`,
    );
    expect(hex(path.replace("shp", "shx"))).toBe(`${header("0000003a")}000000320000000a0000004000000002`);
    const dbf = readFileSync(path.replace("shp", "dbf"));
    // dBASE III+, 2001-02-03, two rows, 97 bytes of header, records of 1 + 2 + 1.
    expect(dbf.subarray(0, 12).toString("hex")).toBe("036502030200000061000400");
    expect(dbf.subarray(32, 50).toString("latin1")).toBe(`id${"\0".repeat(9)}N${"\0".repeat(4)}\x02\0`);
    expect(dbf.subarray(96).toString("latin1")).toBe("\r -7T   ?\x1a");
    expect(readFileSync(path.replace("shp", "cpg"), "latin1")).toBe("UTF-8");
  });
});

describe("fields", () => {
  const fields: Field[] = [
    { name: "small", type: "int32" },
    { name: "big", type: "int64" },
    { name: "real", type: "double" },
    { name: "text", type: "text" },
    { name: "wide", type: "text", width: 100 },
    { name: "price", type: "double", width: 12, decimals: 2 },
    { name: "day", type: "date" },
    { name: "flag", type: "boolean" },
  ];
  const values = {
    small: -12345,
    big: -9223372036854775808n,
    real: 0.1,
    text: "Łódź",
    wide: "x",
    price: 1234.5,
    day: "2024-02-29",
    flag: false,
  };
  it("fields have the types and widths that ogrinfo shows, and their values", async () => {
    const { path, context } = await writeFeatures(scratch, "types", [feature(at(0, 0), values)], fields);
    const { text, layer } = ogrinfo(path);
    expect(text).not.toMatch(/warning|error/i);
    expect(layer.fields).toEqual([
      "small: Integer (6.0)",
      // GDAL has no type for whole numbers of twenty places.
      "big: Real (20.0)",
      "real: Real (24.15)",
      "text: String (7.0)",
      "wide: String (100.0)",
      "price: Real (12.2)",
      "day: Date (10.0)",
      // GDAL 3.6 knows no booleans in a .dbf.
      expect.stringMatching(/^flag: (String|Integer\(Boolean\)) \(1\.0\)$/),
    ]);
    expect(ogrFeatures(path)[0]!.properties).toMatchObject({ small: -12345, real: 0.1, text: "Łódź", price: 1234.5 });
    expect(context.losses).toEqual([]);
    const [batch] = await readBySplits(path);
    expect(batch!.fields.map((field) => field.type)).toEqual(fields.map((field) => field.type));
    const back = batch!.featureAt(0).properties;
    expect(back).toEqual({ ...values, big: "-9223372036854775808" });
  });

  it("every kind of null reads as null", async () => {
    const { path } = await writeFeatures(scratch, "nulls", [feature(null, {}), feature(at(1, 1), values)], fields);
    expect(ogrFeatures(path)[0]!.properties).toMatchObject({ small: null, real: null, text: null, day: null });
    const [first] = await readFeatures(path);
    expect(Object.values(first!.properties)).toEqual(fields.map(() => null));
  });

  it("fields are at least one: the number of the record", async () => {
    const batches = [0, 1].map((n) => packFeatures([feature(at(n, n)), feature(at(n, n))], 1, []));
    const { path } = await writeBatches(scratch, "no-fields", batches, []);
    expect((await readFeatures(path)).map((each) => each.properties)).toEqual([0, 1, 2, 3].map((FID) => ({ FID })));
    expect(ogrinfo(path).text).not.toMatch(/warning|error/i);
  });

  it("text is cut between characters at 254 bytes, with a loss", async () => {
    const text = `${"é".repeat(126)}x€`;
    const { path, context } = await writeFeatures(
      scratch,
      "cut",
      [feature(null, { t: text })],
      [{ name: "t", type: "text" }],
    );
    expect((await readFeatures(path))[0]!.properties.t).toBe(`${"é".repeat(126)}x`);
    expect(context.losses).toMatchObject([{ code: "text-cut", field: "t", count: 1 }]);
  });

  it("empty text and null, trailing blanks and padding cannot be distinguished, with a loss", async () => {
    const fields: Field[] = [{ name: "t", type: "text" }];
    const { path, context } = await writeFeatures(
      scratch,
      "blank",
      ["", "a ", " b"].map((t) => feature(null, { t })),
      fields,
    );
    expect((await readFeatures(path)).map((each) => each.properties.t)).toEqual([null, "a", " b"]);
    expect(context.losses).toMatchObject([
      { code: "text-empty", field: "t", count: 1 },
      { code: "text-padded", field: "t", count: 1 },
    ]);
  });

  it("text after a NUL cannot be read", async () => {
    const { path, context } = await writeFeatures(
      scratch,
      "nul",
      [feature(null, { t: "a\0b" })],
      [{ name: "t", type: "text" }],
    );
    expect((await readFeatures(path))[0]!.properties.t).toBe("a b");
    expect(context.losses).toMatchObject([{ code: "text-control" }]);
  });

  it("doubles have their shortest exact text, rounded with a loss if the width is declared", async () => {
    const wide: Field[] = [{ name: "d", type: "double" }];
    const numbers = [
      1e21, 1.5e-7, -2.2250738585072014e-308, 5e-324, 1.7976931348623157e308, 123456789012345680000, -0.1,
    ];
    const { path, context } = await writeFeatures(
      scratch,
      "doubles",
      numbers.map((d) => feature(null, { d })),
      wide,
    );
    expect((await readFeatures(path)).map((each) => each.properties.d)).toEqual(numbers);
    expect(ogrFeatures(path).map((each) => each.properties.d)).toEqual(numbers);
    expect(context.losses).toEqual([]);
    const narrow: Field[] = [{ name: "d", type: "double", width: 6, decimals: 2 }];
    const second = await writeFeatures(
      scratch,
      "narrow",
      [3.14259265, 1e7, 12345678.5].map((d) => feature(null, { d })),
      narrow,
    );
    expect((await readFeatures(second.path)).map((each) => each.properties.d)).toEqual([3.14, 1e7, null]);
    expect(second.context.losses).toMatchObject([
      { code: "number-rounded", count: 1 },
      { code: "number-too-large", count: 1 },
    ]);
  });

  it("non-finite numbers become null with a loss", async () => {
    const { path, context } = await writeFeatures(
      scratch,
      "nan",
      [Number.NaN, Number.POSITIVE_INFINITY, 1].map((d) => feature(null, { d })),
      [{ name: "d", type: "double" }],
    );
    expect((await readFeatures(path)).map((each) => each.properties.d)).toEqual([null, null, 1]);
    expect(context.losses).toMatchObject([{ code: "non-finite-value", field: "d", count: 2 }]);
  });

  it("fields beyond what a record holds are refused with a remedy", async () => {
    const fields = Array.from({ length: 300 }, (_, i): Field => ({ name: `f${i}`, type: "text", width: 254 }));
    await expect(writeFeatures(scratch, "too-wide", [feature(null)], fields)).rejects.toThrow(
      /65535 bytes.*GeoPackage/,
    );
  });

  it("fields are written in another encoding on request, with losses reported", async () => {
    const fields: Field[] = [{ name: "t", type: "text" }];
    const { path, context } = await writeFeatures(
      scratch,
      "latin",
      [feature(null, { t: "née" }), feature(null, { t: "日" })],
      fields,
      {
        encoding: "windows-1252",
      },
    );
    const dbf = readFileSync(path.replace("shp", "dbf"));
    expect(dbf[29]).toBe(0x03);
    expect(readFileSync(path.replace("shp", "cpg"), "latin1")).toBe("1252");
    expect(dbf.includes(Buffer.from([0x6e, 0xe9, 0x65]))).toBe(true);
    expect((await readFeatures(path)).map((each) => each.properties.t)).toEqual(["née", "?"]);
    expect(ogrFeatures(path)[0]!.properties.t).toBe("née");
    expect(context.losses).toMatchObject([{ code: "text-unencodable", field: "t", count: 1 }]);
  });
});

describe("shapes", () => {
  const square = (x: number, size: number) => [[x, 0], [x + size, 0], [x + size, size], [x, size], [x, 0]]; // biome-ignore format: positions
  const kinds: readonly [string, Geometry, string][] = [
    ["Point", at(1, 2), "Point"],
    ["MultiPoint", { type: "MultiPoint", coordinates: [[1, 2], [3, 4]] }, "Multi Point"], // biome-ignore format: positions
    ["LineString", { type: "LineString", coordinates: [[1, 2], [3, 4]] }, "Line String"], // biome-ignore format: positions
    ["MultiLineString", { type: "MultiLineString", coordinates: [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] }, "Line String"], // biome-ignore format: positions
    ["Polygon", { type: "Polygon", coordinates: [square(0, 9), square(1, 2).reverse()] }, "Polygon"],
    [
      "MultiPolygon",
      { type: "MultiPolygon", coordinates: [[square(0, 9), square(1, 2).reverse()], [square(20, 3)]] },
      "Polygon",
    ],
  ];
  it.each(kinds)(
    "shapes of %s are read by ogr2ogr without a warning, with their type",
    async (type, geometry, ogrType) => {
      const { path } = await writeFeatures(scratch, stem(), [feature(geometry), feature(null)], []);
      const { text, layer } = ogrinfo(path);
      expect(text).not.toMatch(/warning|error/i);
      expect(layer.featureCount).toBe(2);
      expect(layer.geometry).toBe(ogrType);
      const [first, second] = ogrFeatures(path);
      expect(first!.geometry?.type).toBe(type);
      expect(second!.geometry).toBeNull();
      const positions = (geometry as { coordinates: unknown[] }).coordinates.flat(3) as number[];
      const xs = positions.filter((_, i) => i % 2 === 0);
      const ys = positions.filter((_, i) => i % 2 === 1);
      expect(layer.extent).toEqual([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]);
    },
  );

  it("shells are clockwise and holes counter-clockwise, closed, for any input", async () => {
    const open: Geometry = { type: "Polygon", coordinates: [square(0, 9), square(1, 2).slice(0, 4)] };
    const { path } = await writeFeatures(scratch, "rings", [feature(open)], []);
    const [read] = await readFeatures(path);
    expect(read!.geometry).toEqual({
      type: "Polygon",
      coordinates: [square(0, 9).reverse(), square(1, 2)].map((ring) => ring),
    });
  });

  it("shapes have Z and M, in records, headers and for ogrinfo", async () => {
    const builder = new GeometryBuilder();
    builder.beginSinglePart(Kind.LineString);
    builder.addPositionZM(0, 0, 10, 100);
    builder.addPositionZM(1, 1, 20, Number.NaN);
    builder.end();
    builder.addNull();
    const batch = packFeatures([feature(null), feature(null)], 1, []).with({ geometry: builder.finish() });
    const { path } = await writeBatches(scratch, "zm", [batch], []);
    const shp = readFileSync(path);
    expect(shp.readInt32LE(32)).toBe(13);
    expect([68, 76, 84, 92].map((place) => shp.readDoubleLE(place))).toEqual([10, 20, 100, 100]);
    expect(ogrinfo(path).layer.geometry).toBe("3D Measured Line String");
    const [back] = await readBySplits(path);
    expect([...back!.geometry.z!]).toEqual([10, 20]);
    expect([...back!.geometry.m!]).toEqual([100, Number.NaN]);
  });

  it("shapes with Z alone are 3D, not measured, for ogrinfo", async () => {
    const points = [feature({ type: "Point", coordinates: [1, 2, 3] })];
    const { path } = await writeFeatures(scratch, "z", points, []);
    expect(readFileSync(path).readInt32LE(32)).toBe(11);
    expect(ogrinfo(path).layer.geometry).toBe("3D Point");
    expect(ogrFeatures(path)[0]!.geometry).toEqual({ type: "Point", coordinates: [1, 2, 3] });
  });

  it("shapes without a height in a file with heights get 0, with a loss", async () => {
    const points = [feature({ type: "Point", coordinates: [1, 2, 3] }), feature(at(4, 5))];
    const { path, context } = await writeFeatures(scratch, "some-z", points, []);
    expect((await readFeatures(path))[1]!.geometry).toEqual({ type: "Point", coordinates: [4, 5, 0] });
    expect(context.losses).toMatchObject([{ code: "z-missing", count: 1 }]);
  });

  it("empty shapes are null shapes, with a loss", async () => {
    const empties: Geometry[] = [
      { type: "Polygon", coordinates: [] },
      { type: "MultiPolygon", coordinates: [] },
      { type: "Polygon", coordinates: [square(0, 1)] },
    ];
    const { path, context } = await writeFeatures(
      scratch,
      "empties",
      empties.map((each) => feature(each)),
      [],
    );
    expect(context.losses).toMatchObject([{ code: "geometry-empty", count: 2 }]);
    expect((await readFeatures(path)).map((each) => each.geometry?.type ?? null)).toEqual([null, null, "Polygon"]);
  });

  it("points and MultiPoints in one layer are all MultiPoints", async () => {
    const both = [feature(at(1, 2)), feature({ type: "MultiPoint", coordinates: [[3, 4], [5, 6]] })]; // biome-ignore format: positions
    const { path } = await writeFeatures(scratch, "both", both, []);
    expect((await readFeatures(path))[0]!.geometry).toEqual({ type: "MultiPoint", coordinates: [[1, 2]] });
  });

  it("points and lines in one layer are refused", async () => {
    const both = [feature(at(1, 2)), feature({ type: "LineString", coordinates: [[3, 4], [5, 6]] })]; // biome-ignore format: positions
    await expect(writeFeatures(scratch, "mixed", both, [])).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("a layer", () => {
  it("a layer without features is a valid file", async () => {
    const { path } = await writeFeatures(scratch, "empty", [], [{ name: "a", type: "text" }]);
    const { text, layer } = ogrinfo(path);
    expect(text).not.toMatch(/warning|error/i);
    expect(layer).toMatchObject({ featureCount: 0, fields: ["a: String (1.0)"] });
    expect(await readFeatures(path)).toEqual([]);
    await using dataset = await openAt(path);
    expect(dataset.layers[0]).toMatchObject({ featureCount: 0, extent: null });
  });

  it("a layer without any geometry is a valid file", async () => {
    const { path } = await writeFeatures(scratch, "table", [feature(null, { a: "x" })], [{ name: "a", type: "text" }]);
    expect(ogrinfo(path).text).not.toMatch(/warning|error/i);
    expect(await readFeatures(path)).toEqual([feature(null, { a: "x" })]);
  });

  it("the CRS of a layer is in the .prj, as ESRI writes it", async () => {
    const crs = await crsContext.parse("EPSG:25832");
    const { path } = await writeFeatures(scratch, "crs", [feature(at(500_000, 5_500_000))], [], { crs });
    const prj = readFileSync(path.replace("shp", "prj"), "utf8");
    expect(prj).toMatch(/^PROJCS\["ETRS_1989_UTM_Zone_32N"/);
    expect(ogrinfo(path).text).toMatch(/ID\["EPSG",25832\]/);
    await using dataset = await openAt(path);
    expect(dataset.layers[0]!.crs?.kind).toBe("projected");
  });

  it("the bytes of a layer are the same for any batches", async () => {
    const fields: Field[] = [{ name: "n", type: "int32" }];
    const features = Array.from({ length: 100 }, (_, n) => feature(at(n, -n), { n }));
    const one = await writeBatches(scratch, "one", [packFeatures(features, 1, fields)], fields);
    const many = [features.slice(0, 7), features.slice(7, 50), features.slice(50)].map((each) =>
      packFeatures(each, 1, fields),
    );
    const other = await writeBatches(scratch, "many", many, fields);
    for (const extension of ["shp", "shx", "dbf"]) {
      expect(hex(other.path.replace("shp", extension))).toBe(hex(one.path.replace("shp", extension)));
    }
  });

  it("a layer is refused before it exceeds 2 GiB", async () => {
    const batch = packFeatures([feature(at(1, 1))], 1, []);
    const summariser = new Summarizer(false);
    summariser.add(batch);
    const layer = { name: "huge", crs: null, fields: [], summary: summariser.summary() };
    const context = new RecordingContext();
    const sink: Sink = {
      name: "huge.shp",
      inPlaceTarget: null,
      create: async () => ({ path: null, size: 2 ** 31 - 20, write: async () => {}, patch: async () => {} }),
    };
    const options = { encoding: "UTF-8" };
    const chunk = (await createEncoder(layer, options, context)).encode(batch);
    const assemble = await createAssembler(sink, [layer], options, context);
    await expect(assemble.append(chunk, 0)).rejects.toMatchObject({ code: "output-too-large" });
  });

  it("an output named by its .dbf is refused", async () => {
    const summary = new Summarizer(false).summary();
    const layer = { name: "x", crs: null, fields: [], summary };
    const sink = new PlainSink(scratch.path("x.dbf"));
    await expect(createAssembler(sink, [layer], { encoding: "UTF-8" }, new RecordingContext())).rejects.toMatchObject({
      code: "usage",
    });
  });
});

describe("any layer", () => {
  const coordinate = fc.double({ min: -1e7, max: 1e7, noNaN: true });
  const position = fc.tuple(coordinate, coordinate).map(([x, y]) => [x + 0, y + 0]);
  const geometries = {
    Point: position.map((coordinates): Geometry => ({ type: "Point", coordinates })),
    MultiPoint: fc
      .array(position, { minLength: 1, maxLength: 20 })
      .map((coordinates): Geometry => ({ type: "MultiPoint", coordinates })),
    MultiLineString: fc
      .array(fc.array(position, { minLength: 2, maxLength: 30 }), { minLength: 2, maxLength: 4 })
      .map((coordinates): Geometry => ({ type: "MultiLineString", coordinates })),
  };
  const fields: Field[] = [
    { name: "i", type: "int32" },
    { name: "b", type: "int64" },
    { name: "d", type: "double" },
    { name: "t", type: "text" },
    { name: "l", type: "boolean" },
    { name: "y", type: "date" },
  ];
  const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
  // Blanks at the end of a text, and texts of blanks, are padding to every reader.
  const text = fc
    .string({ unit: "grapheme", maxLength: 60 })
    .map((each) => each.replaceAll("\0", "").replace(/ +$/, "") || null);
  const day = fc
    .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));
  const properties = fc.record({
    i: orNull(fc.integer({ min: -99_999_999, max: 999_999_999 })),
    b: orNull(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    d: orNull(fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0)),
    t: text,
    l: orNull(fc.boolean()),
    y: orNull(day),
  });

  it.each(Object.entries(geometries))("a layer of %ss is read as it was written", async (_, geometry) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(orNull(geometry), properties), { minLength: 1, maxLength: 12 }),
        async (rows) => {
          const batch = packFeatures(
            rows.map(([each, values]) => feature(each, values)),
            1,
            fields,
          );
          const { path, context } = await writeBatches(scratch, "any", [batch], fields);
          const [back] = await readBySplits(path);
          expect(context.losses).toEqual([]);
          expect([...back!.features()]).toEqual([...batch.features()]);
          expect(back!.fields.map((field) => field.type)).toEqual(fields.map((field) => field.type));
          expect(new Batch(back!.toData()).columns[1]).toEqual(batch.columns[1]);
        },
      ),
      { numRuns: 40, seed: 7 },
    );
  });
});

it("more fields than ArcGIS reads are noted", async () => {
  for (const [count, codes] of [
    [255, []],
    [256, ["many-fields"]],
  ] as const) {
    const fields = Array.from({ length: count }, (_, n): Field => ({ name: `f${n}`, type: "int32" }));
    const properties = Object.fromEntries(fields.map(({ name }, n) => [name, n]));
    const { context } = await writeFeatures(scratch, stem(), [feature(at(1, 2), properties)], fields);
    expect(context.notices.map(({ code }) => code)).toEqual(codes);
  }
});

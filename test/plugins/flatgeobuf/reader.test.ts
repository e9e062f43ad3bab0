import { readFileSync, writeFileSync } from "node:fs";
import { serialize } from "flatgeobuf/lib/mjs/geojson.js";
import { afterAll, describe, expect, it, test } from "vitest";
import flatgeobuf from "../../../plugins/flatgeobuf/index.js";
import type { Geometry } from "../../../src/model/index.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile, createTestHost } from "../../support/host.js";
import {
  featureBytes,
  featuresOf,
  type GeometrySpec,
  hasOgr2ogr,
  headerBytes,
  magic,
  ogr2ogr,
  property,
  readLayer,
  sized,
  writeFgb,
} from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;
const fresh = (extension = "fgb") => scratch.path(`${files++}.${extension}`);

const number = (size: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
};

/** ColumnType of header.fbs. */
const columnTypes = [
  "byte",
  "ubyte",
  "bool",
  "short",
  "ushort",
  "int",
  "uint",
  "long",
  "ulong",
  "float",
  "double",
  "string",
  "json",
  "datetime",
  "binary",
];
const columns = columnTypes.map((name, type) => ({ name, type }));
const values = [
  number(1, (b) => b.writeInt8(-128)),
  number(1, (b) => b.writeUInt8(255)),
  number(1, (b) => b.writeUInt8(1)),
  number(2, (b) => b.writeInt16LE(-32768)),
  number(2, (b) => b.writeUInt16LE(65535)),
  number(4, (b) => b.writeInt32LE(-2147483648)),
  number(4, (b) => b.writeUInt32LE(4294967295)),
  number(8, (b) => b.writeBigInt64LE(-9007199254740993n)),
  number(8, (b) => b.writeBigUInt64LE(9007199254740993n)),
  number(4, (b) => b.writeFloatLE(0.5)),
  number(8, (b) => b.writeDoubleLE(1 / 3)),
  sized("Łódź"),
  sized('{"a":[1]}'),
  sized("2020-02-29T12:34:56Z"),
  sized(Uint8Array.of(0, 255)),
];
const all = Buffer.concat(values.map((value, column) => property(column, value)));

describe("properties", () => {
  it("are read in every type of column, and missing ones are null", async () => {
    const path = writeFgb(fresh(), { columns }, [featureBytes(null, all), featureBytes(null)]);
    const layer = await readLayer(path);
    expect(layer.info.fields).toEqual([
      { name: "byte", type: "int32" },
      { name: "ubyte", type: "int32" },
      { name: "bool", type: "boolean" },
      { name: "short", type: "int32" },
      { name: "ushort", type: "int32" },
      { name: "int", type: "int32" },
      { name: "uint", type: "int64" },
      { name: "long", type: "int64" },
      { name: "ulong", type: "int64" },
      { name: "float", type: "double" },
      { name: "double", type: "double" },
      { name: "string", type: "text" },
      { name: "json", type: "json" },
      { name: "datetime", type: "datetime" },
      { name: "binary", type: "binary" },
    ]);
    const [first, second] = featuresOf(layer);
    expect(first!.properties).toEqual({
      byte: -128,
      ubyte: 255,
      bool: true,
      short: -32768,
      ushort: 65535,
      int: -2147483648,
      uint: 4294967295,
      long: "-9007199254740993",
      ulong: "9007199254740993",
      float: 0.5,
      double: 1 / 3,
      string: "Łódź",
      json: { a: [1] },
      datetime: "2020-02-29T12:34:56Z",
      binary: "AP8=",
    });
    expect(Object.values(second!.properties)).toEqual(columns.map(() => null));
  });

  it("may come in any order", async () => {
    const reversed = Buffer.concat(values.map((value, column) => property(column, value)).reverse());
    const path = writeFgb(fresh(), { columns }, [featureBytes(null, all), featureBytes(null, reversed)]);
    const [first, second] = featuresOf(await readLayer(path));
    expect(second!.properties).toEqual(first!.properties);
  });

  it("above the range of int64 are null and a loss, or text", async () => {
    const largest = property(
      0,
      number(8, (b) => b.writeBigUInt64LE(2n ** 64n - 1n)),
    );
    const path = writeFgb(fresh(), { columns: [{ name: "n", type: 8 }] }, [featureBytes(null, largest)]);
    const layer = await readLayer(path);
    expect(featuresOf(layer)[0]!.properties).toEqual({ n: null });
    expect(layer.losses.map(({ code, field, count }) => [code, field, count])).toEqual([["number-too-large", "n", 1]]);
    const kept = await readLayer(path, { options: { unsigned: "text" } });
    expect(featuresOf(kept)[0]!.properties).toEqual({ n: "18446744073709551615" });
    expect(kept.losses).toEqual([]);
  });

  it("that are no datetimes, JSON or UTF-8 are reported", async () => {
    const path = writeFgb(
      fresh(),
      { columns: [columns[13]!, columns[12]!, columns[11]!] },
      [["2020/02/29 1:02:03", "{", Uint8Array.of(0x61, 0xff)] as const, ["2023-02-29T01:02:03", "1", "a"] as const].map(
        (row) => featureBytes(null, Buffer.concat(row.map((value, c) => property(c, sized(value))))),
      ),
    );
    const layer = await readLayer(path);
    expect(featuresOf(layer).map(({ properties }) => properties)).toEqual([
      { datetime: "2020-02-29T01:02:03", json: "{", string: "a\uFFFD" },
      { datetime: null, json: 1, string: "a" },
    ]);
    expect(layer.losses.map(({ code, field }) => [code, field])).toEqual([
      ["value-unreadable", "datetime"],
      ["text-undecodable", "string"],
    ]);
    expect(layer.notices.map(({ code, field }) => [code, field])).toEqual([["json-as-text", "json"]]);
  });
});

const square = [0, 0, 4, 0, 4, 4, 0, 4, 0, 0];
const hole = [1, 1, 1, 2, 2, 2, 2, 1, 1, 1];
const pairs = (xy: readonly number[]) => Array.from({ length: xy.length / 2 }, (_, k) => [xy[2 * k]!, xy[2 * k + 1]!]);

const geometries: readonly (readonly [what: string, spec: GeometrySpec, expected: Geometry | null])[] = [
  ["a point", { type: 1, xy: [1, 2] }, { type: "Point", coordinates: [1, 2] }],
  [
    "a line",
    { type: 2, xy: [1, 2, 3, 4] },
    {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  ["a polygon without ends", { type: 3, xy: square }, { type: "Polygon", coordinates: [pairs(square)] }],
  [
    "a polygon with a hole",
    { type: 3, xy: [...square, ...hole], ends: [5, 10] },
    { type: "Polygon", coordinates: [pairs(square), pairs(hole)] },
  ],
  [
    "a polygon that is not closed",
    { type: 3, xy: square.slice(0, 8) },
    { type: "Polygon", coordinates: [pairs(square)] },
  ],
  [
    "points",
    { type: 4, xy: [1, 2, 3, 4] },
    {
      type: "MultiPoint",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  [
    "lines",
    { type: 5, xy: [1, 2, 3, 4, 5, 6, 7, 8], ends: [2, 4] },
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
  ],
  [
    "one line",
    { type: 5, xy: [1, 2, 3, 4] },
    {
      type: "MultiLineString",
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
  ],
  [
    "polygons",
    {
      type: 6,
      parts: [
        { type: 3, xy: square },
        { type: 3, xy: [...square, ...hole], ends: [5, 10] },
      ],
    },
    { type: "MultiPolygon", coordinates: [[pairs(square)], [pairs(square), pairs(hole)]] },
  ],
  ["polygons without parts", { type: 6, xy: square }, { type: "MultiPolygon", coordinates: [[pairs(square)]] }],
  [
    "nested collections",
    {
      type: 7,
      parts: [
        { type: 1, xy: [1, 2] },
        {
          type: 7,
          parts: [
            { type: 6, parts: [{ xy: square }] },
            { type: 5, xy: [1, 2, 3, 4] },
          ],
        },
      ],
    },
    {
      type: "GeometryCollection",
      geometries: [
        { type: "Point", coordinates: [1, 2] },
        {
          type: "GeometryCollection",
          geometries: [
            { type: "MultiPolygon", coordinates: [[pairs(square)]] },
            {
              type: "MultiLineString",
              coordinates: [
                [
                  [1, 2],
                  [3, 4],
                ],
              ],
            },
          ],
        },
      ],
    },
  ],
  [
    "a triangle",
    { type: 17, xy: [0, 0, 9, 0, 0, 9, 0, 0] },
    {
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [9, 0],
          [0, 9],
          [0, 0],
        ],
      ],
    },
  ],
  [
    "a TIN",
    { type: 16, xy: [0, 0, 9, 0, 0, 9, 0, 0, 9, 9, 9, 0, 0, 9, 9, 9], ends: [4, 8] },
    {
      type: "MultiPolygon",
      coordinates: [
        [
          [
            [0, 0],
            [9, 0],
            [0, 9],
            [0, 0],
          ],
        ],
        [
          [
            [9, 9],
            [9, 0],
            [0, 9],
            [9, 9],
          ],
        ],
      ],
    },
  ],
  ["an empty line", { type: 2, xy: [] }, { type: "LineString", coordinates: [] }],
  ["an empty point", { type: 1 }, { type: "Point", coordinates: [] }],
];

describe("geometries", () => {
  test.each(geometries)("%s is read, with its own type or that of the layer", async (_, spec, expected) => {
    for (const geometryType of [0, spec.type!]) {
      const layer = await readLayer(writeFgb(fresh(), { geometryType }, [featureBytes(spec)]));
      expect(layer.rejects).toEqual([]);
      expect(featuresOf(layer)[0]!.geometry).toEqual(expected);
    }
  });

  it("have heights and measures if the header says so", async () => {
    const spec = { xy: [1, 2, 3, 4], z: [5, 6], m: [7, 8] };
    const read = async (header: object) => {
      const layer = await readLayer(writeFgb(fresh(), { geometryType: 2, ...header }, [featureBytes(spec)]));
      const { z, m } = layer.batches[0]!.geometry;
      return [z && [...z], m && [...m], layer.losses.map(({ code, count }) => [code, count])];
    };
    expect(await read({ hasZ: true, hasM: true })).toEqual([[5, 6], [7, 8], []]);
    expect(await read({ hasM: true })).toEqual([null, [7, 8], [["z-dropped", 2]]]);
    expect(await read({})).toEqual([
      null,
      null,
      [
        ["z-dropped", 2],
        ["m-dropped", 2],
      ],
    ]);
  });

  it("with arcs become lines", async () => {
    // A half circle around 0 0, then a line.
    const arc = { type: 8, xy: [-1, 0, 0, 1, 1, 0] };
    const line = { type: 2, xy: [1, 0, 5, 0] };
    const path = writeFgb(fresh(), {}, [
      featureBytes(arc),
      featureBytes({ type: 9, parts: [arc, line] }),
      featureBytes({ type: 10, parts: [{ type: 9, parts: [arc, { type: 2, xy: [1, 0, -1, 0] }] }] }),
      featureBytes({ type: 11, parts: [arc, line] }),
      featureBytes({
        type: 12,
        parts: [
          { type: 10, parts: [{ type: 2, xy: square }] },
          { type: 3, xy: square },
        ],
      }),
    ]);
    const layer = await readLayer(path);
    const found = featuresOf(layer).map(({ geometry }) => geometry!);
    expect(found.map(({ type }) => type)).toEqual([
      "LineString",
      "LineString",
      "Polygon",
      "MultiLineString",
      "MultiPolygon",
    ]);
    const first = found[0] as { coordinates: number[][] };
    // Two quarters in steps of at most 4 degrees, and the first position.
    expect(first.coordinates.length).toBe(2 * Math.ceil(90 / 4) + 1);
    for (const [x, y] of first.coordinates) expect(Math.hypot(x!, y!)).toBeCloseTo(1, 12);
    expect(layer.losses.map(({ code, count }) => [code, count])).toEqual([["curve-linearized", 4]]);
  });

  test.each<[string, GeometrySpec, RegExp]>([
    ["an abstract type", { type: 13, xy: [1, 2] }, /13 is not a geometry type/],
    ["no type at all", { xy: [1, 2] }, /0 is not a geometry type/],
    ["a point of two positions", { type: 1, xy: [1, 2, 3, 4] }, /2 positions/],
    ["a number without its pair", { type: 2, xy: [1, 2, 3] }, /not pairs/],
    ["ends beyond the positions", { type: 3, xy: square, ends: [9] }, /not in order/],
    ["ends before the last position", { type: 5, xy: [1, 2, 3, 4, 5, 6], ends: [2] }, /after the end/],
    ["positions that are not numbers", { type: 2, xy: [1, Number.NaN, 3, 4] }, /not a number/],
  ])("with %s are rejects with their reason", async (_, spec, reason) => {
    const path = writeFgb(fresh(), {}, [featureBytes({ type: 1, xy: [0, 0] }), featureBytes(spec)]);
    const layer = await readLayer(path);
    expect(layer.rejects.map(({ code, place }) => [code, place.record])).toEqual([["geometry-malformed", 2]]);
    expect(layer.rejects[0]!.reason).toMatch(reason);
  });

  it("whose parts are all the same table are refused, not multiplied", async () => {
    // Each of 40 collections has the next one twice: 2^40 points.
    const depth = 40;
    const bytes = Buffer.alloc(16 + 28 * depth + 64);
    // Feature: vtable at 8, table at 16 with the geometry at 20.
    bytes.writeUInt32LE(bytes.length - 4, 0);
    bytes.writeUInt32LE(12, 4);
    bytes.set([6, 0, 8, 0, 4, 0, 0, 0], 8);
    bytes.writeInt32LE(8, 16);
    // Geometry: vtable at 28 with type and parts.
    bytes.set([20, 0, 12, 0, ...Array(12).fill(0), 8, 0, 4, 0], 28);
    const first = 48;
    bytes.writeUInt32LE(first - 20, 20);
    for (let n = 0; n < depth; n++) {
      const table = first + 24 * n;
      bytes.writeInt32LE(table - 28, table);
      bytes.writeUInt32LE(8, table + 4);
      bytes[table + 8] = 7;
      bytes.writeUInt32LE(2, table + 12);
      bytes.writeUInt32LE(n + 1 < depth ? 8 : 0, table + 16);
      bytes.writeUInt32LE(n + 1 < depth ? 4 : 0, table + 20);
    }
    const layer = await readLayer(writeFgb(fresh(), {}, [bytes]));
    expect(layer.rejects.map(({ code }) => code)).toEqual(["geometry-malformed"]);
  });
});

describe("a header", () => {
  it("has a title, descriptions and metadata, and columns have rules that are reported", async () => {
    const path = writeFgb(
      fresh(),
      {
        name: "towns",
        title: "Towns",
        description: "All of them",
        metadata: '{"a":1}',
        columns: [
          { name: "id", type: 5, primaryKey: true, nullable: false },
          { name: "n", type: 5, unique: true, title: "Name", description: "What it is called" },
        ],
        hasT: true,
      },
      [],
    );
    const layer = await readLayer(path);
    expect(layer.info.name).toBe("towns");
    const output = fresh("gpkg");
    const { notices, losses } = await convertFile(path, output, { allowEmpty: true, sourceCrs: "EPSG:4326" });
    expect(notices.filter(({ code }) => code === "structure-left-out").map(({ example }) => example)).toEqual([
      'primary key: "id"; columns that are declared unique: "n"; columns that are declared not nullable: "id"',
    ]);
    expect(losses.map(({ code }) => code)).toContain("t-dropped");
  });

  it("names its reference system by code, text or WKT", async () => {
    const crsOf = async (crs: object) => (await readLayer(writeFgb(fresh(), { crs }, []))).info.crs?.id ?? null;
    expect(await crsOf({ code: 25832 })).toBe("EPSG:25832");
    expect(await crsOf({ org: "epsg", code: 4326 })).toBe("EPSG:4326");
    expect(await crsOf({ org: "OGC", codeString: "CRS84" })).toBe("EPSG:4326");
    expect(
      await crsOf({
        org: "NONE",
        code: 1,
        wkt: 'GEOGCS["x",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]',
      }),
    ).toBe("EPSG:4326");
    const layer = await readLayer(writeFgb(fresh(), { crs: { wkt: "nonsense" } }, []));
    expect([layer.info.crs, layer.notices.map(({ code }) => code)]).toEqual([null, ["crs-unreadable"]]);
  });

  it("may be of any patch level, and of no other version", async () => {
    const bytes = Buffer.concat([headerBytes({}), featureBytes({ type: 1, xy: [1, 2] })]);
    const read = async (version: number, patch: number) => {
      const path = fresh();
      bytes[3] = version;
      bytes[7] = patch;
      writeFileSync(path, bytes);
      return featuresOf(await readLayer(path)).length;
    };
    expect([await read(3, 0), await read(3, 1), await read(3, 9)]).toEqual([1, 1, 1]);
    await expect(read(2, 0)).rejects.toMatchObject({ code: "unsupported" });
    expect(flatgeobuf.identify(bytes, { name: "x", size: 9, findSibling: () => null })).toBe("yes");
    expect(flatgeobuf.identify(magic.subarray(0, 7), { name: "x.fgb", size: 9, findSibling: () => null })).toBe("no");
  });

  it("is found by its content, and by the built-in reader before GDAL", async () => {
    const path = writeFgb(fresh("dat"), {}, [featureBytes({ type: 1, xy: [1, 2] })]);
    const format = await createTestHost().registry.identify(
      { name: path, path, size: 99, findSibling: () => null, open: () => Promise.reject(new Error("unused")) },
      readFileSync(path),
    );
    expect(format.id).toBe("flatgeobuf");
  });
});

describe("a file that is not whole", () => {
  const points = Array.from({ length: 5 }, (_, n) => featureBytes({ type: 1, xy: [n, n] }));
  const whole = Buffer.concat([headerBytes({ count: 5 }), ...points]);
  const readBytes = async (bytes: Uint8Array, skipErrors = false) => {
    const path = fresh();
    writeFileSync(path, bytes);
    return readLayer(path, { skipErrors });
  };

  it("without a count is read to its end", async () => {
    expect(featuresOf(await readBytes(Buffer.concat([headerBytes({}), ...points]))).length).toBe(5);
  });

  it("is an error wherever it ends", async () => {
    for (let size = 1; size < whole.length; size++) {
      const error = await readBytes(whole.subarray(0, size)).then(
        () => "read",
        ({ code }) => code,
      );
      expect(error, `${size} of ${whole.length} bytes`).toMatch(
        size < 8 ? /input-(truncated|corrupt)/ : /input-truncated/,
      );
    }
  });

  it("is read up to the damage if errors are skipped", async () => {
    const layer = await readBytes(whole.subarray(0, whole.length - 5), true);
    expect(featuresOf(layer).length).toBe(4);
    const path = fresh();
    writeFileSync(path, whole.subarray(0, whole.length - 5));
    const { skippedRanges } = await convertFile(path, fresh("geojson"), { skipErrors: true });
    expect(skippedRanges.map(({ place }) => place.record)).toEqual([5]);
  });

  it("with more features than its header says has a notice", async () => {
    const layer = await readBytes(Buffer.concat([headerBytes({ count: 4 }), ...points]));
    expect(featuresOf(layer).length).toBe(5);
    expect(layer.notices.map(({ code }) => code)).toEqual(["record-count-mismatch"]);
  });
});

describe("files of other programs", () => {
  const collection = {
    type: "FeatureCollection",
    features: Array.from({ length: 20 }, (_, n) => ({
      type: "Feature",
      properties: { n, d: n / 3, s: `s${n}`, b: n % 2 === 0 },
      geometry: { type: "Polygon", coordinates: [pairs(square).map(([x, y]) => [x! + n, y! - n])] },
    })),
  };

  it("are read as the npm package means them", async () => {
    const path = fresh();
    writeFileSync(path, serialize(collection as Parameters<typeof serialize>[0]));
    expect(featuresOf(await readLayer(path)).map(({ geometry, properties }) => ({ geometry, properties }))).toEqual(
      collection.features.map(({ geometry, properties }) => ({ geometry, properties })),
    );
  });

  it.skipIf(!hasOgr2ogr)("are read as ogr2ogr means them, with and without an index", async () => {
    const source = fresh("csv");
    const shapes = [
      "POINT ZM (1 2 3 4)",
      "LINESTRING (0 0,1 1)",
      "POLYGON ((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,2 1,1 1))",
      "MULTIPOINT ((1 2),(3 4))",
      "MULTILINESTRING ((0 0,1 1),(2 2,3 3))",
      "MULTIPOLYGON (((0 0,4 0,4 4,0 0)),((5 5,6 5,6 6,5 5)))",
      "GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (0 0,1 1))",
      "COMPOUNDCURVE (CIRCULARSTRING (-1 0,0 1,1 0),(1 0,5 0))",
      "CURVEPOLYGON (CIRCULARSTRING (0 0,2 2,4 0,2 -2,0 0))",
    ];
    for (const shape of shapes) {
      writeFileSync(source, `wkt,t\n"${shape}",2020-02-29 12:34:56\n`);
      const args = ["-oo", "GEOM_POSSIBLE_NAMES=wkt", "-oo", "KEEP_GEOM_COLUMNS=NO", "-oo", "AUTODETECT_TYPE=YES"];
      for (const index of ["YES", "NO"]) {
        const path = fresh();
        ogr2ogr("-f", "FlatGeobuf", path, source, ...args, "-lco", `SPATIAL_INDEX=${index}`, "-a_srs", "EPSG:4326");
        const back = fresh("geojson");
        ogr2ogr("-f", "GeoJSON", back, path);
        const [theirs] = JSON.parse(readFileSync(back, "utf8")).features;
        const layer = await readLayer(path);
        expect(layer.info.crs?.id).toBe("EPSG:4326");
        const [feature] = featuresOf(layer);
        expect(feature!.properties).toEqual({ t: "2020-02-29T12:34:56" });
        if (shape.includes("CURVE")) expect(feature!.geometry!.type).toBe(theirs.geometry.type);
        else expect(feature!.geometry).toEqual(theirs.geometry);
      }
    }
  });
});

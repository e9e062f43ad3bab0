import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { TextBuffer } from "../../../plugins/shared/text/text-buffer.js";
import { WkbReader, WkbWriter } from "../../../plugins/shared/wkb/index.js";
import { GeometryParseError, WktReader, WktWriter } from "../../../plugins/shared/wkt/index.js";
import { type Geometry, type GeometryColumn, geometryAt } from "../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const fromWkt = (text: string) => {
  const builder = new GeometryBuilder();
  const bytes = Buffer.from(`xx${text}`);
  const reader = new WktReader();
  reader.read(bytes, 2, bytes.length, builder);
  return { reader, column: builder.finish() };
};
const toWkt = (column: GeometryColumn, decimals: number | null = null, i = 0) => {
  const out = new TextBuffer(8);
  new WktWriter(out, decimals).write(column, i);
  return Buffer.from(out.finish()).toString();
};
const fromHex = (hex: string) => {
  const builder = new GeometryBuilder();
  const reader = new WkbReader();
  reader.readHex(Buffer.from(hex), 0, hex.length, builder);
  return { reader, column: builder.finish() };
};
const fromBlob = (blob: Buffer) => {
  const builder = new GeometryBuilder();
  const reader = new WkbReader();
  reader.read(blob, 0, blob.length, builder);
  return { reader, column: builder.finish() };
};
const u32 = (little: boolean, value: number) => {
  const bytes = Buffer.alloc(4);
  if (little) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
};
const xy = (little: boolean, ...numbers: number[]) => {
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [n, value] of numbers.entries()) {
    if (little) bytes.writeDoubleLE(value, 8 * n);
    else bytes.writeDoubleBE(value, 8 * n);
  }
  return bytes;
};
const geometry = (type: number, little: boolean, body: Buffer[]) =>
  Buffer.concat([Buffer.of(little ? 1 : 0), u32(little, type), ...body]);

const samples = [
  "POINT (1 2)",
  "POINT Z (1 2 3)",
  "POINT M (1 2 3)",
  "POINT ZM (1 2 3 4)",
  "POINT EMPTY",
  "LINESTRING (0 0,1.5 -1,1e-7 2)",
  "LINESTRING EMPTY",
  "POLYGON ((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,1 1))",
  "POLYGON EMPTY",
  "MULTIPOINT ((1 2),(3 4))",
  "MULTIPOINT Z ((1 2 3),(3 4 5))",
  "MULTILINESTRING ((0 0,1 1),(2 2,3 3,4 4))",
  "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,9 5,9 9,5 5),(6 5.5,7 6,7 5.5,6 5.5)))",
  "MULTIPOLYGON EMPTY",
  "GEOMETRYCOLLECTION (POINT (1 2),GEOMETRYCOLLECTION (LINESTRING (0 0,1 1)),POLYGON ((0 0,1 0,1 1,0 0)))",
  "GEOMETRYCOLLECTION EMPTY",
];

/** What GDAL makes of WKT: GeoJSON geometry and hexadecimal ISO WKB, line by line. */
function gdal(texts: readonly string[]): { json: Geometry | null; hex: string }[] {
  const csv = scratch.path("g.csv");
  writeFileSync(csv, `id,wkt\n${texts.map((text, i) => `${i},"${text}"`).join("\n")}\n`);
  const run = (...args: string[]) =>
    execFileSync("ogr2ogr", ["-f", ...args, csv, "-oo", "GEOM_POSSIBLE_NAMES=wkt", "-oo", "KEEP_GEOM_COLUMNS=NO"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  const json = run("GeoJSONSeq", "/vsistdout/", "-lco", "COORDINATE_PRECISION=15").trim().split("\n");
  // The dump holds WKB as EWKB hex.
  const dump = run("PGDUMP", "/vsistdout/", "-lco", "SRID=0").split("\n");
  const hex = dump.flatMap((line) => /\b(0[01][0-9A-F]{16,})\b/.exec(line)?.[1] ?? []);
  return json.map((line, i) => ({ json: JSON.parse(line).geometry, hex: hex[i] ?? "" }));
}

describe("WKT", () => {
  test("reads what GDAL reads", () => {
    const expected = gdal(samples);
    samples.forEach((text, i) => {
      const geometry = geometryAt(fromWkt(text).column, 0)!;
      const empty = text.endsWith("EMPTY");
      if (text === "POINT EMPTY") expect(geometry).toEqual({ type: "Point", coordinates: [] });
      else if (!empty) expect(geometry).toEqual(expected[i]!.json);
    });
  });

  test.each(samples)("writes %s as it was read", (text) => expect(toWkt(fromWkt(text).column)).toBe(text));

  test.each([
    ["point(1 2)", "POINT (1 2)"],
    ["  PointZ ( 1   2\t3 ) ", "POINT Z (1 2 3)"],
    ["POINT(1 2 3)", "POINT Z (1 2 3)"],
    ["POINT ZM(1 2 3 4)", "POINT ZM (1 2 3 4)"],
    ["LINEARRING (0 0, 1 1, 2 0, 0 0)", "LINESTRING (0 0,1 1,2 0,0 0)"],
    ["MULTIPOINT (1 2, 3 4)", "MULTIPOINT ((1 2),(3 4))"],
    ["MULTIPOINT ((1 2), EMPTY, (3 4))", "MULTIPOINT ((1 2),(3 4))"],
    ["MULTIPOLYGON (EMPTY, ((0 0, 1 0, 1 1, 0 0)))", "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"],
    ["MULTIPOINT (EMPTY)", "MULTIPOINT EMPTY"],
    ["MULTILINESTRING (EMPTY, (0 0, 1 1))", "MULTILINESTRING ((0 0,1 1))"],
    ["POLYGON ((0 0, 1 0, 1 1, 0 0), EMPTY)", "POLYGON ((0 0,1 0,1 1,0 0))"],
    ["MULTICURVE (CIRCULARSTRING EMPTY)", "MULTILINESTRING EMPTY"],
    ["TRIANGLE ((0 0, 1 0, 1 1, 0 0))", "POLYGON ((0 0,1 0,1 1,0 0))"],
    ["TIN (((0 0, 1 0, 1 1, 0 0)))", "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"],
    ["COMPOUNDCURVE ((0 0, 1 0), (1 0, 2 0))", "LINESTRING (0 0,1 0,2 0)"],
    ["MULTICURVE ((0 0, 1 0), COMPOUNDCURVE ((1 0, 2 0)))", "MULTILINESTRING ((0 0,1 0),(1 0,2 0))"],
  ])("reads %s", (text, plain) => expect(toWkt(fromWkt(text).column)).toBe(plain));

  test("closes an open ring and counts it", () => {
    const { reader, column } = fromWkt("POLYGON ((0 0, 1 0, 1 1))");
    expect(toWkt(column)).toBe("POLYGON ((0 0,1 0,1 1,0 0))");
    expect(reader.closedRings).toBe(1);
  });

  test("reads the SRID of EWKT", () => {
    const { reader, column } = fromWkt("SRID=25832;POINT(500000 5000000)");
    expect(reader.srid).toBe(25832);
    expect(toWkt(column)).toBe("POINT (500000 5000000)");
  });

  test("a semicircle keeps its radius and its middle", () => {
    const line = geometryAt(fromWkt("CIRCULARSTRING (1000000 0, 1000001 1, 1000002 0)").column, 0) as {
      coordinates: number[][];
    };
    expect(line.coordinates.length).toBe(47);
    expect(line.coordinates[23]).toEqual([1000001, 1]);
    for (const [x, y] of line.coordinates) expect(Math.hypot(x! - 1000001, y!)).toBeCloseTo(1, 9);
    expect(Math.min(...line.coordinates.map((p) => p[1]!))).toBe(0);
  });

  test("a circle goes all the way round, clockwise arcs the short way", () => {
    const circle = geometryAt(fromWkt("CURVEPOLYGON (CIRCULARSTRING (0 0, 2 0, 0 0))").column, 0) as {
      coordinates: number[][][];
    };
    const ring = circle.coordinates[0]!;
    const area = ring.slice(1).reduce((sum, [x, y], k) => sum + (ring[k]![0]! * y! - x! * ring[k]![1]!) / 2, 0);
    // A regular polygon of 90 corners on the unit circle: n/2 sin(2π/n).
    expect(area).toBeCloseTo(45 * Math.sin(Math.PI / 45), 9);
    const arc = geometryAt(fromWkt("CIRCULARSTRING (-1 0, 0 1, 1 0)").column, 0) as { coordinates: number[][] };
    expect(arc.coordinates.every(([, y]) => y! >= -1e-12)).toBe(true);
  });

  test.each([
    "",
    "POINT",
    "POINT (1)",
    "POINT (1 2",
    "POINT (1 2) x",
    "POINT (1 x)",
    "POINT (nan nan)",
    "POINT (1 2 3 4 5)",
    "PONT (1 2)",
    "POLYGON (0 0, 1 1)",
    "LINESTRING (0 0, 1 1",
    "POLYGON (EMPTY, (0 0, 1 0, 1 1, 0 0))",
    "CIRCULARSTRING (0 0, 1 1)",
    "CIRCULARSTRING (0 0, 1 1, 2 0, 3 3)",
    "GEOMETRYCOLLECTION (POINT (1))",
    `${"GEOMETRYCOLLECTION (".repeat(5000)}`,
    "SRID=4326",
  ])("refuses %j and takes nothing in", (text) => {
    const builder = new GeometryBuilder();
    builder.addPoint(7, 8);
    const bytes = Buffer.from(text);
    expect(() => new WktReader().read(bytes, 0, bytes.length, builder)).toThrow(GeometryParseError);
    builder.addPoint(9, 10);
    const column = builder.finish();
    expect(column.length).toBe(2);
    expect(geometryAt(column, 1)).toEqual({ type: "Point", coordinates: [9, 10] });
    expect(column.xy.length).toBe(4);
  });

  test("numbers in any form are those of Number(), and the first position says how many there are", () => {
    const digits = (max: number) => fc.array(fc.nat(9), { minLength: 1, maxLength: max }).map((all) => all.join(""));
    const number = fc
      .oneof(
        fc.tuple(digits(6), digits(9)).map(([a, b]) => `${a}.${b}`),
        fc.tuple(digits(4), digits(13)).map(([a, b]) => `${a}.${b}`),
        fc.tuple(digits(12), digits(12)).map(([a, b]) => `${a}.${b}`),
        digits(18),
        digits(3).chain((a) => fc.constantFrom(`${a}.`, `.${a}`, `${a}e2`, `${a}.5E-3`)),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(Math.abs(value))),
      )
      .chain((text) => fc.constantFrom(text, `-${text}`));
    const position = fc.array(number, { minLength: 2, maxLength: 4 });
    const space = fc.constantFrom(" ", "", "  ", "\n");
    const signs = fc.tuple(
      fc.array(position, { minLength: 2, maxLength: 6 }),
      fc.constantFrom("", "Z", "M", "ZM"),
      space,
    );
    fc.assert(
      fc.property(signs, ([line, tag, gap]) => {
        const text = `LINESTRING ${tag}(${gap}${line.map((p) => p.join(gap || " ")).join(`${gap},${gap}`)}${gap})`;
        const { column, reader } = fromWkt(text);
        const most = Math.max(2 + tag.length, line[0]!.length);
        const isMeasured = tag === "M";
        line.forEach((numbers, k) => {
          const [x, y, ...more] = numbers.map(Number);
          expect([column.xy[2 * k], column.xy[2 * k + 1]]).toEqual([x, y]);
          const third = most > 2 ? (more[0] ?? Number.NaN) : Number.NaN;
          const fourth = most > 3 ? more[1] : undefined;
          expect(column.z?.[k] ?? Number.NaN).toBe(isMeasured ? Number.NaN : third);
          // A fourth number under M is taken for it, and what is beyond the first position's numbers for nothing.
          const isShort = numbers.length > most;
          expect(column.m?.[k] ?? Number.NaN).toBe(fourth ?? (isMeasured && !isShort ? third : Number.NaN));
        });
        expect(reader.shortened).toBe(line.filter((numbers) => numbers.length > most).length);
      }),
      { numRuns: 2000 },
    );
  });

  test("a text that ends within a number is refused, regardless of the bytes that follow", () => {
    const bytes = Buffer.from("LINESTRING (1 2,3 4)");
    for (let to = 0; to < bytes.length; to++) {
      expect(() => new WktReader().read(bytes, 0, to, new GeometryBuilder())).toThrow(GeometryParseError);
    }
  });

  test("rounds x and y when asked", () =>
    expect(toWkt(fromWkt("POINT Z (1.23456 -0.000001 9.87654)").column, 3)).toBe("POINT Z (1.235 0 9.87654)"));
});

describe("WKB", () => {
  test("reads the EWKB that GDAL writes", () => {
    const plain = samples.filter((text) => !/ (Z|M|ZM) |EMPTY/.test(text));
    const expected = gdal(plain);
    plain.forEach((text, i) => {
      const geometry = geometryAt(fromHex(expected[i]!.hex).column, 0);
      expect(geometry, text).toEqual(geometryAt(fromWkt(text).column, 0));
    });
    expect(plain.length).toBe(7);
  });

  // Examples written by hand after OGC 06-103r4 8.2 and PostGIS's documentation of EWKB.
  test.each([
    ["0101000000000000000000f03f0000000000000040", "POINT (1 2)", null],
    ["00000000013ff00000000000004000000000000000", "POINT (1 2)", null],
    ["01e9030000000000000000f03f00000000000000400000000000000840", "POINT Z (1 2 3)", null],
    ["0101000080000000000000f03f00000000000000400000000000000840", "POINT Z (1 2 3)", null],
    ["0101000040000000000000f03f00000000000000400000000000000840", "POINT M (1 2 3)", null],
    ["0101000020e6100000000000000000f03f0000000000000040", "POINT (1 2)", 4326],
    ["0101000000000000000000f87f000000000000f87f", "POINT EMPTY", null],
    ["010700000000000000", "GEOMETRYCOLLECTION EMPTY", null],
  ])("reads %s", (hex, text, srid) => {
    const { column, reader } = fromHex(hex);
    expect(toWkt(column)).toBe(text);
    expect(reader.srid).toBe(srid);
  });

  // By ISO 13249-3, 5.1.47: byte order, type, then a count and what is counted.
  test("parts have byte orders and flags of their own", () => {
    const { reader, column } = fromBlob(
      geometry(7, false, [
        u32(false, 5),
        geometry(1, true, [xy(true, 1, 2)]),
        geometry(0x80000001, false, [xy(false, 3, 4, 5)]),
        geometry(2002, true, [u32(true, 2), xy(true, 0, 0, 7), xy(true, 1, 1, 8)]),
        geometry(0xe0000001, true, [u32(true, 4326), xy(true, 1, 2, 3, 4)]),
        geometry(4, false, [u32(false, 2), geometry(1, true, [xy(true, 5, 6)]), geometry(1, false, [xy(false, 7, 8)])]),
      ]),
    );
    expect(reader.srid).toBe(4326);
    const text = (i: number) => toWkt(column.members!, null, i);
    expect([0, 1, 2, 3, 4].map(text)).toEqual([
      "POINT (1 2)",
      "POINT Z (3 4 5)",
      "LINESTRING M (0 0 7,1 1 8)",
      "POINT ZM (1 2 3 4)",
      "MULTIPOINT ((5 6),(7 8))",
    ]);
  });

  const square = [xy(true, 0, 0), xy(true, 4, 0), xy(true, 4, 4), xy(true, 0, 0)];
  const line = (...points: Buffer[]) => geometry(2, true, [u32(true, points.length), ...points]);
  const arc = geometry(8, true, [u32(true, 3), xy(true, 0, 0), xy(true, 1, 1), xy(true, 2, 0)]);
  test.each([
    ["CompoundCurve", geometry(9, true, [u32(true, 2), arc, line(xy(true, 2, 0), xy(true, 9, 0))]), 1, 48],
    [
      "CurvePolygon",
      geometry(10, true, [u32(true, 1), geometry(9, true, [u32(true, 2), arc, line(xy(true, 2, 0), xy(true, 0, 0))])]),
      1,
      48,
    ],
    ["MultiCurve", geometry(11, true, [u32(true, 2), arc, line(xy(true, 2, 0), xy(true, 9, 0))]), 1, 49],
    [
      "MultiSurface",
      geometry(12, true, [
        u32(true, 2),
        geometry(3, true, [u32(true, 1), u32(true, 4), ...square]),
        geometry(10, true, [u32(true, 1), line(...square)]),
      ]),
      0,
      8,
    ],
    [
      "PolyhedralSurface",
      geometry(15, true, [u32(true, 1), geometry(3, true, [u32(true, 1), u32(true, 4), ...square])]),
      0,
      4,
    ],
    ["TIN", geometry(16, true, [u32(true, 1), geometry(17, true, [u32(true, 1), u32(true, 4), ...square])]), 0, 4],
    ["Triangle", geometry(17, true, [u32(true, 1), u32(true, 4), ...square]), 0, 4],
  ])("reads a %s and counts its curves", (_, blob, curves, positions) => {
    // A quarter in steps of 4 degrees takes 22.5, rounded up: a semicircle has 47 positions.
    const { reader, column } = fromBlob(blob);
    expect(reader.curves).toBe(curves);
    expect(column.xy.length / 2).toBe(positions);
  });

  test.each([
    [
      "a MultiPoint of empty points",
      geometry(4, true, [u32(true, 1), geometry(1, true, [xy(true, Number.NaN, Number.NaN)])]),
      "MULTIPOINT EMPTY",
    ],
    ["a Polygon of empty rings", geometry(3, true, [u32(true, 2), u32(true, 0), u32(true, 0)]), "POLYGON EMPTY"],
    ["a MultiLineString of empty lines", geometry(5, true, [u32(true, 1), line()]), "MULTILINESTRING EMPTY"],
    [
      "a MultiPolygon with an empty one",
      geometry(6, true, [u32(true, 1), geometry(3, true, [u32(true, 0)])]),
      "MULTIPOLYGON EMPTY",
    ],
  ])("%s is empty", (_, blob, text) => {
    const { column } = fromBlob(blob);
    expect(toWkt(column)).toBe(text);
    expect(column.ringOffsets.length).toBe(1);
  });

  test.each([
    ["positions", geometry(2, true, [u32(true, 0xffffffff)])],
    ["positions of four numbers", geometry(3002, true, [u32(true, 2), xy(true, 1, 2, 3, 4), xy(true, 1, 2, 3)])],
    ["rings", geometry(3, true, [u32(true, 0x7fffffff), u32(true, 0)])],
    ["points", geometry(4, true, [u32(true, 0x10000000), geometry(1, true, [xy(true, 1, 2)])])],
    ["members", geometry(7, true, [u32(true, 0xfffffff0), geometry(7, true, [u32(true, 0)])])],
  ])("a count of %s that the bytes cannot hold is refused", (_, blob) => {
    expect(() => fromBlob(blob)).toThrow("exceeds the size of the blob");
  });

  test.each([
    ["a hole without a shell", geometry(3, true, [u32(true, 2), u32(true, 0), u32(true, 4), ...square])],
    ["arcs of two positions", geometry(8, true, [u32(true, 2), xy(true, 0, 0), xy(true, 1, 1)])],
    ["a bit that is no flag", geometry(0x10000001, true, [xy(true, 1, 2)])],
    ["a curve where a point belongs", geometry(4, true, [u32(true, 1), line(...square)])],
    [
      "members of two SRIDs",
      geometry(0x20000007, true, [
        u32(true, 4326),
        u32(true, 1),
        geometry(0x20000001, true, [u32(true, 3857), xy(true, 1, 2)]),
      ]),
    ],
  ])("%s is refused", (_, blob) => expect(() => fromBlob(blob)).toThrow(GeometryParseError));

  test.each(samples)("writes %s and reads it back", (text) => {
    const hex = Buffer.from(new WkbWriter().writeHex(fromWkt(text).column, 0)).toString();
    expect(toWkt(fromHex(hex).column)).toBe(text);
  });

  test("any damage is refused with nothing taken in", () => {
    const blobs = samples.map((text) => Buffer.from(new WkbWriter().write(fromWkt(text).column, 0)));
    fc.assert(
      fc.property(
        fc.constantFrom(...blobs),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }),
        fc.nat(),
        (blob, changes, cut) => {
          const damaged = Buffer.from(blob.subarray(0, (cut % blob.length) + 1));
          for (const [at, value] of changes) damaged[at % damaged.length] = value;
          const builder = new GeometryBuilder();
          try {
            new WkbReader().read(damaged, 0, damaged.length, builder);
          } catch (error) {
            expect(error).toBeInstanceOf(GeometryParseError);
            expect(builder.length).toBe(0);
          }
          builder.addPoint(1, 2);
          const column = builder.finish();
          expect(geometryAt(column, column.length - 1)).toEqual({ type: "Point", coordinates: [1, 2] });
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("text that is not hexadecimal is refused", () => {
    for (const hex of ["0101zz", "010", ""]) expect(() => fromHex(hex)).toThrow(GeometryParseError);
  });
});

describe("long lines", () => {
  const numbers = Array.from({ length: 12 }, (_, n) => n * 1.25 - 7);
  const line = (little: boolean, coordinates: number[]) =>
    geometry(2, little, [u32(little, coordinates.length / 2), xy(little, ...coordinates)]);
  const read = (reader: WkbReader, builder: GeometryBuilder, blob: Buffer, before: number) => {
    const bytes = Buffer.concat([Buffer.alloc(before), blob]);
    reader.read(bytes, before, bytes.length, builder);
  };

  test("are the same in both byte orders, wherever they begin", () => {
    for (const before of [0, 1, 2, 3, 8]) {
      const builder = new GeometryBuilder();
      const reader = new WkbReader();
      for (const little of [true, false]) read(reader, builder, line(little, numbers), before);
      const { xy: found, positionOffsets } = builder.finish();
      expect([...found]).toEqual([...numbers, ...numbers]);
      expect([...positionOffsets]).toEqual([0, 6, 12]);
    }
  });

  test("have no height among others that have one", () => {
    const builder = new GeometryBuilder();
    builder.beginSinglePart(2);
    builder.addPositionZM(1, 2, 3, 4);
    builder.end();
    read(new WkbReader(), builder, line(true, numbers), 1);
    const { z, m } = builder.finish();
    expect([...z!]).toEqual([3, ...Array(6).fill(Number.NaN)]);
    expect([...m!]).toEqual([4, ...Array(6).fill(Number.NaN)]);
  });

  test("with a coordinate that is no number leave nothing behind", () => {
    for (const little of [true, false]) {
      for (const at of [0, 5, 11]) {
        const builder = new GeometryBuilder();
        const reader = new WkbReader();
        read(reader, builder, line(true, numbers), 0);
        expect(() => read(reader, builder, line(little, numbers.with(at, Number.NaN)), 3)).toThrow(GeometryParseError);
        read(
          reader,
          builder,
          line(
            little,
            numbers.map((n) => -n),
          ),
          0,
        );
        const { length, xy: found } = builder.finish();
        expect(length).toBe(2);
        expect([...found]).toEqual([...numbers, ...numbers.map((n) => -n)]);
      }
    }
  });

  test("are written as they were read", () => {
    const blob = line(true, numbers);
    expect(Buffer.from(new WkbWriter().write(fromBlob(blob).column, 0))).toEqual(blob);
  });
});

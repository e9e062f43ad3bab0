import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import format from "../../../plugins/csv/index.js";
import { writeOptions } from "../../../plugins/csv/options.js";
import * as writer from "../../../plugins/csv/writer.js";
import { Batch } from "../../../src/model/batch.js";
import {
  type Crs,
  type Feature,
  type Field,
  type Geometry,
  GeometryBuilder,
  Kind,
  packFeatures,
  Summarizer,
} from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { convertFile } from "../../support/host.js";
import { PlainSink, RecordingContext, TemporaryFolder } from "../../support/read-layers.js";
import { readFile, types } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const path = scratch.path("out.csv");

const { crs: crsContext } = new RecordingContext();
const wgs84 = crsContext.wgs84;

interface Written {
  readonly text: string;
  readonly recording: RecordingContext;
}

async function writeBatches(
  batches: readonly Batch[],
  fields: readonly Field[],
  options: Readonly<Record<string, string>> = {},
  crs: Crs | null = wgs84,
): Promise<Written> {
  const recording = new RecordingContext();
  const summariser = new Summarizer(false);
  for (const batch of batches) summariser.add(batch);
  const layer = { name: "out", crs, fields, summary: summariser.summary() };
  const values = parseOptions("csv", writeOptions, options);
  const sink = new PlainSink(path);
  const encoder = await writer.createEncoder(layer, values, recording);
  const assembler = await writer.createAssembler(sink, [layer], values, recording);
  for (const batch of batches) await assembler.append(encoder.encode(batch), 0);
  await assembler.finish();
  await sink.close();
  return { text: readFileSync(path, "utf8"), recording };
}

const feature = (geometry: Geometry | null, properties: Record<string, unknown> = {}): Feature => ({
  type: "Feature",
  geometry,
  properties,
});
const point = (...coordinates: number[]): Geometry => ({ type: "Point", coordinates });
const write = (
  features: readonly Feature[],
  fields: readonly Field[] = [],
  options: Readonly<Record<string, string>> = {},
  crs: Crs | null = wgs84,
) => writeBatches([packFeatures(features, 1, fields)], fields, options, crs);

const text = (name: string): Field => ({ name, type: "text" });

describe("the geometry", () => {
  test("points become columns lon and lat, null geometries empty cells", async () => {
    const { text: csv } = await write([feature(point(1.5, -2), { n: "a" }), feature(null, { n: "b" })], [text("n")]);
    expect(csv).toBe("lon,lat,n\n1.5,-2,a\n,,b\n");
  });

  test("a third column z is written if any point has a height", async () => {
    const { text: csv } = await write([feature(point(1, 2, 3.25)), feature(point(4, 5))]);
    expect(csv).toBe("lon,lat,z\n1,2,3.25\n4,5,\n");
  });

  test.each(["wkt", "wkb"])(
    "positions without a height in a geometry with some get 0, as %s has no NaN",
    async (geometry) => {
      const line: Geometry = {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1, 5],
          [2, 2],
        ],
      };
      const members: Geometry = { type: "GeometryCollection", geometries: [point(1, 2), point(3, 4, 5)] };
      const { text: csv, recording } = await write(
        [feature(line, { n: "a" }), feature(members, { n: "b" })],
        [text("n")],
        { geometry },
      );
      if (geometry === "wkt") {
        expect(csv).toBe(
          'wkt,n\n"LINESTRING Z (0 0 0,1 1 5,2 2 0)",a\n"GEOMETRYCOLLECTION Z (POINT Z (1 2 0),POINT Z (3 4 5))",b\n',
        );
      }
      expect(recording.losses).toMatchObject([{ code: "z-missing", count: 3 }]);
      const said = execFileSync("ogrinfo", ["-ro", "-al", "-oo", "GEOM_POSSIBLE_NAMES=wkt,wkb", path], {
        encoding: "utf8",
      });
      expect(said).toContain("LINESTRING Z (0 0 0,1 1 5,2 2 0)");
    },
  );

  test("positions without a measure in a geometry with some get 0", async () => {
    const builder = new GeometryBuilder();
    builder.begin(Kind.LineString);
    builder.beginPart();
    builder.beginRing();
    builder.addPositionZM(0, 0, Number.NaN, Number.NaN);
    builder.addPositionZM(1, 1, Number.NaN, 7);
    builder.end();
    const geometry = builder.finish();
    const batch = new Batch({
      length: 1,
      ids: null,
      fields: [],
      columns: [],
      geometry,
      recordNumbers: null,
      firstRecord: 1,
    });
    const { text: csv, recording } = await writeBatches([batch], []);
    expect(csv).toBe('wkt\n"LINESTRING M (0 0 0,1 1 7)"\n');
    expect(recording.losses).toMatchObject([{ code: "m-missing", count: 1 }]);
  });

  test("geometries other than points become WKT", async () => {
    const line: Geometry = {
      type: "LineString",
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    };
    const { text: csv } = await write([feature(point(1, 2)), feature(line), feature(null)]);
    expect(csv).toBe('wkt\nPOINT (1 2)\n"LINESTRING (0 0,1 1)"\n""\n');
  });

  test("a table without geometries has no geometry column", async () => {
    const { text: csv } = await write([feature(null, { a: "x" })], [text("a")]);
    expect(csv).toBe("a\nx\n");
  });

  test("the geometry is WKT if an attribute could be taken for a coordinate", async () => {
    const fields: Field[] = [
      { name: "lat", type: "double" },
      { name: "lon", type: "double" },
    ];
    const { text: csv } = await write([feature(point(1, 2), { lat: 8, lon: 9 })], fields);
    expect(csv).toBe("wkt,lat,lon\nPOINT (1 2),8.0,9.0\n");
    const again = await readFile(path);
    expect(again.features).toEqual([feature(point(1, 2), { lat: 8, lon: 9 })]);
  });

  test("names of geometry columns are made unique", async () => {
    const { text: csv } = await write([feature(point(1, 2), { wkt: "x" })], [text("wkt")], { geometry: "wkt" });
    expect(csv).toBe("wkt_1,wkt\nPOINT (1 2),x\n");
  });

  test.each([
    ["xy", "lon,lat\n1,2\n"],
    ["wkt", "wkt\nPOINT (1 2)\n"],
    ["wkb", "wkb\n0101000000000000000000f03f0000000000000040\n"],
    ["geojson", 'geojson\n"{""type"":""Point"",""coordinates"":[1,2]}"\n'],
  ])("the geometry is written as %s by option, and read back", async (geometry, csv) => {
    expect((await write([feature(point(1, 2))], [], { geometry })).text).toBe(csv);
    expect((await readFile(path)).features).toEqual([feature(point(1, 2))]);
  });

  test("geometry=none is a counted loss", async () => {
    const { recording } = await write([feature(point(1, 2), { a: "x" })], [text("a")], { geometry: "none" });
    expect(recording.losses).toMatchObject([{ code: "geometry-dropped", count: 1 }]);
  });

  test.each(["wkt", "geojson"])("rounding that collapses a geometry is a loss: %s", async (geometry) => {
    const line = feature({
      type: "LineString",
      coordinates: [
        [1, 2],
        [1.0004, 2],
      ],
    });
    const losses = async (precision: Record<string, string>) =>
      (await write([line], [], { geometry, ...precision })).recording.losses.map(({ code, count }) => [code, count]);
    expect(await losses({ precision: "3" })).toEqual([["rounded-away", 1]]);
    expect(await losses({ precision: "4" })).toEqual([]);
    expect(await losses({})).toEqual([]);
  });

  test("precision rounds coordinates and removes trailing zeros", async () => {
    const position = [1.23456789, -0.00000001];
    expect((await write([feature(point(...position))], [], { precision: "3" })).text).toBe("lon,lat\n1.235,0\n");
    expect((await write([feature(point(...position))], [], { precision: "3", geometry: "wkt" })).text).toBe(
      "wkt\nPOINT (1.235 0)\n",
    );
    expect((await write([feature(point(0.1 + 0.2, 1e-7))])).text).toBe("lon,lat\n0.30000000000000004,1e-7\n");
  });

  test("a projected CRS has columns x and y, and a .prj that the reader and GDAL understand", async () => {
    const utm = await crsContext.parse("EPSG:25832");
    const { text: csv } = await write([feature(point(500000.5, 5000000), { n: "a" })], [text("n")], {}, utm);
    expect(csv).toBe("x,y,n\n500000.5,5000000,a\n");
    const prj = scratch.path("out.prj");
    expect(existsSync(prj)).toBe(true);
    expect(execFileSync("gdalsrsinfo", ["-o", "epsg", prj], { encoding: "utf8" })).toContain("EPSG:25832");
    const again = await readFile(path);
    expect(again.layer.crs?.kind).toBe("projected");
    expect(again.features[0]!.geometry).toEqual(point(500000.5, 5000000));
    execFileSync("rm", [prj]);
  });
});

test("a stream has no .prj, so its CRS is a loss", async () => {
  const recording = new RecordingContext();
  const utm = await crsContext.parse("EPSG:25832");
  const summariser = new Summarizer(false);
  summariser.add(packFeatures([feature(point(1, 2))], 1, []));
  const layer = { name: "out", crs: utm, fields: [], summary: summariser.summary() };
  const written: Uint8Array[] = [];
  const file = {
    path: null,
    size: 0,
    write: async (bytes: Uint8Array) => void written.push(bytes),
    patch: () => Promise.reject(new Error("a stream cannot go back")),
  };
  const sink = {
    name: "-",
    inPlaceTarget: null,
    create: (extension?: string) =>
      extension ? Promise.reject(new Error("a stream is one file")) : Promise.resolve(file),
  };
  await writer.createAssembler(sink, [layer], parseOptions("csv", writeOptions, { csvt: "yes" }), recording);
  expect(Buffer.concat(written).toString()).toBe("x,y\n");
  expect(recording.losses).toMatchObject([{ code: "crs-undeclared", count: 1 }]);
});

describe("cells", () => {
  test("cells are quoted where RFC 4180 or the column type requires it", async () => {
    const values = [
      "a,b",
      'say "x"',
      "two\nlines",
      "cr\rhere",
      "",
      "42",
      "007",
      "2020-01-01",
      "true",
      "NaN",
      "  ",
      "+5",
      "a;b",
    ];
    const { text: csv } = await write(
      values.map((t) => feature(null, { t, n: "x" })),
      [text("t"), text("n")],
    );
    expect(csv).toBe(
      't,n\n"a,b",x\n"say ""x""",x\n"two\nlines",x\n"cr\rhere",x\n"",x\n"42",x\n007,x\n"2020-01-01",x\n"true",x\n"NaN",x\n"  ",x\n+5,x\na;b,x\n',
    );
    expect((await readFile(path)).features.map((f) => f.properties.t)).toEqual(values);
  });

  test("values of every type, null and absent are written", async () => {
    const fields: Field[] = [
      { name: "b", type: "boolean" },
      { name: "i", type: "int32" },
      { name: "l", type: "int64" },
      { name: "d", type: "double" },
      { name: "day", type: "date" },
      { name: "t", type: "time" },
      { name: "at", type: "datetime" },
    ];
    const { text: csv, recording } = await write(
      [
        feature(null, {
          b: true,
          i: -1,
          l: 2n ** 63n - 1n,
          d: 5,
          day: "2020-01-02",
          t: "01:02:03",
          at: "2020-01-02T03:04:05Z",
        }),
        feature(null, { b: false, i: null, l: -(2n ** 63n), d: Number.NaN }),
        feature(null, { d: -0 }),
        feature(null, { d: 1e22, i: 0, l: 1n }),
      ],
      fields,
    );
    expect(csv).toBe(
      "b,i,l,d,day,t,at\n" +
        "true,-1,9223372036854775807,5.0,2020-01-02,01:02:03,2020-01-02T03:04:05Z\n" +
        "false,,-9223372036854775808,,,,\n,,,-0.0,,,\n,0,1,1e+22,,,\n",
    );
    expect(recording.losses).toMatchObject([{ code: "non-finite-value", field: "d", count: 1 }]);
    expect(types(await readFile(path))).toEqual(Object.fromEntries(fields.map((f) => [f.name, f.type])));
  });

  test("NUL in a cell is removed with a loss", async () => {
    const { text: csv, recording } = await write([feature(null, { a: "x\0y", b: "z" })], [text("a"), text("b")]);
    expect(csv).toBe('a,b\n"xy",z\n');
    expect(recording.losses).toMatchObject([{ code: "character-dropped", field: "a", count: 1 }]);
  });

  test("escapeFormulas guards names, full-width signs and line feeds, too", async () => {
    const values = ["\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(1)", "\n=1", "\uff21"];
    const name = "=HYPERLINK(1)";
    const { text: csv, recording } = await write(
      values.map((t) => feature(null, { [name]: t, "-5": "y", n: "x" })),
      [text(name), text("-5"), text("n")],
      { escapeFormulas: "yes" },
    );
    expect(csv).toBe(
      `'${name},"-5",n\n"'\uff1d1+1",y,x\n"'\uff0b1",y,x\n"'\uff0d1",y,x\n"'\uff20SUM(1)",y,x\n"'\n=1",y,x\n\uff21,y,x\n`,
    );
    expect(recording.losses).toMatchObject([{ code: "formula-escaped", field: name, count: 6 }]);
  });

  test("escapeFormulas guards text, not numbers", async () => {
    const values = ["=1+1", "+cmd", "-2", "+5", "@x", "-x", "\tx", "a=b"];
    const { text: csv, recording } = await write(
      values.map((t) => feature(null, { t, n: -1 })),
      [text("t"), { name: "n", type: "int32" }],
      { escapeFormulas: "yes" },
    );
    expect(csv).toBe(`t,n\n"'=1+1",-1\n"'+cmd",-1\n"-2",-1\n+5,-1\n"'@x",-1\n"'-x",-1\n"'\tx",-1\na=b,-1\n`);
    expect(recording.losses).toMatchObject([{ code: "formula-escaped", field: "t", count: 5 }]);
  });

  test("in a single-column file, null text becomes empty text with a loss", async () => {
    const { text: csv, recording } = await write([feature(null, { a: null }), feature(null, { a: "x" })], [text("a")]);
    expect(csv).toBe('a\n""\nx\n');
    expect(recording.losses).toMatchObject([{ code: "null-empty", field: "a", count: 1 }]);
  });
});

describe("options", () => {
  const features = [feature(point(1, 2), { a: "x;y", n: 1.5 })];
  const fields: Field[] = [text("a"), { name: "n", type: "double" }];
  test.each([
    [{ delimiter: "semicolon" }, 'lon;lat;a;n\n1;2;"x;y";1.5\n'],
    [{ delimiter: "tab", eol: "crlf" }, "lon\tlat\ta\tn\r\n1\t2\tx;y\t1.5\r\n"],
    [{ bom: "yes" }, "\uFEFFlon,lat,a,n\n1,2,x;y,1.5\n"],
    [{ quote: "all" }, '"lon","lat","a","n"\n"1","2","x;y","1.5"\n'],
    [{ header: "no" }, "1,2,x;y,1.5\n"],
  ])("the invalid options %j are refused", async (options, csv) =>
    expect((await write(features, fields, options)).text).toBe(csv),
  );

  test("header=no is a loss of the names", async () => {
    const { recording } = await write(features, fields, { header: "no" });
    expect(recording.losses.map((loss) => [loss.code, loss.field])).toEqual([
      ["name-dropped", "a"],
      ["name-dropped", "n"],
    ]);
  });

  test("quote=all reports columns that may read back as another type; a .csvt keeps types", async () => {
    const rows = [feature(point(1, 2), { a: "42", n: 1 })];
    const { recording } = await write(rows, fields, { quote: "all" });
    expect(recording.losses).toMatchObject([{ code: "type-undeclared", field: "a", count: 1 }]);
    expect(types(await readFile(path))).toEqual({ a: "int32", n: "double" });
    const declared = await write(rows, fields, { quote: "all", csvt: "yes" });
    expect(declared.recording.losses).toEqual([]);
    expect(readFileSync(scratch.path("out.csvt"), "utf8")).toBe('"CoordX","CoordY","String","Real"\n');
    expect((await readFile(path)).features).toEqual(rows);
    execFileSync("rm", [scratch.path("out.csvt")]);
  });

  test("column names with delimiters, quotes, spaces or numbers are read back", async () => {
    const names = ["a,b", "c;d", 'e"f', " g ", "2020", "-1.5", "2020-01-01", "true", "h\ni"];
    for (const delimiter of ["comma", "semicolon", "tab"]) {
      await write([feature(null, Object.fromEntries(names.map((n) => [n, "v"])))], names.map(text), { delimiter });
      expect((await readFile(path)).fields.map((f) => f.name)).toEqual(names);
    }
    await write(
      [feature(null, { 1: 5, 2: 6 })],
      [
        { name: "1", type: "int32" },
        { name: "2", type: "int32" },
      ],
    );
    expect((await readFile(path)).features[0]!.properties).toEqual({ 1: 5, 2: 6 });
  });
});

test("a table with attributes that look like coordinates gets a notice", async () => {
  const { recording } = await write(
    [feature(null, { lon: 1, lat: 2 })],
    [
      { name: "lon", type: "int32" },
      { name: "lat", type: "int32" },
    ],
  );
  expect(recording.notices.map((n) => [n.code, n.field])).toEqual([
    ["geometry-name", "lon"],
    ["geometry-name", "lat"],
  ]);
});

test("a table of many columns has one notice for each kind of column", async () => {
  const numbers = Array.from({ length: 300 }, (_, c) => ({ name: `n${c}`, type: "int32" as const }));
  const angles = Array.from({ length: 20 }, (_, c) => ({ name: `lon${c + 10}`, type: "text" as const }));
  const { recording } = await write([feature(null, { lon10: "x" })], [...numbers, ...angles]);
  expect(recording.notices.map(({ code, field, count }) => [code, field, count])).toEqual([
    ["geometry-name", undefined, 20],
    ["type-undeclared", undefined, 300],
  ]);
});

const someText = fc
  .array(
    fc.constantFrom(
      "a",
      "B",
      "é",
      "𝕏",
      " ",
      ",",
      ";",
      "\t",
      "|",
      '"',
      "'",
      "\n",
      "\r",
      "1",
      "0",
      "-",
      "+",
      ".",
      "e",
      "true",
      "nan",
      "2020-01-02",
      "\uFEFF",
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(""));
const pad = (n: number) => String(n).padStart(2, "0");
const someDate = fc
  .tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([y, m, d]) => `${String(y).padStart(4, "0")}-${pad(m)}-${pad(d)}`);
const someTime = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.constantFrom("", ".5", ".123"))
  .map(([h, m, f]) => `${pad(h)}:${pad(m)}:07${f}`);
const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  text: someText,
  boolean: fc.boolean(),
  int32: fc.integer(),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  date: someDate,
  time: someTime,
  datetime: fc.tuple(someDate, someTime, fc.constantFrom("", "Z", "+02:00")).map(([d, t, z]) => `${d}T${t}${z}`),
};
const coordinate = fc.double({ min: -180, max: 180, noNaN: true }).map((n) => (n === 0 ? 0 : n));
const somePoint = fc.tuple(coordinate, coordinate).map((p) => point(...p));
const somePointZ = fc.tuple(coordinate, coordinate, coordinate).map((p) => point(...p));
const positions = (least: number) => fc.array(fc.tuple(coordinate, coordinate), { minLength: least, maxLength: 4 });
const anyGeometry: fc.Arbitrary<Geometry | null> = fc.oneof(
  somePoint,
  somePointZ,
  positions(2).map((coordinates): Geometry => ({ type: "LineString", coordinates })),
  positions(1).map((coordinates): Geometry => ({ type: "MultiPoint", coordinates })),
  positions(3).map((ring): Geometry => ({ type: "Polygon", coordinates: [[...ring, ring[0]!]] })),
  positions(2).map(
    (line): Geometry => ({
      type: "GeometryCollection",
      geometries: [point(1, 2), { type: "LineString", coordinates: line }],
    }),
  ),
  fc.constant(null),
);

test("a file reads back as it was written, except for reported losses", async () => {
  const fieldList = fc.uniqueArray(
    fc.record({
      name: fc.oneof(
        someText.filter((t) => /\S/.test(t)),
        fc.constantFrom("x", "lat", "geom", "z", "id", "Location"),
      ),
      type: fc.constantFrom(...Object.keys(values)) as fc.Arbitrary<Field["type"]>,
    }),
    { selector: (field) => field.name, minLength: 1, maxLength: 4 },
  );
  const table = fc
    .tuple(fieldList, fc.constantFrom("points", "pointsZ", "any", "none"))
    .chain(([fields, kind]) =>
      fc.tuple(
        fc.constant(fields),
        fc.array(
          fc.tuple(
            kind === "points"
              ? somePoint
              : kind === "pointsZ"
                ? fc.oneof(somePointZ, fc.constant(null))
                : kind === "any"
                  ? anyGeometry
                  : fc.constant(null),
            fc.tuple(...fields.map((field) => fc.option(values[field.type]!, { freq: 6 }))),
          ),
          { minLength: 1, maxLength: 6 },
        ),
        fc.constantFrom("comma", "semicolon", "tab", "pipe"),
        fc.constantFrom("lf", "crlf"),
      ),
    );
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(table, async ([fields, rows, delimiter, eol]) => {
      const features = rows.map(([geometry, row]) =>
        feature(geometry, Object.fromEntries(fields.map((field, f) => [field.name, row[f]]))),
      );
      const batch = packFeatures(features, 1, fields);
      const { recording } = await writeBatches([batch], fields, { delimiter, eol });
      const reported = new Set([...recording.losses, ...recording.notices].map((t) => t.code));
      if (reported.has("geometry-name") || reported.has("null-empty")) return;
      expect(recording.losses).toEqual([]);
      const again = await readFile(path);
      expect(again.recording.rejects).toEqual([]);
      expect(again.features).toEqual([...new Batch(batch).features()]);
      const undeclared = new Set(recording.notices.filter((n) => n.code === "type-undeclared").map((n) => n.field));
      for (const { name, type } of fields) {
        const found = types(again)[name]!;
        if (undeclared.has(name)) expect(found).toBe("text");
        // Small int64 values are int32 values.
        else expect(type === "int64" ? ["int32", "int64"] : [type]).toContain(found);
      }
      compared++;
    }),
    { numRuns: 500 },
  );
  expect(compared).toBeGreaterThan(270);
});

test("ogr2ogr reads what was written", async () => {
  const fields: Field[] = [text("name"), { name: "n", type: "int32" }, { name: "d", type: "double" }];
  const features = [
    feature(
      {
        type: "Polygon",
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      },
      { name: 'a "b", c\nd', n: 1, d: 2.5 },
    ),
    feature(point(1.25, 2), { name: "é", n: -5, d: 7 }),
  ];
  await write(features, fields);
  const json = execFileSync(
    "ogr2ogr",
    [
      "-f",
      "GeoJSON",
      "/vsistdout/",
      path,
      "-oo",
      "AUTODETECT_TYPE=YES",
      "-oo",
      "GEOM_POSSIBLE_NAMES=wkt",
      "-oo",
      "KEEP_GEOM_COLUMNS=NO",
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  expect(JSON.parse(json).features).toEqual(features);
});

describe("identify", () => {
  const likeness = (content: string | Buffer, name = "data.txt") => {
    const head = Buffer.from(content as string);
    return format.identify(head, { name, size: head.length, findSibling: () => null });
  };
  test.each([
    ["a,b\n1,2\n3,4\n", "maybe"],
    ["a;b\n1;2\n", "maybe"],
    ['{"type":"FeatureCollection","features":[]}', "no"],
    ["[1,2]\n[3,4]\n", "no"],
    ['<?xml version="1.0"?>\n<gpx a="1,2">\n', "no"],
    ["Lorem ipsum, dolor sit amet.\nConsectetur\n", "no"],
    ["one\ntwo\n", "no"],
    ["a,b\0\n1,2\n", "no"],
    ["", "no"],
  ])("identify returns for %j: %s", (content, expected) => expect(likeness(content)).toBe(expected));

  test("identify may accept a text by its name, but never a binary file", () => {
    expect(likeness("one\ntwo\n", "data.csv")).toBe("maybe");
    expect(likeness(Buffer.from("a,b\n1,2\n", "utf16le"), "data.csv")).toBe("maybe");
    expect(likeness(Buffer.from([1, 2, 3, 4, 5, 6, 7]), "data.csv")).toBe("no");
    expect(likeness("<html>", "data.csv")).toBe("no");
  });
  test("text with a NUL and the extension .csv is a damaged table, reported with its place", async () => {
    const damaged = "a,b\n1,x\0\n";
    expect(likeness(damaged, "data.csv")).toBe("maybe");
    expect(likeness("a,b\0\0\n1,2\n", "data.csv")).toBe("no");
    const name = scratch.path("nul.csv");
    writeFileSync(name, damaged);
    await expect(readFile(name)).rejects.toThrow(/nul\.csv.*byte 7.*a NUL byte/);
  });
});

describe("names of files", () => {
  const source = scratch.path("named.geojson");
  const feature = { type: "Feature", properties: { a: 1, b: "x,y" }, geometry: { type: "Point", coordinates: [2, 3] } };
  writeFileSync(source, JSON.stringify(feature));

  test.each([
    ["named.tsv", {}, "lon\tlat\ta\tb\n2\t3\t1\tx,y\n"],
    ["NAMED.TAB", { to: "csv" }, "lon\tlat\ta\tb\n2\t3\t1\tx,y\n"],
    ["named.psv", {}, "lon|lat|a|b\n2|3|1|x,y\n"],
    ["named.csv", {}, 'lon,lat,a,b\n2,3,1,"x,y"\n'],
    ["given.tsv", { writerOptions: { delimiter: "semicolon" } }, "lon;lat;a;b\n2;3;1;x,y\n"],
  ])("the output name %s sets the delimiter unless an option does", async (name, request, expected) => {
    await convertFile(source, scratch.path(name), request);
    expect(readFileSync(scratch.path(name), "utf8")).toBe(expected);
  });
});

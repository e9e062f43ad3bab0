import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readerOptions } from "../../../../plugins/csv/options.js";
import { open } from "../../../../plugins/csv/reader.js";
import { FileSource } from "../../../../src/io/input/source.js";
import { Kind, type LayerSummary, Summarizer } from "../../../../src/model/index.js";
import { parseOptions } from "../../../../src/plugin/options.js";
import { convertFile } from "../../../support/host.js";
import { RecordingContext, readBatches, TemporaryFolder } from "../../../support/read-layers.js";
import { readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Summaries {
  /** What the reader says without decoding. */
  readonly scanned: LayerSummary | null;
  /** What reading all of it says. */
  readonly full: LayerSummary;
}

async function summaries(
  content: string | Uint8Array,
  options: Readonly<Record<string, string>> = {},
  length?: number,
): Promise<Summaries> {
  const path = scratch.path("summary.csv");
  writeFileSync(path, content);
  const values = parseOptions("csv", readerOptions, options);
  await using dataset = await open(FileSource.at(path), values, new RecordingContext(), length);
  const layer = dataset.layers[0]!;
  const summariser = new Summarizer(false);
  for await (const batch of readBatches(layer, true)) summariser.add(batch);
  return {
    scanned: await layer.summary!({ unchangedExtent: null, isLimited: false, needsExtent: false }),
    full: summariser.summary(),
  };
}

/** Everything except boxes, which only a full read determines. */
const plain = ({ featureCount, kinds, hasZ, hasM, idType, maxIdBytes, fields }: LayerSummary) => ({
  featureCount,
  kinds: kinds.map(({ count, hasZ, hasM }) => [count, hasZ, hasM]),
  hasZ,
  hasM,
  idType,
  maxIdBytes,
  fields: fields.map(({ name, type, maxBytes }) => ({ name, type, maxBytes })),
});

function expectSameSummary({ scanned, full }: Summaries): void {
  expect(scanned).not.toBeNull();
  // A layer without rows has no batch to tell its fields.
  if (full.featureCount === 0) return;
  expect(plain(scanned!)).toEqual(plain(full));
  for (const [f, { values }] of full.fields.entries()) {
    expect(scanned!.fields[f]!.values).toBeGreaterThanOrEqual(values);
    expect(scanned!.fields[f]!.values > 0).toBe(values > 0);
  }
}

describe("the summary of a scan equals that of a full read", () => {
  test.each([
    ["no geometry", "a,b\n1,x\n-20,yy\n,\n"],
    ["points", "lon,lat,n\n1,2,a\n,,b\n3.5,-4,c\n"],
    ["points with heights", "lon,lat,z\n1,2,\n3,4,5\n"],
    ["a height without a point", "lon,lat,z\n1,2,\n,,5\n"],
    ["rows of nothing but empty coordinates", "lon,lat,n\n,,a\n,,b\n"],
    ["decimal commas", "lon;lat;n\n1,5;2,5;3,25\n4;5;6\n"],
    ["lines", 'wkt,n\n"LINESTRING (1 2,3 4)",1\n"linestring(5 6 , 7 8)",2\n,3\nLINESTRING EMPTY,4\n'],
    ["lines and multilines", 'wkt\n"MULTILINESTRING ((1 2,3 4))"\n"LINESTRING (5 6,7 8)"\n'],
    ["heights by the word", 'wkt,n\n"LINESTRING Z (1 2 3,3 4 5)",1\n"LINESTRINGZ(1 2 3,3 4 5)",2\n'],
    ["heights without a word", 'wkt\n"POLYGON ((0 0 1,1 0 1,1 1 1,0 0 1))"\n'],
    ["measures", 'wkt\n"POINT M (1 2 3)"\n"POINT M (4 5 6)"\n'],
    ["both", 'wkt\n"POINT ZM (1 2 3 4)"\n"POINT (4 5 6 7)"\n'],
    ["an SRID and line ends inside", 'wkt\n"SRID=4326;POINT\n(1 2)"\n"SRID=4326; POINT EMPTY"\n'],
    ["words for nothing", "wkt,n\nPOINT (1 2),1\nNULL,2\n  ,3\n"],
    ["a kept geometry column", "wkt,n\nPOINT (1 2),1\nPOINT (33 44),2\n", { "keep-geometry-columns": "yes" }],
    ["quotes", 'a,b,c\n"x ""y""",""\n"z",""\n"""",\n'],
    ["empty text", 'a,b\n"",1\n"",2\n'],
    ["spaces", "a,b,c\n  1 , 2020-01-02 ,  \n 22,2020-01-03,   \n"],
    [
      "every type",
      "i,l,d,b,day,time,moment\n1,9007199254740993,1.5,true,2020/01/02,10:00:00.25,2020-01-02 10:00+01\n" +
        "-12345,-9223372036854775808,1e300,false,2020-01-02,10:00:00,2020-01-02T10:00:01.125Z\n",
    ],
    ["text beyond ASCII", "a\nŁódź\nx\n"],
    ["long records and short ones", "a,b,c\n1,2\n1,2,3,,\n,,\n"],
    ["UTF-16", Buffer.from("\ufeffa,b\nŁódź,1\nx,22\n", "utf16le")],
    ["Windows-1252", Buffer.from("a,b\nM\u00fcnchen,1\nx,22\n", "latin1")],
  ] as [string, string | Uint8Array, Record<string, string>?][])(
    "the summary of a scan equals that of a full read: %s",
    async (_, content, options) => {
      expectSameSummary(await summaries(content, options));
    },
  );

  test("the summary of a scan equals that of a full read for any table and any split size", async () => {
    const cell = fc.oneof(
      fc.constantFrom("", '""', " ", "1", "-25", "3.5", "true", "NaN", "2020-01-02", '"a ""b"""', "x\u00e4", '"1\n2"'),
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    );
    const number = fc.double({ min: -80, max: 80, noNaN: true }).map(String);
    const position = fc.tuple(number, number).map(([x, y]) => `${x} ${y}`);
    const geometries: fc.Arbitrary<string>[] = [
      position.map((p) => `POINT (${p})`),
      fc.array(position, { minLength: 2, maxLength: 40 }).map((line) => `"LINESTRING (${line.join(",")})"`),
      fc.array(position, { minLength: 3, maxLength: 40 }).map((ring) => `"POLYGON ((${ring.join(", ")}))"`),
    ];
    const table = fc
      .constantFrom(...geometries)
      .chain((geometry) =>
        fc.array(
          fc.tuple(fc.oneof(geometry, geometry, fc.constant("")), fc.array(cell, { minLength: 3, maxLength: 3 })),
          { minLength: 1, maxLength: 12 },
        ),
      );
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 40, max: 400 }), async (rows, length) => {
        const lines = rows.map(([geometry, cells]) => [geometry, ...cells].join(","));
        expectSameSummary(await summaries(`wkt,a,b,c\n${lines.join("\n")}\n`, {}, length));
      }),
      { numRuns: 150 },
    );
  });
});

describe("a scan gives no summary if only a full read can determine it", () => {
  test.each([
    ["a sample", "a\n1\n2\n", { sample: "1" }],
    ["types that were not inferred", "a\n1\n2\n", { types: "text" }],
    ["several shapes", 'wkt\nPOINT (1 2)\n"LINESTRING (1 2,3 4)"\n'],
    ["heights in some", "wkt\nPOINT (1 2)\nPOINT Z (1 2 3)\n"],
    ["a height that is none", "wkt\nPOINT Z (1 2 nan)\n"],
    ["collections", "wkt\nGEOMETRYCOLLECTION (POINT (1 2))\n"],
    ["curves", 'wkt\n"CIRCULARSTRING (0 0,1 1,2 0)"\n'],
    ["words between the positions", 'wkt\n"MULTILINESTRING (EMPTY,(1 2,3 4))"\n'],
    ["WKB", "wkb\n0101000000000000000000f03f0000000000000040\n"],
    ["GeoJSON", 'geojson\n"{""type"":""Point"",""coordinates"":[1,2]}"\n'],
    ["degrees and minutes", 'lat,lon\n"52°30\'N","13°24\'E"\n'],
    ["words for no coordinate", "lon,lat\n1,2\nNA,NA\n"],
    ["both coordinates in one column", 'latlon,n\n"52.5, 13.4",1\n'],
    ["bytes that are no UTF-8", Buffer.concat([Buffer.from("a\näöüßäö\n"), Buffer.from([0xff, 10])])],
  ] as [string, string | Uint8Array, Record<string, string>?][])(
    "a scan gives no summary: %s",
    async (_, content, options) => {
      expect((await summaries(content, options)).scanned).toBeNull();
    },
  );

  test("values that differ from the type in a .csvt need a full read for the summary", async () => {
    writeFileSync(scratch.path("summary.csvt"), '"Date"\n');
    try {
      expect((await summaries("a\nx\n")).scanned).toBeNull();
    } finally {
      writeFileSync(scratch.path("summary.csvt"), "");
    }
  });
});

test("a damaged geometry is counted, and rejected when it is read", async () => {
  const { scanned, full } = await summaries('wkt\n"LINESTRING (1 2,3 4)"\n"LINESTRING (1 2,3"\n');
  expect(scanned!.kinds[Kind.LineString]!.count).toBe(2);
  expect(full.kinds[Kind.LineString]!.count).toBe(1);
});

test("coordinates beyond those of the first position are dropped with a loss", async () => {
  const { features, recording } = await readText(scratch, 'wkt\n"LINESTRING (1 2,3 4 5)"\n"LINESTRING (1 2 3,4 5)"\n');
  expect(features.map(({ geometry }) => geometry)).toEqual([
    {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: "LineString",
      coordinates: [
        [1, 2, 3],
        [4, 5],
      ],
    },
  ]);
  expect(recording.losses.map(({ code, count }) => [code, count])).toEqual([["extra-ordinates", 1]]);
});

describe("the output is the same with a scan summary and with a full read", () => {
  const contents: Readonly<Record<string, string>> = {
    points: 'lon,lat,id,name,empty\n1,2,1,"42",\n,,2,ä,\n3.25,4,-30,"say ""x""",\n',
    heights: "lon,lat,z,id\n1,2,3,1\n4,5,,2\n",
    "no points": "lon,lat,id\n,,1\n,,2\n",
    lines: 'wkt,id,day,moment\n"LINESTRING (1 2,3 4)",1,2020-01-02,2020-01-02 10:00\n,2,,\n',
    polygons: 'wkt,id,f\n"POLYGON ((0 0 1,1 0 1,1 1 1,0 0 1))",1,0.5\n"MULTIPOLYGON EMPTY",2,\n',
  };
  test.each(Object.keys(contents).flatMap((name) => ["csv", "shp"].map((to) => [name, to])))(
    "the output is the same with a scan summary and with a full read: %s to %s",
    async (name, to) => {
      const input = scratch.path(`same-${name}-${to}.csv`);
      writeFileSync(input, contents[name]!);
      const folders = [scratch.path(`scanned-${name}-${to}`), scratch.path(`full-${name}-${to}`)];
      for (const folder of folders) mkdirSync(folder);
      await convertFile(input, join(folders[0]!, `out.${to}`));
      // A filter that every feature passes disables the scan summary.
      await convertFile(input, join(folders[1]!, `out.${to}`), { where: "id > -100" });
      const [scanned, full] = folders.map((folder) =>
        Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))])),
      );
      expect(Object.keys(scanned!).length).toBeGreaterThan(0);
      expect(scanned).toEqual(full);
    },
  );
});

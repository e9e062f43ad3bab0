/** Grid files that are damaged or made to do harm end in words, at once and without taking memory for what they claim. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { Grid } from "../../../src/crs/grids/grid.js";
import { GridShift } from "../../../src/crs/grids/grid-shift.js";
import { loadGrid } from "../../../src/crs/grids/load.js";
import { GeoferryError } from "../../../src/errors.js";
import { needsProj } from "../proj-tools.js";
import { ntv2, type SyntheticPart, shiftAt, writeGeoTiff } from "./synthetic-grids.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function fileOf(bytes: Uint8Array): string {
  const path = join(folder, `grid-${files++}`);
  writeFileSync(path, bytes);
  return path;
}
const readError = (bytes: Uint8Array): Promise<string> =>
  loadGrid(fileOf(bytes)).then(
    () => "taken",
    (error: GeoferryError) => `${error.code}: ${error.message}`,
  );

const part: SyntheticPart = { name: "ALL", west: 0, south: 40, columns: 5, rows: 4, step: 1 };
const inner: SyntheticPart = { name: "INNER", parent: "ALL", west: 1, south: 41, columns: 3, rows: 3, step: 0.5 };
/** Offsets of values: the header of the file, then that of its first part. */
const at = { records: 8, parts: 40, unit: 56, parent: 176 + 24, south: 176 + 72, step: 176 + 136, nodes: 176 + 168 };

function changeBytes(change: (bytes: Buffer) => void, parts: readonly SyntheticPart[] = [part, inner]): Buffer {
  const bytes = ntv2(parts);
  change(bytes);
  return bytes;
}

const damagedFiles: Readonly<Record<string, readonly [bytes: Uint8Array, words: RegExp]>> = {
  "an empty file": [Buffer.alloc(0), /neither NTv2.* nor a GeoTIFF/],
  "something else": [Buffer.from("PK\u0003\u0004".padEnd(400, "x")), /neither NTv2/],
  "one cut within its header": [ntv2([part]).subarray(0, 100), /neither NTv2|ends/],
  "one cut within a part's header": [ntv2([part]).subarray(0, 300), /ends at byte 300/],
  "one cut within its nodes": [ntv2([part]).subarray(0, 500), /before the end of its part "ALL"/],
  "a header of other records": [changeBytes((bytes) => bytes.writeInt32LE(12, at.records + 16)), /11 and 12 records/],
  "a billion parts": [changeBytes((bytes) => bytes.writeInt32LE(1e9, at.parts)), /1000000000 parts/],
  "a negative number of parts": [changeBytes((bytes) => bytes.writeInt32LE(-1, at.parts)), /-1 parts/],
  "more parts than there are": [changeBytes((bytes) => bytes.writeInt32LE(3, at.parts)), /part 3/],
  "a unit that is none": [changeBytes((bytes) => bytes.write("FURLONGS", at.unit)), /unit of its values, "FURLONGS",/],
  "billions of nodes": [
    changeBytes((bytes) => {
      bytes.writeInt32LE(2 ** 31 - 1, at.nodes);
      bytes.writeDoubleLE(0.001, at.step);
      bytes.writeDoubleLE(0.001, at.step + 16);
    }),
    /nodes/,
  ],
  "nodes that do not fit": [
    changeBytes((bytes) => bytes.writeInt32LE(21, at.nodes)),
    /declares 21 nodes, but its extent has 5 by 4/,
  ],
  "an extent that is no number": [changeBytes((bytes) => bytes.writeDoubleLE(Number.NaN, at.south)), /not a number/],
  "an extent beyond the globe": [changeBytes((bytes) => bytes.writeDoubleLE(-1e9, at.south)), /globe|nodes/],
  "edges in the wrong order": [changeBytes((bytes) => bytes.writeDoubleLE(50 * 3600, at.south)), /wrong order/],
  "a distance of zero": [changeBytes((bytes) => bytes.writeDoubleLE(0, at.step)), /not a number/],
  "a part inside itself": [changeBytes((bytes) => bytes.write("ALL     ", at.parent)), /is its own ancestor/],
  "parts inside each other in a circle": [
    changeBytes((bytes) => bytes.write("INNER   ", at.parent)),
    /is its own ancestor/,
  ],
};

/** A little TIFF, entry by entry: tag, type, values. Directories follow each other; `next` overrules where the last leads. */
function tiff(entries: readonly (readonly [tag: number, type: number, values: readonly number[]])[], next = 0): Buffer {
  const bytes = Buffer.alloc(4096);
  bytes.write("II*\0", "latin1");
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(entries.length, 8);
  let data = 1024;
  entries.forEach(([tag, type, values], index) => {
    const entry = 10 + 12 * index;
    bytes.writeUInt16LE(tag, entry);
    bytes.writeUInt16LE(type, entry + 2);
    bytes.writeUInt32LE(values.length, entry + 4);
    const size = { 3: 2, 4: 4, 12: 8 }[type]!;
    const inline = size * values.length <= 4;
    if (!inline) bytes.writeUInt32LE(data, entry + 8);
    values.forEach((value, k) => {
      const place = (inline ? entry + 8 : data) + k * size;
      if (type === 3) bytes.writeUInt16LE(value, place);
      else if (type === 4) bytes.writeUInt32LE(value, place);
      else bytes.writeDoubleLE(value, place);
    });
    if (!inline) data += size * values.length;
  });
  bytes.writeUInt32LE(next, 10 + 12 * entries.length);
  return bytes;
}

type Tags = Readonly<Record<number, readonly [type: number, values: readonly number[]]>>;
const validTiff: Tags = {
  256: [4, [4]],
  257: [4, [3]],
  258: [3, [32, 32]],
  259: [3, [1]],
  273: [4, [2048]],
  277: [3, [2]],
  278: [4, [3]],
  279: [4, [96]],
  339: [3, [3, 3]],
  33550: [12, [1, 1, 0]],
  33922: [12, [0, 0, 0, 5, 50, 0]],
};
const tiffWith = (changes: Tags, next = 0): Buffer =>
  tiff(
    Object.entries({ ...validTiff, ...changes }).map(([tag, [type, values]]) => [Number(tag), type, values] as const),
    next,
  );
/** Whose one block is what bytes are packed to. */
function compressedTiff(compression: number, bytes: Uint8Array): Buffer {
  const made = tiffWith({ 259: [3, [compression]], 279: [4, [bytes.length]] });
  made.set(bytes, 2048);
  return made;
}

const damagedTiffs: Readonly<Record<string, readonly [bytes: Uint8Array, words: RegExp]>> = {
  "a TIFF cut in its header": [tiffWith({}).subarray(0, 12), /ends|neither/],
  "a directory beyond the end": [
    Buffer.concat([Buffer.from("II*\0\xff\xff\xff\x00", "latin1"), Buffer.alloc(20)]),
    /ends/,
  ],
  "directories in a circle": [tiffWith({}, 8), /form a loop/],
  "billions of rows": [tiffWith({ 257: [4, [4e9]], 33550: [12, [1, 1e-8, 0]] }), /4 by 4000000000 nodes/],
  "strips of billions of rows, one of which is there": [tiffWith({ 278: [4, [1]] }), /1 blocks where 3 are needed/],
  "tiles of a billion nodes": [tiffWith({ 322: [4, [65535]], 323: [4, [65535]] }), /its blocks have 65535 by 65535/],
  "a block beyond the end": [tiffWith({ 273: [4, [4e9]] }), /ends at byte 4096/],
  "a block of fewer bytes": [tiffWith({ 279: [4, [90]] }), /holds 90 bytes where 96 are needed/],
  "one value a node": [tiffWith({ 277: [3, [1]], 258: [3, [32]], 339: [3, [3]] }), /1 values a node/],
  "65,535 values a node": [tiffWith({ 277: [3, [65535]] }), /65535 values a node/],
  "numbers of 8 bits": [tiffWith({ 258: [3, [8, 8]], 339: [3, [1, 1]] }), /sample format is not supported/],
  "a compression that is not read": [tiffWith({ 259: [3, [7]] }), /its compression 7 is not supported/],
  "a predictor that is none": [tiffWith({ 317: [3, [9]] }), /its predictor 9/],
  "nowhere to be": [tiffWith({ 33922: [12, [0, 0, 0]] }), /where its nodes lie/],
  "nodes of no size": [tiffWith({ 33550: [12, [0, 1, 0]] }), /not a number/],
  metres: [tiffWith({ 34735: [3, [1, 1, 0, 1, 1024, 0, 1, 1]] }), /not georeferenced by longitude/],
  "Deflate that is none": [compressedTiff(8, Buffer.from("not deflated at all")), /cannot be decompressed/],
  "Deflate of a gigabyte of zeros": [compressedTiff(8, deflateSync(Buffer.alloc(2 ** 20))), /cannot be decompressed/],
  "LZW whose codes have no meaning": [compressedTiff(5, Buffer.alloc(40, 0xff)), /cannot be decompressed|holds/],
};

describe("damaged grid files", () => {
  for (const [what, [bytes, words]] of Object.entries({ ...damagedFiles, ...damagedTiffs })) {
    it(`a damaged grid file is refused with a reason and its name: ${what}`, async () => {
      const said = await readError(bytes);
      expect(said).toMatch(/^grid-invalid: .*grid-\d+.*cannot be used as a shift grid: /);
      expect(said).toMatch(words);
    });
  }

  it("a damaged grid differs from the intact one", async () => {
    expect(await readError(ntv2([part, inner]))).toBe("taken");
    expect(await readError(tiffWith({}))).toBe("taken");
  });

  it("a damaged grid exits with 3, as a missing one does", async () => {
    const error = await loadGrid(join(folder, "none")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GeoferryError);
    expect(error).toMatchObject({ code: "grid-invalid", kind: "input" });
  });
});

describe.skipIf(needsProj)("randomly changed bytes", () => {
  it("damaged grids are read or refused", async () => {
    const path = join(folder, "sound.tif");
    await writeGeoTiff(path, [part, inner], { creation: ["COMPRESS=LZW", "PREDICTOR=3", "TILED=YES"] });
    for (const original of [readFileSync(path), ntv2([part, inner])]) {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
          fc.option(fc.nat(original.length), { freq: 4 }),
          async (changes, length) => {
            const bytes = Buffer.from(original.subarray(0, length ?? original.length));
            for (const [index, value] of changes) if (index < bytes.length) bytes[index] = value;
            expect(await readError(bytes)).toMatch(/^(taken|grid-invalid: )/);
          },
        ),
        { numRuns: 300 },
      );
    }
  });
});

/** Degrees through a grid. */
function shiftPosition(grid: Grid | null, inverse: boolean, longitude: number, latitude: number): number[] {
  const xy = Float64Array.of((longitude * Math.PI) / 180, (latitude * Math.PI) / 180);
  new GridShift([grid], inverse).apply(xy, 0);
  return [...xy].map((angle) => (angle * 180) / Math.PI);
}

describe("units of NTv2", () => {
  for (const unit of ["SECONDS", "MINUTES", "DEGREES"] as const) {
    it(`NTv2 with the unit ${unit} gives the shift of a node to the digits of single precision`, async () => {
      const grid = await loadGrid(fileOf(ntv2([part], { unit })));
      const [longitude, latitude] = shiftPosition(grid, false, 2, 42) as [number, number];
      const [east, north] = shiftAt(2, 42);
      expect((longitude - 2) * 3600).toBeCloseTo(east, 5);
      expect((latitude - 42) * 3600).toBeCloseTo(north, 5);
      expect(shiftPosition(grid, true, longitude, latitude)[0]).toBeCloseTo(2, 10);
    });
  }
});

describe("nodes without a shift", () => {
  it("nodes without a shift leave positions beside them without one, and do not affect others", async () => {
    const bytes = ntv2([part]);
    // The first node of the first row, which is its eastern one.
    bytes.writeFloatLE(Number.NaN, 2 * 176);
    const grid = await loadGrid(fileOf(bytes));
    expect(shiftPosition(grid, false, 3.5, 40.5)).toEqual([NaN, NaN]);
    expect(shiftPosition(grid, false, 1.5, 40.5)).not.toContain(NaN);
  });

  it.skipIf(needsProj)("nodes without a shift are those that the file declares so", async () => {
    const path = join(folder, "holes.tif");
    await writeGeoTiff(path, [part], { noData: Math.fround(shiftAt(2, 42)[1]) });
    const grid = await loadGrid(path);
    expect(shiftPosition(grid, false, 2.5, 42.5)).toEqual([NaN, NaN]);
    expect(shiftPosition(grid, false, 0.5, 40.5)).not.toContain(NaN);
  });

  it("beyond all nodes there is no shift, rather than a zero shift", async () => {
    const grid = await loadGrid(fileOf(ntv2([part])));
    expect(shiftPosition(grid, false, 20, 42)).toEqual([NaN, NaN]);
    expect(shiftPosition(null, false, 20, 42)[0]).toBeCloseTo(20, 12);
  });
});

it("a grid across the antimeridian is used on both sides", async () => {
  const pacific = { name: "PACIFIC", west: 175, south: -20, columns: 12, rows: 5, step: 1 };
  const grid = await loadGrid(fileOf(ntv2([pacific])));
  const [east, north] = shiftAt(183, -18);
  const [longitude, latitude] = shiftPosition(grid, false, -177, -18) as [number, number];
  expect((longitude + 177) * 3600).toBeCloseTo(east, 5);
  expect((latitude + 18) * 3600).toBeCloseTo(north, 5);
  expect(shiftPosition(grid, true, longitude, latitude)[0]).toBeCloseTo(-177, 10);
});

import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { createRandom } from "../../support/random.js";
import { RecordingContext, TemporaryFolder } from "../../support/read-layers.js";
import {
  dbf,
  doubles,
  ints,
  openAt,
  point,
  polyShape,
  readBySplits,
  readFeatures,
  shapefile,
  writeShapefile,
} from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const points = Array.from({ length: 5 }, (_, i) => point(i, i));
const xs = async (path: string, context = new RecordingContext()) =>
  (await readFeatures(path, {}, context)).map(({ geometry }) =>
    geometry?.type === "Point" ? geometry.coordinates[0] : null,
  );
const table = (...rows: string[]) => dbf([{ name: "A", type: "C", width: 1 }], rows);

const codes = (context: RecordingContext) => context.notices.map((notice) => notice.code);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Bytes with up to eight bits turned, and every fourth time cut short. */
function damaged(bytes: Buffer, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let flips = Math.floor(random() * 9); flips > 0; flips--) {
    // Half of them in the header and the first records, where they matter most.
    const at = Math.floor(random() * (random() < 0.5 ? copy.length : Math.min(200, copy.length)));
    copy[at]! ^= 1 << Math.floor(random() * 8);
  }
  return random() < 0.25 ? copy.subarray(0, Math.floor(random() * copy.length)) : copy;
}

describe("an index", () => {
  it("a missing index is not needed", async () => {
    expect(await xs(writeShapefile(scratch, "no-shx", { shp: shapefile(points).shp }))).toEqual([0, 1, 2, 3, 4]);
  });

  it("an index locates records that are out of order, with gaps", async () => {
    const { shp, shx } = shapefile(points);
    const gap = Buffer.alloc(40, 0xff);
    const record = (i: number) => shp.subarray(100 + 28 * i, 128 + 28 * i);
    const shuffled = Buffer.concat([
      shp.subarray(0, 100),
      record(3),
      gap,
      record(0),
      record(4),
      record(2),
      gap,
      record(1),
    ]);
    shuffled.writeInt32BE(shuffled.length / 2, 24);
    [168, 292, 224, 100, 196].forEach((at, i) => {
      shx.writeInt32BE(at / 2, 100 + 8 * i);
    });
    const context = new RecordingContext();
    expect(
      await xs(
        writeShapefile(scratch, "shuffled", {
          shp: shuffled,
          shx,
          dbf: table(..."abcde".split("").map((a) => ` ${a}`)),
        }),
        context,
      ),
    ).toEqual([0, 1, 2, 3, 4]);
    expect(context.notices).toEqual([]);
  });

  it.each([
    ["points outside the file", (shx: Buffer) => shx.writeInt32BE(1_000_000, 116)],
    ["points between records", (shx: Buffer) => shx.writeInt32BE(58, 116)],
    ["has wrong lengths", (shx: Buffer) => shx.writeInt32BE(4000, 104)],
    ["is no index", (shx: Buffer) => shx.fill(7)],
    ["is too short", (shx: Buffer) => shx.subarray(0, 110)],
    ["is older than the shapes", (shx: Buffer) => shx.subarray(0, 116)],
  ])("an index that %s is replaced by a scan of the .shp", async (name, damage) => {
    const { shp, shx } = shapefile(points);
    const result = damage(shx);
    const context = new RecordingContext();
    const bytes = typeof result === "number" ? shx : result;
    expect(await xs(writeShapefile(scratch, name.replace(/ /g, "-"), { shp, shx: bytes }), context)).toEqual([
      0, 1, 2, 3, 4,
    ]);
    expect(context.notices.map((notice) => notice.code)).toContain("shx-invalid");
  });

  it("an index or another companion beside a .dbf without a .shp is noticed", async () => {
    const { shx } = shapefile(points);
    const rows = table(" a");
    const noticesOf = async (stem: string, files: Record<string, Buffer | string>) => {
      const context = new RecordingContext();
      await readFeatures(writeShapefile(scratch, stem, { dbf: rows, ...files }), {}, context);
      return context.notices;
    };
    expect(await noticesOf("lost-shp", { shx, prj: "" })).toMatchObject([
      { code: "shp-missing", example: expect.stringMatching(/lost-shp\.dbf .*\.shx and \.prj.* no \.shp/) },
    ]);
    expect(await noticesOf("lost-shp-sbn", { sbn: "x" })).toMatchObject([{ code: "shp-missing" }]);
    expect(await noticesOf("plain-table", { cpg: "UTF-8" })).toEqual([]);
  });

  it("an index with entries of zero is replaced by a scan if the .shp has the records", async () => {
    const { shp, shx } = shapefile(points);
    shx.fill(0, 108, 124);
    const context = new RecordingContext();
    expect(await xs(writeShapefile(scratch, "zeroed-shx", { shp, shx }), context)).toEqual([0, 1, 2, 3, 4]);
    expect(codes(context)).toEqual(["dbf-missing", "shx-invalid"]);
  });

  it("an index locates a shape whose length in the .shp is wrong", async () => {
    for (const record of [1, 4]) {
      const { shp, shx } = shapefile(points);
      shp.writeInt32BE(12, 100 + 28 * record + 4);
      const context = new RecordingContext();
      const path = writeShapefile(scratch, `lengths-${record}`, { shp, shx });
      expect(await xs(path, context)).toEqual([0, 1, 2, 3, 4]);
      expect(codes(context)).toEqual(["dbf-missing", "record-length-mismatch"]);
      expect((await readBySplits(path)).flatMap((batch) => [...batch.features()])).toEqual(await readFeatures(path));
    }
  });

  it("an index that names one record twice is noticed", async () => {
    const { shp, shx } = shapefile(points);
    shx.copy(shx, 116, 108, 116);
    const context = new RecordingContext();
    // As ogr2ogr reads it.
    expect(await xs(writeShapefile(scratch, "twice-in-shx", { shp, shx }), context)).toEqual([0, 1, 1, 3, 4]);
    expect(context.notices).toMatchObject([
      { code: "dbf-missing" },
      { code: "record-order", count: 1, example: expect.stringMatching(/^record 3 has the number 2/) },
    ]);
  });

  it("an index whose entries are exchanged is noticed", async () => {
    const { shp, shx } = shapefile(points);
    const entry = Buffer.from(shx.subarray(108, 116));
    shx.copy(shx, 108, 116, 124);
    entry.copy(shx, 116);
    const context = new RecordingContext();
    expect(await xs(writeShapefile(scratch, "exchanged-shx", { shp, shx }), context)).toEqual([0, 2, 1, 3, 4]);
    expect(context.notices).toMatchObject([{ code: "dbf-missing" }, { code: "record-order", count: 1 }]);
  });

  it("an index that ends before records with other numbers is noticed", async () => {
    const { shp, shx } = shapefile(points, { numberOf: (i) => (i < 3 ? i + 1 : i + 10) });
    shx.writeInt32BE(62, 24);
    const context = new RecordingContext();
    expect(await xs(writeShapefile(scratch, "short-shx", { shp, shx: shx.subarray(0, 124) }), context)).toEqual([
      0, 1, 2,
    ]);
    expect(context.notices).toMatchObject([
      { code: "dbf-missing" },
      { code: "shp-unindexed", example: expect.stringContaining("byte 184") },
    ]);
  });

  it("an index beside which the .shp is missing is named so", async () => {
    const path = writeShapefile(scratch, "orphan", { shx: shapefile(points).shx });
    await expect(openAt(path)).rejects.toThrow(/orphan\.shx.*\.shp beside it is missing/);
  });
});

describe("records", () => {
  it("records that occur twice in the .shp are noticed, since the shapes after them have other rows", async () => {
    const { shp, shx } = shapefile(points);
    const twice = Buffer.concat([shp.subarray(0, 156), shp.subarray(128)]);
    const context = new RecordingContext();
    expect(await xs(writeShapefile(scratch, "record-twice", { shp: twice, shx }), context)).toEqual([0, 1, 1, 2, 3]);
    expect(context.notices).toMatchObject([{ code: "dbf-missing" }, { code: "record-order", count: 1 }]);
  });

  it.each([
    ["a null shape", Buffer.concat([ints(0), doubles(5, 6)]), 1],
    ["a point", Buffer.concat([point(5, 6), doubles(7)]), 1],
    ["a line with fewer points than were written", Buffer.concat([polyShape(3, [[0, 0, 1, 1]]), doubles(2, 2)]), 3],
  ])("records that are longer than their shape are noticed: %s", async (name, content, type) => {
    const context = new RecordingContext();
    const files = shapefile([content], { type });
    expect(
      await readFeatures(writeShapefile(scratch, `surplus-${name.replace(/ /g, "-")}`, files), {}, context),
    ).toHaveLength(1);
    expect(codes(context)).toEqual(["dbf-missing", "extra-shapes"]);
  });

  it("records with or without measures are as long as their shapes", async () => {
    const measured = Buffer.concat([ints(11), doubles(1, 2, 3, 4)]);
    const heights = Buffer.concat([ints(11), doubles(1, 2, 3)]);
    const context = new RecordingContext();
    await readFeatures(writeShapefile(scratch, "measures", shapefile([measured, heights])), {}, context);
    expect(codes(context)).toEqual(["dbf-missing"]);
  });

  it("records with positions outside of their bounding box are noticed", async () => {
    const line = (...box: number[]) => {
      const content = polyShape(3, [[1, 2, 3, 4]]);
      doubles(...box).copy(content, 4);
      return content;
    };
    const boxes = [line(1, 2, 3, 4), line(1, 2, 3, 3.5), line(1.5, 2, 3, 4), line(0, 0, 9, 9)];
    // Boxes that say nothing, and one that was rounded.
    boxes.push(line(0, 0, 0, 0), line(Number.NaN, 0, 1, 1), line(1.0000000001, 2, 3, 4));
    const context = new RecordingContext();
    expect(await readFeatures(writeShapefile(scratch, "boxes", shapefile(boxes)), {}, context)).toHaveLength(7);
    expect(context.notices).toMatchObject([{ code: "dbf-missing" }, { code: "shape-box", count: 2 }]);
  });

  it("records of another type than the header names are noticed", async () => {
    const context = new RecordingContext();
    const files = shapefile([point(1, 1), ints(0), polyShape(3, [[0, 0, 1, 1]])], { type: 1 });
    const features = await readFeatures(writeShapefile(scratch, "other-type", files), {}, context);
    expect(features.map(({ geometry }) => geometry?.type)).toEqual(["Point", undefined, "LineString"]);
    expect(context.notices).toMatchObject([{ code: "dbf-missing" }, { code: "shape-type", count: 1 }]);
  });

  it("records with wrong numbers are read", async () => {
    const { shp } = shapefile(points, { numberOf: () => 77 });
    expect(await xs(writeShapefile(scratch, "numbers", { shp }))).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    ["too long", 400],
    ["too short", 4],
    ["beyond the file", 0x7fffffff],
    ["negative", -8],
  ])("records with a length that is %s are located by the number of the next one", async (name, words) => {
    const { shp } = shapefile(points);
    shp.writeInt32BE(words, 100 + 28 + 4);
    const context = new RecordingContext();
    const found = await xs(writeShapefile(scratch, `length-${name.replace(/ /g, "-")}`, { shp }), context);
    expect(found).toEqual([0, 1, 2, 3, 4]);
    expect(context.notices.map((notice) => notice.code)).toContain("shp-gap");
  });

  it.each([
    ["a type that is none", ints(99)],
    ["absurd counts", Buffer.concat([ints(5), doubles(0, 0, 0, 0), ints(0x7fffffff, 0x7fffffff)])],
    ["negative counts", Buffer.concat([ints(5), doubles(0, 0, 0, 0), ints(-1, -1)])],
    ["parts that go backwards", Buffer.concat([ints(3), doubles(0, 0, 0, 0), ints(2, 2, 1, 0), doubles(0, 0, 1, 1)])],
    ["parts outside the points", Buffer.concat([ints(3), doubles(0, 0, 0, 0), ints(1, 2, 9), doubles(0, 0, 1, 1)])],
    ["fewer points than they say", polyShape(3, [[0, 0, 1, 1]]).subarray(0, 60)],
    ["heights that are missing", polyShape(13, [[0, 0, 1, 1]], doubles(1))],
    ["nothing but a type", ints(1)],
  ])("records with %s are rejected with their place and attributes", async (name, content) => {
    const context = new RecordingContext();
    const files = shapefile([point(1, 1), content, point(3, 3)]);
    const path = writeShapefile(scratch, name.replace(/ /g, "-"), { ...files, dbf: table(" a", " b", " c") });
    const features = await readFeatures(path, {}, context);
    expect(features.map((feature) => feature.properties.A)).toEqual(["a", "c"]);
    expect(context.rejects).toMatchObject([
      { code: "input-corrupt", place: { record: 2, byte: 128 }, feature: { properties: { A: "b" }, geometry: null } },
    ]);
  });
});

describe("a .shp that ends early", () => {
  const whole = shapefile(points);
  const rows = table(" a", " b", " c", " d", " e");
  it.each([
    ["within a record, with its index", 100 + 28 * 3 + 10, { shx: whole.shx }],
    ["within a record, without an index", 100 + 28 * 3 + 20, {}],
    ["between two records, with its index", 100 + 28 * 3, { shx: whole.shx }],
    ["between two records, without an index", 100 + 28 * 3, {}],
  ])(
    "a .shp that ends early, %s, is an error that names record and byte, and its good part can be read",
    async (name, length, index) => {
      const files = { shp: whole.shp.subarray(0, length), ...index, dbf: rows };
      const path = writeShapefile(scratch, `cut-${name.replace(/\W/g, "-")}`, files);
      const error = await readFeatures(path).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "input-truncated", details: { place: { record: 4 } } });
      const context = new RecordingContext(true);
      expect(await xs(path, context)).toEqual([0, 1, 2]);
      expect(context.rejects.map((reject) => [reject.place.record, reject.feature?.properties.A])).toEqual([
        [4, "d"],
        [5, "e"],
      ]);
    },
  );

  it.each([
    ["within a record", 100 + 28 * 3 + 12],
    ["between two records", 100 + 28 * 3],
  ])("what the .shx has beyond the end of the .shp is a skipped range, and no note: %s", async (name, length) => {
    const files = { shp: whole.shp.subarray(0, length), shx: whole.shx, dbf: rows };
    const context = new RecordingContext(true);
    await readFeatures(writeShapefile(scratch, `range-${name.replace(/ /g, "-")}`, files), {}, context);
    expect(context.notices).toEqual([]);
    expect(context.skippedRanges).toMatchObject([
      {
        place: { byte: 184 },
        bytes: null,
        reason: `the file ends early: the .shx has record 4 here and perhaps others after it, but the .shp ends at byte ${length}`,
      },
    ]);
  });

  it("a .shp that ends early without a .dbf is an error, too", async () => {
    const path = writeShapefile(scratch, "cut-alone", { shp: whole.shp.subarray(0, 184) });
    await expect(readFeatures(path)).rejects.toMatchObject({ code: "input-truncated" });
    const context = new RecordingContext(true);
    expect(await xs(path, context)).toEqual([0, 1, 2]);
    expect(context.skippedRanges).toMatchObject([
      { bytes: null, reason: expect.stringContaining("more records follow") },
    ]);
  });

  it("a .shp that ends in its header, or is empty, is refused", async () => {
    await expect(openAt(writeShapefile(scratch, "cut-head", { shp: whole.shp.subarray(0, 50) }))).rejects.toMatchObject(
      {
        code: "input-truncated",
      },
    );
    await expect(openAt(writeShapefile(scratch, "no-bytes", { shp: Buffer.alloc(0) }))).rejects.toMatchObject({
      kind: "input",
    });
    await expect(openAt(writeShapefile(scratch, "not-shp", { shp: Buffer.alloc(200, 65) }))).rejects.toMatchObject({
      code: "input-corrupt",
    });
  });
});

describe("a .dbf", () => {
  it("a .dbf with a row that begins with neither a blank nor an asterisk is noticed", async () => {
    const context = new RecordingContext();
    const path = writeShapefile(scratch, "marks", { dbf: table(" a", "\0\0", "*c", " d") });
    expect((await readFeatures(path, {}, context)).map(({ properties }) => properties.A)).toEqual(["a", null, "d"]);
    expect(context.notices).toMatchObject([
      { code: "record-flag-invalid", count: 1 },
      { code: "records-deleted", count: 1 },
    ]);
  });

  it("a .dbf whose columns do not fill its rows is noticed", async () => {
    const fields = [
      { name: "A", type: "C", width: 1 },
      { name: "B", type: "C", width: 2 },
    ];
    const rows = dbf(fields, [" abb"]);
    // The end of the columns, where the second one was.
    rows[64] = 0x0d;
    const context = new RecordingContext();
    const features = await readFeatures(writeShapefile(scratch, "extra-rows", { dbf: rows }), {}, context);
    expect(features.map(({ properties }) => properties)).toEqual([{ A: "a" }]);
    expect(context.notices).toMatchObject([{ code: "extra-rows", example: expect.stringMatching(/2 bytes.*have 4/) }]);
  });

  it("a .dbf with a declared row length of one byte is refused, since its columns do not fit", async () => {
    const rows = table(" a", " b");
    rows.writeUInt16LE(1, 10);
    await expect(openAt(writeShapefile(scratch, "row-of-a-byte", { dbf: rows }))).rejects.toMatchObject({
      code: "input-corrupt",
      message: expect.stringContaining("its columns take 2 bytes, but its records have 1"),
    });
  });
});

describe("a .dbf that ends early", () => {
  const rows = table(" a", " b", " c", " d", " e");
  it("a .dbf that ends early is an error that names record and byte, and its good part can be read", async () => {
    const cut = rows.subarray(0, 65 + 2 * 2 + 1);
    const path = writeShapefile(scratch, "cut-table", { dbf: cut });
    await expect(readFeatures(path)).rejects.toMatchObject({
      code: "input-truncated",
      details: { place: { record: 3, byte: 70 } },
    });
    const context = new RecordingContext(true);
    expect((await readFeatures(path, {}, context)).map((feature) => feature.properties.A)).toEqual(["a", "b"]);
    expect(context.skippedRanges).toMatchObject([
      { bytes: null, reason: expect.stringContaining("the file ends early") },
    ]);
  });

  it("a .dbf that ends early beside shapes rejects those with missing attributes", async () => {
    const path = writeShapefile(scratch, "cut-both", { ...shapefile(points), dbf: rows.subarray(0, 65 + 2 * 2 + 1) });
    await expect(readFeatures(path)).rejects.toMatchObject({ code: "input-truncated" });
    const context = new RecordingContext(true);
    expect(await xs(path, context)).toEqual([0, 1]);
    expect(context.rejects.map((reject) => reject.place.record)).toEqual([3, 4, 5]);
  });

  it("a .dbf with only a too large record count is complete", async () => {
    const miscounted = dbf([{ name: "A", type: "C", width: 1 }], [" a", " b"], { count: 4_000_000_000 });
    const context = new RecordingContext();
    const path = writeShapefile(scratch, "miscounted", { dbf: miscounted });
    expect(await readFeatures(path, {}, context)).toHaveLength(2);
    expect(context.notices).toMatchObject([{ code: "record-count-mismatch" }]);
  });
});

describe("splits", () => {
  const many = Array.from({ length: 45_000 }, (_, i) => point(i, -i));
  const files = shapefile(many);
  const rows = dbf(
    [{ name: "N", type: "N", width: 6 }],
    many.map((_, i) => ` ${String(i).padStart(6)}`),
  );

  it.each([
    ["with an index", { ...files, dbf: rows }],
    ["without one", { shp: files.shp, dbf: rows }],
  ])("splits of a file %s are read alone as all at once, by readers without a scan", async (name, parts) => {
    const path = writeShapefile(scratch, name.replace(/ /g, "-"), parts);
    const batches = await readBySplits(path);
    expect(batches.length).toBe(45);
    const features = batches.flatMap((batch) => [...batch.features()]);
    expect(features).toEqual(await readFeatures(path));
    expect(features[44_999]).toEqual({
      type: "Feature",
      geometry: { type: "Point", coordinates: [44_999, -44_999] },
      properties: { N: 44_999 },
    });
    await using dataset = await openAt(path);
    const splits = await all(dataset.layers[0]!.splits!());
    expect(splits.map((split) => split.count)).toEqual([20_000, 20_000, 5000]);
    expect(splits.reduce((sum, split) => sum + split.bytes, 0)).toBe(45_000 * (28 + 7));
    expect(await all(dataset.layers[0]!.splits!())).toEqual(splits);
  });

  it("splits count records from their own start", async () => {
    const path = writeShapefile(scratch, "relative", { ...files, dbf: rows });
    const batches = await readBySplits(path);
    expect(batches[20]!.recordAt(0)).toBe(1);
    expect(batches[21]!.recordAt(0)).toBe(1001);
  });
});

describe("damaged files", () => {
  const line = (i: number) =>
    polyShape(
      13,
      [
        [i, i, i + 1, i],
        [i, i, 5, 5, 6, 6],
      ],
      doubles(0, 9, 1, 2, 3, 4, 5),
    );
  const square = (i: number) =>
    polyShape(5, [
      [0, 0, 0, i, i, i, i, 0, 0, 0],
      [1, 1, 2, 1, 2, 2, 1, 1],
    ]);
  const rows = Array.from(
    { length: 30 },
    (_, i) => ` text ${i % 10}${String(i).padStart(6)}${i % 3 ? "T" : "?"}2024022${i % 10}`,
  );
  const fields = [
    { name: "T", type: "C", width: 6 },
    { name: "N", type: "N", width: 6 },
    { name: "L", type: "L", width: 1 },
    { name: "D", type: "D", width: 8 },
  ];
  const sound = {
    ...shapefile(Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? line(i) : i % 3 === 1 ? square(i) : point(i, i)))),
    dbf: dbf(fields, rows),
  };

  it.each(["shp", "shx", "dbf"] as const)(
    "damaged files (.%s) end in errors of the registry or in features",
    async (part) => {
      const random = createRandom(part.charCodeAt(2));
      const path = writeShapefile(scratch, `fuzz-${part}`, sound);
      const file = path.replace(/shp$/, part);
      const original = readFileSync(file);
      for (let run = 0; run < 400; run++) {
        writeFileSync(file, damaged(original, random));
        for (const skipErrors of [false, true]) {
          const context = new RecordingContext(skipErrors);
          try {
            const features = await readFeatures(path, {}, context);
            expect(features.length + context.rejects.length).toBeLessThan(20_000);
          } catch (error) {
            expect(error).toBeInstanceOf(GeoferryError);
            expect((error as GeoferryError).kind).toBe("input");
          }
        }
      }
    },
  );
});

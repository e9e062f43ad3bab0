import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readOptions } from "../../../plugins/csv/options.js";
import { open } from "../../../plugins/csv/reader.js";
import { GeoferryError } from "../../../src/errors.js";
import { FileSource } from "../../../src/io/input/source.js";
import type { Feature } from "../../../src/model/index.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { RecordingContext, readBatches, TemporaryFolder } from "../../support/read-layers.js";
import { readFile } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const ugly =
  'name,lon,lat,note\r\n"a\nb",1,2,"x ""y"""\n\nc,3,4,\rd,,,"5,6"\r\ne,9,x,bad\nf,7,8,too,long\ng,5,6\n"h",1e2,.5,ä𝕏\n';

/** What each worker reads of its split, places made absolute as the host does it. */
async function bySplits(path: string, length: number, options: Readonly<Record<string, string>> = {}) {
  const values = parseOptions("csv", readOptions, options);
  const scout = new RecordingContext();
  await using dataset = await open(FileSource.at(path), values, scout, length);
  const features: Feature[] = [];
  const records: number[] = [];
  const rejects: { record: number; line: number; byte: number | undefined }[] = [];
  let [passedRecords, passedLines, splits, bytes] = [0, 0, 0, 0];
  for await (const split of dataset.layers[0]!.splits!()) {
    // A worker has the scan result, as structured cloning gives it, and nothing else.
    const worker = new RecordingContext(false, structuredClone(dataset.scanResult));
    await using copy = await open(FileSource.at(path), values, worker, length);
    for await (const batch of copy.layers[0]!.batches(structuredClone(split))) {
      if (Array.isArray(batch)) throw new Error("no batch");
      features.push(...batch.features());
      for (let row = 0; row < batch.length; row++) records.push(passedRecords + batch.recordAt(row));
    }
    for (const { place } of worker.rejects) {
      rejects.push({ record: passedRecords + place.record!, line: passedLines + place.line!, byte: place.byte });
    }
    expect(worker.notices.every((notice) => notice.code === "record-short")).toBe(true);
    passedRecords += worker.records;
    passedLines += worker.lines;
    bytes += split.bytes;
    splits++;
  }
  return { features, records, rejects, passedRecords, passedLines, splits, bytes };
}

test("splits of any size give the same features as the whole file, with the same places", async () => {
  const path = scratch.path("ugly.csv");
  writeFileSync(path, ugly);
  const whole = await readFile(path);
  const expected = {
    features: whole.features,
    records: [1, 2, 3, 6, 7],
    rejects: whole.recording.rejects.map(({ place }) => ({ record: place.record, line: place.line, byte: place.byte })),
    passedRecords: 7,
    passedLines: 10,
    bytes: Buffer.byteLength(ugly),
  };
  expect(expected.rejects).toEqual([
    { record: 4, line: 7, byte: ugly.indexOf("e,9") },
    { record: 5, line: 8, byte: ugly.indexOf("f,7") },
  ]);
  for (let length = 1; length < 140; length++) {
    const { splits, ...result } = await bySplits(path, length);
    expect(result).toEqual(expected);
    if (length < 20) expect(splits).toBeGreaterThan(4);
    const lazily = await bySplits(path, length, { sample: "1" });
    expect(lazily.bytes).toBe(expected.bytes);
    expect(lazily.records).toEqual(expected.records);
  }
});

test("splits give the same features in UTF-16 and in single-byte encodings", async () => {
  const text = ugly.replace("ä𝕏", "äö");
  for (const [encoding, bytes] of [
    ["utf-16le", Buffer.from(text, "utf16le")],
    ["utf-16be", Buffer.from(text, "utf16le").swap16()],
    ["windows-1252", Buffer.from(text, "latin1")],
  ] as const) {
    const path = scratch.path(`${encoding}.csv`);
    writeFileSync(path, bytes);
    const whole = await readFile(path, { encoding });
    for (let length = 1; length < 300; length += 7) {
      const result = await bySplits(path, length, { encoding });
      expect(result.features).toEqual(whole.features);
      expect(result.bytes).toBe(bytes.length);
      expect(result.rejects.map((reject) => reject.line)).toEqual([7, 8]);
    }
  }
});

test("splits of any size give the same features for any table", async () => {
  const cell = fc.constantFrom("", "a", "1", "2.5", '"x\ny"', '"q""q"', '"z\r\n"', "é", " ", "2020-01-01");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 30 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 60 }),
      async (rows, lineEnd, length) => {
        const path = scratch.path("any.csv");
        writeFileSync(path, `a,b,c\n${rows.map((row) => row.join(",")).join(lineEnd)}`);
        const whole = await readFile(path);
        expect((await bySplits(path, length)).features).toEqual(whole.features);
      },
    ),
    { numRuns: 50 },
  );
});

test("batches have about a thousand rows, fewer where geometries are large", async () => {
  const path = scratch.path("many.csv");
  writeFileSync(path, `id,wkt\n${[...new Array(2500).keys()].map((i) => `${i},POINT (1 2)`).join("\n")}`);
  const sizes = async () => {
    await using dataset = await open(FileSource.at(path), parseOptions("csv", readOptions, {}), new RecordingContext());
    const lengths: number[] = [];
    for await (const batch of readBatches(dataset.layers[0]!, true)) lengths.push(batch.length);
    return lengths;
  };
  expect(await sizes()).toEqual([1000, 1000, 500]);
  const line = `"LINESTRING (${new Array(40_000).fill("1 2").join(",")})"`;
  writeFileSync(path, `id,wkt\n${[1, 2, 3, 4, 5].map((i) => `${i},${line}`).join("\n")}`);
  expect(await sizes()).toEqual([2, 2, 1]);
});

test("any damage ends with a GeoferryError or with features", async () => {
  const path = scratch.path("damaged.csv");
  const geometries = `1,SRID=4326;POINT(1 2)\n2,01010000000000000000000${"0".repeat(19)}\n3,"{""type"":""Point"",""coordinates"":[1,2]}"\n`;
  const originals = [Buffer.from(ugly), Buffer.from(`\uFEFF${ugly}`, "utf16le"), Buffer.from(`id,geom\n${geometries}`)];
  let [errors, fine] = [0, 0];
  const change = fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 10, 13, 34, 44, 59, 0xff)));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...originals),
      fc.array(change, { maxLength: 8 }),
      fc.nat(),
      fc.boolean(),
      async (original, changes, cut, skipErrors) => {
        const bytes = Buffer.from(cut % 3 === 0 ? original.subarray(0, cut % original.length) : original);
        for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
        writeFileSync(path, bytes);
        try {
          await readFile(path, {}, { skipErrors, length: 16 + (cut % 50) });
          fine++;
        } catch (error) {
          if (!(error instanceof GeoferryError) || error.kind !== "input") throw error;
          errors++;
        }
      },
    ),
    { numRuns: 900 },
  );
  expect(errors).toBeGreaterThan(50);
  expect(fine).toBeGreaterThan(500);
});

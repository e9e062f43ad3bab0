import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { GeoJsonDataset, open } from "../../../plugins/geojson/reader.js";
import { FileSource } from "../../../src/io/input/source.js";
import { type Batch, Presence } from "../../../src/model/index.js";
import { RecordingContext, readBatches, readFeatures, TemporaryFolder } from "../../support/read-layers.js";
import { collection, feature, point, read } from "./read-geojson.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

async function batches(features: unknown[]): Promise<Batch[]> {
  const path = scratch.path("b.geojson");
  writeFileSync(path, JSON.stringify(collection(...features)));
  await using dataset = await open(FileSource.at(path), { fid: undefined }, new RecordingContext());
  const found: Batch[] = [];
  for await (const batch of readBatches(dataset.layers[0]!, true)) found.push(batch);
  return found;
}

describe("batches", () => {
  it("batches are the same of bytes that were fetched before", async () => {
    const path = scratch.path("f.geojson");
    writeFileSync(
      path,
      JSON.stringify(collection(...Array.from({ length: 50 }, (_, i) => feature(point(i, 0), { i })))),
    );
    const context = new RecordingContext();
    await using dataset = await GeoJsonDataset.open(FileSource.at(path), { fid: undefined }, context, 500);
    const [layer] = dataset.layers;
    let splits = 0;
    for await (const split of layer!.splits!()) {
      splits++;
      const fetched = await layer!.prefetch!(split);
      expect((fetched as Buffer).length).toBe(split.bytes);
      const ahead: unknown[] = [];
      const own: unknown[] = [];
      for await (const batch of layer!.batches(split, fetched)) ahead.push(batch);
      for await (const batch of layer!.batches(split)) own.push(batch);
      expect(own.length).toBeGreaterThan(0);
      expect(ahead).toEqual(own);
    }
    expect(splits).toBeGreaterThan(5);
  });

  it("batches hold a thousand features, or those of so many positions", async () => {
    const points = Array.from({ length: 2500 }, (_, i) => feature(point(i % 180, 0), { i }));
    expect((await batches(points)).map((b) => [b.length, b.firstRecord])).toEqual([
      [1000, 1],
      [1000, 1001],
      [500, 2001],
    ]);
    const line = { type: "LineString", coordinates: Array.from({ length: 20_000 }, (_, i) => [i / 1000, 1]) };
    expect((await batches(Array(10).fill(feature(line)))).map((b) => b.length)).toEqual([4, 4, 2]);
  });

  it("batches give each column the least type that holds its values, in the order of first appearance", async () => {
    const [batch] = await batches([
      feature(null, { b: 1, flag: true, t: "x", n: null, nested: { a: 1 } }),
      feature(null, { a: 1.5, b: 2 ** 40, flag: null, mixed: 1, n: null }),
      feature(null, { a: 2, mixed: "1" }),
    ]);
    expect(batch!.fields).toEqual([
      { name: "b", type: "int64" },
      { name: "flag", type: "boolean" },
      { name: "t", type: "text" },
      { name: "n", type: "text" },
      { name: "nested", type: "json" },
      { name: "a", type: "double" },
      { name: "mixed", type: "json" },
    ]);
    const { value, null: none, absent } = Presence;
    expect([...batch!.columns[1]!.presence]).toEqual([value, none, absent]);
    expect([...batch!.columns[3]!.presence]).toEqual([none, none, absent]);
  });

  it("batches keep integers of any size to the digit", async () => {
    const path = scratch.path("i.geojson");
    const values = ["1", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809"];
    for (const [n, type] of [
      [1, "int32"],
      [2, "int64"],
      [3, "int64"],
      [4, "json"],
      [5, "json"],
    ] as const) {
      const rows = values.slice(0, n).map((v) => `{"type":"Feature","geometry":null,"properties":{"v":${v}}}`);
      writeFileSync(path, `{"type":"FeatureCollection","features":[${rows.join(",")}]}`);
      await using dataset = await open(FileSource.at(path), { fid: undefined }, new RecordingContext());
      for await (const batch of readBatches(dataset.layers[0]!, true)) {
        expect(batch.fields[0]!.type).toBe(type);
        const column = batch.columns[0]!;
        if (column.type === "int64") expect([...column.values].map(String)).toEqual(values.slice(0, n));
        if (column.type === "json") expect(Buffer.from(column.bytes).toString()).toBe(values.slice(0, n).join(""));
      }
    }
  });

  it("batches count records and lines after rejected ones, within a split and over all of them", async () => {
    const good = JSON.stringify(feature(point(1, 2)));
    const bad = JSON.stringify(feature({ type: "Point", coordinates: [1] }));
    const text = [good, bad, "", good, good, bad, good].join("\n");
    const whole = await read(scratch, text, { bySplits: false });
    expect(whole.context.rejects.map((r) => [r.place.record, r.place.line])).toEqual([
      [2, 2],
      [5, 6],
    ]);
    expect([whole.context.records, whole.context.lines]).toEqual([6, 7]);
    const split = await read(scratch, text, { splitSize: 1 });
    expect(split.context.rejects.map((r) => [r.place.record, r.place.line])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect([split.context.records, split.context.lines]).toEqual([6, 7]);
    expect(split.context.rejects.map((r) => r.place.byte)).toEqual(whole.context.rejects.map((r) => r.place.byte));
  });

  it("batches say which records their rows are", async () => {
    const rows = await batches([feature(point(1, 2)), { type: "Feature", geometry: 7 }, feature(point(3, 4))]);
    expect(rows.map((b) => Array.from({ length: b.length }, (_, i) => b.recordAt(i)))).toEqual([[1, 3]]);
  });

  it("batches are the same on a thread that has only the scan result", async () => {
    const path = scratch.path("c.geojson");
    const made = Array.from({ length: 50 }, (_, i) => feature(point(i, 1), { i }));
    writeFileSync(path, JSON.stringify({ name: "n", ...collection(...made) }));
    const source = FileSource.at(path);
    await using first = await open(source, { fid: undefined }, new RecordingContext());
    const scanResult = structuredClone(first.scanResult);
    await using second = await open(source, { fid: undefined }, new RecordingContext(false, scanResult));
    expect(second.layers[0]!.name).toBe("n");
    expect(await readFeatures(second)).toEqual(made);
  });
});

describe("large features", () => {
  it("a feature larger than any block is read, and its neighbors", async () => {
    const coordinates = Array.from({ length: 900_000 }, (_, i) => [i / 100_000, -i / 100_000]);
    const made = [feature(point(1, 2)), feature({ type: "LineString", coordinates }, { n: 1 }), feature(point(3, 4))];
    const text = JSON.stringify(collection(...made));
    expect(text.length).toBeGreaterThan(1 << 24);
    const { features } = await read(scratch, text);
    expect(features).toHaveLength(3);
    expect(JSON.stringify(features[1]!.geometry) === JSON.stringify(made[1]!.geometry)).toBe(true);
    const cut = await read(scratch, text.slice(0, -1000)).then(String, (error: Error) => error.message);
    expect(cut).toContain(`byte ${text.length - 1000}: the file ends early`);
    // What hides the end of a feature is found without holding the rest of the file.
    const spoilt = text.replace("[1,2]}", "[1,2]");
    const message = await read(scratch, spoilt).then(String, (error: Error) => error.message);
    expect(message).toContain(`byte ${spoilt.indexOf("}},{") + 3}`);
  });

  it("strings with brackets, quotes and backslashes are not taken for structure at any block border", async () => {
    const filler = '\\"{[\\\\'.repeat(700_000);
    const text = `{"type":"FeatureCollection","features":[${[1, 2, 3]
      .map(
        (n) =>
          `{"type":"Feature","properties":{"n":${n},"t":"${filler.slice(0, filler.length - 6 * n)}"},"geometry":null}`,
      )
      .join(",")}]}`;
    const { features } = await read(scratch, text);
    expect(features.map((f) => f.properties)).toEqual(
      JSON.parse(text).features.map((f: { properties: object }) => f.properties),
    );
  });
});

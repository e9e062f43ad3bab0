/** Features outside of a box are not read where the index finds those inside, and the result is the same. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import flatgeobuf from "../../../plugins/flatgeobuf/index.js";
import type { FgbSplit } from "../../../plugins/flatgeobuf/read/plan-splits.js";
import type { Extent } from "../../../src/model/index.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { layerBatches, openDataset, RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const source = scratch.path("source.geojson");
const [indexed, plain, reference] = [
  scratch.path("indexed.fgb"),
  scratch.path("plain.fgb"),
  scratch.path("order.geojson"),
];
const count = 5000;

beforeAll(async () => {
  const random = createRandom(9);
  const features = Array.from({ length: count }, (_, n) => {
    const [x, y] = [random() * 300 - 150, random() * 140 - 70];
    const ring = [
      [x, y],
      [x + 1, y],
      [x + 1, y + 1],
      [x, y],
    ];
    const geometry =
      n % 50 === 0 ? null : n % 3 ? { type: "Point", coordinates: [x, y] } : { type: "Polygon", coordinates: [ring] };
    return { type: "Feature", properties: { n }, geometry };
  });
  writeFileSync(source, JSON.stringify({ type: "FeatureCollection", features }));
  await convertFile(source, indexed);
  await convertFile(source, plain, { writerOptions: { index: "no" } });
  // In the order of the indexed file.
  await convertFile(indexed, reference);
});

async function splitsFor(path: string, boxes: readonly Extent[]): Promise<FgbSplit[]> {
  await using dataset = await openDataset(flatgeobuf, path, new RecordingContext());
  const found: FgbSplit[] = [];
  for await (const split of dataset.layers[0]!.splits!({ boxes, conditions: [] })) found.push(split as FgbSplit);
  return found;
}

const bytesOf = (splits: readonly FgbSplit[]) =>
  splits.reduce((sum, { ranges }) => sum + ranges.reduce((all, [from, to]) => all + to - from, 0), 0);

describe("splits for a box", () => {
  it("have few bytes of a file with an index, and all of one without", async () => {
    const whole = bytesOf(await splitsFor(indexed, [[-180, -90, 180, 90]]));
    const part = bytesOf(await splitsFor(indexed, [[0, 0, 10, 10]]));
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(whole / 50);
    expect(bytesOf(await splitsFor(indexed, [[200, 0, 210, 10]]))).toBe(0);
    expect(bytesOf(await splitsFor(plain, [[200, 0, 210, 10]]))).toBeGreaterThan(whole / 2);
  });

  it("stand for all records", async () => {
    for (const box of [
      [0, 0, 10, 10],
      [200, 0, 210, 10],
      [-180, -90, 180, 90],
    ] as const) {
      const splits = await splitsFor(indexed, [box]);
      expect(splits.reduce((sum, { records }) => sum + records!, 0)).toBe(count);
    }
  });
});

const requests: Partial<ConvertRequest>[] = [
  { bbox: [0, 0, 10, 10] },
  { bbox: [140, -60, -140, 60] },
  { bbox: [0, 0, 1000000, 1000000], targetCrs: "EPSG:3857" },
  { bbox: [300000, 5000000, 900000, 6000000], targetCrs: "EPSG:25832" },
  { bbox: [-180, -90, 180, 90] },
  { bbox: [0, 0, 40, 40], where: "n > 2000" },
  { bbox: [0, 0, 10, 10], swapXy: true, reproject: false },
  { bbox: [0, 0, 10, 10], makeValid: true },
  { bbox: [400, 0, 410, 10] },
];

describe("conversions of points with a reprojection", () => {
  it.each<[Extent, string, string]>([
    [[600000, 6000000, 1200000, 7000000], "EPSG:4326", "EPSG:3857"],
    [[200000, 5000000, 900000, 6000000], "EPSG:4326", "EPSG:25832"],
    [[8, 45, 11, 55], "EPSG:25832", "EPSG:4326"],
    [[2500000, 3000000, 4500000, 4000000], "EPSG:25832", "EPSG:3035"],
    [[3300000, 5200000, 3700000, 5900000], "EPSG:25832", "EPSG:31467"],
    [[8, 45, 11, 55], "EPSG:31467", "EPSG:4326"],
  ])("to the box %o give what they give of GeoJSON: %s to %s", async (bbox, from, to) => {
    const random = createRandom(1);
    const lines = Array.from({ length: 3000 }, (_, n) => `${n},${5 + random() * 8},${44 + random() * 14}`);
    const table = scratch.path("points.csv");
    const [points, whole] = [scratch.path("points.fgb"), scratch.path("points.gpkg")];
    writeFileSync(table, `n,lon,lat\n${lines.join("\n")}\n`);
    await convertFile(table, points, { targetCrs: from, overwrite: true });
    await convertFile(points, whole, { targetCrs: from, overwrite: true });
    const results = [];
    for (const input of [whole, points]) {
      const output = scratch.path("result.csv");
      await convertFile(input, output, { bbox, targetCrs: to, overwrite: true, accuracy: 1000 });
      const rows = readFileSync(output, "utf8").trim().split("\n").slice(1);
      results.push(rows.map((row) => row.replace(/^\d+,(?=\d+,)/, "")).sort());
    }
    expect(results[0]!.length).toBeGreaterThan(100);
    expect(results[0]!.length).toBeLessThan(2900);
    expect(results[1]!.length).toBe(results[0]!.length);
  });
});

describe("conversions with a box", () => {
  it.each(requests)("give what they give of GeoJSON: %o", async (request) => {
    const results = [];
    for (const input of [reference, indexed]) {
      const output = scratch.path("result.geojsonl");
      const outcome = await convertFile(input, output, { ...request, overwrite: true, allowEmpty: true }).then(
        () => readFileSync(output, "utf8"),
        ({ code }) => code,
      );
      results.push(outcome);
    }
    expect(results[1]).toBe(results[0]);
  });

  it("number records as in the whole file", async () => {
    const context = new RecordingContext();
    await using dataset = await openDataset(flatgeobuf, indexed, context);
    const numbers = new Map<number, number>();
    let before = 0;
    for await (const split of dataset.layers[0]!.splits!({ boxes: [[0, 0, 30, 30]], conditions: [] })) {
      for await (const batch of layerBatches(dataset.layers[0]!, split))
        for (let row = 0; row < batch.length; row++)
          numbers.set(before + batch.recordAt(row), batch.featureAt(row).properties.n as number);
      before = context.records;
    }
    const order: { properties: { n: number } }[] = JSON.parse(readFileSync(reference, "utf8")).features;
    expect(numbers.size).toBeGreaterThan(20);
    for (const [record, n] of numbers) expect(order[record - 1]!.properties.n).toBe(n);
    expect(context.records).toBe(count);
  });
});

describe("an index of zeros, as in a file that was downloaded in part, is an error", () => {
  const withZeros = (start: number, length: number) => {
    const bytes = readFileSync(indexed);
    // The header follows the magic bytes; its size is a 32-bit integer (FlatGeobuf specification, "File Layout").
    const index = 12 + bytes.readUInt32LE(8);
    bytes.fill(0, index + start, index + start + length);
    const path = scratch.path(`zeros-${start}-${length}.fgb`);
    writeFileSync(path, bytes);
    return path;
  };
  // Entries have 40 bytes, and nodes 16 entries: 5000 leaves in 313 nodes, which have 20 and then 2 parents under the root.
  const tree = 40 * (5000 + 313 + 20 + 2 + 1);

  it.each([
    ["the whole index", 0, tree],
    ["the root", 0, 40],
    ["the leaves", 40 * (1 + 2 + 20 + 313), 40 * 5000],
  ])("%s", async (_, start, length) => {
    const converted = convertFile(withZeros(start, length), scratch.path("of-zeros.geojson"), {
      bbox: [0, 0, 10, 10],
      overwrite: true,
    });
    await expect(converted).rejects.toMatchObject({ code: "input-corrupt" });
  });
});

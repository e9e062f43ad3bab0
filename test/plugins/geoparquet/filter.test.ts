/** Row groups without wanted features are not read, and the result is the same. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import geoparquet from "../../../plugins/geoparquet/index.js";
import type { SplitCondition, SplitFilter } from "../../../src/model/index.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { openDataset, RecordingContext, TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";

const scratch = new TemporaryFolder();
const source = scratch.path("source.geojson");
const parquet = scratch.path("source.parquet");
const count = 5000;

beforeAll(async () => {
  const features = Array.from({ length: count }, (_, n) => ({
    type: "Feature",
    properties: { n, d: n / 4, s: `s${String(n).padStart(5, "0")}`, day: `20${10 + Math.floor(n / 1000)}-01-01` },
    geometry: n % 11 === 0 ? null : { type: "Point", coordinates: [n / 50, -n / 100] },
  }));
  writeFileSync(source, JSON.stringify({ type: "FeatureCollection", features }));
  await convertFile(source, parquet, { writerOptions: { rowGroup: "1000" } });
});
afterAll(() => scratch.remove());

/** The row groups that are read. */
async function groupsRead(filter: SplitFilter): Promise<number[]> {
  await using dataset = await openDataset(geoparquet, parquet, new RecordingContext());
  const groups: number[] = [];
  for await (const split of dataset.layers[0]!.splits!(filter))
    if (!split.isSkipped) groups.push(split.group as number);
  return groups;
}

describe("splits", () => {
  it.each<[string, SplitCondition, number[]]>([
    ["n = 2500", { field: "n", comparison: "=", value: 2500 }, [2]],
    ["n < 1000", { field: "n", comparison: "<", value: 1000 }, [0]],
    ["n <= 1000", { field: "n", comparison: "<=", value: 1000 }, [0, 1]],
    ["n > 3999", { field: "n", comparison: ">", value: 3999 }, [4]],
    ["d >= 1249.75", { field: "d", comparison: ">=", value: 1249.75 }, [4]],
    ["s = 's03000'", { field: "s", comparison: "=", value: "s03000" }, [3]],
    ["day < 2011", { field: "day", comparison: "<", value: "2011-01-01" }, [0]],
    ["another field", { field: "gone", comparison: "=", value: 1 }, [0, 1, 2, 3, 4]],
    ["a text and a number", { field: "n", comparison: "=", value: "2500" }, [0, 1, 2, 3, 4]],
  ])("for %s", async (_, condition, groups) => {
    expect(await groupsRead({ boxes: null, conditions: [condition] })).toEqual(groups);
  });

  it("for a box", async () => {
    expect(await groupsRead({ boxes: [[40.5, -30, 41, -10]], conditions: [] })).toEqual([2]);
    expect(await groupsRead({ boxes: [[200, 0, 201, 1]], conditions: [] })).toEqual([]);
  });
});

const requests: Partial<ConvertRequest>[] = [
  { where: "n = 2500" },
  { where: "1200 >= n AND s > 's01100'" },
  { where: "n < 10 OR n > 4990" },
  { where: "day >= '2014-01-01' AND n <> 4500" },
  { where: "NOT n < 4990" },
  { where: "n IS NOT NULL AND d < 1" },
  { bbox: [40.5, -30, 41, -10] },
  { bbox: [99, -60, 20, 0] },
  { bbox: [4508000, -2400000, 4620000, -2200000], targetCrs: "EPSG:3857" },
  { where: "n > 2000", bbox: [0, -90, 60, 90] },
  { where: "renamed > 4990", rename: { n: "other", d: "renamed" } },
  { where: "n > 4990", rename: { n: "s2" }, cast: { n: "text" } },
  { bbox: [-30, 40.5, -10, 41], swapXy: true, reproject: false },
];

describe("conversions with filters", () => {
  it.each(requests)("give what they give of GeoJSON: %o", async (request) => {
    const expected = scratch.path("expected.geojsonl");
    const found = scratch.path("found.geojsonl");
    const outcomes = await Promise.allSettled([
      convertFile(source, expected, { ...request, overwrite: true }),
      convertFile(parquet, found, { ...request, overwrite: true }),
    ]);
    expect(outcomes[1]!.status).toBe(outcomes[0]!.status);
    if (outcomes[0]!.status === "fulfilled") expect(readFileSync(found, "utf8")).toBe(readFileSync(expected, "utf8"));
  });

  it("number records of rejects as in the whole file", async () => {
    const bytes = readFileSync(parquet);
    expect(bytes.length).toBeGreaterThan(0);
    await using dataset = await openDataset(geoparquet, parquet, new RecordingContext());
    const context = new RecordingContext();
    await using second = await openDataset(geoparquet, parquet, context);
    const filter: SplitFilter = { boxes: null, conditions: [{ field: "n", comparison: ">", value: 3999 }] };
    for await (const split of dataset.layers[0]!.splits!(filter))
      for await (const batch of second.layers[0]!.batches(split)) expect(batch.length).toBeGreaterThan(0);
    expect(context.records).toBe(count);
  });
});

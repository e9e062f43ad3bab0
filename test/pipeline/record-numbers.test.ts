import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { defaultSplitBytes } from "../../plugins/shared/split-size.js";
import { convert } from "../../src/pipeline/convert.js";
import { createTestHost } from "../support/host.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const host = createTestHost();

/** A collection of `count` points that are a quarter of a split each, with a member behind the features. */
function collection(count: number): string {
  const filling = "x".repeat(defaultSplitBytes / 4);
  const feature = `{"type":"Feature","properties":{"text":"${filling}"},"geometry":{"type":"Point","coordinates":[1,2]}}`;
  return `{"type":"FeatureCollection","features":[${new Array(count).fill(feature).join(",")}],"extra":{"a":1}}`;
}

describe("what stands far on in an input", () => {
  test("a notice late in the input is reported when the whole input is read, but not beyond a limit", async () => {
    const input = scratch.path("far.geojson");
    writeFileSync(input, collection(7));
    const lossesOf = async (name: string, limit: { limit?: number }) => {
      const output = scratch.path(name);
      const { losses } = await convert({ inputs: [input], output, workers: 1, ...limit }, host);
      return losses.map(({ code }) => code);
    };
    expect(await lossesOf("all.geojson", {})).toEqual(["foreign-member"]);
    expect(await lossesOf("some.geojson", { limit: 2 })).toEqual([]);
  });

  test("a feature late in the input is rejected with its record number, regardless of its split", async () => {
    const input = scratch.path("far.csv");
    const row = `1,2,${"x".repeat(defaultSplitBytes / 4)}\n`;
    writeFileSync(input, `lon,lat,text\n${row.repeat(7)},,last\n`);
    await convert({ inputs: [input], output: scratch.path("far.gpx"), workers: 1 }, host);
    const lines = readFileSync(scratch.path("far.gpx.rejects.geojsonl"), "utf8").trimEnd().split("\n");
    const rejects = lines.map((line) => (JSON.parse(line) as { reject: unknown }).reject);
    const reason = "GPS Exchange Format (GPX) cannot hold a feature without geometry";
    expect(rejects).toEqual([{ code: "geometry-unsupported", reason, input, layer: "far", record: 8 }]);
  });
});

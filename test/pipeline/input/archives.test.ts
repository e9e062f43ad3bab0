import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { outputStem } from "../../../src/io/output/temporary-names.js";
import type { Batch, Feature } from "../../../src/model/index.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { defineFormat } from "../../../src/plugin/format.js";
import { Registry } from "../../../src/plugin/registry.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

/** A format with a zip of its own: "x y" a line. */
const pairs = defineFormat({
  apiVersion: 1,
  id: "pairs",
  label: "Pairs",
  extensions: ["pairs", "pairz"],
  archive: {
    extensions: ["pairz"],
    findMain: (entries) => entries.find((path) => path === "doc.pairs"),
    mainName: "doc.pairs",
  },
  identify: (head) => (/^\d+ \d+\n/.test(head.toString("latin1")) ? "yes" : "no"),
  reader: {
    options: {},
    load: async () => ({
      async open(source, _, context) {
        async function* batches(): AsyncGenerator<Feature[]> {
          const lines = readFileSync(source.path, "utf8").trim().split("\n");
          yield lines.map((line) => {
            const geometry = { type: "Point" as const, coordinates: line.split(" ").map(Number) };
            return { type: "Feature", geometry, properties: {} };
          });
        }
        const known = { name: outputStem(source.name), crs: context.crs.wgs84, bytes: source.size, batches };
        const layer = { ...known, fields: null, geometryTypes: null, featureCount: null, extent: null };
        return { layers: [layer], async [Symbol.asyncDispose]() {} };
      },
    }),
  },
  writer: {
    options: {},
    capabilities: () => ({
      crs: "any",
      layers: "one",
      geometryTypes: ["Point"],
      nullGeometry: false,
      z: false,
      m: false,
      fieldTypes: [],
      ids: "fid",
      requiredScan: "nothing",
      supportsStreaming: true,
    }),
    load: async () => ({
      createEncoder: async () => ({
        encode: ({ geometry }: Batch) => ({ text: `${geometry.xy[0]} ${geometry.xy[1]}\n` }),
      }),
      async createAssembler(sink) {
        const file = await sink.create();
        return {
          append: ({ text }: { text: string }) => file.write(Buffer.from(text)),
          async finish() {},
        };
      },
    }),
  },
});

function run(input: string, output: string, request: Partial<ConvertRequest> = {}) {
  const host = createTestHost();
  const registry = new Registry();
  for (const format of host.registry.all()) registry.add(format, host.registry.getModule(format.id));
  registry.add(pairs, "./pairs.js");
  const inputs = [scratch.path(input)];
  return convert({ inputs, output: scratch.path(output), workers: 1, ...request }, { ...host, registry });
}

const entries = (zip: string) =>
  execFileSync("unzip", ["-Z1", scratch.path(zip)], { encoding: "utf8" })
    .trim()
    .split("\n");
const entry = (zip: string, name: string) =>
  execFileSync("unzip", ["-p", scratch.path(zip), name], { encoding: "utf8" });

describe("a format's own zip", () => {
  test("the zip of a format is written with its main file under the format's name, and read back", async () => {
    writeFileSync(scratch.path("in.pairs"), "1 2\n");
    await run("in.pairs", "places.pairz");
    expect(entries("places.pairz")).toEqual(["doc.pairs"]);
    expect(entry("places.pairz", "doc.pairs")).toBe("1 2\n");
    const report = await run("places.pairz", "back.geojson");
    expect(report.outputs.map(({ layer, features }) => [layer, features])).toEqual([["places", 1]]);
    expect(report.notices.map(({ code }) => code)).not.toContain("zip-entries-ignored");
  });

  test("other readable files in the zip of a format are reported", async () => {
    writeFileSync(scratch.path("doc.pairs"), "1 2\n");
    writeFileSync(scratch.path("more.pairs"), "5 6\n");
    execFileSync("zip", ["-q", "places.pairz", "doc.pairs", "more.pairs"], { cwd: scratch.folder });
    const { written, notices } = await run("places.pairz", "out.geojson");
    expect(written).toBe(1);
    expect(notices.find(({ code }) => code === "zip-entries-ignored")).toMatchObject({
      count: 1,
      example: expect.stringContaining("and also contains more.pairs"),
    });
  });
});

describe("an output whose name ends as a zip", () => {
  test.each([
    ["roads.shz", "shapefile", "roads.shp"],
    ["roads.shp.zip", "shapefile", "roads.shp"],
    ["roads.zip", "shapefile", "roads.shp"],
    ["ROADS.SHP.ZIP", "shapefile", "ROADS.shp"],
    ["roads.zip", "csv", "roads.csv"],
    ["roads.tsv.zip", "csv", "roads.tsv"],
    ["roads.v2.zip", "geojson", "roads.v2.geojson"],
  ])("the zip %s of %s holds %s", async (output, to, name) => {
    writeFileSync(scratch.path("in.pairs"), "1 2\n");
    await run("in.pairs", output, { to });
    expect(entries(output)).toContain(name);
    expect(readFileSync(scratch.path(output)).toString("latin1", 0, 2)).toBe("PK");
    const { written } = await run(output, "back.pairs");
    expect(written).toBe(1);
  });
});

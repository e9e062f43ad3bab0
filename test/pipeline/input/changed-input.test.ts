import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createError } from "../../../src/errors.js";
import { convert } from "../../../src/pipeline/convert.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { samples } from "../../support/command.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let folders = 0;

/** Copies sample files into a folder of their own. */
function copy(...names: readonly string[]): (name: string) => string {
  const folder = scratch.path(`inputs-${++folders}`);
  mkdirSync(folder);
  for (const name of names) cpSync(`${samples}/${name}`, `${folder}/${basename(name)}`);
  return (name) => `${folder}/${name}`;
}

/** Converts, and calls `change` after the input was opened and before its features are read. */
const convertChanged = (input: string, output: string, change: () => void, request: Partial<ConvertRequest> = {}) =>
  convert({ inputs: [input], output, workers: 1, ...request }, { ...createTestHost(), onLayers: change });

const csvText = (count: number) =>
  `id,lon,lat\n${Array.from({ length: count }, (_, i) => `${i},${i % 90},1\n`).join("")}`;

describe("an input that changes while it is read", () => {
  const changes: readonly (readonly [what: string, change: (path: string) => void])[] = [
    ["is rewritten", (path) => writeFileSync(path, csvText(2))],
    ["is cut short", (path) => truncateSync(path, 30)],
    ["grows", (path) => writeFileSync(path, "9,9,9\n", { flag: "a" })],
    ["is emptied", (path) => truncateSync(path, 0)],
    ["is deleted", (path) => rmSync(path)],
    [
      "is replaced by a file of the same size",
      (path) => {
        writeFileSync(`${path}.new`, readFileSync(path, "utf8").replaceAll(",1\n", ",2\n"));
        renameSync(`${path}.new`, path);
      },
    ],
  ];

  test.each(changes)("%s: nothing is written", async (_what, change) => {
    const at = copy();
    writeFileSync(at("in.csv"), csvText(1000));
    const converted = convertChanged(at("in.csv"), at("out.geojson"), () => change(at("in.csv")));
    await expect(converted).rejects.toMatchObject({
      code: "input-changed",
      kind: "unavailable",
      details: { source: at("in.csv") },
    });
    expect(existsSync(at("out.geojson"))).toBe(false);
  });

  test.each(["dbf", "prj", "cpg"])("the .%s beside a shapefile counts", async (extension) => {
    const names = readdirSync(`${samples}/shapefile`).filter((name) => name.startsWith("parks."));
    const at = copy(...names.map((name) => `shapefile/${name}`));
    const converted = convertChanged(at("parks.shp"), at("out.csv"), () =>
      writeFileSync(at(`parks.${extension}`), " ", { flag: "a" }),
    );
    await expect(converted).rejects.toMatchObject({ code: "input-changed" });
    expect(existsSync(at("out.csv"))).toBe(false);
  });

  test("the change is reported, not the syntax error that it causes, so that a job tries again", async () => {
    const at = copy("capitals.geojson");
    const converted = convertChanged(at("capitals.geojson"), at("out.csv"), () =>
      writeFileSync(at("capitals.geojson"), '{"type":"FeatureCollection","features":[{"type":"Feature"'),
    );
    await expect(converted).rejects.toMatchObject({ code: "input-changed" });
  });

  test("an error with another cause stays", async () => {
    const at = copy("capitals.geojson");
    const converted = convertChanged(at("capitals.geojson"), at("out.csv"), () => {
      writeFileSync(at("capitals.geojson"), " ", { flag: "a" });
      throw createError("output-failed", { output: at("out.csv"), reason: "the disk is full" });
    });
    await expect(converted).rejects.toMatchObject({ code: "output-failed" });
  });

  test("a file that appears beside an input is no change, as readers write indexes", async () => {
    const at = copy("capitals.geojson");
    cpSync(`${samples}/csv/capitals.csv`, at("capitals.csv"));
    const report = await convertChanged(at("capitals.csv"), at("out.geojson"), () =>
      writeFileSync(at("capitals.csvt"), '"String"'),
    );
    expect(report.read).toBeGreaterThan(0);
  });

  test("other files in the folder may change", async () => {
    const at = copy("capitals.geojson");
    const report = await convertChanged(at("capitals.geojson"), at("out.csv"), () =>
      writeFileSync(at("capitals.txt"), "x"),
    );
    expect(report.written).toBe(195);
  });
});

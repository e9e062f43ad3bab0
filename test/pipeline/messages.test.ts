/** Messages about inputs say what is wrong, and their advice works when it is followed. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { expandInputs } from "../../src/pipeline/input/expand-inputs.js";
import { TemporaryFolder } from "../../src/testing/index.js";
import { convertFile, createTestHost } from "../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const point = "<Point><coordinates>1,2</coordinates></Point>";

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "",
    (error: Error) => error.message,
  );
}

test("a folder without an input is not called missing, and a pattern names its files", async () => {
  const folder = scratch.path("tables");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/a.txt`, "name,lon,lat\na,7,46\n");
  const { registry, signal } = createTestHost();
  const message = await messageOf(expandInputs([folder], registry, signal));
  expect(message).toContain(`${folder}: no file in this folder has an extension that geoferry knows (`);
  const [, pattern = ""] = /such as '([^']*)'/.exec(message) ?? [];
  const [input] = await expandInputs([pattern], registry, signal);
  const report = await convertFile(input!.address, scratch.path("out.geojson"), { from: "csv" });
  expect(report.written).toBe(1);
});

test.each([
  [
    "kml",
    `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark>${point}</Placemark><Placemark><name>b</nam></Placemark><Placemark>${point}</Placemark></Document></kml>`,
  ],
  ["gpx", '<gpx><wpt lat="1" lon="2"/><wpt lat="1" lon="2"></rte><wpt lat="3" lon="4"/></gpx>'],
  [
    "geojson",
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":null},{"type":"Feature" 5},{"type":"Feature","properties":{},"geometry":null}]}',
  ],
])("the advice to skip damage of a %s works", async (extension, text) => {
  const path = scratch.path(`damaged.${extension}`);
  writeFileSync(path, text);
  const output = scratch.path(`${extension}.geojson`);
  const message = await messageOf(convertFile(path, output));
  expect(message).toMatch(/byte \d+: .*; correct it, or read past it with --skip-errors$/);
  expect(message).not.toContain("has to be");
  await convertFile(path, output, { skipErrors: true });
  expect(JSON.parse(readFileSync(output, "utf8")).features).toHaveLength(2);
});

test("a file that is not XML gets no advice to skip damage", async () => {
  const path = scratch.path("table.csv");
  writeFileSync(path, "a,b\n");
  expect(await messageOf(convertFile(path, scratch.path("x.geojson"), { from: "kml" }))).not.toContain("--skip-errors");
});

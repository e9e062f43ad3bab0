import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { convertMany } from "../../../src/pipeline/convert-many.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

test.skipIf(process.platform === "win32")("a folder of inputs is converted without its named pipes", async () => {
  const [input, output] = [scratch.path("in"), scratch.path("out")];
  mkdirSync(input);
  writeFileSync(`${input}/a.csv`, "lon,lat\n1,2\n");
  execFileSync("mkfifo", [`${input}/b.csv`]);
  const outcomes = await convertMany(
    { inputs: [input], output: `${output}/`, to: "geojson", workers: 1 },
    createTestHost(),
  );
  expect(outcomes.map(({ error }) => error)).toEqual([undefined]);
  expect(readdirSync(output)).toEqual(["a.geojson"]);
});

/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, describe, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertDamagedCopies } from "../../support/damaged-copies.js";
import { convertFile } from "../../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const samples = new URL("../../../samples/", import.meta.url).pathname;
const mutations = 100;

describe.each([
  ["mixed geometries with an index", "mixed.geojson", "yes"],
  ["points with an index", "capitals.geojson", "yes"],
  ["mixed geometries without an index", "mixed.geojson", "no"],
])("a file of %s", (_, sample, index) => {
  it(`is read or refused in ${mutations} damaged copies`, async () => {
    const whole = scratch.path("whole.fgb");
    await convertFile(`${samples}${sample}`, whole, { overwrite: true, writerOptions: { index } });
    const intact = readFileSync(whole);
    const headerEnd = 12 + intact.readUInt32LE(8);
    await convertDamagedCopies(scratch, {
      intact,
      extension: "fgb",
      count: mutations,
      seed: 11,
      pickByte: (_length, random, n) => 8 + Math.floor(random() * (n % 10 < 8 ? headerEnd : 1500)),
      request: (n) => (n % 4 === 0 ? { bbox: [0, 0, 20, 60] } : {}),
    });
  }, 120_000);
});

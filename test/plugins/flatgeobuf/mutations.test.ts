/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";

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
    const random = createRandom(11);
    const before = readdirSync(scratch.folder).length;
    const [path, output] = [scratch.path("damaged.fgb"), scratch.path("output.geojson")];
    for (let n = 0; n < mutations; n++) {
      let bytes = Buffer.from(intact);
      const start = Math.floor(random() * bytes.length);
      if (n % 10 === 0) bytes = bytes.subarray(0, start);
      else if (n % 10 === 1) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 5)]);
      else if (n % 10 < 6)
        for (let k = 0; k < 1 + (n % 4); k++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      else bytes[8 + Math.floor(random() * (n % 10 < 8 ? headerEnd : 1500))] = Math.floor(random() * 256);
      writeFileSync(path, bytes);
      try {
        await convertFile(path, output, {
          overwrite: true,
          skipErrors: n % 3 === 0,
          reproject: n % 2 === 0 ? false : undefined,
          ...(n % 4 === 0 && { bbox: [0, 0, 20, 60] }),
        });
      } catch (error) {
        if (!(error instanceof GeoferryError) || error.code === "internal")
          throw new Error(`mutation ${n}`, { cause: error });
        expect(["input", "unsupported", "rejected", "usage", "guard"], `mutation ${n}: ${error.message}`).toContain(
          error.kind,
        );
      }
    }
    // The damaged copy, and an output that was complete.
    expect(readdirSync(scratch.folder).length - before).toBeLessThanOrEqual(existsSync(output) ? 2 : 1);
  }, 120_000);
});

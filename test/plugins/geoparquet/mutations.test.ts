/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { geoKey, withPoints, writeParquet } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const samples = new URL("../../../samples/", import.meta.url).pathname;
const mutations = 100;

async function ownFile(): Promise<string> {
  const path = scratch.path("own.parquet");
  await convertFile(`${samples}mixed.geojson`, path);
  return path;
}

function otherFile(codec: "SNAPPY" | "ZSTD"): string {
  const data = Array.from({ length: 300 }, (_, i) => i);
  return writeParquet(scratch.path(`other-${codec}.parquet`), {
    columnData: withPoints([
      { name: "n", type: "INT32", data, encoding: "DELTA_BINARY_PACKED" },
      { name: "s", type: "STRING", data: data.map((n) => (n % 5 ? `value ${n % 9}` : null)) },
      { name: "u", type: "STRING", data: data.map((n) => `text ${n}`), encoding: "DELTA_BYTE_ARRAY" },
      { name: "j", type: "JSON", data: data.map((n) => ({ n })) },
      { name: "t", type: "TIMESTAMP", data: data.map((n) => new Date(n * 1e9)) },
    ]),
    codec,
    pageSize: 500,
    rowGroupSize: 100,
    kvMetadata: [geoKey()],
  });
}

describe.each([
  ["the plugin", ownFile],
  ["another writer", async () => otherFile("SNAPPY")],
  ["another writer, with Zstandard", async () => otherFile("ZSTD")],
])("a file of %s", (_, create) => {
  it(`is read or refused in ${mutations} damaged copies`, async () => {
    const intact = readFileSync(await create());
    const random = createRandom(7);
    const folder = readdirSync(scratch.folder).length;
    const path = scratch.path("damaged.parquet");
    const output = scratch.path("output.geojson");
    for (let n = 0; n < mutations; n++) {
      let bytes = Buffer.from(intact);
      const start = Math.floor(random() * bytes.length);
      if (n % 10 === 0) bytes = bytes.subarray(0, start);
      else if (n % 10 === 1) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 5)]);
      else if (n % 10 < 6)
        for (let k = 0; k < 1 + (n % 4); k++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      // In the table of contents, which is the last part.
      else
        bytes[bytes.length - 9 - Math.floor(random() * Math.min(1500, bytes.length - 9))] = Math.floor(random() * 256);
      writeFileSync(path, bytes);
      try {
        await convertFile(path, output, {
          overwrite: true,
          skipErrors: n % 3 === 0,
          reproject: n % 2 === 0 ? false : undefined,
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
    expect(readdirSync(scratch.folder).length - folder).toBeLessThanOrEqual(existsSync(output) ? 2 : 1);
  }, 120_000);
});

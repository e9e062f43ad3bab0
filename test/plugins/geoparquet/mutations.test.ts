/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, describe, it } from "vitest";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { convertDamagedCopies } from "../../support/damaged-copies.js";
import { convertFile } from "../../support/host.js";
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
    await convertDamagedCopies(scratch, {
      intact,
      extension: "parquet",
      count: mutations,
      seed: 7,
      // In the table of contents, which is the last part.
      pickByte: (length, random) => length - 9 - Math.floor(random() * Math.min(1500, length - 9)),
    });
  }, 120_000);
});

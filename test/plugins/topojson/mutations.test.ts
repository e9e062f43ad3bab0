/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { convertDamagedCopies } from "../../support/damaged-copies.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

it("200 damaged copies of a TopoJSON are read or refused", async () => {
  const complete = await convertDamagedCopies(scratch, {
    intact: readFileSync(new URL("../../../samples/topojson/districts.topojson", import.meta.url)),
    extension: "topojson",
    count: 200,
    seed: 31,
    // Bytes that matter in JSON.
    values: Buffer.from('{}[],:"\\0123456789-+.eEntfN \n\0\xff', "latin1"),
    pickByte: (length, random) => Math.floor(random() * length),
    request: () => ({ from: "topojson", allowEmpty: true, layers: ["districts"] }),
  });
  expect(complete).toBeGreaterThan(20);
}, 120_000);

/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { convertDamagedCopies } from "../../support/damaged-copies.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

it("200 damaged copies of a TCX are read or refused", async () => {
  const complete = await convertDamagedCopies(scratch, {
    intact: readFileSync(new URL("../../../samples/tcx/col-de-voza.tcx", import.meta.url)),
    extension: "tcx",
    count: 200,
    seed: 31,
    // Bytes that matter in XML.
    values: Buffer.from("<>/&;\"'=!-[]?: \n\0\xff0123456789.eTZ", "latin1"),
    pickByte: (length, random) => Math.floor(random() * length),
    request: () => ({ from: "tcx", allowEmpty: true }),
  });
  expect(complete).toBeGreaterThan(20);
}, 120_000);

/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { TemporaryFolder } from "../../support/read-layers.js";
import { convertDamaged } from "../damaged-copies.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
/** Bytes that matter in XML. */
const special = Buffer.from("<>/&;\"'=!-[]?: \n\0\xff0123456789.eTZ", "latin1");

it("200 damaged copies of a TCX are read or refused", async () => {
  const intact = readFileSync(new URL("../../../samples/tcx/col-de-voza.tcx", import.meta.url));
  const complete = await convertDamaged(intact, special, scratch, "damaged.tcx", { from: "tcx" });
  expect(complete).toBeGreaterThan(20);
}, 120_000);

/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { TemporaryFolder } from "../../support/read-layers.js";
import { convertDamaged } from "../damaged-copies.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
/** Bytes that matter in JSON. */
const special = Buffer.from('{}[],:"\\0123456789-+.eEntfN \n\0\xff', "latin1");

it("200 damaged copies of a TopoJSON are read or refused", async () => {
  const intact = readFileSync(new URL("../../../samples/topojson/districts.topojson", import.meta.url));
  const options = { from: "topojson", layers: ["districts"] };
  const complete = await convertDamaged(intact, special, scratch, "damaged.topojson", options);
  expect(complete).toBeGreaterThan(20);
}, 120_000);

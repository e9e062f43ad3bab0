/** Damaged GML files end with an error of the input or a good output: never with another error, and never with a part. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const mutations = 200;
/** Bytes that matter in XML and in coordinates. */
const special = Buffer.from("<>&;\"'/=!-[]? :0123456789.eE\n\0\xff", "latin1");
const intact = readFileSync(new URL("../../../samples/gml/stops.gml", import.meta.url));

it(`${mutations} damaged copies of a document are read or refused`, async () => {
  const random = createRandom(17);
  const path = scratch.path("damaged.gml");
  let complete = 0;
  for (let n = 0; n < mutations; n++) {
    let bytes = Buffer.from(intact);
    const start = Math.floor(random() * bytes.length);
    if (n % 10 === 0) bytes = bytes.subarray(0, start);
    else if (n % 10 === 1) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 5)]);
    else if (n % 10 === 2) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(Math.max(0, start - 40))]);
    else
      for (let k = 0; k < 1 + (n % 3); k++)
        bytes[Math.floor(random() * bytes.length)] = special[Math.floor(random() * special.length)]!;
    writeFileSync(path, bytes);
    try {
      const options = { overwrite: true, allowEmpty: true, skipErrors: n % 3 === 0, from: "gml", layers: ["Stop"] };
      const report = await convertFile(path, scratch.path("output.geojson"), options);
      // A feature can only be missing where that is reported, or where its element has another name.
      const isApart = report.notices.some(({ code }) => code === "layers-by-crs");
      const isReported = report.losses.length > 0 || report.skippedRanges.length > 0 || report.rejected > 0;
      const named = bytes.toString("latin1").split("<net:Stop ").length - 1;
      if (report.read < 4 && named === 4) expect(isReported || isApart, `mutation ${n}`).toBe(true);
      complete++;
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code === "internal")
        throw new Error(`mutation ${n}`, { cause: error });
      const kinds = ["input", "unsupported", "rejected", "usage", "guard"];
      expect(kinds, `mutation ${n}: ${error.message}`).toContain(error.kind);
    }
  }
  expect(complete).toBeGreaterThan(20);
  const left = readdirSync(scratch.folder).filter(
    (name) => !/^(damaged\.gml|output\.geojson)(\.rejects\.geojsonl)?$/.test(name),
  );
  expect(left).toEqual([]);
}, 120_000);

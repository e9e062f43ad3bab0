/** Damaged spreadsheets end with an error of the input or a good output: never with another error, and never with a part. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { convertDamagedCopies } from "../../support/damaged-copies.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { odsParts, writeZip, xlsxParts } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const samples = new URL("../../../samples/", import.meta.url).pathname;
const mutations = 100;

const excel = xlsxParts({
  sheets: {
    One: '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>day</t></is></c></row><row r="2"><c r="A2"><v>8.5</v></c><c r="B2"><v>47.25</v></c><c r="C2" s="1"><v>43831</v></c></row><row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="e"><v>#N/A</v></c><c r="C3"><f>A1</f></c></row></sheetData>',
  },
  strings: "<si><t>lon</t></si><si><r><t>lat</t></r></si>",
  styles: '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
});
const openDocument = odsParts(
  '<table:table table:name="One"><table:table-row><table:table-cell office:value-type="string"><text:p>lon</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>lat</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="float" office:value="8.5"/><table:table-cell table:number-columns-repeated="2" office:value-type="date" office:date-value="2020-01-01"/></table:table-row></table:table>',
);

describe.each([
  ["xlsx", excel],
  ["ods", openDocument],
] as const)("%s", (extension, parts) => {
  it(`is read or refused in ${mutations} copies with damaged bytes`, async () => {
    const whole = scratch.path(`whole.${extension}`);
    await convertFile(`${samples}passes.geojson`, whole, { overwrite: true });
    await convertDamagedCopies(scratch, {
      intact: readFileSync(whole),
      extension,
      count: mutations,
      seed: 7,
      // The directory, at the end of the file.
      pickByte: (length, random) => length - 1 - Math.floor(random() * Math.min(length, 500)),
    });
  }, 120_000);

  it(`is read or refused in ${2 * mutations} copies with damaged XML`, async () => {
    const random = createRandom(5);
    const names = Object.keys(parts).filter((name) => name.endsWith(".xml") || name.endsWith(".rels"));
    const path = scratch.path(`inside.${extension}`);
    const output = scratch.path("inside.geojson");
    const before = readdirSync(scratch.folder);
    for (let n = 0; n < 2 * mutations; n++) {
      const name = names[Math.floor(random() * names.length)]!;
      let text = Buffer.from((parts as Record<string, string>)[name]!);
      const at = Math.floor(random() * text.length);
      if (n % 4 === 0) text = text.subarray(0, at);
      else if (n % 4 === 1) text = Buffer.concat([text.subarray(0, at), text.subarray(at + 7)]);
      // A digit, a letter or a sign in place of another makes XML that is well-formed and wrong.
      else
        for (let k = 0; k < 1 + (n % 3); k++) text[Math.floor(random() * text.length)] = 33 + Math.floor(random() * 90);
      await writeZip(path, { ...parts, [name]: text });
      try {
        await convertFile(path, output, { overwrite: true, skipErrors: n % 3 === 0 });
      } catch (error) {
        if (!(error instanceof GeoferryError) || error.code === "internal")
          throw new Error(`mutation ${n} of ${name}`, { cause: error });
        expect(["input", "unsupported", "rejected", "guard"], `mutation ${n}: ${error.message}`).toContain(error.kind);
      }
    }
    const left = readdirSync(scratch.folder).filter((name) => !before.includes(name));
    // The damaged copy, an output that was complete, and features that it lacks.
    expect(["inside.geojson", "inside.geojson.rejects.geojsonl", `inside.${extension}`]).toEqual(
      expect.arrayContaining(left),
    );
  }, 120_000);
});

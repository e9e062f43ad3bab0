/** Rows at the end of a table that are no features, such as sums. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { createGeometryScan, findFooter } from "../../../../plugins/shared/table/geometry/geometry-scan.js";
import { RecordScanner } from "../../../../plugins/shared/table/records/record-scanner.js";
import { convertFile } from "../../../support/host.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { type Read, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const footers = ({ recording }: Read) => recording.notices.filter(({ code }) => code === "footer-row");
const points = (count: number) => Array.from({ length: count }, (_, n) => `p${n},${8 + n},47.5,1\n`).join("");
const numbers = { decimal: 46, group: null };
const header = "name,lon,lat,size\n";

describe("the last row without coordinates", () => {
  test("is noted with its text if all others have coordinates, and the advice leaves it out", async () => {
    const content = `${header}${points(12)}Sum of "a" and 'b',,,12\n`;
    const read = await readText(scratch, content);
    expect(footers(read)).toMatchObject([
      { count: 1, example: expect.stringMatching(/^the last row, "Sum of \\"a\\" and 'b'", has no coordinates/) },
    ]);
    const path = scratch.path("sum.csv");
    writeFileSync(path, `${header}${points(12)}Summe,,,12\n`);
    const report = await convertFile(path, scratch.path("sum.geojson"));
    const [note] = report.notices.filter(({ code }) => code === "footer-row");
    expect(report.written).toBe(13);
    const [, where] = /--where '(.*)'/.exec(note!.example)!;
    const advised = await convertFile(path, scratch.path("no-sum.geojson"), { where: where!.replaceAll("'\\''", "'") });
    expect(advised.written).toBe(12);
  });

  test("and the one before are noted by the first", async () => {
    const read = await readText(scratch, `${header}${points(12)}Mean,,,1\nTotal,,,12\n`);
    expect(footers(read)).toMatchObject([
      { count: 2, example: expect.stringMatching(/^the last 2 rows, from "Mean" on/) },
    ]);
  });

  test.each([
    ["if others have none", `${header}q,,,1\n${points(12)}Sum,,,12\n`],
    ["if it is one of few", `${header}${points(2)}Sum,,,12\n`],
    ["if there are many of them", `${header}${points(12)}${"q,,,1\n".repeat(4)}`],
    ["if all have coordinates", `${header}${points(12)}`],
  ])("is not noted %s", async (_, content) => {
    expect(footers(await readText(scratch, content))).toEqual([]);
  });

  test.each([
    [
      ["p", "p"],
      ["p", "Sum"],
    ],
    [["p", "p"], ["p"], ["Sum"]],
    [["p", "p", "p", "Sum"], [""]],
  ])("is found in the parts that several threads scanned: %j", (...parts) => {
    const scanOf = (names: readonly string[]) => {
      const scan = createGeometryScan({ kind: "xy", x: 1, y: 2, z: null, numbers, letterO: null }, () => true)!;
      const bytes = Buffer.from(names.map((name) => (name === "p" ? "p,1,2\n" : `${name},,\n`)).join(""));
      const scanner = new RecordScanner(44);
      for (let at = 0; at < bytes.length; at = scanner.next) {
        scanner.scan(bytes, at, bytes.length, true);
        scan.look(bytes, scanner);
      }
      return scan;
    };
    const whole = scanOf([]);
    for (const names of parts) whole.add(structuredClone(scanOf(names).state));
    const rows = parts.flat().filter((name) => name !== "p").length;
    expect(findFooter(whole.state)).toEqual({ rows, column: 0, text: "Sum" });
  });
});

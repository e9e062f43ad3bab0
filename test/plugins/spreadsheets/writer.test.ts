/** What is written, as other programs read it: openpyxl, GDAL and LibreOffice. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { normalizeExcelName } from "../../../plugins/spreadsheets/sheet-names.js";
import { splitMoment } from "../../../plugins/spreadsheets/write/moments.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import {
  hasLibreOffice,
  hasOpenpyxl,
  readWithOpenpyxl,
  readWorkbook,
  rowsOf,
  saveWithLibreOffice,
  typesOf,
} from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const feature = (geometry: object | null, properties: object) => ({ type: "Feature", geometry, properties });
const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });

function input(name: string, ...features: readonly object[]): string {
  const path = scratch.path(`${name}.geojson`);
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
  return path;
}

async function write(name: string, extension: string, features: readonly object[], options: object = {}) {
  const output = scratch.path(`${name}.${extension}`);
  const report = await convertFile(input(name, ...features), output, { overwrite: true, ...options });
  return { output, losses: report.losses.map(({ code, field }) => [code, field]) };
}

/** Values of every type, with the edges of text. */
const rows = [
  {
    name: " two  blanks ",
    n: 1,
    d: 1.5,
    ok: true,
    day: "2020-01-02",
    at: "2020-01-02T10:30:00",
    time: "10:30:00",
    text: "=1+1",
  },
  {
    name: 'a "b" <c> & d',
    n: -2,
    d: 0.1,
    ok: false,
    day: "9999-12-31",
    at: "1900-03-01T23:59:59.25",
    time: "00:00:00",
    text: "line 1\nline 2",
  },
  { name: "\u{1f30d} äöü 漢字", n: null, d: null, ok: null, day: null, at: null, time: null, text: "_x0009_ @x" },
];
const features = rows.map((row, n) => feature(point(8 + n, 47.5), row));

describe.skipIf(!hasOpenpyxl)("openpyxl reads", () => {
  test("every type, and text that begins like a formula as text", async () => {
    const { output, losses } = await write("types", "xlsx", features);
    expect(losses).toEqual([]);
    expect(readWithOpenpyxl(output)).toEqual({
      types: [
        ["lon", "lat", "name", "n", "d", "ok", "day", "at", "time", "text"],
        [8, 47.5, " two  blanks ", 1, 1.5, true, "2020-01-02T00:00:00", "2020-01-02T10:30:00", "10:30:00", "=1+1"],
        [
          9,
          47.5,
          'a "b" <c> & d',
          -2,
          0.1,
          false,
          "9999-12-31T00:00:00",
          "1900-03-01T23:59:59.250000",
          "00:00:00",
          "line 1\nline 2",
        ],
        // openpyxl resolves no escapes in inline strings (ECMA-376-1, 22.9.2.19).
        [10, 47.5, "\u{1f30d} äöü 漢字", null, null, null, null, null, null, "_x005F_x0009_ @x"],
      ],
    });
  });
});

describe.skipIf(!hasLibreOffice)("LibreOffice opens and saves", () => {
  test.each(["xlsx", "ods"])(
    "%s, and the copy is equal",
    async (extension) => {
      const { output } = await write(`saved-${extension}`, extension, features);
      const own = await readWorkbook(output);
      expect(rowsOf(own)).toEqual(rows);
      const copy = await readWorkbook(saveWithLibreOffice(scratch, output, extension));
      expect({ rows: rowsOf(copy), types: typesOf(copy) }).toEqual({ rows, types: typesOf(own) });
      expect(copy.sheets[0]!.features.map(({ geometry }) => geometry)).toEqual(
        own.sheets[0]!.features.map(({ geometry }) => geometry),
      );
    },
    240_000,
  );
});

describe("what a spreadsheet cannot hold", () => {
  test.each(["2023-02-29", "2023-06-31", "1900-02-29", "0099-12-31"])(
    "%s is no day, and not moved to another",
    (day) => {
      const bytes = Buffer.from(`${day}T12:00:00`);
      expect(splitMoment(bytes, 0, 10, "date")).toBe(null);
      expect(splitMoment(bytes, 0, bytes.length, "datetime")).toBe(null);
    },
  );

  test("integers of more than 15 digits are text in the whole column, a date before 1900 is text", async () => {
    const values = [
      { id: "9007199254740993", day: "1899-12-31" },
      { id: "5", day: "2020-01-01" },
    ];
    const csv = scratch.path("long.csv");
    writeFileSync(csv, `id,day\n${values.map(({ id, day }) => `${id},${day}`).join("\n")}\n`);
    const output = scratch.path("long.xlsx");
    const { losses } = await convertFile(csv, output, { overwrite: true });
    expect(losses.map(({ code, field }) => [code, field])).toEqual([
      ["int64-as-text", "id"],
      ["date-as-text", "day"],
    ]);
    const book = await readWorkbook(output);
    expect(typesOf(book)).toEqual({ id: "text", day: "date" });
    expect(rowsOf(book)).toEqual(values);
  });

  test("text of more than 32,767 characters is cut in Excel's format, and whole in the other", async () => {
    const text = `${"x".repeat(32_766)}\u{1f30d}y`;
    const cut = await write("long-text", "xlsx", [feature(null, { text })]);
    expect(cut.losses).toContainEqual(["text-cut", "text"]);
    expect(rowsOf(await readWorkbook(cut.output))).toEqual([{ text: "x".repeat(32_766) }]);
    const whole = await write("long-text", "ods", [feature(null, { text })]);
    expect(rowsOf(await readWorkbook(whole.output))).toEqual([{ text }]);
  });

  test("a geometry of more characters is a loss in Excel's format", async () => {
    const line = { type: "LineString", coordinates: Array.from({ length: 4000 }, (_, i) => [i / 7e3, i / 9e3]) };
    const { losses } = await write("long-line", "xlsx", [feature(line, { a: 1 }), feature(null, { a: 2 })]);
    expect(losses).toContainEqual(["geometry-dropped", undefined]);
    const { losses: none } = await write("long-line", "ods", [feature(line, { a: 1 })]);
    expect(none).toEqual([]);
  });

  test("control characters are escapes in Excel's format, and left out of the other", async () => {
    const row = { text: "a\u0001b\rc\ufffed" };
    const excel = await write("control", "xlsx", [feature(null, row)]);
    expect(rowsOf(await readWorkbook(excel.output))).toEqual([row]);
    const other = await write("control", "ods", [feature(null, row)]);
    expect(other.losses).toEqual([["character-dropped", "text"]]);
    expect(rowsOf(await readWorkbook(other.output))).toEqual([{ text: "ab\rcd" }]);
  });

  test("more rows than a sheet has: nothing is written", async () => {
    const csv = scratch.path("rows.csv");
    writeFileSync(csv, `a,b\n${"1,\n".repeat(1_048_576)}`);
    const output = scratch.path("rows.ods");
    await expect(convertFile(csv, output, {})).rejects.toThrow(/more than 1048576 rows/);
    expect(() => readFileSync(output)).toThrow(/ENOENT/);
  }, 120_000);

  test("a row of nulls comes back", async () => {
    for (const extension of ["xlsx", "ods"]) {
      const { output } = await write("nulls", extension, [
        feature(null, { n: 1 }),
        feature(null, { n: null }),
        feature(null, { n: 3 }),
      ]);
      expect(rowsOf(await readWorkbook(output))).toEqual([{ n: 1 }, { n: null }, { n: 3 }]);
    }
  });
});

describe("sheets", () => {
  test("names follow the rules of Excel", () => {
    // At most 31 characters, none of \ / ? * [ ] :, no apostrophe at the ends, not History (Excel specifications).
    expect(
      ["roads", "a/b:c?", "'quoted'", "History", "", "x".repeat(40), `${"x".repeat(30)}\u{1f30d}`].map(
        normalizeExcelName,
      ),
    ).toEqual(["roads", "a_b_c_", "_quoted_", "History_", "Sheet", "x".repeat(31), "x".repeat(30)]);
  });

  test("layers are sheets, with unique names that fit, which are reported", async () => {
    const names = [`${"a".repeat(31)}1`, `${"a".repeat(31)}2`, "B", "b"];
    const paths = names.map((name) => input(name, feature(point(1, 2), { name })));
    const output = scratch.path("sheets.xlsx");
    const report = await convertFile(paths[0]!, output, { inputs: paths, overwrite: true });
    const { sheets } = await readWorkbook(output);
    expect(sheets.map(({ name }) => name)).toEqual(["a".repeat(31), `${"a".repeat(29)}_1`, "B", "b_1"]);
    expect(sheets.map(({ features: [first] }) => first!.properties)).toEqual(names.map((name) => ({ name })));
    expect(report.losses.filter(({ code }) => code === "layer-renamed")).toHaveLength(3);
  });

  test.each(["xlsx", "ods"])("%s: the reference system is a property of the file", async (extension) => {
    const { output, losses } = await write("crs", extension, features, { targetCrs: "EPSG:25832" });
    expect(losses).toEqual([]);
    const back = scratch.path("back.geojson");
    await convertFile(output, back, { overwrite: true });
    const { features: found } = JSON.parse(readFileSync(back, "utf8"));
    expect(found[0].geometry.coordinates[0]).toBeCloseTo(8, 6);
  });
});

/** Workbooks as Excel and others write them; expected values from ECMA-376 and from what Excel shows. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import {
  hasLibreOffice,
  hasOpenpyxl,
  inlineRow,
  readWorkbook,
  rowsOf,
  saveWithLibreOffice,
  typesOf,
  writeZip,
  xlsxParts,
} from "./support.js";

const scratch = new TemporaryFolder();
const build = (name: string, parts: Parameters<typeof xlsxParts>[0]) =>
  writeZip(scratch.path(`${name}.xlsx`), xlsxParts(parts));

/** Cell formats: 1 date, 2 time, 3 datetime, 4 `[h]:mm`, 5 a format of its own with a quoted y, 6 a date of its own. */
const styles =
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="0.00&quot; day&quot;"/><numFmt numFmtId="165" formatCode="[$-407]d\\.\\ mmmm\\ yyyy;@"/></numFmts>' +
  '<cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs count="7"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="21"/><xf numFmtId="22"/><xf numFmtId="46"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>';
const cell = (value: number | string, style = 0) => `<c s="${style}"><v>${value}</v></c>`;
const row = (...cells: string[]) => `<row>${cells.join("")}</row>`;

describe("types of cells", () => {
  test("numbers, booleans, shared, rich and inline text, with and without references", async () => {
    const path = await build("types", {
      sheets: {
        Data:
          '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c></row>' +
          '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>1.5E-3</v></c><c r="C2" t="b"><v>1</v></c><c r="D2" t="s"><v>4</v></c></row>' +
          '<row r="4"><c r="A4"><v>-7</v></c><c r="C4" t="b"><v>0</v></c><c r="D4" t="str"><f>A1</f><v>007</v></c></row></sheetData>',
      },
      strings:
        "<si><t>whole</t></si><si><t>decimal</t></si><si><t>truth</t></si><si><t>text</t></si>" +
        '<si><r><rPr><b/></rPr><t>rich</t></r><r><t xml:space="preserve"> text_x000D__x005F_x000D_ &amp;</t></r><rPh sb="0" eb="1"><t>hint</t></rPh></si>',
    });
    const book = await readWorkbook(path);
    expect(typesOf(book)).toEqual({ whole: "int32", decimal: "double", truth: "boolean", text: "text" });
    expect(rowsOf(book)).toEqual([
      { whole: 1, decimal: 0.0015, truth: true, text: "rich text\r_x000D_ &" },
      { whole: -7, decimal: null, truth: false, text: "007" },
    ]);
    expect(book.omitted).toMatchObject([{ code: "rows-blank", count: 1 }]);
  });

  test("text that looks like a number stays text, unless it is to be inferred", async () => {
    const path = await build("texts", {
      sheets: { a: `<sheetData>${inlineRow("id", "day")}${inlineRow("12", "2020-01-02")}</sheetData>` },
    });
    expect(typesOf(await readWorkbook(path))).toEqual({ id: "text", day: "text" });
    const inferred = await readWorkbook(path, { text: "infer" });
    expect(typesOf(inferred)).toEqual({ id: "int32", day: "date" });
    expect(rowsOf(inferred)).toEqual([{ id: 12, day: "2020-01-02" }]);
  });

  test("text with line ends, quotes, commas and NUL is whole", async () => {
    const path = await build("lines", {
      sheets: {
        a: `<sheetData>${inlineRow("a", "b")}${inlineRow('1,"2"\n3', "_x0000_x")}${inlineRow("\u00e4", "")}</sheetData>`,
      },
    });
    expect(rowsOf(await readWorkbook(path))).toEqual([
      { a: '1,"2"\n3', b: "\0x" },
      { a: "\u00e4", b: "" },
    ]);
  });

  test("an error is null and a loss; a formula without a result, too", async () => {
    const path = await build("errors", {
      sheets: {
        a: `<sheetData>${inlineRow("n", "f")}${row(cell(1), "<c><f>A2*2</f></c>")}${row('<c t="e"><v>#DIV/0!</v></c>', "<c><f>A2*2</f><v>2</v></c>")}</sheetData>`,
      },
    });
    const book = await readWorkbook(path);
    expect(rowsOf(book)).toEqual([
      { n: 1, f: null },
      { n: null, f: 2 },
    ]);
    expect(book.recording.losses).toMatchObject([
      { code: "formula-uncalculated", field: "f" },
      { code: "cell-error", field: "n", example: "#DIV/0!" },
    ]);
  });

  test("a formula with an empty value has no result, unless its result is the empty text", async () => {
    const cells = ["<c><f>A1</f><v/></c>", "<c><f>A1</f><v></v></c>", '<c t="str"><f>""</f><v></v></c>', cell(1)];
    const path = await build("empty-values", {
      sheets: { a: `<sheetData>${inlineRow("a", "b", "c", "d")}${row(...cells)}</sheetData>` },
    });
    const book = await readWorkbook(path);
    expect(rowsOf(book)).toEqual([{ a: null, b: null, c: "", d: 1 }]);
    expect(book.recording.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["formula-uncalculated", "a", 1],
      ["formula-uncalculated", "b", 1],
    ]);
  });

  test.skipIf(!hasOpenpyxl)("coordinates that openpyxl wrote as formulas are named if a system is given", async () => {
    const path = scratch.path("openpyxl.xlsx");
    const script = `
import openpyxl, sys
book = openpyxl.Workbook()
sheet = book.active
sheet.append(["Name", "Ost_dm", "Ost", "Nord"])
for n in range(3):
    sheet.append([f"p{n}", 5650000 + n, f"=B{n + 2}/10", f"=5935000+{n}"])
book.save(sys.argv[1])`;
    expect(spawnSync("/usr/bin/python3", ["-c", script, path]).status).toBe(0);
    const book = await readWorkbook(path);
    expect(book.recording.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
      ["formula-uncalculated", "Ost", 3],
      ["formula-uncalculated", "Nord", 3],
    ]);
    const output = scratch.path("openpyxl.geojson");
    await expect(convertFile(path, output, { strict: true })).rejects.toMatchObject({ code: "lossy" });
    await expect(convertFile(path, output, { sourceCrs: "EPSG:25832" })).rejects.toMatchObject({
      code: "geometry-missing",
      message: expect.stringMatching(
        /the coordinate columns "Ost" and "Nord" have formulas without results; open the file in a spreadsheet program and save it/,
      ),
    });
  });

  test("integers beyond 2^53 and numbers with 17 digits are not rounded", async () => {
    const path = await build("digits", {
      sheets: {
        a: `<sheetData>${inlineRow("i", "d", "e")}${row(cell("9007199254740993"), cell("0.30000000000000004"), cell("1E+20"))}</sheetData>`,
      },
    });
    expect(rowsOf(await readWorkbook(path))).toEqual([{ i: "9007199254740993", d: 0.30000000000000004, e: 1e20 }]);
  });
});

describe("numbers whose format has leading zeros", () => {
  const formats = ["00000", "[$-407]000;-000", "0", "00"];
  const zeros = `<numFmts>${formats.map((code, n) => `<numFmt numFmtId="${170 + n}" formatCode="${code}"/>`).join("")}</numFmts><cellXfs><xf numFmtId="0"/>${formats.map((_, n) => `<xf numFmtId="${170 + n}"/>`).join("")}</cellXfs>`;

  test("are text as Excel shows it, in columns where any has such zeros", async () => {
    const rows = [
      row(cell(1067, 1), cell(7, 2), cell(7, 3), cell(12, 4), cell(5, 1)),
      row(cell(22085, 1), cell(-7, 2), cell(8, 3), cell(99, 4), cell(123456, 0)),
      row(cell(99999), cell(1234, 2), cell(9, 3), cell(10, 4), cell("1.5", 1)),
    ];
    const sheets = { a: `<sheetData>${inlineRow("plz", "no", "n", "two", "mixed")}${rows.join("")}</sheetData>` };
    const book = await readWorkbook(await build("zeros", { sheets, styles: zeros }));
    expect(typesOf(book)).toEqual({ plz: "text", no: "text", n: "int32", two: "int32", mixed: "text" });
    expect(rowsOf(book)).toEqual([
      { plz: "01067", no: "007", n: 7, two: 12, mixed: "00005" },
      { plz: "22085", no: "-007", n: 8, two: 99, mixed: "123456" },
      { plz: "99999", no: "1234", n: 9, two: 10, mixed: "1.5" },
    ]);
  });

  test("are coordinates nonetheless", async () => {
    const rows = [row(cell(565000, 1), cell(35000, 1)), row(cell(9000, 1), cell(99000, 1))];
    const sheets = { a: `<sheetData>${inlineRow("Easting", "Northing")}${rows.join("")}</sheetData>` };
    const book = await readWorkbook(await build("padded", { sheets, styles: zeros }));
    expect(book.sheets[0]!.features.map(({ geometry }) => geometry)).toEqual([
      { type: "Point", coordinates: [565000, 35000] },
      { type: "Point", coordinates: [9000, 99000] },
    ]);
  });

  test.skipIf(!hasLibreOffice || !hasOpenpyxl)(
    "are the same in the copy of LibreOffice",
    async () => {
      const path = scratch.path("postcodes.xlsx");
      const script = `
import openpyxl, sys
book = openpyxl.Workbook()
sheet = book.active
for row in (["plz", "n"], [1067, 7], [22085, 8]):
    sheet.append(row)
for cells in sheet["A2:A3"]:
    cells[0].number_format = "00000"
book.save(sys.argv[1])`;
      expect(spawnSync("/usr/bin/python3", ["-c", script, path]).status).toBe(0);
      const rows = [
        { plz: "01067", n: 7 },
        { plz: "22085", n: 8 },
      ];
      expect(rowsOf(await readWorkbook(path))).toEqual(rows);
      expect(rowsOf(await readWorkbook(saveWithLibreOffice(scratch, path, "ods")))).toEqual(rows);
    },
    120_000,
  );
});

describe("a sheet with text in all cells", () => {
  const points = [1, 2].map((n) => inlineRow(`p${n}`, `${565000 + n}`, `${5935000 + n}`, "2024-01-01"));

  test("has its header below a title, whose row is that of the sheet", async () => {
    const title = '<row r="3"><c t="inlineStr"><is><t>Wells 2024</t></is></c></row>';
    const sheets = {
      a: `<sheetData>${title}${inlineRow("Name", "Ost", "Nord", "2024")}${points.join("")}</sheetData>`,
    };
    const book = await readWorkbook(await build("titled-texts", { sheets }));
    expect(typesOf(book)).toEqual({ Name: "text", "2024": "text" });
    expect(book.sheets[0]!.features.map(({ geometry }) => geometry)).toEqual(
      [1, 2].map((n) => ({ type: "Point", coordinates: [565000 + n, 5935000 + n] })),
    );
    expect(book.recording.notices).toContainEqual(
      expect.objectContaining({
        code: "rows-left-out",
        example: expect.stringMatching(
          /^row 4, "Name", "Ost", "Nord", "2024", was .*"Wells 2024" above it was left out/,
        ),
      }),
    );
  });

  test("whose header is not found is refused with the option that leaves rows out, if a system is given", async () => {
    const header = inlineRow("Name", "Ost", "Nord", "Ort", "Ort");
    const sheets = {
      a: `<sheetData>${inlineRow("Wells")}${header}${inlineRow("a", "565000", "5935000", "x", "y")}</sheetData>`,
    };
    const path = await build("hidden-header", { sheets });
    const asked = { sourceCrs: "EPSG:25832" };
    await expect(convertFile(path, scratch.path("no.geojson"), asked)).rejects.toMatchObject({
      code: "geometry-missing",
      message: expect.stringMatching(/lower row, --in skip-lines=1/),
    });
    const advised = { ...asked, readerOptions: { "skip-lines": "1", header: "yes" } };
    expect((await convertFile(path, scratch.path("yes.geojson"), advised)).written).toBe(1);
  });
});

describe("dates", () => {
  const header = inlineRow("date", "time", "moment", "span", "days", "long");
  // 43831 is 2020-01-01; 0.4375 is 10:30; 1.5 is 36 hours.
  const cells = [cell(43831, 1), cell(0.4375, 2), cell(43831.4375, 3), cell(1.5, 4), cell(3, 5), cell(43861, 6)];

  test("by their number formats", async () => {
    const book = await readWorkbook(
      await build("dates", { sheets: { a: `<sheetData>${header}${row(...cells)}</sheetData>` }, styles }),
    );
    expect(typesOf(book)).toEqual({
      date: "date",
      time: "time",
      moment: "datetime",
      span: "text",
      days: "int32",
      long: "date",
    });
    expect(rowsOf(book)).toEqual([
      {
        date: "2020-01-01",
        time: "10:30:00",
        moment: "2020-01-01T10:30:00",
        span: "PT36H",
        days: 3,
        long: "2020-01-31",
      },
    ]);
  });

  test("before 1900, as negative numbers", async () => {
    // openpyxl writes 1850-06-05 as -18105, and LibreOffice shows the same day.
    const sheets = { a: `<sheetData>${inlineRow("date")}${row(cell(-18105, 1))}${row(cell(43831, 1))}</sheetData>` };
    const book = await readWorkbook(await build("negative", { sheets, styles }));
    expect(typesOf(book)).toEqual({ date: "date" });
    expect(rowsOf(book)).toEqual([{ date: "1850-06-05" }, { date: "2020-01-01" }]);
  });

  test("counted from 1904", async () => {
    // 1904-01-01 is day 0; 42369 is 2020-01-01.
    const sheets = { a: `<sheetData>${inlineRow("date")}${row(cell(0, 1))}${row(cell(42369, 1))}</sheetData>` };
    const path = await build("mac", { sheets, styles, workbook: '<workbookPr date1904="1"/>' });
    expect(rowsOf(await readWorkbook(path))).toEqual([{ date: "1904-01-01" }, { date: "2020-01-01" }]);
  });

  test("of the leap year that was none", async () => {
    // Excel shows 1 as 1900-01-01, 59 as 1900-02-28, 60 as 1900-02-29 and 61 as 1900-03-01.
    const rows = [1, 59, 60, 61].map((day) => row(cell(day, 1))).join("");
    const book = await readWorkbook(
      await build("leap", { sheets: { a: `<sheetData>${inlineRow("date")}${rows}</sheetData>` }, styles }),
    );
    expect(rowsOf(book).map((each) => each!.date)).toEqual(["1900-01-01", "1900-02-28", null, "1900-03-01"]);
    expect(book.recording.losses).toMatchObject([{ code: "cell-error", field: "date" }]);
  });

  test("text in ISO form is a date beside dates, and text elsewhere", async () => {
    const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
    const rows = [
      ["1848-03-18", "1848-03-18", "1848-03-18"],
      [43831, "2020-01-01", 43831],
      [43832, "2020-01-02", "spring"],
    ].map((values) => row(...values.map((value) => (typeof value === "number" ? cell(value, 1) : text(value)))));
    const sheets = { a: `<sheetData>${inlineRow("day", "text", "mixed")}${rows.join("")}</sheetData>` };
    const book = await readWorkbook(await build("old-dates", { sheets, styles }));
    expect(typesOf(book)).toEqual({ day: "date", text: "text", mixed: "text" });
    expect(rowsOf(book)).toEqual([
      { day: "1848-03-18", text: "1848-03-18", mixed: "1848-03-18" },
      { day: "2020-01-01", text: "2020-01-01", mixed: "2020-01-01" },
      { day: "2020-01-02", text: "2020-01-02", mixed: "spring" },
    ]);
    expect(book.recording.losses).toEqual([]);
  });

  test("a date in a column of datetimes is midnight", async () => {
    const rows = row(cell(43831, 1)) + row(cell(43831.25, 3));
    const book = await readWorkbook(
      await build("mixed", { sheets: { a: `<sheetData>${inlineRow("at")}${rows}</sheetData>` }, styles }),
    );
    expect(typesOf(book)).toEqual({ at: "datetime" });
    expect(rowsOf(book)).toEqual([{ at: "2020-01-01T00:00:00" }, { at: "2020-01-01T06:00:00" }]);
  });

  test("as ISO 8601 in strict files", async () => {
    const sheets = {
      a: `<sheetData>${inlineRow("at")}<row><c t="d" s="3"><v>2020-01-02T03:04:05.500</v></c></row></sheetData>`,
    };
    const book = await readWorkbook(await build("strict", { sheets, styles, isStrict: true }));
    expect(rowsOf(book)).toEqual([{ at: "2020-01-02T03:04:05.5" }]);
  });
});

describe("sheets", () => {
  test("hidden rows and columns with values are read and reported", async () => {
    const sheets = {
      a: `<cols><col min="1" max="1" width="9"/><col min="2" max="2" hidden="1"/><col min="4" max="16384" hidden="true"/></cols><sheetData>${inlineRow("a", "b", "c")}<row hidden="1">${cell(1)}${cell(2)}${cell(3)}</row></sheetData>`,
    };
    const book = await readWorkbook(await build("hidden-columns", { sheets }));
    expect(rowsOf(book)).toEqual([{ a: 1, b: 2, c: 3 }]);
    expect(book.omitted).toEqual([
      { kind: "note", code: "rows-hidden", layer: "a", count: 1, example: "1 hidden row was read like the others" },
      {
        kind: "note",
        code: "columns-hidden",
        layer: "a",
        count: 1,
        example: 'the hidden column "b" was read like the others',
      },
    ]);
  });

  test("empty ones are no layers, hidden ones are read and reported, merged cells too", async () => {
    const data = `<sheetData>${inlineRow("a", "b")}${inlineRow("x", "y")}</sheetData>`;
    const path = await build("sheets", {
      sheets: {
        One: `${data}<mergeCells><mergeCell ref="A2:A3"/></mergeCells><hyperlinks><hyperlink ref="A2" r:id="x"/></hyperlinks>`,
        Empty: "<sheetData/>",
        Two: data,
      },
      states: { Two: ' state="hidden"' },
    });
    const book = await readWorkbook(path);
    expect(book.sheets.map(({ name }) => name)).toEqual(["One", "Two"]);
    expect(book.omitted.map(({ code, layer }) => [code, layer])).toEqual([
      ["cells-merged", "One"],
      ["sheet-content-left-out", "One"],
      ["sheet-empty", "Empty"],
      ["sheet-hidden", "Two"],
    ]);
    const shown = await readWorkbook(path, { hidden: "no" });
    expect(shown.sheets.map(({ name }) => name)).toEqual(["One"]);
  });

  test("titles above the header, an empty first column, and cells beyond the header", async () => {
    const line = (r: number, ...cells: readonly [string, string | number][]) =>
      `<row r="${r}">${cells.map(([at, value]) => (typeof value === "number" ? `<c r="${at}${r}"><v>${value}</v></c>` : `<c r="${at}${r}" t="inlineStr"><is><t>${value}</t></is></c>`)).join("")}</row>`;
    const sheet = `<sheetData>${line(1, ["B", "Wells of the town"])}${line(3, ["B", "name"], ["C", "lon"], ["D", "lat"])}${line(4, ["B", "a"], ["C", 8.5], ["D", 47.25])}${line(5, ["B", "b"], ["C", 8.75], ["D", 47.5], ["F", "dry"])}</sheetData>`;
    const { sheets } = await readWorkbook(await build("title", { sheets: { Wells: sheet } }));
    expect(sheets[0]!.features).toEqual([
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: [8.5, 47.25] },
        properties: { name: "a", field_6: null },
      },
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: [8.75, 47.5] },
        properties: { name: "b", field_6: "dry" },
      },
    ]);
  });

  test("coordinates in text: degrees with letters, and WKT", async () => {
    const degrees = `<sheetData>${inlineRow("lon", "lat")}${inlineRow("8°30'0\" E", "47°15'0\" N")}</sheetData>`;
    const wkt = `<sheetData>${inlineRow("id", "wkt")}${inlineRow("a", "LINESTRING (0 0,1 2)")}</sheetData>`;
    const { sheets } = await readWorkbook(await build("degrees", { sheets: { degrees, wkt } }));
    expect(sheets.map(({ features }) => features[0]!.geometry)).toEqual([
      { type: "Point", coordinates: [8.5, 47.25] },
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 2],
        ],
      },
    ]);
  });
});

describe("damage", () => {
  const refused = async (name: string, parts: Parameters<typeof xlsxParts>[0]) =>
    readWorkbook(await build(name, parts));

  test.each([
    ["a shared string that is not there", '<c t="s"><v>5</v></c>', /refers to the shared string 5, and there are 0/],
    ["cells in no order", '<c r="B1"><v>1</v></c><c r="A1"><v>1</v></c>', /cells of row 1 are not in order/],
    ["a column beyond the last", '<c r="XFE1"><v>1</v></c>', /beyond the 16384 columns/],
  ])("%s", async (name, cells, message) => {
    await expect(refused(name, { sheets: { a: `<sheetData><row>${cells}</row></sheetData>` } })).rejects.toThrow(
      message,
    );
  });

  test("a row beyond the last", async () => {
    const sheets = { a: '<sheetData><row r="1048577"><c><v>1</v></c></row></sheetData>' };
    await expect(refused("rows", { sheets })).rejects.toThrow(/beyond the 1048576 rows/);
  });

  test("an encrypted workbook, a binary one, and a zip of something else", async () => {
    const { writeFileSync } = await import("node:fs");
    const encrypted = scratch.path("encrypted.xlsx");
    writeFileSync(encrypted, Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]));
    await expect(readWorkbook(encrypted)).rejects.toThrow(/encrypted, or in the older format .xls/);
    const binary = await writeZip(scratch.path("binary.xlsx"), { "xl/workbook.bin": "x" });
    await expect(readWorkbook(binary)).rejects.toThrow(/binary workbook/);
    const other = await writeZip(scratch.path("other.xlsx"), { "word/document.xml": "<a/>" });
    await expect(readWorkbook(other)).rejects.toThrow(/no workbook in it/);
  });

  test("a string that is repeated to fill the disk", async () => {
    const strings = `<si><t>name</t></si><si><t>${"x".repeat(1 << 20)}</t></si>`;
    const rows = '<row><c t="s"><v>1</v></c></row>'.repeat(3000);
    await expect(refused("bomb", { sheets: { a: `<sheetData>${rows}</sheetData>` }, strings })).rejects.toThrow(
      /looks like an attack/,
    );
  });
});

/** Spreadsheets as LibreOffice and others write them; expected values from ODF 1.3. */
import { describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../support/read-layers.js";
import { odsParts, readWorkbook, rowsOf, typesOf, writeZip } from "./support.js";

const scratch = new TemporaryFolder();
const build = (name: string, body: string, styles?: string) =>
  writeZip(scratch.path(`${name}.ods`), odsParts(body, styles));

const text = (content: string) =>
  `<table:table-cell office:value-type="string"><text:p>${content}</text:p></table:table-cell>`;
const value = (type: string, attribute: string, content: string, more = "") =>
  `<table:table-cell${more} office:value-type="${type}" office:${attribute}="${content}"/>`;
const row = (...cells: string[]) => `<table:table-row>${cells.join("")}</table:table-row>`;
const table = (...rows: string[]) => `<table:table table:name="One">${rows.join("")}</table:table>`;

test("every type of value", async () => {
  const styles =
    '<number:time-style style:name="N1"><number:hours/></number:time-style>' +
    '<number:time-style style:name="N2" number:truncate-on-overflow="false"><number:hours/></number:time-style>' +
    '<style:style style:name="span" style:family="table-cell" style:data-style-name="N2"/>';
  const path = await build(
    "types",
    table(
      row(...["n", "share", "price", "truth", "day", "moment", "clock", "span"].map(text)),
      row(
        value("float", "value", "-1.5"),
        value("percentage", "value", "0.25"),
        value("currency", "value", "9.95", ' office:currency="EUR"'),
        value("boolean", "boolean-value", "true"),
        value("date", "date-value", "2020-01-02"),
        value("date", "date-value", "2020-01-02T03:04:05.500000000"),
        value("time", "time-value", "PT10H30M00S"),
        value("time", "time-value", "PT01H30M00S", ' table:style-name="span"'),
      ),
    ),
    styles,
  );
  const book = await readWorkbook(path);
  expect(typesOf(book)).toEqual({
    n: "double",
    share: "double",
    price: "double",
    truth: "boolean",
    day: "date",
    moment: "datetime",
    clock: "time",
    span: "text",
  });
  expect(rowsOf(book)).toEqual([
    {
      n: -1.5,
      share: 0.25,
      price: 9.95,
      truth: true,
      day: "2020-01-02",
      moment: "2020-01-02T03:04:05.5",
      clock: "10:30:00",
      span: "PT1H30M",
    },
  ]);
});

describe("text", () => {
  test.each([
    ["paragraphs", "a</text:p><text:p>b", "a\nb"],
    ["blanks, tabs and breaks", 'a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d', "a   b\tc\nd"],
    ["white space, which is one blank", "  a \n  b", "a b"],
    ["spans and links", "<text:span>a</text:span><text:a>b</text:a>", "ab"],
    [
      "a comment, which is not part of it",
      "a</text:p><office:annotation><text:p>note</text:p></office:annotation><text:p>b",
      "a\nb",
    ],
  ])("%s", async (name, content, expected) => {
    const book = await readWorkbook(await build(name.replace(/\W/g, "-"), table(row(text("t")), row(text(content)))));
    expect(rowsOf(book)).toEqual([{ t: expected }]);
  });
});

describe("repetition", () => {
  test("of rows and cells, and the blank rest of the sheet", async () => {
    const body = table(
      row(text("a"), text("b"), text("c")),
      `<table:table-row table:number-rows-repeated="2">${value("float", "value", "7", ' table:number-columns-repeated="2"')}${text("x")}<table:table-cell table:number-columns-repeated="16381"/></table:table-row>`,
      '<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
    );
    expect(rowsOf(await readWorkbook(await build("repeated", body)))).toEqual([
      { a: 7, b: 7, c: "x" },
      { a: 7, b: 7, c: "x" },
    ]);
  });

  test.each([
    [
      "rows",
      `<table:table-row table:number-rows-repeated="2000000">${text("x")}</table:table-row>`,
      /more than 1048576 rows/,
    ],
    [
      "columns",
      row(value("float", "value", "7", ' table:number-columns-repeated="20000"')),
      /beyond the 16384 columns/,
    ],
    [
      "everything",
      `<table:table-row table:number-rows-repeated="1000000">${value("float", "value", "7", ' table:number-columns-repeated="16000"')}</table:table-row>`,
      /looks like an attack/,
    ],
    ["nonsense", '<table:table-row table:number-rows-repeated="-1"/>', /is not how often/],
  ])("of too many %s is refused", async (name, rows, message) => {
    await expect(readWorkbook(await build(`many-${name}`, table(rows)))).rejects.toThrow(message);
  });
});

test("formulas without a result are a loss, and those with an empty text are not", async () => {
  const formula = (more: string) => `<table:table-cell table:formula="of:=A2*2"${more}/>`;
  const float = ' office:value-type="float"';
  const book = await readWorkbook(
    await build(
      "uncalculated",
      table(
        row(...["bare", "typed", "empty", "full"].map(text)),
        row(formula(""), formula(float), formula(' office:value-type="string"'), formula(`${float} office:value="2"`)),
      ),
    ),
  );
  expect(rowsOf(book)).toEqual([{ bare: null, typed: null, empty: "", full: 2 }]);
  expect(book.recording.losses.map(({ code, field, count }) => [code, field, count])).toEqual([
    ["formula-uncalculated", "bare", 1],
    ["formula-uncalculated", "typed", 1],
  ]);
});

test("hidden columns with values are read and reported", async () => {
  const columns =
    '<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/><table:table-column table:visibility="collapse" table:number-columns-repeated="1000"/>';
  const cells = columns + row(...["a", "b", "c"].map(text)) + row(...["1", "2", "3"].map(text));
  const book = await readWorkbook(await build("hidden-columns", table(cells)));
  expect(rowsOf(book)).toEqual([{ a: "1", b: "2", c: "3" }]);
  expect(book.omitted).toMatchObject([
    { code: "columns-hidden", count: 2, example: 'the hidden columns "b", "c" were read like the others' },
  ]);
});

test("errors, hidden tables, merged cells and formulas", async () => {
  const error =
    '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>';
  const merged = `<table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="1" office:value-type="float" office:value="1"/><table:covered-table-cell/>`;
  const body = `${table(
    row(text("a"), text("b")),
    row(merged),
    row(error, value("float", "value", "2", ' table:formula="of:=1+1"')),
  )}<table:table table:name="Two" table:style-name="hidden">${row(text("c"))}${row(text("d"))}</table:table>`;
  const styles =
    '<style:style style:name="hidden" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const book = await readWorkbook(await build("errors", body, styles));
  expect(rowsOf(book)).toEqual([
    { a: 1, b: null },
    { a: null, b: 2 },
  ]);
  expect(book.recording.losses).toMatchObject([{ code: "cell-error", field: "a", example: "#DIV/0!" }]);
  expect(book.omitted.map(({ code, layer }) => [code, layer])).toEqual([
    ["cells-merged", "One"],
    ["sheet-hidden", "Two"],
  ]);
  expect((await readWorkbook(await build("errors", body, styles), { hidden: "no" })).sheets).toHaveLength(1);
});

test("a text document with the extension is refused", async () => {
  const path = await writeZip(scratch.path("text.ods"), {
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": "<a/>",
  });
  await expect(readWorkbook(path)).rejects.toThrow(
    /it is no spreadsheet, but application\/vnd.oasis.opendocument.text/,
  );
});

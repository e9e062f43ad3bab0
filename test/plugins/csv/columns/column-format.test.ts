/** Dates and numbers as people write them: what a column is, all its cells say together. */
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { properties, readText, types } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

async function column(cells: readonly string[], options: Readonly<Record<string, string>> = {}) {
  const read = await readText(scratch, `k;v\n${cells.map((cell) => `a;${cell}\n`).join("")}`, options);
  return {
    type: types(read).v,
    values: properties(read).map(({ v }) => v),
    codes: read.recording.notices.map(({ code }) => code),
    losses: read.recording.losses,
    read,
  };
}

describe("dates", () => {
  test.each([
    ["days with points", ["31.12.1999", "01.02.2000", "1.2.2000"], "date", ["1999-12-31", "2000-02-01", "2000-02-01"]],
    ["days first, as one of them shows", ["01/02/2000", "31/12/1999"], "date", ["2000-02-01", "1999-12-31"]],
    ["months first, as one of them shows", ["01/02/2000", "12/31/1999"], "date", ["2000-01-02", "1999-12-31"]],
    ["days with hyphens", ["31-12-1999"], "date", ["1999-12-31"]],
    ["a day that is the month, too", ["01/01/2000", "13/01/2000"], "date", ["2000-01-01", "2000-01-13"]],
    [
      "datetimes",
      ["31.12.1999 23:59", "01.02.2000 1:02:03"],
      "datetime",
      ["1999-12-31T23:59:00", "2000-02-01T01:02:03"],
    ],
    [
      "a clock of twelve hours",
      ["12/31/1999 11:59 PM", "1/2/2000 12:00 AM"],
      "datetime",
      ["1999-12-31T23:59:00", "2000-01-02T00:00:00"],
    ],
    [
      "two blanks in a datetime",
      ["1999-12-31  23:59:58", "2000-01-01 00:00:00"],
      "datetime",
      ["1999-12-31T23:59:58", "2000-01-01T00:00:00"],
    ],
    ["days with points among those of ISO 8601", ["31.12.1999", "2000-02-01"], "date", ["1999-12-31", "2000-02-01"]],
  ])("dates: %s", async (_, cells, type, values) => {
    const found = await column(cells);
    expect(found).toMatchObject({ type, values, codes: [], losses: [] });
  });

  test("dates with an ambiguous order of day and month stay text, with a notice", async () => {
    const cells = ["01/02/2000", "03/04/2001"];
    expect(await column(cells)).toMatchObject({ type: "text", values: cells, codes: ["date-ambiguous"] });
    expect(await column(cells, { dates: "dmy" })).toMatchObject({
      type: "date",
      values: ["2000-02-01", "2001-04-03"],
      codes: [],
    });
    expect(await column(cells, { dates: "mdy" })).toMatchObject({
      type: "date",
      values: ["2000-01-02", "2001-03-04"],
      codes: [],
    });
  });

  test("dates that contradict each other stay text, with a notice", async () => {
    const cells = ["31/12/1999", "12/31/1999"];
    expect(await column(cells)).toMatchObject({ type: "text", values: cells, codes: ["date-ambiguous"] });
  });

  test.each(["30.02.2000", "1.2.3", "99.1.2000", "31.12.1999 25:00"])("%s is not a date", async (cell) =>
    expect(await column([cell])).toMatchObject({ type: "text", values: [cell], codes: [] }),
  );

  test("dates with a two-digit year stay text, with a notice", async () =>
    expect(await column(["31.12.99"])).toMatchObject({
      type: "text",
      values: ["31.12.99"],
      codes: ["date-ambiguous"],
    }));

  test("quoted dates stay text where other columns are not quoted", async () =>
    expect(await column(['"31.12.1999"'])).toMatchObject({ type: "text", values: ["31.12.1999"] }));
});

describe("numbers", () => {
  test.each([
    ["thousands and decimals", ["1.234,5", "1.234", "12,25", "7"], "double", [1234.5, 1234, 12.25, 7]],
    ["thousands and decimals, with a point", ["1,234.5", "1,234", "12.25"], "double", [1234.5, 1234, 12.25]],
    ["millions", ["1.234.567", "1.234", "12"], "int32", [1234567, 1234, 12]],
    ["billions", ["1.234.567.890.123", "1.234"], "int64", [1234567890123, 1234]],
    ["blanks between thousands", ["1 234,5", "999,25"], "double", [1234.5, 999.25]],
    ["no-break spaces between thousands", ["1\u00a0234,5", "1\u202f234\u202f567,5"], "double", [1234.5, 1234567.5]],
    ["apostrophes between thousands", ["1'234.5", "1'234"], "double", [1234.5, 1234]],
    ["negative ones", ["-1.234,5", "-0,5"], "double", [-1234.5, -0.5]],
  ])("numbers: %s", async (_, cells, type, values) => {
    const found = await column(cells);
    expect(found).toMatchObject({
      type,
      values,
      codes: [],
      losses: [],
    });
  });

  test("each column has its own decimal separator", async () => {
    const read = await readText(scratch, "a;b\n1,5;2.5\n3,25;4.75\n");
    expect(properties(read)).toEqual([
      { a: 1.5, b: 2.5 },
      { a: 3.25, b: 4.75 },
    ]);
  });

  test("a single separator before three digits is ambiguous and gets a notice", async () => {
    expect(await column(["1.234", "12.345"])).toMatchObject({ type: "double", codes: ["number-ambiguous"] });
    expect(await column(["1.234", "12.345"], { thousands: "." })).toMatchObject({
      type: "int32",
      values: [1234, 12345],
      codes: [],
    });
    expect(await column(["1,234", "12,345"])).toMatchObject({ type: "text", codes: ["number-ambiguous"] });
    expect(await column(["1,234", "12,345"], { decimal: "," })).toMatchObject({
      type: "double",
      values: [1.234, 12.345],
    });
  });

  test.each([
    ["decimal points and commas", ["1.5", "2,5"]],
    ["commas and blanks between thousands", ["1,234,567", "1 234 567"]],
  ])("a column with %s is text, and the notice advises no option, since none reads it", async (_, cells) => {
    const { type, values, read } = await column(cells);
    expect({ type, values }).toEqual({ type: "text", values: cells });
    expect(read.recording.notices.map(({ example }) => example)).toEqual([
      '"v": the numbers have different decimal signs or group separators, so they stay text; no option reads them all: write them all the same way in the file',
    ]);
    for (const option of ["decimal", "thousands"])
      for (const sign of [".", ","]) expect(await column(cells, { [option]: sign })).toMatchObject({ type: "text" });
  });

  test.each([["1.23.456"], ["1,2,3"], ["0.123.456"], ["123 456 789"], ["1 234"], ["192.168.178.101"]])(
    "%s is not a number",
    async (cell) => expect(await column([cell])).toMatchObject({ type: "text", values: [cell], losses: [] }),
  );

  test("thousands=none leaves numbers with separators as text", async () =>
    expect(await column(["1.234.567"], { thousands: "none" })).toMatchObject({ type: "text", values: ["1.234.567"] }));
});

describe("numbers that may be names", () => {
  test.each([
    ["versions", ["1.10", "1.1", "1.2"], "1.10 and 1.1 became the same number"],
    ["part numbers with an E", ["12E4", "7E1"], "12E4 became the number 120000"],
    ["numbers with and without decimals", ["3", "3.0"], "3 and 3.0 became the same number"],
    ["versions with a zero at the end", ["3.8", "3.9", "3.10", "3.20"], "3.10 beside 3.8 lost its zero"],
    ["versions with a decimal comma", ["12,1", "12,10"], "12,1 and 12,10 became the same number"],
  ])("a notice names %s that become equal, or another text", async (_, cells, reason) => {
    const { read, codes } = await column(cells);
    expect(codes).toEqual(["number-ambiguous"]);
    expect(read.recording.notices[0]!.example).toBe(
      `"v": ${reason}; if these are no numbers, --in types=text reads them as text`,
    );
    const { values } = await column(cells, { types: "text" });
    expect(values).toEqual(cells);
  });

  test.each([
    ["prices", ["1.10", "2.50", "1.10"]],
    ["prices with a decimal comma", ["1,10", "2,55"]],
    ["whole numbers beside decimals", ["1.0", "2.55", "3"]],
    ["scientific notation", ["1.5E-3", "2.0E+10", "-3E-5"]],
    ["floats of Python", ["1.0", "2.5", "1e-05"]],
  ])("there is no notice for %s", async (_, cells) => {
    expect((await column(cells)).codes).toEqual([]);
  });
});

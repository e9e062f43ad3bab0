/** Numbers with a point before three digits in files with decimal commas. */
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { properties, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const read = async (text: string, options: Readonly<Record<string, string>> = {}) => {
  const found = await readText(scratch, text, options);
  return { values: properties(found).map(({ n }) => n), notes: found.recording.notices };
};

describe("a point before three digits", () => {
  test.each([
    ["one column of decimal commas", "a;n\n1,5;1.234\n2,25;2.000\n"],
    ["many of them", "a;b;c;n\n1,5;2,5;3,5;1.234\n2,25;7,5;8,25;2.000\n"],
  ])("separates thousands where the file has %s", async (_, text) => {
    const { values, notes } = await read(text);
    expect(values).toEqual([1234, 2000]);
    expect(notes).toMatchObject([{ code: "number-ambiguous" }]);
    expect(notes[0]!.example).toContain("other columns have decimal commas");
  });

  test("follows the options that the notes advise", async () => {
    const commas = "a;n\n1,5;1.234\n2,25;2.000\n";
    expect((await read(commas, { decimal: "." })).values).toEqual([1.234, 2]);
    const alone = "a;n\nx;1.234\ny;2.000\n";
    const { values, notes } = await read(alone);
    expect(values).toEqual([1.234, 2]);
    expect(notes[0]!.example).toContain("--in thousands=. says so");
    expect((await read(alone, { thousands: "." })).values).toEqual([1234, 2000]);
  });

  test.each([
    ["only coordinates have decimal points", "n;a;lat;lon\n1.234;12,5;51.2;7.1\n25.678;3,25;51.3;7.2\n"],
    ["only coordinates have decimals", "n;lon;lat\n1.234;7.1;51.2\n25.678;7.2;51.3\n"],
    ["numbers have exponents", "n;a;code\n1.234;12,5;1E5\n25.678;3,25;2E3\n"],
  ])("is noted where %s", async (_, text) => {
    const { values, notes } = await read(text);
    expect(values).toEqual([1.234, 25.678]);
    expect(notes).toContainEqual(
      expect.objectContaining({
        code: "number-ambiguous",
        example: expect.stringMatching(/"n": all have three digits .* --in thousands=\. says so/),
      }),
    );
    expect((await read(text, { thousands: "." })).values).toEqual([1234, 25678]);
  });

  test("stays a decimal where another column has decimal points", async () => {
    expect((await read("a;b;n\n1,5;0.25;1.234\n2,25;0.5;2.000\n")).values).toEqual([1.234, 2]);
  });
});

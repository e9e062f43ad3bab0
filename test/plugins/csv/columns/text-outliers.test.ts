/** Columns that a few cells make text. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { CellTypeFlag } from "../../../../plugins/shared/table/columns/classify-cell.js";
import { MixedTypes } from "../../../../plugins/shared/table/columns/mixed-types.js";
import { geoferry } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { readText, types } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** A table of the column `v` after a column of ids, whose values begin in line 2. */
const table = (values: readonly string[], delimiter = ",") =>
  ["id", ...values.map((_, n) => String(n + 1))]
    .map((id, n) => `${id}${delimiter}${n === 0 ? "v" : values[n - 1]}`)
    .join("\n");

const values = (count: number, textOf: (n: number) => string) => Array.from({ length: count }, (_, n) => textOf(n));

async function notesOf(text: string, options: Readonly<Record<string, string>> = {}, length?: number) {
  const read = await readText(scratch, text, options, length === undefined ? {} : { length });
  return { type: types(read).v, notes: read.recording.notices.filter(({ code }) => code === "column-as-text") };
}

describe("a column that one bad cell makes text", () => {
  test("is reported with the cell, its line and the cast that makes it null", async () => {
    const found = await notesOf(table(values(20, (n) => (n === 3 ? "n/a" : `${n}.25`))));
    expect(found).toMatchObject({ type: "text", notes: [{ field: "v", count: 1 }] });
    expect(found.notes[0]!.example).toBe(
      '19 of 20 values are numbers; "n/a" in line 5 is not, so the column is text; --cast v=double makes it null',
    );
  });

  test.each([
    ["dates", "2020-01-0", "99.01.2000", "date"],
    ["whole numbers", "1", "k. A.", "int32"],
  ])("with %s", async (word, prefix, bad, type) => {
    const { notes } = await notesOf(
      table(values(20, (n) => (n % 10 === 9 ? (n === 9 ? bad : "") : `${prefix}${(n % 9) + 1}`))),
    );
    expect(notes[0]!.example).toBe(
      `18 of 19 values are ${word}; "${bad}" in line 11 is not, so the column is text; --cast v=${type} makes it null`,
    );
  });

  test("a cast reads neither decimal commas nor dates with the day first, so the note does not advise it", async () => {
    for (const [bad, textOf] of [
      ["99.01.2000", (n: number) => `${13 + n}.01.2000`],
      ["n/a", (n: number) => `${n},25`],
    ] as const) {
      const { notes } = await notesOf(
        table(
          values(12, (n) => (n === 11 ? bad : textOf(n))),
          ";",
        ),
      );
      expect(notes[0]!.example).toContain("correct it in the file, or leave the cell empty");
    }
  });

  test("is not reported for few values, many texts, or numbers that are labels", async () => {
    const bad = (count: number, texts: readonly string[]) => table(values(count, (n) => texts[n] ?? String(n + 10)));
    expect((await notesOf(bad(9, ["n/a"]))).notes).toEqual([]);
    expect((await notesOf(bad(19, new Array(10).fill("n/a")))).notes).toEqual([]);
    for (const label of ["01067", "+4917012345", "12a", "12 b"]) {
      expect(await notesOf(bad(40, [label]))).toEqual({ type: "text", notes: [] });
    }
    expect((await notesOf(table(values(20, (n) => (n === 3 ? "n/a" : String(n)))), { types: "text" })).notes).toEqual(
      [],
    );
  });

  test("the line is right beyond the first part of a large file, and the result is the same", async () => {
    const text = table(values(5000, (n) => (n === 4321 ? "n/a" : n === 4700 ? "?" : `${n}.5`)));
    for (const length of [512, 1 << 20]) {
      const { notes } = await notesOf(text, {}, length);
      expect(notes[0]).toMatchObject({ count: 2 });
      expect(notes[0]!.example).toBe(
        '4998 of 5000 values are numbers; "n/a" in line 4323 and 1 other are not, so the column is text; --cast v=double makes them null',
      );
    }
  });

  test("the advised cast makes the column double with one null", () => {
    const path = scratch.path("advice.csv");
    writeFileSync(path, table(values(20, (n) => (n === 3 ? "n/a" : `${n}.25`))));
    const { status, stderr } = geoferry(["convert", path, scratch.path("advice.geojson"), "--cast", "v=double"]);
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('"n/a" is not a number') });
    const { features } = JSON.parse(readFileSync(scratch.path("advice.geojson"), "utf8")) as {
      features: { properties: { v: number | null } }[];
    };
    expect(features.slice(2, 5).map(({ properties }) => properties.v)).toEqual([2.25, null, 4.25]);
  });
});

describe("a column of several types", () => {
  test("is reported if half of its values are text", async () => {
    const { type, notes } = await notesOf(table(values(20, (n) => (n % 2 === 0 ? "2020-01-02" : "spring"))));
    expect(type).toBe("text");
    expect(notes[0]!.example).toContain('10 of 20 values are dates; "spring" in line 3 and 9 others are not');
  });

  test.each([
    [
      "dates and years",
      "2020",
      '14 of 20 values are dates and 6 are numbers, which first differ with "2020" in line 4',
    ],
    ["dates with and without times", "2020-01-02 10:00:00", "14 of 20 values are dates and 6 are dates with times"],
    ["dates and truths", "true", "14 of 20 values are dates and 6 are true or false"],
  ])("a column that mixes %s is text with one note, which has exact counts", async (_, other, message) => {
    const text = table(values(20, (n) => (n % 3 === 2 ? other : `2020-01-${10 + n}`)));
    const { type, notes } = await notesOf(text);
    expect([type, notes.length, notes[0]?.count]).toEqual(["text", 1, 6]);
    expect(notes[0]!.example).toContain(message);
  });

  test("is not reported if the values have a common type, or if no type has half of them", async () => {
    for (const texts of [
      ["1", "2.5", "9000000000"],
      ["2020-01-02", "31.12.2020"],
      ["1", "true", "2020-01-02"],
    ])
      expect((await notesOf(table(values(21, (n) => texts[n % texts.length]!)))).notes).toEqual([]);
  });

  test("has the same counts in parts that several threads scanned", () => {
    const [number, date] = [CellTypeFlag.int32, CellTypeFlag.date];
    const cells = (flag: number, text: string) => ({ flag, text });
    const part = (lines: readonly { readonly flag: number; readonly text: string }[]) => {
      const mixed = new MixedTypes(1);
      let known = 0;
      for (const [n, { flag, text }] of lines.entries()) {
        mixed.add(0, known, flag, n, () => ({ line: n + 1, text }));
        known |= flag;
      }
      return { mixed, facts: { flags: Uint32Array.of(known), values: Uint32Array.of(lines.length) } };
    };
    const numbers = new Array(6).fill(cells(number, "5"));
    const dates = new Array(3).fill(cells(date, "2020-01-02"));
    const all = [...numbers, ...dates, ...numbers, ...dates, cells(date, "2020-01-03")];
    const alone = part(all).mixed.noticeOf(0, "v", 1);
    for (const cuts of [[6], [3, 6, 8], [7], [12, 15], [1, 2]]) {
      const whole = new MixedTypes(1);
      let [flags, from] = [0, 0];
      for (const to of [...cuts, all.length]) {
        const { mixed, facts } = part(all.slice(from, to));
        const own = { flags: Uint32Array.of(flags), values: Uint32Array.of(from) };
        whole.merge(structuredClone(mixed.state), own, facts, from);
        flags |= facts.flags[0]!;
        from = to;
      }
      expect(whole.noticeOf(0, "v", 1)).toEqual(alone);
    }
    expect(alone).toEqual([
      "column-as-text",
      "v",
      '12 of 19 values are numbers and 7 are dates, which first differ with "2020-01-02" in line 8, so the column is text; write them all the same way in the file',
      7,
    ]);
  });
});

/** Columns that a few cells make text. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
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
    expect((await notesOf(bad(19, ["n/a", "n/a"]))).notes).toEqual([]);
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

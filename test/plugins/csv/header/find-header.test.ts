/** Tables with titles, comments or headings of groups above the names of their columns, or units below them. */
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { geometries, properties, type Read, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const point = (x: number, y: number) => ({ type: "Point", coordinates: [x, y] });
const notes = ({ recording }: Read) => recording.notices.map(({ code, example }) => `${code}: ${example}`);
const rows = "a;565000;5935000\nb;566000;5936000\n";

describe("the header is found", () => {
  test.each([
    ["below a title", `Brunnen im Kreis 2020\nName;Ost;Nord\n${rows}`],
    ["below a title with a comma", `Brunnen, Stand 2020\nName;Ost;Nord\n${rows}`],
    ["below a title of a spreadsheet", `Brunnen;;\nName;Ost;Nord\n${rows}`],
    ["below a title, a date and a blank line", `Brunnen;;\nStand: 01.02.2020;;\n;;\nName;Ost;Nord\n${rows}`],
    ["below headings of groups", `Standort;Koordinaten;\nName;Ost;Nord\n${rows}`],
    ["below comments", `# made by hand; of 2; wells; in all\n# 2020\nName;Ost;Nord\n${rows}`],
    ["above units", `Name;Ost;Nord\n;[m];[m]\n${rows}`],
    ["below a title and above units", `Brunnen\r\nName;Ost;Nord\r\n-;m;m\r\n${rows}`],
    ["below sep= and a title", `sep=;\nBrunnen\nName;Ost;Nord\n${rows}`],
  ])("the header is found: %s", async (_, content) => {
    const read = await readText(scratch, content);
    expect(geometries(read)).toEqual([point(565000, 5935000), point(566000, 5936000)]);
    expect(properties(read)).toEqual([{ Name: "a" }, { Name: "b" }]);
    expect(read.recording.rejects).toEqual([]);
    expect(notes(read)).toContainEqual(expect.stringMatching(/^rows-left-out: /));
  });

  test("a note says the line of the header in the file", async () => {
    const read = await readText(scratch, `sep=;\nBrunnen;;\n\nStand 2020;;\nName;Ost;Nord\n${rows}`);
    expect(notes(read)).toContainEqual(expect.stringMatching(/^rows-left-out: line 5, "Name", "Ost", "Nord", /));
  });

  test("the header is found in UTF-16 and in Latin-1", async () => {
    const table = "Übersicht;;\nName;Rechtswert;Hochwert\nä;565000;5935000\nö;566000;5936000\n";
    for (const bytes of [Buffer.from(`\ufeff${table}`, "utf16le"), Buffer.from(table, "latin1")]) {
      expect(properties(await readText(scratch, bytes))).toEqual([{ Name: "ä" }, { Name: "ö" }]);
    }
  });
});

describe("the first row stays the header", () => {
  test.each([
    ["with an unnamed column of row numbers", ",name,value\n1,x,NA\n2,y,3\n", ["field_1", "name", "value"]],
    ["with a missing value in the first row", ",name,value\nx,foo,NA\ny,bar,3\n", ["field_1", "name", "value"]],
    ["of text alone", "title,\nname,street\nfoo,bar\n", ["title", "field_2"]],
    ["of a single column", "name\nfoo\nbar\n", ["name"]],
  ])("the first row is the header: %s", async (_, content, names) => {
    const { fields } = await readText(scratch, content);
    expect(fields.map(({ name }) => name)).toEqual(names);
  });

  test("the header is the first row with --in skip-lines=0, and another with skip-lines=2", async () => {
    const table = `Brunnen;;\nKreis;;\nName;Ost;Nord\n${rows}`;
    const first = await readText(scratch, table, { "skip-lines": "0" });
    expect(first.fields.map(({ name }) => name)).toEqual(["Brunnen", "field_2", "field_3"]);
    const third = await readText(scratch, table, { "skip-lines": "2" });
    expect(geometries(third)).toEqual([point(565000, 5935000), point(566000, 5936000)]);
    expect(third.recording.notices.map(({ code }) => code)).not.toContain("rows-left-out");
  });
});

describe("a table without geometry but with coordinate names", () => {
  test("a table without geometry reports names of coordinates in a row that was not used as the header, with the options that read it", async () => {
    const table = "Brunnen;;;;\nName;Ost;Nord;Ort;Ort\na;565000;5935000;x;y\nb;566000;5936000;x;y\n";
    const read = await readText(scratch, table);
    expect(notes(read)).toContainEqual(
      expect.stringMatching(/^coordinates-left-out: line 2 .*"Ost" and "Nord".*--in skip-lines=1 --in header=yes/),
    );
    const again = await readText(scratch, table, { "skip-lines": "1", header: "yes" });
    expect(geometries(again)).toEqual([point(565000, 5935000), point(566000, 5936000)]);
  });

  test("a table without geometry reports a name of coordinate pairs in such a row", async () => {
    const read = await readText(scratch, "Name;Koordinaten\na;32U 565000 5935000\n");
    expect(notes(read)).toEqual([expect.stringMatching(/^coordinates-left-out: .*32U 565000/)]);
  });
});

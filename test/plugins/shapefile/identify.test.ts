import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { codePages, encodingOfName } from "../../../plugins/shapefile/dbf/encodings.js";
import shapefileFormat from "../../../plugins/shapefile/index.js";
import { dbf, point, shapefile } from "./support.js";

const likeness = (name: string, bytes: Buffer) =>
  shapefileFormat.identify(bytes.subarray(0, 65_536), { name, size: bytes.length, findSibling: () => null });

describe("identify", () => {
  const { shp, shx } = shapefile([point(1, 1)]);
  const table = dbf([{ name: "A", type: "C", width: 3 }], [" abc"]);
  it.each([
    ["a .shp under any name", "noname", shp, "yes"],
    ["an index, which stands for its .shp", "a.shx", shx, "yes"],
    ["a table", "a.dbf", table, "yes"],
    ["a table under another name", "a.dat", table, "maybe"],
    ["a table that is named .shp", "a.shp", table, "no"],
    ["text", "a.csv", Buffer.from("id,name\n1,x\n".repeat(20)), "no"],
    ["JSON", "a.json", Buffer.from('{"type":"FeatureCollection","features":[]}'), "no"],
    ["a zip", "a.shp.zip", Buffer.from("PK\x03\x04".padEnd(200, "\0"), "latin1"), "no"],
    ["zeros", "a.dbf", Buffer.alloc(200), "no"],
    ["nothing", "a.shp", Buffer.alloc(0), "no"],
    ["a table cut in its header", "a.dbf", table.subarray(0, 40), "no"],
  ] as const)("identify, %s (%s): %#", (_, name, bytes, expected) => {
    expect(likeness(name, bytes)).toBe(expected);
  });
});

describe("encodings", () => {
  it("the decoder knows all encodings of the table", () => {
    expect(codePages.filter((page) => !iconv.encodingExists(page.encoding)).map((page) => page.encoding)).toEqual([]);
  });
  it("the table has each language byte and each encoding name once", () => {
    const bytes = codePages.flatMap((page) => page.languages);
    const words = codePages.flatMap((page) => page.words);
    expect(new Set(bytes).size).toBe(bytes.length);
    expect(new Set(words).size).toBe(words.length);
  });
  it.each([
    ["UTF-8", "utf-8"],
    ["65001", "utf-8"],
    ["ANSI 1252", "windows-1252"],
    ["1252\r\n", "windows-1252"],
    ["OEM 850", "cp850"],
    ["ISO 88591", "iso-8859-1"],
    ["ISO-8859-15", "iso-8859-15"],
    ["8859-2", "iso-8859-2"],
    ["Big-5", "big5"],
    ["EUC-KR", "cp949"],
    ["koi8r", "koi8-r"],
    ["874", "cp874"],
    ["<html>", undefined],
    ["", undefined],
  ])("the encoding %j is %s", (written, name) => {
    expect(encodingOfName(written)).toBe(name);
  });
});

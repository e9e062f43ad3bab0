import { describe, expect, it } from "vitest";
import { parseCreateTable } from "../../../../plugins/geopackage/schema/create-table.js";

const columns = (sql: string) => parseCreateTable(sql)?.columns.map(({ name, type }) => [name, type]);

describe("the columns of a table as its schema has them", () => {
  it("names in every kind of quotes, types with and without a length, comments", () => {
    expect(
      columns(`CREATE TABLE "a ""b""" ( "fid" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [the geom] POINT,
        \`n\`\`1\` DOUBLE PRECISION, 'text' TEXT(40) DEFAULT 'a, (b)', -- a comment, with a comma
        größe varying character (20, 3) /* and ( another */, bare, CHECK (bare > 1, 2), FOREIGN KEY (bare) REFERENCES x(y))`),
    ).toEqual([
      ["fid", "INTEGER"],
      ["the geom", "POINT"],
      ["n`1", "DOUBLE PRECISION"],
      ["text", "TEXT"],
      ["größe", "varying character"],
      ["bare", ""],
    ]);
  });

  it.each([
    ["a INTEGER PRIMARY KEY, b", 0],
    ["a INT PRIMARY KEY, b", -1],
    ["a INTEGER(10) PRIMARY KEY, b", -1],
    ["a integer primary key desc, b", -1],
    ["a TEXT, b INTEGER, PRIMARY KEY (b)", 1],
    ["a TEXT, b INTEGER, CONSTRAINT k PRIMARY KEY (b DESC)", 1],
    ["a TEXT, b INTEGER, PRIMARY KEY (a, b)", -1],
    ["a TEXT, b INTEGER UNIQUE", -1],
  ])("%s: the column %i stands for the rowid", (list, index) => {
    expect(parseCreateTable(`CREATE TABLE t (${list})`)?.rowid).toBe(index);
  });

  it("tables without a rowid, generated columns, values of rows that were there before a column", () => {
    expect(parseCreateTable("CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID")).toMatchObject({
      withoutRowid: true,
      rowid: -1,
    });
    const table = parseCreateTable(
      "CREATE TABLE t (a, b AS (a || ')'), c TEXT GENERATED ALWAYS AS (a) STORED, d DEFAULT -1.5, e DEFAULT 'it''s', f DEFAULT x'00ff')",
    )!;
    expect(table.columns.map((column) => column.generated)).toEqual(["no", "virtual", "stored", "no", "no", "no"]);
    expect(table.columns.slice(3).map((column) => column.defaultValue)).toEqual([-1.5, "it's", Uint8Array.of(0, 255)]);
  });

  // Each as SQLite 3.40 gives it for a row that is older than the column.
  it.each([
    ["INTEGER DEFAULT (8)", 8],
    ["INTEGER DEFAULT (((-2)))", -2],
    ["INTEGER DEFAULT - 3", -3],
    ["INTEGER DEFAULT 9223372036854775807", 2n ** 63n - 1n],
    ["INTEGER DEFAULT -9223372036854775808", -(2n ** 63n)],
    ["INTEGER DEFAULT 9007199254740993", 2n ** 53n + 1n],
    ["INTEGER DEFAULT 0x10", 16],
    ["REAL DEFAULT 1e3", 1000],
    ["TEXT DEFAULT hello", "hello"],
    ["TEXT DEFAULT 1.50", "1.50"],
    ["VARCHAR(9) DEFAULT (-1e3)", "-1e3"],
    ["TEXT DEFAULT 9007199254740993", "9007199254740993"],
    ["TEXT DEFAULT 007", 7],
    ["TEXT DEFAULT NULL", null],
  ])("a column %s is %s in rows that were there before it", (column, value) => {
    expect(parseCreateTable(`CREATE TABLE t (a, b ${column})`)?.columns[1]?.defaultValue).toBe(value);
  });

  it("virtual tables and what is no table are none", () => {
    expect(parseCreateTable('CREATE VIRTUAL TABLE "r" USING rtree(id, minx, maxx)')).toBeNull();
    expect(parseCreateTable("")).toBeNull();
  });
});

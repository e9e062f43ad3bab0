import { writeFileSync } from "node:fs";
import iconv from "iconv-lite";
import { afterAll, describe, expect, test } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { geometries, properties, readText, types } from "./support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const read = (
  content: string | Uint8Array,
  options: Readonly<Record<string, string>> = {},
  more: Parameters<typeof readText>[3] = {},
) => readText(scratch, content, options, more);
const point = (...coordinates: number[]) => ({ type: "Point", coordinates });

describe("the dialect", () => {
  test.each([
    ["comma", "a,b\n1,x\n"],
    ["semicolon", "a;b\n1;x\n"],
    ["tab", "a\tb\n1\tx\n"],
    ["pipe", "a|b\n1|x\n"],
  ])("the dialect %s is detected", async (_, text) => expect(properties(await read(text))).toEqual([{ a: 1, b: "x" }]));

  test("commas in the texts of a semicolon file do not make them the delimiter", async () =>
    expect(properties(await read("a;b\n1;x, y\n2;z, w\n"))).toEqual([
      { a: 1, b: "x, y" },
      { a: 2, b: "z, w" },
    ]));

  test("texts full of semicolons do not make them the delimiter", async () =>
    expect(properties(await read("a,b\n1;2,x;y\n3;4,z;w\n"))).toEqual([
      { a: "1;2", b: "x;y" },
      { a: "3;4", b: "z;w" },
    ]));

  test("a decimal comma is detected with a semicolon, and used for coordinates, too", async () => {
    const { features } = await read("lon;lat;v\n1,5;2,25;-3,125\n4;5;6\n");
    expect(features.map((f) => [f.geometry, f.properties.v])).toEqual([
      [point(1.5, 2.25), -3.125],
      [point(4, 5), 6],
    ]);
  });

  test("numbers with three digits after a comma stay text unless an option decides", async () => {
    expect(properties(await read("a;b\n1,234;x\n"))).toEqual([{ a: "1,234", b: "x" }]);
    expect(properties(await read("a;b\n1,234;x\n", { decimal: "," }))).toEqual([{ a: 1.234, b: "x" }]);
    expect(properties(await read('a,b\n"1,234",x\n'))).toEqual([{ a: "1,234", b: "x" }]);
    expect(properties(await read('a,b\n"1,234",x\n', { decimal: "," }))).toEqual([{ a: 1.234, b: "x" }]);
  });

  test("the delimiter option takes precedence, and refuses invalid delimiters", async () => {
    expect(properties(await read("a,b;c\n1,x;3\n", { delimiter: "semicolon" }))).toEqual([{ "a,b": "1,x", c: 3 }]);
    expect(properties(await read("a^b\n1^2\n", { delimiter: "^" }))).toEqual([{ a: 1, b: 2 }]);
    for (const delimiter of ["ab", "1", '"', "-", "é", ""]) {
      await expect(read("a,b\n", { delimiter })).rejects.toThrow(/option delimiter/);
    }
  });
});

test("the line sep=; of Excel sets the delimiter", async () => {
  for (const content of ["sep=;\na;b\n1;2\n3;4;5\n", "\uFEFFsep=;\r\na;b\n1;2\n3;4;5\n"]) {
    for (const length of [5, 1000]) {
      const { features, recording } = await read(content, {}, { length });
      expect(features.map((f) => f.properties)).toEqual([{ a: 1, b: 2 }]);
      expect(recording.rejects).toMatchObject([
        { place: { record: 2, line: 4, byte: content.includes("\r") ? 18 : 14 } },
      ]);
      expect(recording.lines).toBe(4);
    }
  }
});

describe("the header", () => {
  test("column names are trimmed, made unique, and created where missing", async () => {
    const { features, recording } = await read('a, a ,,b,"c d","e\nf"\n1,2,3,4,5,6\n');
    expect(features[0]!.properties).toEqual({ a: 1, a_1: 2, field_3: 3, b: 4, "c d": 5, "e\nf": 6 });
    expect(recording.notices.map((n) => [n.code, n.field])).toEqual([
      ["name-duplicate", "a_1"],
      ["name-missing", "field_3"],
    ]);
  });

  test.each([
    [
      "all numbers",
      "1,2\n3,4\n",
      [
        { field_1: 1, field_2: 2 },
        { field_1: 3, field_2: 4 },
      ],
    ],
    [
      "a decimal among words",
      "x,48.85\ny,2.35\n",
      [
        { field_1: "x", field_2: 48.85 },
        { field_1: "y", field_2: 2.35 },
      ],
    ],
    ["a date", "x,2020-01-01\n", [{ field_1: "x", field_2: "2020-01-01" }]],
    ["years as names", "name,2019,2020\nx,1,2\n", [{ name: "x", 2019: 1, 2020: 2 }]],
    ["quoted numbers as names", '"1","2"\n3,4\n', [{ 1: 3, 2: 4 }]],
  ])("the header: %s", async (_, text, expected) => expect(properties(await read(text))).toEqual(expected));

  test("the header option takes precedence", async () => {
    expect(properties(await read("1,2\n3,4\n", { header: "yes" }))).toEqual([{ 1: 3, 2: 4 }]);
    expect(properties(await read("a,b\nc,d\n", { header: "no" }))).toEqual([
      { field_1: "a", field_2: "b" },
      { field_1: "c", field_2: "d" },
    ]);
  });

  test("a file with only a header is an empty layer with fields", async () => {
    const { features, fields, layer } = await read("a,b\n");
    expect(features).toEqual([]);
    expect(fields.map((f) => f.name)).toEqual(["a", "b"]);
    expect(layer.featureCount).toBe(0);
  });

  test("a file with only blank lines is an empty table", async () => {
    const { features, fields } = await read("\n\r\n  \n");
    expect([features, fields]).toEqual([[], []]);
  });

  test("an empty file is refused", async () => await expect(read("")).rejects.toMatchObject({ code: "input-empty" }));
});

describe("types", () => {
  test("column types are inferred from all rows, not only the first", async () => {
    const rows = [...new Array(3000).keys()].map((i) => `${i},${i},${i},2020-01-01`);
    const result = await read(`a,b,c,d\n${rows.join("\n")}\nx,9007199254740992,1.5,\n`);
    expect(types(result)).toEqual({ a: "text", b: "int64", c: "double", d: "date" });
    expect(result.features[7]!.properties).toEqual({ a: "7", b: 7, c: 7, d: "2020-01-01" });
    expect(result.layer.featureCount).toBe(3001);
  });

  test("values of every type are read exactly", async () => {
    const result = await read(
      "i,l,d,b,day,t,at,zip,big,plus\n" +
        "-5,9223372036854775807,1.50,true,2020/01/02,01:02:03,2020-01-02 03:04,007,9223372036854775808,+5\n" +
        " 6 ,-9223372036854775808, 1e5 ,FALSE,2020-01-03,01:02:03.5,2020-01-02T03:04:05Z,8,1,6\n",
    );
    expect(types(result)).toEqual({
      i: "int32",
      l: "int64",
      d: "double",
      b: "boolean",
      day: "date",
      t: "time",
      at: "datetime",
      zip: "text",
      big: "text",
      plus: "text",
    });
    expect(properties(result)).toEqual([
      {
        i: -5,
        l: "9223372036854775807",
        d: 1.5,
        b: true,
        day: "2020-01-02",
        t: "01:02:03",
        at: "2020-01-02T03:04:00",
        zip: "007",
        big: "9223372036854775808",
        plus: "+5",
      },
      {
        i: 6,
        l: "-9223372036854775808",
        d: 100000,
        b: false,
        day: "2020-01-03",
        t: "01:02:03.5",
        at: "2020-01-02T03:04:05Z",
        zip: "8",
        big: "1",
        plus: "6",
      },
    ]);
  });

  test("a column of decimals and integers beyond 2^53 stays text, since a double would round them", async () => {
    const result = await read("a,b\n9007199254740993,1\n1.5,2\n");
    expect(properties(result)).toEqual([
      { a: "9007199254740993", b: 1 },
      { a: "1.5", b: 2 },
    ]);
  });

  test("NaN is a number in a column of numbers, elsewhere text", async () => {
    const result = await read("a,b\n1.5,NaN\nnan,x\n");
    expect(types(result)).toEqual({ a: "double", b: "text" });
    expect(properties(result)).toEqual([
      { a: 1.5, b: "NaN" },
      { a: null, b: "x" },
    ]);
  });

  test("an empty cell is null; a quoted empty cell is text in a text column", async () => {
    const result = await read('a,b\n"",""\n,\n1,x\n');
    expect(properties(result)).toEqual([
      { a: null, b: "" },
      { a: null, b: null },
      { a: 1, b: "x" },
    ]);
  });

  test("a quoted column is text if numbers are not quoted in the file", async () => {
    expect(types(await read('"a","b"\n"1",2\n"3",4\n'))).toEqual({ a: "text", b: "int32" });
    expect(types(await read('a,b\n"1","x"\n"3","y"\n'))).toEqual({ a: "text", b: "text" });
    expect(types(await read('"a","b"\n"1","2"\n"3","4"\n'))).toEqual({ a: "int32", b: "int32" });
  });

  test("types=text keeps every value as text", async () => {
    const result = await read("a,b\n1.50, 7\n", { types: "text" });
    expect(properties(result)).toEqual([{ a: "1.50", b: " 7" }]);
  });

  test("an option infers types from a sample, and values of other types are a loss", async () => {
    const result = await read("a,b\n1,x\n2,y\nz,w\n", { sample: "2" });
    expect(properties(result)).toEqual([
      { a: 1, b: "x" },
      { a: 2, b: "y" },
      { a: null, b: "w" },
    ]);
    expect(result.recording.losses).toMatchObject([{ code: "value-unreadable", field: "a", count: 1 }]);
  });

  test("a .csvt takes precedence over inferred types", async () => {
    writeFileSync(
      scratch.path("typed.csvt"),
      '"String","Integer(Boolean)","Real(10.3)","Integer64(12)","DateTime","CoordX","CoordY"\n',
    );
    const result = await read(
      "a,b,c,d,e,px,py\n1,0,2,3,2020-01-02T00:00:00,5,6\n7,1,,x,,,\n",
      {},
      { name: "typed.csv" },
    );
    expect(types(result)).toEqual({ a: "text", b: "boolean", c: "double", d: "int64", e: "datetime" });
    expect(properties(result)).toEqual([
      { a: "1", b: false, c: 2, d: 3, e: "2020-01-02T00:00:00" },
      { a: "7", b: true, c: null, d: null, e: null },
    ]);
    expect(geometries(result)).toEqual([point(5, 6), null]);
    expect(result.recording.losses).toMatchObject([{ code: "value-unreadable", field: "d" }]);
  });
});

test("the option z adds heights to the columns of a .csvt", async () => {
  writeFileSync(scratch.path("heights.csvt"), '"CoordX","CoordY","Real"\n');
  const input = "e,n,level\n5,6,7.5\n";
  const plain = await read(input, {}, { name: "heights.csv" });
  expect([geometries(plain), properties(plain)]).toEqual([[point(5, 6)], [{ level: 7.5 }]]);
  const raised = await read(input, { z: "level" }, { name: "heights.csv" });
  expect(geometries(raised)).toEqual([{ type: "Point", coordinates: [5, 6, 7.5] }]);
  await expect(read(input, { z: "height" }, { name: "heights.csv" })).rejects.toMatchObject({ code: "field-missing" });
});

describe("quotes within cells", () => {
  const table = 'id,name\n1,12" pipe\n2,"5"" tube"\n3,"abc "def" ghi"\n4,"x" y\n';
  const expected = [
    { id: 1, name: '12" pipe' },
    { id: 2, name: '5" tube' },
    { id: 3, name: '"abc "def" ghi"' },
    { id: 4, name: '"x" y' },
  ];

  test.each([
    ["all rows were looked at", {}, "from line 4 on"],
    ["few were", { sample: "1" }, "in some records"],
  ])("stray quotes are kept, and records with undoubled quotes are counted where %s", async (_, options, where) => {
    const result = await read(table, options);
    expect(properties(result)).toEqual(expected);
    expect(result.recording.notices).toMatchObject([{ code: "quote-stray", count: 2 }]);
    expect(result.recording.notices[0]!.example).toContain(where);
  });

  test("stray quotes are kept in column names", async () => {
    const result = await read('"the "id"",name\n1,x\n');
    expect(properties(result)).toEqual([{ '"the "id""': 1, name: "x" }]);
    expect(result.recording.notices).toMatchObject([{ code: "quote-stray", count: 1 }]);
  });

  test("doubled quotes are not reported", async () => {
    expect((await read('a,b\n"x ""y""",\n"""z""",5"\n')).recording.notices).toEqual([]);
  });
});

describe("records", () => {
  test("missing cells at the end of rows are null, with one notice", async () => {
    const { features, recording } = await read("a,b,c\n1\n2,3\n4,5,6\n");
    expect(features.map((f) => Object.values(f.properties))).toEqual([
      [1, null, null],
      [2, 3, null],
      [4, 5, 6],
    ]);
    expect(recording.notices).toMatchObject([{ code: "record-short", count: 2 }]);
  });

  test("surplus cells are rejected with record and line, unless they are empty", async () => {
    const { features, recording } = await read('a,b\n"x\ny",1\n1,2,3\n4,5, ,\n6,7\n');
    expect(features.map((f) => f.properties.b)).toEqual([1, 5, 7]);
    expect(recording.rejects).toMatchObject([
      { code: "record-too-long", place: { record: 2, line: 4, byte: 12 }, text: "1,2,3" },
    ]);
    expect([recording.records, recording.lines]).toEqual([4, 6]);
  });

  test("an unclosed quote is damage, reported with its line", async () => {
    const text = 'a,b\n1,2\n3,"x\n4,5\n6,7\n';
    await expect(read(text)).rejects.toThrow(/line 3.*quote/);
    await expect(read(text)).rejects.toBeInstanceOf(GeoferryError);
    const { features, recording } = await read(text, {}, { skipErrors: true });
    expect(properties({ features } as never)).toEqual([
      { a: 1, b: 2 },
      { a: 4, b: 5 },
      { a: 6, b: 7 },
    ]);
    expect(recording.rejects).toMatchObject([{ code: "quote-unclosed", place: { record: 2, line: 3 }, text: '3,"x' }]);
  });

  test("NUL bytes are damage; read past it, their records are rejected", async () => {
    const text = "a,b\n1,2\n3\0,4\n5,6\n";
    await expect(read(text)).rejects.toMatchObject({ code: "input-corrupt" });
    const { features, recording } = await read(text, {}, { skipErrors: true });
    expect(features.length).toBe(2);
    expect(recording.rejects).toMatchObject([{ code: "record-binary", place: { record: 2, line: 3 } }]);
    expect(recording.notices).toEqual([]);
  });

  test("NUL bytes in the names of columns are noticed when they are read past", async () => {
    const { features, recording } = await read("lat,l\0n\n1,2\n3,4\n", {}, { skipErrors: true });
    expect(features.length).toBe(2);
    const codes = recording.notices.map(({ code, count }) => [code, count]);
    expect(codes).toEqual(expect.arrayContaining([["header-binary", 1]]));
  });
});

describe("encodings", () => {
  const text = "name,größe\nZürich €,1\nНорд 𝕏,2\n";
  const expected = [
    { name: "Zürich €", größe: 1 },
    { name: "Норд 𝕏", größe: 2 },
  ];

  test.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${text}`)],
    ["UTF-16LE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16BE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
    ["UTF-16LE without a mark", Buffer.from(`a,b,c,d,e,f\n${text}`.slice(12), "utf16le")],
  ])("the encoding of %s is detected", async (_, bytes) => {
    for (const length of [undefined, 8, 21, 40]) {
      expect(properties(await read(bytes, {}, length === undefined ? {} : { length }))).toEqual(expected);
    }
  });

  test("text that is not UTF-8 is read as Windows-1252, with a notice", async () => {
    const bytes = iconv.encode("name,n\nZürich €,1\nÅre,2\n", "windows-1252");
    for (const length of [undefined, 10]) {
      const result = await read(bytes, {}, length === undefined ? {} : { length });
      expect(result.features.map((f) => f.properties.name)).toEqual(["Zürich €", "Åre"]);
      expect(result.recording.notices).toMatchObject([{ code: "encoding-assumed", count: 1 }]);
    }
  });

  test("the first non-ASCII byte can be far behind the head", async () => {
    const rows = `${"x,1\n".repeat(300_000)}`;
    const bytes = Buffer.concat([Buffer.from(`name,n\n${rows}`), Buffer.from([0xe9, 0x2c, 0x32, 0x0a])]);
    const result = await read(bytes);
    expect(result.features.length).toBe(300_001);
    expect(result.features.at(-1)!.properties).toEqual({ name: "é", n: 2 });
  });

  test("the encoding option is used without a check", async () => {
    const bytes = iconv.encode("name,n\nŁódź,1\n", "windows-1250");
    expect(properties(await read(bytes, { encoding: "windows-1250" }))).toEqual([{ name: "Łódź", n: 1 }]);
    const japanese = iconv.encode("name|n\n表示|1\nソ|2\n", "shift_jis");
    expect(properties(await read(japanese, { encoding: "shift_jis", delimiter: "|" }, { length: 9 }))).toEqual([
      { name: "表示", n: 1 },
      { name: "ソ", n: 2 },
    ]);
  });

  test("damage in a UTF-8 file does not change the detected encoding", async () => {
    const bytes = Buffer.concat([Buffer.from("name,n\nZürich,1\n"), Buffer.from([0xff]), Buffer.from(",2\nÅre,3\n")]);
    for (const length of [8, 1000]) {
      const { features, recording } = await read(bytes, {}, { length });
      expect(features.map((f) => f.properties.name)).toEqual(["Zürich", "\uFFFD", "Åre"]);
      expect(recording.losses).toMatchObject([{ code: "text-undecodable", count: 1 }]);
    }
  });

  test("a damaged character in UTF-8 is a loss, not another encoding", async () => {
    const bytes = Buffer.concat([Buffer.from("name,n\nZürich Größe,1\n"), Buffer.from([0xff]), Buffer.from("x,2\n")]);
    const result = await read(bytes, { encoding: "utf-8" });
    expect(result.features.map((f) => f.properties.name)).toEqual(["Zürich Größe", "\uFFFDx"]);
    expect(result.recording.losses).toMatchObject([{ code: "text-undecodable", count: 1 }]);
  });
});

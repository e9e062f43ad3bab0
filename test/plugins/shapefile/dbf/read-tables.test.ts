import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { convertFile } from "../../../support/host.js";
import { RecordingContext, TemporaryFolder } from "../../../support/read-layers.js";
import {
  type DbfField,
  type DbfOptions,
  dbf,
  doubles,
  nullShape,
  openAt,
  point,
  readBySplits,
  readFeatures,
  shapefile,
  writeShapefile,
} from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let stems = 0;

/** The values of the one column of a table of these cells. */
async function cells(field: Omit<DbfField, "name">, values: readonly string[], context = new RecordingContext()) {
  const rows = values.map((value) => ` ${value}`);
  const path = writeShapefile(scratch, `t${stems++}`, { dbf: dbf([{ name: "F", ...field }], rows) });
  return (await readFeatures(path, {}, context)).map((feature) => feature.properties.F);
}
async function fieldOf(field: Omit<DbfField, "name">, rows: readonly string[] = []) {
  const path = writeShapefile(scratch, `t${stems++}`, { dbf: dbf([{ name: "F", ...field }], rows) });
  await using dataset = await openAt(path);
  return dataset.layers[0]!.fields![0];
}

describe("field types", () => {
  it.each([
    [
      { type: "N", width: 9 },
      { name: "F", type: "int32", width: 9, decimals: 0 },
    ],
    [
      { type: "N", width: 10 },
      { name: "F", type: "int64", width: 10, decimals: 0 },
    ],
    [
      { type: "N", width: 20 },
      { name: "F", type: "int64", width: 20, decimals: 0 },
    ],
    [
      { type: "N", width: 21 },
      { name: "F", type: "double", width: 21, decimals: 0 },
    ],
    [
      { type: "N", width: 8, decimals: 2 },
      { name: "F", type: "double", width: 8, decimals: 2 },
    ],
    [
      { type: "F", width: 13, decimals: 5 },
      { name: "F", type: "double", width: 13, decimals: 5 },
    ],
    [
      { type: "C", width: 80 },
      { name: "F", type: "text", width: 80 },
    ],
    [
      { type: "L", width: 1 },
      { name: "F", type: "boolean" },
    ],
    [
      { type: "D", width: 8 },
      { name: "F", type: "date" },
    ],
    [
      { type: "M", width: 10 },
      { name: "F", type: "text" },
    ],
  ] as const)("the field type %j is declared as %j", async (written, declared) => {
    expect(await fieldOf(written)).toEqual(declared);
  });

  it("integer columns with fractions are doubles", async () => {
    expect(await fieldOf({ type: "N", width: 5 }, ["   1.5"])).toMatchObject({ type: "double" });
    expect(await fieldOf({ type: "N", width: 5 }, ["   1e3"])).toMatchObject({ type: "double" });
    expect(await fieldOf({ type: "N", width: 5 }, ["   7.0"])).toMatchObject({ type: "int32" });
  });
});

describe("numbers", () => {
  it("numbers are read exactly, with any padding", async () => {
    const written = ["   12.50", "-0.1    ", "+3      ", "   68,5 ", ".5      ", "1.5e-7  ", "7.0\0junk"];
    expect(await cells({ type: "N", width: 8, decimals: 2 }, written)).toEqual([12.5, -0.1, 3, 68.5, 0.5, 1.5e-7, 7]);
  });

  it("numbers of more than 15 digits are read as by JavaScript", async () => {
    const written = ["0.12345678901234567890", "  1234567890.123456789", " 9007199254740993.0000"];
    expect(await cells({ type: "N", width: 22, decimals: 15 }, written)).toEqual(written.map(Number));
  });

  it("numbers that are blank or overflowed are null", async () => {
    const context = new RecordingContext();
    expect(await cells({ type: "N", width: 4 }, ["    ", "****", "*   ", "\0\0\0\0"], context)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(context.losses).toEqual([]);
  });

  it("invalid numbers are null with a loss", async () => {
    const context = new RecordingContext();
    expect(await cells({ type: "N", width: 4, decimals: 1 }, [" abc", " NaN", "1 2 ", " 1.5"], context)).toEqual([
      null,
      null,
      null,
      1.5,
    ]);
    expect(context.losses).toMatchObject([{ code: "number-unreadable", field: "F", count: 3 }]);
  });

  it("integers of 64 bits keep every digit", async () => {
    const written = [" 9223372036854775807", "-9223372036854775808", "    9007199254740993", "                  -1"];
    const path = writeShapefile(scratch, `t${stems++}`, {
      dbf: dbf(
        [{ name: "F", type: "N", width: 20 }],
        written.map((w) => ` ${w}`),
      ),
    });
    const [batch] = await readBySplits(path);
    expect([...(batch!.columns[0] as { values: BigInt64Array }).values]).toEqual([
      9223372036854775807n,
      -9223372036854775808n,
      9007199254740993n,
      -1n,
    ]);
  });

  it("integers beyond 64 bits are null with a loss", async () => {
    const context = new RecordingContext();
    expect(await cells({ type: "N", width: 20 }, ["99999999999999999999", "                   5"], context)).toEqual([
      null,
      5,
    ]);
    expect(context.losses).toMatchObject([{ code: "number-too-large", count: 1 }]);
  });
});

describe("other cells", () => {
  it("logicals are true, false or null", async () => {
    const context = new RecordingContext();
    const letters = [..."TtYyFfNn?  10x"];
    const wanted = [true, true, true, true, false, false, false, false, null, null, null, true, false, null];
    expect(await cells({ type: "L", width: 1 }, letters, context)).toEqual(wanted);
    expect(context.losses).toMatchObject([{ code: "logical-unreadable", count: 1 }]);
  });

  it("dates are ISO dates, null if blank or zero, a loss if impossible", async () => {
    const context = new RecordingContext();
    const written = ["20240229", "00000000", "        ", "20241301", "0       ", "20240231", "20230229"];
    expect(await cells({ type: "D", width: 8 }, written, context)).toEqual(["2024-02-29", ...Array(6).fill(null)]);
    expect(context.losses).toMatchObject([{ code: "date-unreadable", count: 3 }]);
  });

  it("dates in the wide forms are read, too", async () => {
    expect(await cells({ type: "D", width: 10 }, ["02/29/2024", "2024/02/29"])).toEqual(["2024-02-29", "2024-02-29"]);
  });

  it("text ends at a NUL or before the padding blanks", async () => {
    expect(
      await cells({ type: "C", width: 6 }, ["ab    ", "ab\0xyz", "  ab  ", "      ", "\0\0\0\0\0\0", "abcdef"]),
    ).toEqual(["ab", "ab", "  ab", null, null, "abcdef"]);
  });
});

describe("binary columns of FoxPro", () => {
  it("binary columns of FoxPro are integers, doubles, currencies and times", async () => {
    const row = Buffer.alloc(1 + 4 + 8 + 8 + 8, 0);
    row[0] = 0x20;
    row.writeInt32LE(-123456, 1);
    doubles(0.1).copy(row, 5);
    row.writeBigInt64LE(-12_345n, 13);
    // 2001-02-03 is Julian day 2451944; 04:05:06 is 14,706,000 milliseconds.
    row.writeInt32LE(2451944, 21);
    row.writeInt32LE(14_706_000, 25);
    const fields = [
      { name: "I", type: "I", width: 4 },
      { name: "B", type: "B", width: 8 },
      { name: "Y", type: "Y", width: 8 },
      { name: "T", type: "T", width: 8 },
    ];
    const empty = Buffer.concat([Buffer.from(" "), Buffer.alloc(28)]);
    // Visual FoxPro keeps 263 bytes for the database's name behind the terminator.
    const terminator = Buffer.concat([Buffer.of(0x0d), Buffer.alloc(263)]);
    const path = writeShapefile(scratch, "vfp", { dbf: dbf(fields, [row, empty], { version: 0x30, terminator }) });
    const features = await readFeatures(path);
    expect(features.map((feature) => feature.properties)).toEqual([
      { I: -123456, B: 0.1, Y: -1.2345, T: "2001-02-03T04:05:06" },
      { I: 0, B: 0, Y: 0, T: null },
    ]);
  });

  it("binary columns of FoxPro are null if the flags say so, and as long as the flags say", async () => {
    const fields = [
      { name: "V", type: "V", width: 5, flags: 2 },
      { name: "N", type: "N", width: 3, flags: 2 },
      { name: "_NullFlags", type: "0", width: 1 },
    ];
    // Bits in the order of the columns: V is shorter, V is null, N is null.
    const rows = [
      Buffer.concat([Buffer.from(" ab  "), Buffer.of(2), Buffer.from(" 12"), Buffer.of(0b001)]),
      Buffer.concat([Buffer.from(" abcde 12"), Buffer.of(0b100)]),
      Buffer.concat([Buffer.from(" abcde 12"), Buffer.of(0b010)]),
    ];
    const path = writeShapefile(scratch, "nullflags", { dbf: dbf(fields, rows, { version: 0x32 }) });
    expect((await readFeatures(path)).map((feature) => feature.properties)).toEqual([
      { V: "ab", N: 12 },
      { V: "abcde", N: null },
      { V: null, N: 12 },
    ]);
  });
});

describe("memos", () => {
  const memoTable = (version: number, block: string) =>
    dbf([{ name: "M", type: "M", width: 10 }], [` ${block.padStart(10)}`, ` ${"".padStart(10)}`], { version });
  it("memos of dBASE III end at 0x1A", async () => {
    const dbt = Buffer.alloc(1024);
    dbt.write("a memo\x1a\x1ajunk", 512, "latin1");
    const path = writeShapefile(scratch, "memo3", { dbf: memoTable(0x83, "1"), dbt });
    expect((await readFeatures(path)).map((feature) => feature.properties.M)).toEqual(["a memo", null]);
  });
  it("memos of FoxPro have a stored length", async () => {
    const fpt = Buffer.alloc(640);
    fpt.writeUInt16BE(64, 6);
    fpt.writeUInt32BE(1, 512);
    fpt.writeUInt32BE(6, 516);
    fpt.write("a memo and more", 520, "latin1");
    const path = writeShapefile(scratch, "memofox", { dbf: memoTable(0xf5, "8"), fpt });
    expect((await readFeatures(path))[0]!.properties.M).toBe("a memo");
  });
  it("memos without their file are null with a loss", async () => {
    const context = new RecordingContext();
    const path = writeShapefile(scratch, "memoless", { dbf: memoTable(0x83, "1") });
    expect((await readFeatures(path, {}, context)).map((feature) => feature.properties.M)).toEqual([null, null]);
    expect(context.losses).toMatchObject([{ code: "memo-missing", field: "M", count: 1 }]);
  });
});

describe("encodings", () => {
  const table = (text: Buffer, options: DbfOptions = {}) =>
    dbf([{ name: "F", type: "C", width: text.length }], [Buffer.concat([Buffer.from(" "), text])], options);
  const read = async (files: Record<string, Buffer | string>, encoding?: string, context = new RecordingContext()) => {
    const path = writeShapefile(scratch, `e${stems++}`, files);
    return (await readFeatures(path, { encoding }, context))[0]!.properties.F;
  };
  // "é" is E9 in Windows-1252 and C3 A9 in UTF-8; E9 is "щ" in Windows-1251 and "Θ" in code page 437.
  const e9 = Buffer.from([0x61, 0xe9, 0x62]);
  it("the encoding option takes precedence", async () => {
    expect(await read({ dbf: table(e9, { language: 0x03 }), cpg: "UTF-8" }, "windows-1251")).toBe("aйb");
  });
  it("the .cpg takes precedence over the language byte", async () => {
    expect(await read({ dbf: table(e9, { language: 0x03 }), cpg: "1251\n" })).toBe("aйb");
  });
  it("a .cpg or language byte that contradicts the text is noted, and used", async () => {
    const utf8 = Buffer.from("aéb");
    const both: Record<string, Buffer | string>[] = [
      { dbf: table(utf8), cpg: "ISO-8859-1" },
      { dbf: table(utf8, { language: 0x03 }) },
    ];
    for (const files of both) {
      const context = new RecordingContext();
      // C3 and A9 are "Ã" and "©" in both encodings.
      expect(await read(files, undefined, context)).toBe("aÃ©b");
      expect(context.notices.map(({ code }) => code)).toContain("encoding-contradicted");
    }
    const context = new RecordingContext();
    await read({ dbf: table(e9), cpg: "ISO-8859-1" }, undefined, context);
    await read({ dbf: table(utf8), cpg: "ISO-8859-1" }, "utf-8", context);
    expect(context.notices.map(({ code }) => code)).not.toContain("encoding-contradicted");
  });
  it("the encoding is taken from the language byte without a .cpg, except for 0x57", async () => {
    expect(await read({ dbf: table(e9, { language: 0x01 }) })).toBe("aΘb");
    expect(await read({ dbf: table(Buffer.from("aéb"), { language: 0x57 }) })).toBe("aéb");
  });
  it("the encoding is UTF-8 if the text is valid UTF-8, otherwise Windows-1252", async () => {
    expect(await read({ dbf: table(Buffer.from("Łódź")) })).toBe("Łódź");
    expect(await read({ dbf: table(e9) })).toBe("aéb");
    expect(await read({ dbf: table(Buffer.from([0x80])) })).toBe("€");
  });
  it("text without a declared encoding that is not UTF-8 is noted with an example", async () => {
    // "Łódź" in Windows-1250 is A3 F3 64 9F, which Windows-1252 reads as "£ódŸ".
    const polish = Buffer.from([0xa3, 0xf3, 0x64, 0x9f]);
    const noticesOf = async (files: Record<string, Buffer | string>, encoding?: string) => {
      const context = new RecordingContext();
      await read(files, encoding, context);
      return context.notices.filter(({ code }) => code === "encoding-assumed");
    };
    for (const language of [0, 0x57]) {
      expect(await noticesOf({ dbf: table(polish, { language }) })).toMatchObject([
        { count: 1, example: expect.stringMatching(/"£ódŸ".*--in encoding=/) },
      ]);
    }
    expect(await noticesOf({ dbf: table(polish), cpg: "<!DOCTYPE html>" })).toHaveLength(1);
    expect(await noticesOf({ dbf: table(polish), cpg: "1250" })).toEqual([]);
    expect(await noticesOf({ dbf: table(polish, { language: 0xc8 }) })).toEqual([]);
    expect(await noticesOf({ dbf: table(polish) }, "windows-1250")).toEqual([]);
    expect(await noticesOf({ dbf: table(Buffer.from("Łódź")) })).toEqual([]);
    expect(await noticesOf({ dbf: table(Buffer.from("Lodz")) })).toEqual([]);
  });
  it("multi-byte encodings are decoded", async () => {
    expect(await read({ dbf: table(Buffer.from([0x93, 0xfa, 0x96, 0x7b])), cpg: "SJIS" })).toBe("日本");
    expect(await read({ dbf: table(Buffer.from("ab", "utf16le")), cpg: "UTF-16" })).toBe("ab");
  });
  it("a .cpg with an unknown encoding is ignored, with a notice", async () => {
    const context = new RecordingContext();
    expect(await read({ dbf: table(e9), cpg: "<!DOCTYPE html>" }, undefined, context)).toBe("aéb");
    expect(context.notices.map((notice) => notice.code)).toContain("cpg-unknown");
  });
  it("an unknown encoding in the option is refused", async () => {
    await expect(read({ dbf: table(e9) }, "no-such-thing")).rejects.toMatchObject({ code: "option-invalid" });
  });
  it("an impossible encoding is a loss", async () => {
    const context = new RecordingContext();
    await read({ dbf: table(e9), cpg: "UTF-8" }, undefined, context);
    expect(context.losses).toMatchObject([{ code: "text-undecodable", field: "F", count: 1 }]);
  });
  it("a character cut by the field width is left out", async () => {
    const context = new RecordingContext();
    const text = Buffer.concat([Buffer.from("Zürich"), Buffer.of(0xc3)]);
    expect(await read({ dbf: table(text), cpg: "UTF-8" }, undefined, context)).toBe("Zürich");
    expect(context.losses).toHaveLength(1);
  });
});

describe("headers", () => {
  const fields = [{ name: "A", type: "C", width: 3 }];
  it.each([
    ["without a terminator", { terminator: Buffer.alloc(0) }],
    ["with two terminators", { terminator: Buffer.of(0x0d, 0x0d) }],
    ["with padding", { terminator: Buffer.concat([Buffer.of(0x0d), Buffer.alloc(40)]) }],
    ["padded with zeros only", { terminator: Buffer.alloc(33) }],
    ["without 0x1A", { end: Buffer.alloc(0) }],
    ["with more behind the rows", { end: Buffer.from("\x1asomething else") }],
  ])("headers %s are read", async (_, options) => {
    const path = writeShapefile(scratch, `h${stems++}`, { dbf: dbf(fields, [" abc", " def"], options) });
    expect((await readFeatures(path)).map((feature) => feature.properties)).toEqual([{ A: "abc" }, { A: "def" }]);
  });

  it("headers of dBASE 7 have longer names and other byte order", async () => {
    const head = Buffer.alloc(68 + 3 * 48 + 1);
    head[0] = 0x04;
    head.writeUInt32LE(1, 4);
    head.writeUInt16LE(head.length, 8);
    head.writeUInt16LE(1 + 3 + 4 + 8, 10);
    [
      ["a_long_name_of_a_column", "C", 3],
      ["i", "I", 4],
      ["o", "O", 8],
    ].forEach(([name, type, width], i) => {
      head.write(name as string, 68 + 48 * i, "latin1");
      head.write(type as string, 68 + 48 * i + 32, "latin1");
      head[68 + 48 * i + 33] = width as number;
    });
    head[head.length - 1] = 0x0d;
    const row = Buffer.alloc(16);
    row.write(" abc", 0, "latin1");
    row.writeInt32BE(-5 ^ -0x80000000, 4);
    row.writeDoubleBE(-2.5, 8);
    for (let i = 8; i < 16; i++) row[i]! ^= 0xff;
    const path = writeShapefile(scratch, "dbase7", { dbf: Buffer.concat([head, row]) });
    expect((await readFeatures(path))[0]!.properties).toEqual({ a_long_name_of_a_column: "abc", i: -5, o: -2.5 });
  });

  it("headers with text wider than 255 store its width in the decimals", async () => {
    const text = "x".repeat(300);
    const path = writeShapefile(scratch, "wide", { dbf: dbf([{ name: "A", type: "C", width: 300 }], [` ${text}`]) });
    expect((await readFeatures(path))[0]!.properties.A).toBe(text);
  });

  it("a repeated field name is renamed", async () => {
    const twice = [...fields, ...fields, { name: "A_1", type: "C", width: 3 }];
    const path = writeShapefile(scratch, "twice", { dbf: dbf(twice, [" abcdefghi"]) });
    const [feature] = await readFeatures(path);
    // GDAL 3.6 calls the second A2 too.
    expect(feature!.properties).toEqual({ A: "abc", A2: "def", A_1: "ghi" });
  });

  it.each([
    ["is no table", Buffer.from("id,name\n1,a\n".repeat(10))],
    ["describes records that are too short", dbf([{ name: "A", type: "C", width: 3 }], []).fill(0, 10, 12)],
    ["is too short", Buffer.of(3, 1, 1, 1)],
  ])("headers that %s are refused", async (_, bytes) => {
    const patched = Buffer.from(bytes);
    if (patched.length > 60) patched[10] = 2;
    await expect(openAt(writeShapefile(scratch, `bad${stems++}`, { dbf: patched }))).rejects.toMatchObject({
      kind: "input",
    });
  });
});

describe("the metadata beside a Shapefile", () => {
  it.each([
    ["<metadata><Esri/><t>Städte</t></metadata>", "http://www.esri.com/metadata/esriprof80.html"],
    ['<MD xmlns="http://www.isotc211.org/2005/gmd">Städte</MD>', "http://www.isotc211.org/2005/gmd"],
    ["<other>Städte</other>", "undefined"],
  ])("the metadata beside a Shapefile are a document: %s", async (text, standard) => {
    const path = writeShapefile(scratch, `meta${stems++}`, shapefile([point(1, 1)]));
    writeFileSync(`${path}.xml`, `\uFEFF${text}`);
    await using dataset = await openAt(path);
    expect(dataset.layers[0]!.metadata).toEqual({
      documents: [{ scope: "dataset", standard, mediaType: "text/xml", text }],
    });
  });

  it("the metadata beside a Shapefile go to a GeoPackage, and are lost in other formats", async () => {
    const path = writeShapefile(scratch, "towns", shapefile([point(1, 1)]));
    writeFileSync(`${path}.xml`, "<metadata/>");
    const kept = await convertFile(path, scratch.path("towns.gpkg"));
    expect(kept.losses).toEqual([]);
    const { losses } = await convertFile(path, scratch.path("towns.csv"));
    expect(losses).toMatchObject([
      { code: "metadata-left-out", example: expect.stringMatching(/metadata documents$/) },
    ]);
  });
});

describe("rows", () => {
  const fields = [{ name: "A", type: "C", width: 1 }];
  const points = shapefile([point(1, 1), point(2, 2), point(3, 3)]);

  it("deleted rows skip their shape, and later ones keep their numbers", async () => {
    const path = writeShapefile(scratch, "deleted", { ...points, dbf: dbf(fields, [" a", "*b", " c"]) });
    const context = new RecordingContext();
    await using dataset = await openAt(path, {}, context);
    for await (const split of dataset.layers[0]!.splits!()) {
      for await (const batch of dataset.layers[0]!.batches(split)) {
        if (Array.isArray(batch)) throw new Error("columns were expected");
        expect([...batch.features()].map((feature) => [feature.properties.A, feature.geometry])).toEqual([
          ["a", { type: "Point", coordinates: [1, 1] }],
          ["c", { type: "Point", coordinates: [3, 3] }],
        ]);
        expect([batch.recordAt(0), batch.recordAt(1)]).toEqual([1, 3]);
      }
    }
    expect(context.records).toBe(3);
    expect(context.notices).toMatchObject([{ code: "records-deleted", count: 1 }]);
  });

  it("deleted rows are read on request", async () => {
    const path = writeShapefile(scratch, "undeleted", { ...points, dbf: dbf(fields, [" a", "*b", " c"]) });
    expect((await readFeatures(path, { deleted: true })).map((feature) => feature.properties.A)).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("row numbers are written to a field on request", async () => {
    const path = writeShapefile(scratch, "fid", { ...points, dbf: dbf(fields, [" a", "*b", " c"]) });
    expect((await readFeatures(path, { fid: "fid" })).map((feature) => feature.properties)).toEqual([
      { A: "a", fid: 0 },
      { A: "c", fid: 2 },
    ]);
  });

  it("missing rows leave the attributes of shapes null, with a notice", async () => {
    const context = new RecordingContext();
    const path = writeShapefile(scratch, "fewer", { ...points, dbf: dbf(fields, [" a"]) });
    const features = await readFeatures(path, {}, context);
    expect(features.map((feature) => feature.properties.A)).toEqual(["a", null, null]);
    expect(features.every((feature) => feature.geometry)).toBe(true);
    expect(context.notices).toMatchObject([{ code: "shapes-without-row", count: 2 }]);
  });

  it("rows without shapes have no geometry, with a notice", async () => {
    const context = new RecordingContext();
    const path = writeShapefile(scratch, "more", {
      ...shapefile([nullShape, point(2, 2)]),
      dbf: dbf(fields, [" a", " b", " c", " d"]),
    });
    const features = await readFeatures(path, {}, context);
    expect(features.map((feature) => feature.properties.A)).toEqual(["a", "b", "c", "d"]);
    expect(features.map((feature) => feature.geometry === null)).toEqual([true, false, true, true]);
    expect(context.notices).toMatchObject([{ code: "rows-without-shape", count: 2 }]);
  });

  it("rows of a table alone have no geometry; those of a .dbf beside a .shp do", async () => {
    const alone = writeShapefile(scratch, "alone", { dbf: dbf(fields, [" a"]) });
    await using dataset = await openAt(alone);
    expect(dataset.layers[0]).toMatchObject({ name: "alone", geometryTypes: [], featureCount: 1, extent: null });
    expect(await readFeatures(alone)).toEqual([{ type: "Feature", geometry: null, properties: { A: "a" } }]);
    const beside = writeShapefile(scratch, "beside", { dbf: dbf(fields, [" a", " b", " c"]), ...points });
    expect((await readFeatures(beside))[2]).toEqual({
      type: "Feature",
      geometry: { type: "Point", coordinates: [3, 3] },
      properties: { A: "c" },
    });
  });
});

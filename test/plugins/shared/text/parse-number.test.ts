import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseNumber } from "../../../../plugins/shared/text/parse-number.js";
import { TextBuffer } from "../../../../plugins/shared/text/text-buffer.js";

const parse = (text: string) => {
  const bytes = Buffer.from(`;${text};`, "latin1");
  const value = parseNumber(bytes, 1, bytes.length - 1);
  // Where there is room behind it, more bytes than its own are looked at: others must not count.
  for (const behind of ["1234567890123456", ".5;;;;;;;;;;;;;;", ";;;;;;;;;;;;;;;;", "\0\xb0:/;;;;;;;;;;;;"]) {
    const more = Buffer.from(`;${text}${behind}`, "latin1");
    expect(parseNumber(more, 1, bytes.length - 1)).toBe(value);
  }
  return value;
};
const written = (write: (buffer: TextBuffer) => void) => {
  const buffer = new TextBuffer(4);
  write(buffer);
  return Buffer.from(buffer.finish()).toString("utf8");
};

/** Decimal text of every length that the parser treats apart. */
const decimalText = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.stringMatching(/^[0-9]{0,12}$/),
    fc.stringMatching(/^[0-9]{0,20}$/),
    fc.option(fc.integer({ min: -330, max: 320 }), { nil: undefined, freq: 3 }),
  )
  .filter(([, whole, decimals]) => whole + decimals !== "")
  .map(([sign, whole, decimals, e]) => `${sign}${whole}.${decimals}${e === undefined ? "" : `e${e}`}`);

describe("parseNumber", () => {
  test.each([
    ["0", 0],
    ["-0", -0],
    ["007", 7],
    ["+5", 5],
    [".5", 0.5],
    ["5.", 5],
    ["1e5", 100000],
    ["1E-7", 1e-7],
    ["9007199254740993", 9007199254740992],
    ["1e400", Number.POSITIVE_INFINITY],
    ["-122.41941550000001", -122.41941550000001],
    // A tie of two doubles, and its neighbours (9007199254740993 lies exactly between two).
    ["9007199254740993.0", 9007199254740992],
    ["9007199254740993.1", 9007199254740994],
    ["4503599627370496.5", 4503599627370496],
    ["4503599627370497.5", 4503599627370498],
    ["4503599627370496.501", 4503599627370497],
  ])('parses "%s"', (text, value) => expect(parse(text)).toBe(value));

  test.each([
    "",
    "-",
    "+",
    ".",
    "e5",
    "1e",
    "1e+",
    "1.2.3",
    "1,5",
    " 5",
    "5 ",
    "0x10",
    "1_000",
    "Infinity",
    "NaN",
    "--1",
  ])("%j is no number", (text) => expect(parse(text)).toBeNaN());

  test("parses any number of digits to the same double as Number()", () => {
    fc.assert(
      fc.property(decimalText, (text) => {
        expect(parse(text)).toBe(Number(text));
      }),
      { numRuns: 20_000 },
    );
  });

  test("reads back every double that String() writes", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parse(String(value))).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: 10_000 },
    );
  });

  test("reads back longitudes of 16 and 17 digits", () => {
    fc.assert(
      fc.property(fc.double({ min: -180, max: 180, noNaN: true }), (value) => {
        expect(parse(value.toPrecision(17))).toBe(value === 0 ? Number(value.toPrecision(17)) : value);
        expect(parse(value.toPrecision(16))).toBe(Number(value.toPrecision(16)));
      }),
      { numRuns: 20_000 },
    );
  });
});

describe("TextBuffer", () => {
  test("writes the shortest text of any double", () => {
    const doubles = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.tuple(fc.integer(), fc.integer({ min: 0, max: 15 })).map(([n, d]) => n / 10 ** d),
      fc.maxSafeInteger(),
    );
    fc.assert(
      fc.property(doubles, (value) => {
        expect(written((b) => b.number(value))).toBe(String(value));
      }),
      { numRuns: 30_000 },
    );
  });

  test.each([
    [1e21, "1e+21"],
    [0.000001, "0.000001"],
    [1e-7, "1e-7"],
    [-0, "0"],
    [999999999999999.9, "999999999999999.9"],
    [0.1 + 0.2, "0.30000000000000004"],
    [100000000, "100000000"],
  ])("number(%d)", (value, text) => expect(written((b) => b.number(value))).toBe(text));

  test("fixed rounds as toFixed does, and writes the shortest text of a double with no more decimals", () => {
    const doubles = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e22, max: 1e22 }),
      fc.double({ min: -180, max: 180, noNaN: true }),
      // Halves, true and apparent: 1.005 is below the middle, 0.125 in it.
      fc
        .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 0, max: 9 }))
        .map(([n, d]) => (n * 10 + 5) / 10 ** d),
      fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1024),
    );
    fc.assert(
      fc.property(doubles, fc.integer({ min: 0, max: 17 }), (value, decimals) => {
        const text = Math.abs(value) < 1e21 ? value.toFixed(decimals) : BigInt(value).toString();
        const short = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
        const exact = String(value);
        const isShorter = !exact.includes("e") && (exact.split(".")[1]?.length ?? 0) <= decimals;
        const accepted = [short === "-0" ? "0" : short, ...(isShorter ? [exact] : [])];
        expect(accepted).toContain(written((b) => b.fixed(value, decimals)));
      }),
      { numRuns: 30_000 },
    );
  });

  test.each([
    [-0.00000001, 7, "0"],
    [1.005, 2, "1"],
    [0.125, 2, "0.13"],
    [-0.125, 2, "-0.13"],
    [12.5, 0, "13"],
    [1e22, 3, "10000000000000000000000"],
    [59.9999999999, 7, "60"],
    [100, 7, "100"],
    [999.99999996, 7, "1000"],
    [-0.9999999996, 9, "-1"],
    [2147483647.9999995, 6, "2147483648"],
    [1234567.00100002, 8, "1234567.00100002"],
    // The nearest double is 47.10000000000000142…
    [47.1, 15, "47.1"],
  ])("fixed(%d, %d)", (value, decimals, text) => expect(written((b) => b.fixed(value, decimals))).toBe(text));

  test("fixed writes nothing for what is no number", () => {
    for (const decimals of [0, 7, 12, 17])
      expect(() => written((b) => b.fixed(Number.NaN, decimals))).toThrow(RangeError);
  });

  test("writes integers, text and bytes one after the other, and starts again", () => {
    const buffer = new TextBuffer(1);
    buffer.int(-9007199254740991);
    buffer.byte(0x2c);
    buffer.utf8("Zürich €");
    buffer.ascii(",");
    buffer.bytes(Buffer.from("0123456789".repeat(5)), 3, 43);
    const bytes = buffer.finish();
    expect(Buffer.from(bytes).toString()).toBe(`-9007199254740991,Zürich €,${"0123456789".repeat(5).slice(3, 43)}`);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
    buffer.int(0);
    expect(Buffer.from(buffer.finish()).toString()).toBe("0");
  });
});

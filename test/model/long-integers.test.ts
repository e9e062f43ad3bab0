import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExactly, parseWithBigints } from "../../src/model/exact-json.js";
import { replaceLongIntegers } from "../../src/model/long-integers.js";

const marked = (json: string) => replaceLongIntegers(json, 16, (integer) => `<${integer}>`);

test.each([
  ["1234567890123456", "<1234567890123456>"],
  ["[-12345678901234567,1]", "[<-12345678901234567>,1]"],
  ['{"a":1234567890123456789,"b":"1234567890123456789"}', '{"a":<1234567890123456789>,"b":"1234567890123456789"}'],
  ['{"a\\"":"\\\\","b": 1234567890123456 }', '{"a\\"":"\\\\","b": <1234567890123456> }'],
  ['"\\"1234567890123456"', '"\\"1234567890123456"'],
  ["1234567890123456.5", "1234567890123456.5"],
  ["1234567890123456e3", "1234567890123456e3"],
  ["0.1234567890123456", "0.1234567890123456"],
  ["1e1234567890123456", "1e1234567890123456"],
  ["1e-1234567890123456", "1e-1234567890123456"],
  ["123456789012345", "123456789012345"],
  ['"open 1234567890123456', '"open 1234567890123456'],
])("%s", (json, expected) => {
  expect(marked(json)).toBe(expected);
});

test("texts and runs of digits of many megabytes do not exhaust the stack", () => {
  const long = 20_000_000;
  for (const text of ["x", "\\n", "7", " "])
    expect(marked(`{"a":"${text.repeat(long)}","b":1234567890123456}`)).toHaveLength(long * text.length + 31);
  expect(marked("7".repeat(long))).toHaveLength(long + 2);
});

test("integers of random JSON keep their digits", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
      fc.stringMatching(/^\d{10,25}$/),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  const write = (one: unknown): string => {
    if (typeof one === "bigint") return String(one);
    if (Array.isArray(one)) return `[${one.map(write).join(", ")}]`;
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    return `{${Object.entries(one).map(([name, each]) => `${JSON.stringify(name)} :${write(each)}`)}}`;
  };
  const expected = (one: unknown, asText: boolean): unknown => {
    if (typeof one === "bigint") {
      if (Number.isSafeInteger(Number(one))) return Number(one);
      return asText ? String(one) : one;
    }
    if (Array.isArray(one)) return one.map((each) => expected(each, asText));
    if (typeof one !== "object" || one === null) return JSON.parse(JSON.stringify(one));
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, expected(each, asText)]));
  };
  fc.assert(
    fc.property(value, (one) => {
      const json = write(one);
      // A double from 10^16 to 10^21 is written without an exponent, as an integer.
      fc.pre(
        !/(?<![\d.eE+-])-?\d{16,21}(?![\d.eE])/.test(
          JSON.stringify(expected(one, true)).replace(/"(?:[^"\\]|\\.)*"/g, ""),
        ),
      );
      expect(parseExactly(json)).toEqual(expected(one, true));
      expect(parseWithBigints(json)).toEqual(expected(one, false));
    }),
    { numRuns: 500 },
  );
});

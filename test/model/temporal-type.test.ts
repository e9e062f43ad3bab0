import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporalType } from "../../src/model/layer-summary.js";
import { temporalTypeAt } from "../../src/model/temporal-type.js";

/** The type of a text that stands between other bytes. */
function typeAmongBytes(text: string): string | null {
  const inner = Buffer.from(text, "latin1");
  const bytes = Buffer.concat([Buffer.from("19:"), inner, Buffer.from("5Z")]);
  return temporalTypeAt(bytes, 3, 3 + inner.length);
}

const digits = (least: number, most: number) =>
  fc.array(fc.constantFrom(..."0123456789"), { minLength: least, maxLength: most }).map((list) => list.join(""));
const upTo = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
const date = fc.tuple(digits(4, 4), upTo(14), upTo(33)).map((parts) => parts.join("-"));
const fraction = fc.option(digits(0, 4), { nil: null }).map((part) => (part === null ? "" : `.${part}`));
const time = fc.tuple(upTo(25), upTo(61), upTo(61), fraction).map(([h, m, s, f]) => `${h}:${m}:${s}${f}`);
const zone = fc.oneof(
  fc.constantFrom("", "Z", "z", "+01", "+0100"),
  fc.tuple(fc.constantFrom("+", "-"), upTo(25), upTo(61)).map(([sign, h, m]) => `${sign}${h}:${m}`),
);
const separator = fc.constantFrom("T", "t", " ", "");
const text = fc.oneof(
  date,
  time,
  fc.tuple(date, separator, time, zone).map((parts) => parts.join("")),
);
/** Nearly one: a character changed, left out or put in. */
const nearly = fc
  .tuple(text, fc.nat({ max: 30 }), fc.constantFrom("", "-", ":", ".", "T", "Z", "0", "9", "/", " ", "é"), fc.nat(1))
  .map(([whole, at, other, gone]) => whole.slice(0, at) + other + whole.slice(at + gone));

test("bytes have the same temporal type as their text", () => {
  fc.assert(
    fc.property(fc.oneof(text, nearly, fc.string({ maxLength: 24 })), (sample) => {
      const latin = Buffer.from(sample, "latin1").toString("latin1");
      expect(typeAmongBytes(latin)).toBe(temporalType(latin));
    }),
    { numRuns: 5000 },
  );
});

describe("canonical forms (ISO 8601)", () => {
  test.each([
    ["2024-02-29", "date"],
    ["2023-02-30", null],
    ["2023-06-31", null],
    ["2023-02-29T12:00:00Z", null],
    ["2024-2-29", null],
    ["2024-13-01", null],
    ["2024-00-01", null],
    ["2024/02/29", null],
    ["23:59:59", "time"],
    ["23:59:60", null],
    ["23:59:59.", null],
    ["23:59:59.25", "time"],
    ["23:59:59Z", null],
    ["2024-02-29T23:59:59", "datetime"],
    ["2024-02-29T23:59:59.5Z", "datetime"],
    ["2024-02-29T23:59:59+05:30", "datetime"],
    ["2024-02-29T23:59:59+24:00", null],
    ["2024-02-29 23:59:59", null],
    ["2024-02-29T23:59", null],
    ["", null],
  ])("the canonical form of %s is %s", (sample, type) => expect(typeAmongBytes(sample)).toBe(type));
});

test("a date is valid if the calendar has it", () => {
  for (const year of [1600, 1900, 2000, 2023, 2024]) {
    for (let month = 1; month <= 12; month++) {
      for (let day = 1; day <= 31; day++) {
        const given = [year, String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
        const real = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
        expect(typeAmongBytes(given)).toBe(real ? "date" : null);
      }
    }
  }
});

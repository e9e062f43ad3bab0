import { expect, it } from "vitest";
import { CoordinateParser, PositionBuffer } from "../../../../plugins/kml/read/coordinates.js";

/** Parses a text. @returns the numbers of the positions, three each */
function read(text: string): number[] {
  const positions = new PositionBuffer();
  const repairs = { surplus: 0, separatorRepairs: 0 };
  const bytes = Buffer.from(text);
  expect(new CoordinateParser(positions, repairs).parse(bytes, 0, bytes.length)).toBeNull();
  const { xy, count } = positions;
  return Array.from({ length: count }, (_, k) => [xy[2 * k]!, xy[2 * k + 1]!, positions.heightOf(k)]).flat();
}

it.each([
  "-54.3840613",
  "0.1",
  "-0.000000123456789",
  "-0",
  "007.50",
  "5.",
  ".5",
  "+12.25",
  "1e2",
  "123.456789012345",
  "0.000000001234567",
  "999999999.123456",
  "1234567890.5",
  "-2147483648.25",
  "0.999999999999999",
  "12.3456789012345678901",
])("the coordinate %s is the double that JavaScript reads", (text) => {
  const value = Number(text);
  expect(read(`${text},1`)).toEqual([value, 1, Number.NaN]);
  expect(read(`1,${text} 2,3`)).toEqual([1, value, Number.NaN, 2, 3, Number.NaN]);
  expect(read(`1,2,${text}\n3,4,5`)).toEqual([1, 2, value, 3, 4, 5]);
});

it("blanks among commas that may replace a missing number are reported", () => {
  const positions = new PositionBuffer();
  const repairs = { surplus: 0, separatorRepairs: 0 };
  for (const [text, separatorRepairs] of [
    ["1,2 ,4 5,6", 1],
    ["1 , 2 , 3", 1],
    ["1, 2, 3", 0],
    ["1, 2,3 4,5", 1],
    ["1,2, 3 4,5", 1],
    ["1,2 3,4\n5,6", 0],
  ] as const) {
    repairs.separatorRepairs = 0;
    expect(new CoordinateParser(positions, repairs).parse(Buffer.from(text), 0, text.length)).toBeNull();
    expect(repairs.separatorRepairs, text).toBe(separatorRepairs);
  }
});

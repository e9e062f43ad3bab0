import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCount, groupDigits } from "../src/format-count.js";

test.each([
  [0, "0"],
  [7, "7"],
  [100, "100"],
  [999, "999"],
  [1000, "1,000"],
  [12_345, "12,345"],
  [100_000, "100,000"],
  [1_000_000, "1,000,000"],
  [Number.MAX_SAFE_INTEGER, "9,007,199,254,740,991"],
  [-1, "-1"],
  [-100, "-100"],
  [-1000, "-1,000"],
  [-123_456, "-123,456"],
  [Number.MIN_SAFE_INTEGER, "-9,007,199,254,740,991"],
])("the count %d is formatted as %s", (count, text) => {
  expect(groupDigits(count)).toBe(text);
});

test("digits are grouped as in the English locale", () => {
  const counts = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.integer({ min: -100_000, max: 100_000 }));
  fc.assert(fc.property(counts, (count) => groupDigits(count) === count.toLocaleString("en")));
});

test.each([
  [0, "0 features"],
  [1, "1 feature"],
  [2, "2 features"],
  [1234, "1,234 features"],
])("%d features are counted as %s", (count, text) => {
  expect(formatCount(count, "feature")).toBe(text);
});

test("an irregular plural is given explicitly", () => {
  expect(formatCount(1, "stretch", "stretches")).toBe("1 stretch");
  expect(formatCount(1001, "stretch", "stretches")).toBe("1,001 stretches");
});

import { expect, it } from "vitest";
import { BatchSizer } from "../../../../src/service/store/sqlite/batch-sizer.js";

const after = (most: number, ...times: readonly number[]): number => {
  const step = new BatchSizer(most);
  for (const time of times) step.record(time);
  return step.features;
};

it("reads fewer features after a slow batch", () => {
  expect(after(100_000, 75, 75, 300)).toBe(16_000);
  expect(after(100_000, 75, 75, 200)).toBe(24_000);
});

it("reads more features after a fast batch", () => {
  expect(after(100_000, 100)).toBe(12_000);
});

it("changes gradually", () => {
  expect(after(100_000, 0)).toBe(16_000);
  expect(after(100_000, 0, 0, 60_000)).toBe(16_000);
});

it("stays within its bounds", () => {
  expect(after(100_000, ...new Array<number>(50).fill(60_000))).toBe(8000);
  expect(after(100_000, ...new Array<number>(50).fill(1))).toBe(100_000);
  expect(after(10, 60_000, 60_000, 1)).toBe(10);
});

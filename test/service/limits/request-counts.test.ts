import { afterEach, expect, test, vi } from "vitest";
import { RequestCounts } from "../../../src/service/limits/request-counts.js";

afterEach(() => vi.restoreAllMocks());

function count(counts: RequestCounts, key: string): { current: number; ttl: number } {
  let found: { current: number; ttl: number } | undefined;
  counts.incr(key, (_, result) => (found = result), 60_000);
  return found!;
}

test("a window of a minute ends after a minute, even if the clock is set back by ten hours", () => {
  let elapsed = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => elapsed);
  vi.spyOn(Date, "now").mockReturnValue(0);
  const counts = new RequestCounts();
  expect([count(counts, "ada"), count(counts, "ada"), count(counts, "bob")]).toEqual([
    { current: 1, ttl: 60_000 },
    { current: 2, ttl: 60_000 },
    { current: 1, ttl: 60_000 },
  ]);
  vi.spyOn(Date, "now").mockReturnValue(-36_000_000);
  elapsed += 59_000;
  expect(count(counts, "ada")).toEqual({ current: 3, ttl: 1000 });
  elapsed += 1000;
  expect(count(counts, "ada")).toEqual({ current: 1, ttl: 60_000 });
});

test("only a limited number of keys is kept", () => {
  const counts = new RequestCounts();
  for (let i = 0; i < 5001; i++) count(counts, `client ${i}`);
  expect([count(counts, "client 5000").current, count(counts, "client 0").current]).toEqual([2, 1]);
});

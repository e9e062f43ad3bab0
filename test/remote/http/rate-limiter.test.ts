/** Parses rate-limit headers; the examples are from the defining documents. */
import { describe, expect, test } from "vitest";
import { backoffMs, parseRateLimitReset, parseRetryAfter } from "../../../src/remote/http/rate-limiter.js";

describe("Retry-After", () => {
  // 1999-12-31T23:59:00Z
  const now = 946_684_740_000;

  test.each<[string, Record<string, string>, number | null]>([
    ["seconds (RFC 9110, 10.2.3)", { "retry-after": "120" }, 120_000],
    ["a date (RFC 9110, 10.2.3)", { "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT" }, 59_000],
    [
      "a date by the clock of the service",
      { "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", date: "Fri, 31 Dec 1999 23:59:57 GMT" },
      2000,
    ],
    ["a date that is over", { "retry-after": "Fri, 31 Dec 1999 23:58:59 GMT" }, 0],
    ["neither", { "retry-after": "soon" }, null],
    ["nothing", {}, null],
  ])("the rate limiter parses Retry-After: %s", (_name, headers, expected) => {
    expect(parseRetryAfter(headers, now)).toBe(expected);
  });
});

describe("RateLimit", () => {
  test.each<[string, Record<string, string>, number | null]>([
    ["draft 10: some", { ratelimit: '"default";r=50;t=30' }, null],
    ["draft 10: none", { ratelimit: '"default";r=0;t=30' }, 30_000],
    ["draft 10: several policies", { ratelimit: '"burst";r=0;t=5, "daily";r=0;t=60,"hour";r=9;t=600' }, 60_000],
    ["draft 07: some", { ratelimit: "limit=100, remaining=50, reset=50" }, null],
    ["draft 07: none", { ratelimit: "limit=100, remaining=0, reset=50" }, 50_000],
    ["draft 03: none", { "ratelimit-limit": "100", "ratelimit-remaining": "0", "ratelimit-reset": "50" }, 50_000],
    ["draft 03: some", { "ratelimit-remaining": "1", "ratelimit-reset": "50" }, null],
    ["nothing", {}, null],
    ["something else", { ratelimit: "yes" }, null],
  ])("the rate limiter parses RateLimit headers, %s", (_name, headers, expected) => {
    expect(parseRateLimitReset(headers)).toBe(expected);
  });
});

test("backoff is random below a bound that doubles, up to 60 times the first", () => {
  for (const [attempt, bound] of [
    [1, 500],
    [2, 1000],
    [5, 8000],
    [50, 30_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => backoffMs(attempt, 500));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(bound);
    // The chance that all 200 are below half is 1 in 2^200.
    expect(Math.max(...waits)).toBeGreaterThan(bound / 2);
  }
});

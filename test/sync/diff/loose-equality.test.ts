import { describe, expect, it } from "vitest";
import { haveEqualProperties, isSameValue, normalizeLoosely } from "../../../src/sync/diff/loose-equality.js";

describe("a value that a service may have stored for another", () => {
  it.each([
    [1, "1"],
    [0, "0.0"],
    [1.25, "1.250"],
    ["1e3", 1000],
    [" a ", "a"],
    [null, ""],
    ["Zu\u0308rich", "Zürich"],
    [true, "true"],
    [
      { b: 1, a: 2 },
      { a: 2, b: 1 },
    ],
  ])("%j is that for %j", (one, other) => {
    expect([isSameValue(one, other), isSameValue(other, one)]).toEqual([true, true]);
    expect(normalizeLoosely({ v: one })).toBe(normalizeLoosely({ v: other }));
  });

  it.each([
    [7, "007"],
    ["1.0", "1"],
    [1, "1 m"],
    [0, ""],
    [0, null],
    [1, true],
    ["0x10", 16],
  ])("%j is not that for %j", (one, other) => {
    expect([isSameValue(one, other), isSameValue(other, one)]).toEqual([false, false]);
  });

  it("in properties, null is as absent", () => {
    expect(haveEqualProperties({ a: 1, b: null }, { a: "1" })).toBe(true);
    expect(haveEqualProperties({ a: 1 }, { a: 1, b: 0 })).toBe(false);
    expect(haveEqualProperties({ toString: 1 }, {})).toBe(false);
  });
});

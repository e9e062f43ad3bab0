import { expect, test } from "vitest";
import { nilId } from "../../../src/remote/wire.js";
import { combinedReason, coverAllFeatures, matchFailures } from "../../../src/sync/apply/match-failures.js";

const failed = (...paths: readonly string[]) => paths.map((path) => ({ id: nilId, path, message: `wrong: ${path}` }));
const missed = (...places: readonly number[]) => places.map((index) => ({ index, id: null }));
const told = (...given: Parameters<typeof matchFailures>) =>
  Object.fromEntries([...matchFailures(...given)].map(([place, { path }]) => [place, path]));

test("failures counted from 0, and from 1, are given to the features that are missing", () => {
  expect(told(failed("features[2].geometry", "features[7]"), missed(2, 7))).toEqual({
    2: "features[2].geometry",
    7: "features[7]",
  });
  expect(told(failed("/features/3/properties", "/features/8"), missed(2, 7))).toEqual({
    2: "/features/3/properties",
    7: "/features/8",
  });
});

test("what both countings allow is given to nobody", () => {
  // From 0: 1, 2, 3 failed; from 1: 0, 1, 2 did. The map lacks 1 and 2.
  expect(told(failed("features[1]", "features[2]", "features[3]"), missed(1, 2))).toEqual({});
});

test("unless both say the same of it", () => {
  const same = failed("features[1]", "features[2]", "features[3]").map((one) => ({ ...one, message: "too long" }));
  expect([...matchFailures(same, missed(1, 2)).values()].map(({ message }) => message)).toEqual([
    "too long",
    "too long",
  ]);
});

test("one failure of one feature needs no path", () => {
  expect(told(failed("geometry.coordinates"), missed(4))).toEqual({ 4: "geometry.coordinates" });
});

test("ids that were sent are taken at their word", () => {
  const ids = [
    { index: 0, id: "a" },
    { index: 5, id: "b" },
  ];
  const byId = [
    { id: "b", path: "", message: "B" },
    { id: "a", path: "", message: "A" },
  ];
  expect([...matchFailures(byId, ids)].map(([place, { message }]) => [place, message])).toEqual([
    [0, "A"],
    [5, "B"],
  ]);
});

test("failures name every feature only where they name as many different ones, one after the other", () => {
  expect(coverAllFeatures(failed("features[0]", "features[1]"), 2)).toBe(true);
  expect(coverAllFeatures(failed("features[1]", "features[2]"), 2)).toBe(true);
  expect(coverAllFeatures(failed("features[0]", "features[2]"), 2)).toBe(false);
  expect(coverAllFeatures(failed("features[1]"), 2)).toBe(false);
  expect(coverAllFeatures(failed("geometry", "features[1]"), 2)).toBe(false);
});

test("reasons that are nobody's are told together, each once", () => {
  const messages = ["a", "b", "a", "c", "d"].map((message) => ({ id: nilId, path: "", message }));
  expect(combinedReason(messages)).toBe("one of: a | b | c (and 1 other reasons)");
});

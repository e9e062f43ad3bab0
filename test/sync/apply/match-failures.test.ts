import { expect, test } from "vitest";
import { nilId } from "../../../src/remote/wire.js";
import { combinedReason, coverAllFeatures, matchFailures } from "../../../src/sync/apply/match-failures.js";

const failed = (...paths: readonly string[]) => paths.map((path) => ({ id: nilId, path, message: `wrong: ${path}` }));
const missed = (...places: readonly number[]) => places.map((index) => ({ index, id: null }));
const match = (...given: Parameters<typeof matchFailures>) =>
  Object.fromEntries([...matchFailures(...given)].map(([place, { path }]) => [place, path]));

test("matches failures counted from 0 or from 1 to the missing features", () => {
  expect(match(failed("features[2].geometry", "features[7]"), missed(2, 7))).toEqual({
    2: "features[2].geometry",
    7: "features[7]",
  });
  expect(match(failed("/features/3/properties", "/features/8"), missed(2, 7))).toEqual({
    2: "/features/3/properties",
    7: "/features/8",
  });
});

test("matchFailures does not match a failure if both countings are possible", () => {
  // Counted from 0: 1, 2, 3 failed; from 1: 0, 1, 2. The map lacks 1 and 2.
  expect(match(failed("features[1]", "features[2]", "features[3]"), missed(1, 2))).toEqual({});
});

test("matches an ambiguous failure if both countings give the same message", () => {
  const same = failed("features[1]", "features[2]", "features[3]").map((one) => ({ ...one, message: "too long" }));
  expect([...matchFailures(same, missed(1, 2)).values()].map(({ message }) => message)).toEqual([
    "too long",
    "too long",
  ]);
});

test("matches one failure of one feature without a path", () => {
  expect(match(failed("geometry.coordinates"), missed(4))).toEqual({ 4: "geometry.coordinates" });
});

test("matches failures by the ids that were sent", () => {
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

test("failures cover all features only if they name that many distinct consecutive ones", () => {
  expect(coverAllFeatures(failed("features[0]", "features[1]"), 2)).toBe(true);
  expect(coverAllFeatures(failed("features[1]", "features[2]"), 2)).toBe(true);
  expect(coverAllFeatures(failed("features[0]", "features[2]"), 2)).toBe(false);
  expect(coverAllFeatures(failed("features[1]"), 2)).toBe(false);
  expect(coverAllFeatures(failed("geometry", "features[1]"), 2)).toBe(false);
});

test("matchFailures combines unmatched reasons, each once", () => {
  const messages = ["a", "b", "a", "c", "d"].map((message) => ({ id: nilId, path: "", message }));
  expect(combinedReason(messages)).toBe("one of: a | b | c (and 1 other reasons)");
});

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { WrittenFeature } from "../../../src/service/store/contract.js";
import { parseOutcome, serializeOutcome } from "../../../src/service/store/stored-outcome.js";

const outcome = (success: readonly WrittenFeature[]) =>
  ({
    kind: "done",
    success,
    failed: [],
    deleted: 0,
    revision: 7,
    version: "7-0123456789abcdef",
    replayed: false,
  }) as const;
const created = (count: number): WrittenFeature[] =>
  Array.from({ length: count }, (_, index) => ({ index, id: randomUUID(), what: "created" }));
const wrong = { index: 1, id: randomUUID(), path: "geometry", message: "None." };

test.each<[string, Parameters<typeof serializeOutcome>[0]]>([
  ["a thousand creations", outcome(created(1000))],
  ["a single creation", outcome(created(1))],
  ["an empty write", outcome([])],
  ["failures between successes", { ...outcome(created(3).filter(({ index }) => index !== 1)), failed: [wrong] }],
  ["failures at the end", { ...outcome(created(1)), failed: [wrong] }],
  ["creations and updates", outcome([...created(1), { index: 1, id: randomUUID(), what: "updated" }])],
  ["an id that is not a UUID", outcome([{ index: 0, id: "7", what: "updated" }])],
])("the outcome of %s is stored unchanged", (_name, kept) => {
  expect(parseOutcome(serializeOutcome(kept))).toEqual(kept);
});

test("an outcome stored by an earlier version is read", () => {
  const kept = outcome(created(2));
  expect(parseOutcome(JSON.stringify(kept))).toEqual(kept);
});

test("a thousand ids take only their bytes in base64", () => {
  expect(serializeOutcome(outcome(created(1000))).length).toBeLessThan((16_000 * 4) / 3 + 200);
});

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Written } from "../../../src/service/store/contract.js";
import { keptText, outcomeIn } from "../../../src/service/store/kept-outcome.js";

const outcome = (success: readonly Written[]) =>
  ({
    kind: "done",
    success,
    failed: [],
    deleted: 0,
    revision: 7,
    version: "7-0123456789abcdef",
    replayed: false,
  }) as const;
const created = (count: number): Written[] =>
  Array.from({ length: count }, (_, index) => ({ index, id: randomUUID(), what: "created" }));
const wrong = { index: 1, id: randomUUID(), path: "geometry", message: "None." };

test.each<[string, Parameters<typeof keptText>[0]]>([
  ["a thousand creations", outcome(created(1000))],
  ["one", outcome(created(1))],
  ["nothing", outcome([])],
  ["some that failed between others", { ...outcome(created(3).filter(({ index }) => index !== 1)), failed: [wrong] }],
  ["some that failed at the end", { ...outcome(created(1)), failed: [wrong] }],
  ["creations and updates", outcome([...created(1), { index: 1, id: randomUUID(), what: "updated" }])],
  ["an id that is no UUID", outcome([{ index: 0, id: "7", what: "updated" }])],
])("the outcome of %s is kept as it is", (_name, kept) => {
  expect(outcomeIn(keptText(kept))).toEqual(kept);
});

test("an outcome that was kept by an earlier version is read", () => {
  const kept = outcome(created(2));
  expect(outcomeIn(JSON.stringify(kept))).toEqual(kept);
});

test("a thousand ids take no more than their bytes in base64", () => {
  expect(keptText(outcome(created(1000))).length).toBeLessThan((16_000 * 4) / 3 + 200);
});

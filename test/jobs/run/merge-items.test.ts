import { expect, test } from "vitest";
import { emptyFindingLists } from "../../../src/jobs/report/run-report.js";
import { mergeItems } from "../../../src/jobs/run/run-step.js";

const item = { source: "a.csv", target: "map:1", error: null, ...emptyFindingLists };
const first = { path: "/backups/a.geojson", created: 3 };
const second = { path: "/backups/a-2.geojson", created: 2 };

test("merged items list the backups of all attempts, oldest first", () => {
  const failed = {
    ...item,
    result: "failed",
    counts: { created: 3, updated: 1, deleted: 0 },
    backups: [first],
  } as const;
  const done = { ...item, result: "done", counts: { created: 2, updated: 0, deleted: 0 }, backups: [second] } as const;
  const unchanged = { ...item, result: "unchanged", counts: { read: 5 } } as const;
  expect(mergeItems([failed], [done])).toEqual([
    { ...done, counts: { created: 5, updated: 1, deleted: 0 }, backups: [first, second] },
  ]);
  expect(mergeItems([failed], [unchanged])).toMatchObject([{ result: "done", backups: [first] }]);
});

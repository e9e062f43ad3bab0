import { expect, test } from "vitest";
import type { ApplyReport } from "../../src/sync/apply/apply-context.js";
import { AttemptHistory } from "../../src/sync/attempt-history.js";
import { countMapFeatures, type PlanCounts } from "../../src/sync/plan/plan.js";
import type { SyncResult } from "../../src/sync/sync-hooks.js";

test("features that an earlier attempt updated are counted once", async () => {
  const attempts = new AttemptHistory({ id: "m", url: "http://maps.example.org" });
  const report = { created: 0, updated: 50, deleted: 5, backup: null, hasWritten: true } as ApplyReport;
  await attempts.add({ snapshot: { etag: null } } as SyncResult["prepared"], report);
  // Of 100 features, 50 are updated and 5 are gone.
  const counts = attempts.addToCounts({
    ...{ create: 0, update: 0, delete: 15, same: 80, unmanaged: 0, protected: 0, onlyOnMap: 0 },
  } as PlanCounts);
  expect(counts).toMatchObject({ update: 50, delete: 20 });
  expect(countMapFeatures(counts)).toBe(100);
});

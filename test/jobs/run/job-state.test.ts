import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  emptyFindingLists,
  type ItemReport,
  type Result,
  type RunReport,
} from "../../../src/jobs/report/run-report.js";
import { JobState } from "../../../src/jobs/run/job-state.js";
import { mergeItems } from "../../../src/jobs/run/run-step.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-job-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const runOf = (began: string, result: Result): RunReport => ({
  job: "j",
  file: "/j.yaml",
  geoferry: "0",
  began,
  seconds: 1,
  dryRun: false,
  result,
  steps: [],
});

test("the last success is known after any number of failures, of which four hundred are kept", async () => {
  using state = await JobState.open(folder);
  state.keep(runOf("2025-01-01T00:00:00Z", "done"));
  state.keep(runOf("2025-01-02T00:00:00Z", "unchanged"));
  for (let n = 0; n < 405; n++) state.keep(runOf("2026-01-01T00:00:00Z", n % 2 ? "failed" : "rejects"));
  expect(state.lastSuccess()?.began).toBe("2025-01-02T00:00:00Z");
  expect(state.runs(1000)).toHaveLength(401);
});

test("none is known where there was none", async () => {
  using state = await JobState.open(folder);
  state.keep(runOf("2026-01-01T00:00:00Z", "failed"));
  expect(state.lastSuccess()).toBeNull();
});

test.each(["out/a.geojson", "s3://bucket/out/a.geojson"])(
  "of %s, once it is written, nothing is waited for any more",
  async (output) => {
    const readOutput = { settings: "s", sources: null, files: [] };
    using state = await JobState.open(folder);
    state.saveDispatched("step", [{ output, readOutput }]);
    state.savePendingCommit("step", output, readOutput);
    expect([state.readDispatched("step", output), state.readPendingCommit("step", output)]).toEqual([
      readOutput,
      readOutput,
    ]);
    state.saveOutput("step", output, readOutput);
    expect(state.readOutput("step", output)).toEqual(readOutput);
    expect([state.readDispatched("step", output), state.readPendingCommit("step", output)]).toEqual([null, null]);
  },
);

test("what a try changed on a map before it failed counts, whatever the next finds", () => {
  const item = (result: Result, counts: ItemReport["counts"]): ItemReport => ({
    source: "a",
    target: "map:m",
    result,
    counts,
    error: null,
    ...emptyFindingLists,
  });
  const failed = [item("failed", { created: 500, updated: 1, deleted: 0, rejected: 2 })];
  expect(mergeItems(failed, [item("done", { created: 7, updated: 0, deleted: 3, rejected: 2 })])).toEqual([
    item("done", { created: 507, updated: 1, deleted: 3, rejected: 2 }),
  ]);
  expect(mergeItems(failed, [item("unchanged", { rejected: 0 })])).toEqual([
    item("done", { created: 500, updated: 1, deleted: 0, rejected: 0 }),
  ]);
  expect(mergeItems([item("done", { written: 4 })], [item("unchanged", {})])).toEqual([item("done", { written: 4 })]);
});

test.skipIf(process.platform === "win32")(
  "only its user may read the database, and one of before gets that too",
  async () => {
    const path = join(folder, "job.db");
    const rights = () => statSync(path).mode & 0o777;
    (await JobState.open(folder))[Symbol.dispose]();
    expect(rights()).toBe(0o600);
    chmodSync(path, 0o644);
    (await JobState.open(folder))[Symbol.dispose]();
    expect(rights()).toBe(0o600);
  },
);

import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
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

const runOf = (startedAt: string, result: Result): RunReport => ({
  job: "j",
  file: "/j.yaml",
  geoferry: "0",
  startedAt,
  seconds: 1,
  dryRun: false,
  result,
  steps: [],
});

test("the state keeps 400 runs, and the latest success even if it is older", async () => {
  using state = await JobState.open(folder);
  state.saveReport(runOf("2025-01-01T00:00:00Z", "done"));
  state.saveReport(runOf("2025-01-02T00:00:00Z", "unchanged"));
  for (let n = 0; n < 405; n++) state.saveReport(runOf("2026-01-01T00:00:00Z", n % 2 ? "failed" : "rejects"));
  expect(state.lastSuccess()?.startedAt).toBe("2025-01-02T00:00:00Z");
  expect(state.runs(1000)).toHaveLength(401);
});

test("lastSuccess is null without a successful run", async () => {
  using state = await JobState.open(folder);
  state.saveReport(runOf("2026-01-01T00:00:00Z", "failed"));
  expect(state.lastSuccess()).toBeNull();
});

test.each(["out/a.geojson", "s3://bucket/out/a.geojson"])(
  "saving the output %s removes its pending commit and its dispatch",
  async (output) => {
    const record = { settings: "s", sources: null, files: [] };
    using state = await JobState.open(folder);
    state.saveDispatched("step", [{ output, record }]);
    state.savePendingCommit("step", output, record);
    expect([state.readDispatched("step", output), state.readPendingCommit("step", output)]).toEqual([record, record]);
    state.saveOutput("step", output, record);
    expect(state.readOutput("step", output)).toEqual(record);
    expect([state.readDispatched("step", output), state.readPendingCommit("step", output)]).toEqual([null, null]);
  },
);

test("counts of a failed attempt that changed a map are added to those of the next", () => {
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
  "job.db is readable by its owner only, also if it exists with other permissions",
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

test("a database of schema version 2 is migrated with its outputs and reports", async () => {
  {
    using database = Object.assign(new Sqlite(join(folder, "job.db")), {
      [Symbol.dispose](this: { close(): void }) {
        this.close();
      },
    });
    for (const table of ["written", "begun", "handed"])
      database.exec(`CREATE TABLE ${table} (step TEXT, output TEXT, value TEXT, PRIMARY KEY (step, output))`);
    database.exec("CREATE TABLE run (number INTEGER PRIMARY KEY, report TEXT NOT NULL); PRAGMA user_version = 2");
    const gap = { code: "gap", count: 1, example: 'a "gaps": b' };
    const findings = { counts: { read: 2 }, losses: [], notices: [], gaps: [gap] };
    const put = (table: string, output: string) =>
      database
        .prepare(`INSERT INTO ${table} VALUES ('step', ?, ?)`)
        .run(output, JSON.stringify({ settings: "s", sources: null, files: [], findings }));
    put("written", "/a");
    put("begun", "/b");
    put("handed", "/c");
    const step = { name: "s", result: "done", error: null, tries: 2, began: "2026-01-01T00:00:00Z", seconds: 1 };
    const lists = {
      counts: {},
      losses: [],
      notices: [],
      gaps: [gap],
      changes: [{ what: "gap", before: null, now: 1 }],
    };
    const run = { job: "j", file: "/j", geoferry: "0", began: "2026-01-01T00:00:00Z", seconds: 1, dryRun: false };
    const report = { ...run, result: "done", steps: [{ ...step, ...lists, items: [] }] };
    database.prepare("INSERT INTO run (report) VALUES (?)").run(JSON.stringify(report));
  }
  using state = await JobState.open(folder);
  const skippedRanges = [{ code: "skipped-range", count: 1, example: 'a "gaps": b' }];
  const findings = { counts: { read: 2 }, losses: [], notices: [], skippedRanges };
  expect([
    state.readOutput("step", "/a")?.findings,
    state.readPendingCommit("step", "/b")?.findings,
    state.readDispatched("step", "/c")?.findings,
  ]).toEqual([findings, findings, findings]);
  expect(state.lastSuccess()).toMatchObject({
    startedAt: "2026-01-01T00:00:00Z",
    steps: [{ attempts: 2, skippedRanges, regressions: [{ what: "skippedRange", before: null, now: 1 }] }],
  });
});

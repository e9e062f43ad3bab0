import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { publishReports } from "../../src/cli/output/publish-run.js";
import type { RunReport } from "../../src/jobs/report/run-report.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const report: RunReport = {
  job: "nightly",
  file: scratch.path("job.yaml"),
  geoferry: "0.1.0",
  startedAt: "2026-01-02T03:04:05.000Z",
  seconds: 1,
  dryRun: false,
  result: "done",
  steps: [],
};
// The state of a job is found by the real path of its file.
writeFileSync(report.file, "");
const publish = (kind: string, path: string) =>
  publishReports(report, 0, { [kind]: path }, scratch.path("state"), { job: report.file });

test("a run whose job file does not exist is reported without earlier runs", async () => {
  const paths = { html: scratch.path("missing.html"), metrics: scratch.path("missing.prom") };
  const file = scratch.path("missing.yaml");
  const failures = await publishReports({ ...report, file }, 3, paths, scratch.path("state"), { job: file });
  expect(failures).toEqual([]);
  expect(readFileSync(paths.metrics, "utf8")).toContain('geoferry_job_exit_status{job="nightly"} 3');
});

describe.each(["json", "html", "metrics"])("a report as %s", (kind) => {
  test.each([
    ["a job file", "name: nightly\nsteps: []\n"],
    ["GeoJSON", '{"type":"FeatureCollection","features":[]}'],
    ["a web page", "<!doctype html>\n<html><body>notes</body></html>\n"],
    ["metrics of another program", "# HELP node_load1 1m load average.\nnode_load1 0.2\n"],
    ["binary data", "\0\u0001"],
  ])("does not replace %s", async (_what, contents) => {
    const path = scratch.path(`${kind}-foreign`);
    writeFileSync(path, contents);
    const [failure] = await publish(kind, path);
    expect(failure).toMatchObject({ code: "report-failed", kind: "output" });
    expect(readFileSync(path, "utf8")).toBe(contents);
  });

  test("replaces the report of an earlier run, and an empty file", async () => {
    const path = scratch.path(`${kind}-own`);
    writeFileSync(path, "");
    expect(await publish(kind, path)).toEqual([]);
    const first = readFileSync(path, "utf8");
    expect(first).toContain("nightly");
    expect(await publish(kind, path)).toEqual([]);
  });

  test("does not replace a report of another kind", async () => {
    const path = scratch.path(`${kind}-other`);
    const other = kind === "json" ? "metrics" : "json";
    expect(await publish(other, path)).toEqual([]);
    expect(await publish(kind, path)).toMatchObject([{ code: "report-failed" }]);
  });
});

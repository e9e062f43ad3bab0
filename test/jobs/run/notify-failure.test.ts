import { existsSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import type { RunReport } from "../../../src/jobs/report/run-report.js";
import { notifyFailure } from "../../../src/jobs/run/notify-failure.js";
import { TemporaryFolder } from "../../../src/testing/index.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

test.skipIf(process.platform === "win32")("a command that ignores the request to end is killed", async () => {
  const file = scratch.path("pid");
  const command = `trap "" TERM; echo $$ > "${file}"; while :; do sleep 0.2; done`;
  const report = { job: "nightly", result: "failed" } as RunReport;
  const notified = notifyFailure({ command }, report, 8, "report.json", 3000);
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n")).toBe(true);
  expect(await notified).toEqual(["onFailure.command ended with SIGKILL"]);
  expect(() => process.kill(Number(readFileSync(file, "utf8")), 0)).toThrow("ESRCH");
});

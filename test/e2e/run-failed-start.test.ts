/** Runs that fail before their first step are reported through all known channels of the job. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { JobFixture, type JobRunResult, pointsCsv } from "../support/jobs/job-fixture.js";

const desk = new JobFixture();
const { at, put, serve } = desk;

/** Members of the job file that configure reports. The command runs in a shell. */
const channels = `onFailure: {command: 'echo "$GEOFERRY_JOB $GEOFERRY_STATUS $GEOFERRY_RESULT" >> calls; cp "$GEOFERRY_REPORT" last.json'}
page: page.html
metrics: job.prom
`;
const step = "steps:\n  - {name: a, source: a.csv, target: a.geojson}\n";

const run = (flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<JobRunResult> =>
  desk.run("job.yaml", ["--state", at("state"), ...flags], { env });

/** The calls of the command, one per line. */
const calls = (): string[] => (existsSync(at("calls")) ? readFileSync(at("calls"), "utf8").trim().split("\n") : []);

const errorIn = (file: string) => JSON.parse(readFileSync(at(file), "utf8")).error as { readonly code: string };

beforeEach(() => put("a.csv", pointsCsv("a")));

describe("a run is reported if", () => {
  const everywhere = async (ran: JobRunResult, status: number, code: string, name = "nightly") => {
    expect([ran.status, calls()]).toEqual([status, [`${name} ${status} failed`]]);
    expect([errorIn("report.json").code, errorIn("last.json").code]).toEqual([code, code]);
    const metrics = readFileSync(at("job.prom"), "utf8");
    expect(metrics).toContain(`geoferry_job_exit_status{job="${name}"} ${status}\n`);
    expect(metrics).toContain("geoferry_job_last_run_timestamp_seconds");
    expect(readFileSync(at("page.html"), "utf8")).toContain("No step was started");
  };

  test("a run is reported if a variable is not set", async () => {
    put("job.yaml", `name: nightly\n${channels}${step.replace("a.csv", `"\${NOT_SET_ANYWHERE}"`)}`);
    await everywhere(await run(), 2, "job-invalid");
  });

  test("a run is reported if a member of the file is wrong", async () => {
    put("job.yaml", `name: nightly\n${channels}stepz: 1\n${step}`);
    await everywhere(await run(), 2, "job-invalid");
  });

  test("a run is reported if the file has a syntax error after the report settings", async () => {
    put("job.yaml", `name: nightly\n${channels}steps: [{name: a, source: "a.csv\n`);
    await everywhere(await run(), 2, "job-invalid");
  });

  test("a run is reported if the state of the job is damaged", async () => {
    put("job.yaml", `name: nightly\n${channels}${step}`);
    expect((await run()).status).toBe(0);
    const [folder] = readdirSync(at("state/jobs"));
    for (const name of readdirSync(at(`state/jobs/${folder}`)))
      if (name.startsWith("job.db")) rmSync(at(`state/jobs/${folder}/${name}`));
    writeFileSync(
      at(join("state/jobs", folder!, "job.db")),
      "no database, but long enough to be read as one".repeat(30),
    );
    await everywhere(await run(), 3, "job-state-damaged");
  });

  test("a run is reported if the queue is unavailable", async () => {
    put("job.yaml", `name: nightly\n${channels}${step}`);
    await everywhere(await run(["--queue", `redis://${await desk.silence()}`]), 8, "queue-unavailable");
  });

  test("a run is reported if a flag is invalid", async () => {
    put("job.yaml", `name: nightly\n${channels}${step}`);
    await everywhere(await run(["--wait", "long"]), 2, "option-invalid");
  });

  test("a run is reported if the file cannot be read, and flags configure the reports", async () => {
    put("job.yaml", "{{{");
    const command = 'echo "$GEOFERRY_JOB $GEOFERRY_STATUS $GEOFERRY_RESULT" >> calls; cp "$GEOFERRY_REPORT" last.json';
    const flags = ["--on-failure", command, "--metrics", at("job.prom"), "--page", at("page.html")];
    await everywhere(await run(flags), 2, "job-invalid", "job");
  });
});

test("a URL is called although the variable of the command is not set, and the unreadable part is named", async () => {
  const posted: string[] = [];
  const host = await serve((request, response) => {
    request.on("data", (data: Buffer) => posted.push(data.toString()));
    request.on("end", () => response.end());
  });
  put("job.yaml", `name: n\nonFailure: {command: "\${NOT_SET_ANYWHERE}", webhook: "http://${host}/"}\n${step}`);
  const { status, stderr } = await run();
  expect([status, JSON.parse(posted.join(""))]).toEqual([2, expect.objectContaining({ status: 2, result: "failed" })]);
  expect(stderr).toContain("cannot read onFailure.command");
});

test("a command after a syntax error in the file is not run, with a message", async () => {
  put("job.yaml", `name: n\nreport: [\n${channels}${step}`);
  const { status, stderr } = await run();
  expect([status, calls()]).toEqual([2, []]);
  expect(stderr).toMatch(/cannot read onFailure.*--on-failure/);
});

test("a skipped run is reported once, and fails if the other run takes too long", async () => {
  let asked = 0;
  const host = await serve(() => {
    asked++;
  });
  put("job.yaml", `name: slow\n${channels}steps:\n  - {name: a, source: "http://${host}/x.csv", target: a.geojson}\n`);
  const first = run();
  while (asked === 0) await pause(20);
  const skipped = await run();
  expect([skipped.status, calls()]).toEqual([11, ["slow 11 skipped"]]);
  expect(skipped.stderr).toContain("another run is in progress");
  expect([skipped.report.result, errorIn("report.json").code]).toEqual(["skipped", "job-locked"]);
  expect(readFileSync(at("job.prom"), "utf8")).toContain('geoferry_job_exit_status{job="slow"} 11\n');
  const again = await run();
  expect([again.status, again.report.result, calls()]).toEqual([11, "skipped", ["slow 11 skipped"]]);
  const overdue = await run(["--overdue-after", "0"]);
  expect([overdue.status, errorIn("report.json").code]).toEqual([7, "job-overdue"]);
  put("job.yaml", readFileSync(at("job.yaml"), "utf8").replace("page:", "overdueAfter: 1ms\npage:"));
  expect((await run()).status).toBe(7);
  expect(calls()).toEqual(["slow 11 skipped", "slow 7 failed", "slow 7 failed"]);
  void first;
});

test("a dry run sends no reports", async () => {
  put("job.yaml", `name: n\n${channels}stepz: 1\n${step}`);
  expect((await run(["--dry-run"])).status).toBe(2);
  expect([calls(), existsSync(at("job.prom")), existsSync(at("report.json"))]).toEqual([[], false, false]);
});

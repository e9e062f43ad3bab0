/** A damaged job state stops the run, and the message says what to do and what that costs. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, test } from "vitest";
import { JobFixture, pointsCsv } from "../../support/jobs/job-fixture.js";

const fixture = new JobFixture();
const { at, put } = fixture;
const run = (...flags: string[]) => fixture.run("job.yaml", ["--state", at("state"), ...flags], {});

const path = () => {
  const jobs = at("state/jobs");
  return join(jobs, readdirSync(jobs)[0]!, "job.db");
};

beforeEach(async () => {
  put("a.csv", pointsCsv("a"));
  put("job.yaml", "name: odd\nsteps:\n  - {name: a, source: a.csv, target: a.geojson}\n");
  expect((await run()).status).toBe(0);
});

describe("job.db", () => {
  test.each<[string, (path: string) => void, number]>([
    ["that is truncated", (path) => truncateSync(path, 6000), 3],
    ["of random bytes", (path) => writeFileSync(path, Buffer.alloc(20_000, "9f3a")), 3],
    [
      "with corrupt pages",
      (path) => {
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0xa5, 4096));
      },
      3,
    ],
    [
      "that is a folder",
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
      3,
    ],
    [
      "without its tables",
      (path) => {
        using database = opened(path);
        database.exec("DROP TABLE output_record");
      },
      3,
    ],
    [
      "of a later version",
      (path) => {
        using database = opened(path);
        database.pragma("user_version = 99");
      },
      4,
    ],
  ])("a job.db %s stops the run, and the error says what moving it away costs", async (_, damage, expected) => {
    const before = readFileSync(at("a.geojson"), "utf8");
    put("a.csv", pointsCsv("a", "b"));
    const db = path();
    copyFileSync(db, at("kept.db"));
    damage(db);
    const { status, stderr } = await run();
    expect([status, stderr]).toEqual([expected, expect.stringContaining(`${db}: `)]);
    for (const words of ["move it away", "converted once more", "overwrite: true", "maps are safe"])
      expect(stderr).toContain(words);
    expect(stderr).not.toContain("nothing is left behind");
    expect(readFileSync(at("a.geojson"), "utf8")).toBe(before);
    // As the message says: without the state, the job does not know that it wrote the output.
    rmSync(db, { recursive: true });
    const refused = await run();
    expect([refused.status, refused.report.steps[0]!.error!.code]).toEqual([2, "output-exists"]);
    copyFileSync(at("kept.db"), db);
    expect((await run()).status).toBe(0);
    expect(readFileSync(at("a.geojson"), "utf8")).toContain('"b"');
  });

  test("a run whose report cannot be saved still writes its report, page and metrics", async () => {
    {
      using database = opened(path());
      database.exec("DROP TABLE run");
    }
    put("a.csv", pointsCsv("a", "b"));
    const { status, stderr, report } = await run("--metrics", at("job.prom"), "--page", at("page.html"));
    expect([status, report.result, report.status]).toEqual([3, "done", 0]);
    // One error, although both the page and the metrics need earlier runs.
    expect(stderr.split("no such table: run").length - 1).toBe(1);
    expect(existsSync(at("a.geojson"))).toBe(true);
    const metrics = readFileSync(at("job.prom"), "utf8");
    expect(metrics).toMatch(/^geoferry_job_last_run_\w+\{job="odd"\}/m);
    expect(metrics).not.toContain('last_success_timestamp_seconds{job="odd"}');
  });
});

const opened = (path: string) => {
  const database = new Sqlite(path);
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
};

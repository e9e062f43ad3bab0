/**
 * Jobs in exceptional situations: killed, retried, with secrets in their sources, with reports that cannot be written.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunReport } from "../../src/jobs/report/run-report.js";
import { JobFixture, type JobRunResult, pointsCsv } from "../support/jobs/job-fixture.js";

const desk = new JobFixture();
const { at, put, serve } = desk;
const job = (steps: readonly string[], more = "") =>
  put("job.yaml", `name: odd\n${more}steps:\n${steps.map((step) => `  - {${step}}\n`).join("")}`);

const credentials = { GEOFERRY_CLIENT_ID: "id", GEOFERRY_CLIENT_SECRET: "hunter6" };
const run = (flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<JobRunResult> =>
  desk.run("job.yaml", ["--state", at("state"), ...flags], { env: credentials, nodeFlags });

const results = ({ steps }: RunReport) => steps.map(({ result }) => result);
const rowsOf = (name: string) => readFileSync(at(name), "utf8").trim().split("\n").slice(1);

test("users, passwords and queries of URLs appear in no message, report or page", async () => {
  put("a.csv", pointsCsv("a"));
  const logins: (string | undefined)[] = [];
  const host = await serve(({ method, headers }, response) => {
    if (method === "POST") logins.push(headers.authorization);
    response.writeHead(404).end();
  });
  const address = `http://user:hunter2@${host}/x.geojson?token=hunter3`;
  job(
    [
      `name: one, source: "${address}", target: b.geojson`,
      `name: many, source: [a.csv, "${address}"], target: out/, to: geojson`,
      `name: collision, source: ["${address}", "${address}4"], target: out/, to: csv`,
      `name: map, source: "${address}", target: {map: m}`,
    ],
    `onFailure: {webhook: "http://user:hunter%37@${host}/hook"}\n`,
  );
  const { stderr, report } = await run(["--page", at("page.html"), "--url", `http://${host}`, "--json"]);
  expect(report.steps).toHaveLength(4);
  const outputs = [stderr, JSON.stringify(report), readFileSync(at("page.html"), "utf8")].join("\n");
  expect(outputs).toContain(`http://${host}/x.geojson`);
  expect(outputs.match(/.*(user:|hunter\d).*/g)).toBeNull();
  // The server's map requests a token first.
  expect(logins).toContain(`Basic ${Buffer.from("user:hunter7").toString("base64")}`);
});

test("names of files and jobs cannot inject lines, and U+0000 in a name stops no command", async () => {
  mkdirSync(at("in"));
  put("in/a\u001b[2J\n  fake: done.csv", pointsCsv("a"));
  put(
    "job.yaml",
    `name: "odd\\0"\nonFailure: { command: "echo called > '${at("called.txt")}'" }\nsteps:\n  - { name: a, source: in/, target: out/, to: geojson }\n  - { name: b, source: "http://127.0.0.1:99999/x.csv", target: b.geojson }\n`,
  );
  const { status, stderr } = await run();
  expect(status).toBe(3);
  expect(stderr).not.toContain("\u001b");
  expect(stderr).not.toMatch(/^ +fake: done/m);
  expect(stderr).toContain("http://127.0.0.1:99999/x.csv: cannot be downloaded: it is not a valid address");
  expect(existsSync(at("called.txt"))).toBe(true);
});

test("a retry does not append again", async () => {
  let asked = 0;
  const host = await serve((request, response) => {
    if (request.url === "/a.csv") response.end(pointsCsv("new"));
    // Without version headers.
    else if (request.url === "/b.csv" && request.method === "GET" && ++asked > 2) response.end(pointsCsv("other"));
    else response.writeHead(request.url === "/b.csv" ? 503 : 404).end();
  });
  job([
    `name: a, source: ["http://${host}/a.csv", "http://${host}/b.csv"], target: out/, to: csv, append: true, retryDelay: 1ms`,
  ]);
  const { status, report } = await run();
  expect({ status, attempts: report.steps[0]!.attempts, counts: report.steps[0]!.counts }).toEqual({
    status: 0,
    attempts: 3,
    counts: { read: 2, written: 2, rejected: 0 },
  });
  expect(rowsOf("out/a.csv")).toHaveLength(1);
});

test("unchanged sources are appended once, although others append to the same file", async () => {
  put("a.csv", pointsCsv("a", "b"));
  put("b.csv", pointsCsv("c"));
  const steps = ["a", "b"].map((name) => `name: ${name}, source: ${name}.csv, target: all.csv, append: true`);
  job(steps);
  expect(results((await run()).report)).toEqual(["done", "done"]);
  expect(results((await run()).report)).toEqual(["unchanged", "unchanged"]);
  expect(rowsOf("all.csv")).toHaveLength(3);
  put("b.csv", pointsCsv("d"));
  expect(results((await run()).report)).toEqual(["unchanged", "done"]);
  expect(rowsOf("all.csv")).toHaveLength(4);
});

describe("an output is the job's own", () => {
  beforeEach(async () => {
    put("a.csv", pointsCsv("a"));
    job(["name: a, source: a.csv, target: a.shp"]);
    expect(results((await run()).report)).toEqual(["done"]);
  });

  test("an output of the job is recreated if one of its companions is missing", async () => {
    rmSync(at("a.dbf"));
    expect(results((await run()).report)).toEqual(["done"]);
    expect(existsSync(at("a.dbf"))).toBe(true);
    expect(results((await run()).report)).toEqual(["unchanged"]);
  });

  test("an output of the job is kept if someone has changed one of its companions", async () => {
    writeFileSync(at("a.dbf"), "mine");
    const { status, report } = await run();
    expect([status, report.steps[0]!.error?.code]).toEqual([2, "output-exists"]);
    expect(readFileSync(at("a.dbf"), "utf8")).toBe("mine");
  });

  test("an output of the job counts as unchanged after a change of its permissions", async () => {
    chmodSync(at("a.shp"), 0o600);
    expect(results((await run()).report)).toEqual(["unchanged"]);
  });
});

describe("a run that is killed just as its output has got its name", () => {
  const killer = (call: "link" | "rename") =>
    `data:text/javascript,${encodeURIComponent(`
      import fs from "node:fs";
      import { syncBuiltinESMExports } from "node:module";
      const original = fs.promises.${call};
      fs.promises.${call} = async (from, to) => {
        await original(from, to);
        if (String(to).endsWith("/a.csv")) process.kill(process.pid, "SIGKILL");
      };
      syncBuiltinESMExports();`)}`;
  const kill = async (call: "link" | "rename") => (await run([], ["--import", killer(call)])).signal;

  beforeEach(() => put("s.csv", pointsCsv("a")));

  test.each([["first", "link"] as const, ["next", "rename"] as const])(
    "a run that is killed while renaming its output the %s time is finished by the next run",
    async (when, call) => {
      job([`name: a, source: s.csv, target: ${at("a.csv")}`]);
      if (when === "next") {
        await run();
        put("s.csv", pointsCsv("a", "b"));
      }
      expect(await kill(call)).toBe("SIGKILL");
      expect((await run()).status).toBe(0);
      put("s.csv", pointsCsv("a", "b", "c"));
      expect(results((await run()).report)).toEqual(["done"]);
      expect(rowsOf("a.csv")).toHaveLength(3);
    },
  );

  test("a run that is killed while renaming its output does not append twice", async () => {
    put("a.csv", pointsCsv("old"));
    job([`name: a, source: s.csv, target: ${at("a.csv")}, append: true`]);
    expect(await kill("rename")).toBe("SIGKILL");
    expect((await run()).status).toBe(0);
    expect(rowsOf("a.csv")).toHaveLength(2);
  });
});

test("a report that cannot be written hides no failure: other reports are written, the hook is called, and the exit status shows it", async () => {
  put("a.csv", pointsCsv("a"));
  job(["name: a, source: a.csv, target: a.geojson"]);
  const flags = [
    "--page",
    at("a.csv/page.html"),
    "--metrics",
    at("m.prom"),
    "--on-failure",
    "echo notified $GEOFERRY_STATUS",
  ];
  const { status, stderr, report } = await run(flags);
  expect({ status, results: results(report), metrics: existsSync(at("m.prom")) }).toEqual({
    status: 6,
    results: ["done"],
    metrics: true,
  });
  expect(stderr).toContain("notified 6");
  expect(stderr).toContain("page.html: the report cannot be written");
});

test("a page with the path of a source by mistake does not replace it", async () => {
  put("a.csv", pointsCsv("a"));
  job(["name: a, source: a.csv, target: a.geojson"], "page: a.csv\n");
  const { status, stderr, report } = await run();
  expect({ status, results: results(report) }).toEqual({ status: 6, results: ["done"] });
  expect(stderr).toContain(
    "a.csv: the report cannot be written: the file exists, but is not a report of an earlier run",
  );
  expect(rowsOf("a.csv")).toHaveLength(1);
});

test("the exit status is that of the worst source of a step", async () => {
  const host = await serve((_, response) => void response.writeHead(503).end());
  job([`name: a, source: [none.csv, "http://${host}/b.csv"], target: out/, to: geojson, retries: 0`]);
  // 8 (retry later) is worse than 3 (missing), as in convert.
  expect((await run()).status).toBe(8);
});

test("a step waits for a step that writes into its folder", async () => {
  put("b.csv", pointsCsv("b"));
  const host = await serve((request, response) => {
    if (request.url !== "/a.csv") response.writeHead(404).end();
    else setTimeout(() => response.end(pointsCsv("a")), 1000);
  });
  job(
    [
      `name: folder, source: ["http://${host}/a.csv"], target: out/, to: csv`,
      "name: file, source: b.csv, target: out/a.csv, overwrite: true",
    ],
    "parallel: 2\n",
  );
  const { report } = await run();
  expect(results(report)).toEqual(["done", "done"]);
  expect(rowsOf("out/a.csv")[0]).toMatch(/\bb\b/);
});

test("a step that reads a map of an unresponsive service ends within its timeout", async () => {
  const host = await serve(() => {});
  job(["name: a, source: map:7c0, target: a.geojson, timeout: 1s"]);
  const began = performance.now();
  const { status, report } = await run(["--url", `http://${host}`]);
  expect([status, report.steps[0]!.error?.code]).toEqual([8, "step-timeout"]);
  // A response may take sixty seconds, and is requested several times.
  expect(performance.now() - began).toBeLessThan(50_000);
});

test("rejected features are reported in every run until the source is corrected", async () => {
  put("huts.csv", "name,lon,lat\na,7,46\nb,7,south\n");
  job(["name: huts, source: huts.csv, target: huts.geojson"]);
  const first = await run();
  const written = statSync(at("huts.geojson")).mtimeMs;
  const second = await run();
  for (const { status, report } of [first, second]) {
    expect([status, report.steps[0]!.result]).toEqual([5, "rejects"]);
    expect(report.steps[0]!.counts.rejected).toBe(1);
  }
  expect(statSync(at("huts.geojson")).mtimeMs).toBe(written);
  put("huts.csv", "name,lon,lat\na,7,46\nb,7,46.5\n");
  const mended = await run();
  expect([mended.status, mended.report.steps[0]!.result]).toEqual([0, "done"]);
  expect((await run()).report.steps[0]!.result).toBe("unchanged");
});

test("an output that was changed after the job wrote it is not replaced, and the error says so", async () => {
  put("a.csv", pointsCsv("a"));
  job(["name: a, source: a.csv, target: b.csv"]);
  expect((await run()).status).toBe(0);
  put("b.csv", "edited");
  put("a.csv", pointsCsv("new"));
  const { status, stderr } = await run();
  expect(status).toBe(2);
  expect(stderr).toMatch(/b\.csv: exists already; .*; the output was changed after the job wrote it/);
  expect(readFileSync(at("b.csv"), "utf8")).toBe("edited");
});

test("a step does not replace the companion of another step's output", async () => {
  put("a.csv", "id,easting,northing\n1,500000,5400000\n");
  const common = "source: a.csv, sourceCrs: EPSG:25832, overwrite: true";
  job([`name: csv, ${common}, target: out/p.csv, targetCrs: EPSG:25832`, `name: tsv, ${common}, target: out/p.tsv`]);
  const { report, stderr } = await run();
  expect(results(report)).toEqual(["done", "failed"]);
  expect(stderr).toContain("p.prj: belongs to p.csv");
  expect(existsSync(at("out/p.tsv"))).toBe(false);
});

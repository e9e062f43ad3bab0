/** Fleets of workers that differ, disappear or are busy: which worker runs a job, and when another takes over. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { connectionName, listConnectedWorkers } from "../../../src/jobs/queue/dispatcher/connected-workers.js";
import { LostWorkers } from "../../../src/jobs/queue/worker/lost-workers.js";
import { main, root } from "../../support/command.js";
import { type JobRunOptions, pointsCsv } from "../../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../../support/jobs/served-job-fixture.js";
import { WorkerFleet, waitUntil } from "../../support/jobs/worker-fleet.js";
import { hasRedis } from "../../support/servers/redis.js";

const fixture = await ServedJobFixture.open();
const { at, put, environment, serveTable, runServed: run } = fixture;

/** Writes tables of one point each, and a job that converts them without retries. */
function tables(count: number, job = "job", more = ""): void {
  mkdirSync(at("in"), { recursive: true });
  for (let n = 0; n < count; n++) put(`in/t${n}.csv`, pointsCsv(`a${n}`));
  put(
    `${job}.yaml`,
    `name: ${job}\nretries: 0\nsteps:\n  - {name: all, source: in/*.csv, target: ${job}/, to: geojson${more}}\n`,
  );
}

/** Copies the program with another version in its package.json. @returns the path of its command */
function programOf(version: string): string {
  const copy = at(`geoferry-${version}`);
  mkdirSync(copy);
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(copy, "package.json"), JSON.stringify({ ...manifest, version }));
  return join(copy, "dist", main.slice(join(root, "dist").length));
}

/** A format plugin whose reader runs `before` and then fails. */
const plugin = (before: string) => `
export default { apiVersion: 1, id: "odd", label: "Odd", extensions: ["odd"], identify: () => "no",
  reader: { options: {}, load: async () => ({ async open() { ${before}; throw new Error("nothing is in it"); } }) } };`;

/** The long timeout is for machines that run tests in parallel. */
describe.runIf(hasRedis)("fleets of workers", { timeout: 600_000 }, () => {
  const fleet = new WorkerFleet(environment);
  const runThere = (job: string, flags: readonly string[] = [], options: JobRunOptions = {}) =>
    run(job, [...fleet.flags, ...flags], options);

  test("jobs run on the workers of the run's version in a fleet of three versions", async () => {
    const [older, oldest] = [programOf("0.0.9"), programOf("0.0.8")];
    const first = await fleet.worker("older", ["--concurrency", "4"], older);
    const second = await fleet.worker("oldest", ["--concurrency", "4"], oldest);
    tables(40);
    const alone = runThere("job.yaml", [], {
      watch: (child) =>
        child.stderr!.on("data", (text: Buffer) => {
          if (text.toString().includes("no worker of geoferry")) void fleet.worker("own");
        }),
    });
    const { status, report, stderr } = await alone;
    expect(stderr).toMatch(/no worker of geoferry \S+ is connected to redis:\S+, but 1 of 0\.0\.8 and 1 of 0\.0\.9/);
    expect([status, report.result, report.steps[0]!.attempts]).toEqual([0, "done", 1]);
    expect(new Set(report.steps[0]!.items.map(({ worker }) => worker))).toEqual(new Set(["own"]));
    expect([...first.of("started"), ...second.of("started")]).toEqual([]);
    // A run of another version uses the workers of that version.
    tables(5, "other");
    const other = await runThere("other.yaml", [], { program: older });
    expect([other.status, other.report.geoferry]).toEqual([0, "0.0.9"]);
    expect(new Set(other.report.steps[0]!.items.map(({ worker }) => worker))).toEqual(new Set(["older"]));
    expect(other.stderr).toMatch(
      /connected to redis:\S+: 1 worker of geoferry 0\.0\.9; workers of other versions .*: 1 of 0\.0\.8 and 1 of /,
    );
  });

  test("refusals by one worker do not count as attempts of a job", async () => {
    put("odd.mjs", plugin(""));
    const plain = await fleet.worker("plain", ["--concurrency", "2"]);
    await fleet.worker("able", ["--plugin", at("odd.mjs")]);
    tables(8);
    const { status, report, stderr } = await runThere("job.yaml", ["--plugin", at("odd.mjs")]);
    expect(plain.of("refused").length).toBeGreaterThan(0);
    expect([status, report.result, report.steps[0]!.attempts]).toEqual([0, "done", 1]);
    expect(new Set(report.steps[0]!.items.map(({ worker }) => worker))).toEqual(new Set(["able"]));
    expect(readdirSync(at("job"))).toHaveLength(8);
    expect(stderr).toContain("it does not know the format odd");
    expect(stderr.split("it does not know the format odd")).toHaveLength(2);
    expect(await fleet.left()).toEqual([]);
  });

  test("another worker takes over the job of a killed worker before its lock expires", async () => {
    let isOpen = false;
    let asked = 0;
    const host = await serveTable(({ method }, response) => {
      if (method === "GET") asked++;
      if (isOpen || method === "HEAD") response.end(pointsCsv("x"));
    });
    put("job.yaml", `name: slow\nsteps:\n  - {name: a, source: "http://${host}/x.csv", target: a.geojson}\n`);
    const flags = ["--stalled-after", "36000"];
    const first = await fleet.worker("first", flags);
    const ran = runThere("job.yaml");
    await waitUntil(() => asked > 0 && first.isAtWork);
    const second = await fleet.worker("second", flags);
    isOpen = true;
    await first.end("SIGKILL");
    const { status, report } = await ran;
    expect([status, report.steps[0]!.items[0]!.worker]).toEqual([0, "second"]);
    expect(second.of("stalled")).toHaveLength(1);
    expect(await fleet.left()).toEqual([]);
  });

  test("a worker that is missing in the connection list reconnects", async () => {
    const worker = { id: "one", version: "1.0.0" };
    const redis = fleet.redis.client();
    const named = new Redis(fleet.redis.url, { connectionName: connectionName("p", worker) });
    const reconnected: string[] = [];
    const lost = new LostWorkers(redis, "p", "one", () => reconnected.push("again"));
    await lost.check([], 0);
    await named.subscribe("a channel");
    await lost.check([], 1);
    expect([await listConnectedWorkers(redis, "p"), reconnected]).toEqual([[worker], []]);
    named.disconnect();
    await waitUntil(async () => (await listConnectedWorkers(redis, "p"))!.length === 0);
    await lost.check([], 2);
    await lost.check([], 3);
    expect(reconnected).toEqual(["again"]);
    redis.disconnect();
  });

  test("a job that blocks the event loop of its process is not taken over", async () => {
    // Much longer than --stalled-after.
    put("odd.mjs", plugin("const end = Date.now() + 7000; while (Date.now() < end);"));
    put("a.odd", "x");
    put("job.yaml", "name: busy\nretries: 0\nsteps:\n  - {name: a, source: a.odd, from: odd, target: a.geojson}\n");
    const flags = ["--plugin", at("odd.mjs"), "--stalled-after", "2"];
    const workers = await Promise.all(["first", "second"].map((name) => fleet.worker(name, flags)));
    const { report } = await runThere("job.yaml", ["--plugin", at("odd.mjs")]);
    expect([report.steps[0]!.result, report.steps[0]!.attempts]).toEqual(["failed", 1]);
    expect(workers.flatMap((worker) => worker.of("started"))).toHaveLength(1);
    expect(workers.flatMap((worker) => worker.of("stalled"))).toEqual([]);
    expect(existsSync(at("a.geojson"))).toBe(false);
  });
});

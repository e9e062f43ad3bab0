/** Distributed runs with a real Redis, a real service, and worker processes that are killed. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type JobRunOptions, pointsCsv } from "../../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../../support/jobs/served-job-fixture.js";
import { WorkerFleet, waitUntil } from "../../support/jobs/worker-fleet.js";
import { hasRedis } from "../../support/servers/redis.js";

const fixture = await ServedJobFixture.open();
const { at, put, world, environment, serveTable, runServed: run } = fixture;

/** File contents of a folder by name, including leftover temporary files. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(at(folder)).map((name) => [name, readFileSync(at(join(folder, name)), "utf8")]));

/** Writes tables of two points each. */
function tables(count: number): void {
  mkdirSync(at("in"), { recursive: true });
  for (let n = 0; n < count; n++) put(`in/t${n}.csv`, pointsCsv(`a${n}`, `b${n}`));
}

/** Runs the same step locally, without workers, into `local/`. @returns the file contents */
async function alone(step: string): Promise<Record<string, string>> {
  put("alone.yaml", `name: alone\nsteps:\n  - ${step.replace("target: out/", "target: local/")}\n`);
  const { status } = await run("alone.yaml", ["--state", at("state-alone")]);
  expect(status).toBe(0);
  return contents("local");
}

const archive = "{name: archive, source: in/*.csv, target: out/, to: geojson}";

/** The long timeout is for machines that run tests in parallel. */
describe.runIf(hasRedis)("distributed runs", { timeout: 600_000 }, () => {
  const fleet = new WorkerFleet(environment);
  const runThere = (job: string, flags: readonly string[] = [], options: JobRunOptions = {}) =>
    run(job, [...fleet.flags, ...flags], options);

  test("a run of 250 files and a map completes when two of three workers are killed", async () => {
    tables(250);
    const map = await world.newMap();
    const places = `{name: places, needs: archive, source: out/*.geojson, target: {map: ${map}, remoteField: name}}`;
    put("job.yaml", `name: many\nsteps:\n  - ${archive}\n  - ${places}\n`);
    const [first, second] = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name)));
    const third = await fleet.worker("w3", ["--concurrency", "3"]);
    const ran = runThere("job.yaml");
    for (const worker of [first!, second!]) {
      await waitUntil(() => worker.of("done").length > 25 && worker.isAtWork);
      await worker.end("SIGKILL");
    }
    const { status, report, stderr } = await ran;
    expect(stderr).not.toContain("internal");
    expect([status, report.result]).toEqual([0, "done"]);
    expect(contents("out")).toEqual(await alone(archive));
    const names = (await world.features(map)).map(({ properties }) => properties.name);
    const expected = Array.from({ length: 250 }, (_, n) => [`a${n}`, `b${n}`]).flat();
    expect(names.sort()).toEqual(expected.sort());
    const doers = new Set(report.steps[0]!.items.map(({ worker }) => worker));
    expect(doers).toEqual(new Set(["w1", "w2", "w3"]));
    expect(third.of("stalled").length + stderr.split("another worker takes over").length - 1).toBeGreaterThan(0);
    expect(await fleet.left()).toEqual([]);
    // A second run has nothing to do.
    const again = await runThere("job.yaml");
    expect(again.report.steps.map(({ result }) => result)).toEqual(["unchanged", "unchanged"]);
    expect(await third.end()).toBe(0);
  });

  test("a run completes when Redis is killed and restarts from its append-only file", async () => {
    tables(60);
    put("job.yaml", `name: calm\nsteps:\n  - ${archive}\n`);
    const worker = await fleet.worker("w1");
    const other = await fleet.worker("w2");
    const ran = runThere("job.yaml");
    await waitUntil(() => worker.of("done").length > 8);
    await fleet.redis.restart(1000);
    const { status, report } = await ran;
    expect([status, report.result]).toEqual([0, "done"]);
    expect([...worker.of("disconnected"), ...other.of("disconnected")].length).toBeGreaterThan(0);
    expect(contents("out")).toEqual(await alone(archive));
    expect(await fleet.left()).toEqual([]);
  });

  test("an interrupted run removes its jobs from the queue, and the next run completes the rest", async () => {
    tables(50);
    put("job.yaml", `name: broken\nsteps:\n  - ${archive}\n`);
    const worker = await fleet.worker("w1");
    const interrupted = await runThere("job.yaml", [], {
      watch: (child) => void waitUntil(() => worker.of("done").length > 8).then(() => child.kill("SIGINT")),
    });
    expect(interrupted.status).toBe(130);
    expect(await fleet.left()).toEqual([]);
    const before = Object.keys(contents("out"));
    expect(before.length).toBeLessThan(50);
    expect(before.filter((name) => name.startsWith("."))).toEqual([]);
    const { status } = await runThere("job.yaml");
    expect(status).toBe(0);
    expect(contents("out")).toEqual(await alone(archive));
  });

  test("an interrupted run does not start a map whose files are still waiting", async () => {
    let asked = 0;
    const host = await fixture.serve(({ method }, response) => {
      if (method === "GET") asked++;
      else response.end();
    });
    put("busy.yaml", `name: busy\nsteps:\n  - {name: far, source: "http://${host}/x.csv", target: far.geojson}\n`);
    put("a.csv", pointsCsv("a"));
    const map = await world.newMap();
    const convert = "{name: convert, source: a.csv, target: a.geojson}";
    const sync = `{name: places, needs: convert, source: a.geojson, target: {map: ${map}, remoteField: name}}`;
    put("job.yaml", `name: waiting\nsteps:\n  - ${convert}\n  - ${sync}\n`);
    const worker = await fleet.worker("w1");
    let stop = () => {};
    const busy = runThere("busy.yaml", [], { watch: (child) => (stop = () => void child.kill("SIGINT")) });
    await waitUntil(() => asked > 0 && worker.isAtWork);
    const client = fleet.redis.client();
    const exists = async (key: string) => (await client.keys(`${fleet.prefix}:map-*:${key}`)).length > 0;
    // The worker listens to the map's queue.
    const isReady = async () => (await exists("waiting-children")) && (await exists("stalled-check"));
    const interrupted = await runThere("job.yaml", [], {
      watch: (child) => void waitUntil(isReady).then(() => child.kill("SIGINT")),
    });
    expect(interrupted.status).toBe(130);
    stop();
    expect((await busy).status).toBe(130);
    client.disconnect();
    expect(worker.of("started").map(({ what }) => what)).toEqual([expect.stringContaining("far")]);
    expect(await fleet.left()).toEqual([]);
  });

  test("the run after a killed one recovers the results of its jobs from the queue", async () => {
    tables(50);
    put("job.yaml", `name: killed\nsteps:\n  - ${archive}\n`);
    const worker = await fleet.worker("w1");
    const killed = await runThere("job.yaml", [], {
      watch: (child) => void waitUntil(() => worker.of("done").length > 8).then(() => child.kill("SIGKILL")),
    });
    expect(killed.signal).toBe("SIGKILL");
    const { status, report } = await runThere("job.yaml");
    expect([status, report.result, report.steps[0]!.error]).toEqual([0, "done", null]);
    expect(contents("out")).toEqual(await alone(archive));
    expect(await fleet.left()).toEqual([]);
  });

  test("the run after a killed one recovers results of files whose maps are done as well", async () => {
    mkdirSync(at("in"));
    const points = pointsCsv("a", "b");
    for (const name of ["appended", "replaced"]) put(`in/${name}.csv`, points);
    const step = (name: string, more: string) =>
      `  - {name: ${name}, source: in/${name}.csv, target: ${name}.csv${more}}\n`;
    const sync = (name: string, map: string) =>
      `  - {name: ${name}-map, needs: ${name}, source: ${name}.csv, target: {map: ${map}, remoteField: name}}\n`;
    const maps = [await world.newMap(), await world.newMap()] as const;
    const steps = [
      step("appended", ", append: true"),
      sync("appended", maps[0]),
      step("replaced", ""),
      sync("replaced", maps[1]),
    ].join("");
    put("job.yaml", `name: taken\nparallel: 4\nsteps:\n${steps}`);
    const client = fleet.redis.client();
    const waiting = () => client.keys(`${fleet.prefix}:map-*:waiting-children`);
    const killed = await runThere("job.yaml", [], {
      watch: (child) => void waitUntil(async () => (await waiting()).length === 2).then(() => child.kill("SIGKILL")),
    });
    client.disconnect();
    expect(killed.signal).toBe("SIGKILL");
    const worker = await fleet.worker("w1");
    await waitUntil(() => worker.of("done").length === 4);
    const written = ["appended", "replaced"].map((name) => readFileSync(at(`${name}.csv`), "utf8"));
    const { status, report } = await runThere("job.yaml");
    expect([status, report.steps.map(({ result }) => result)]).toEqual([0, Array(4).fill("unchanged")]);
    expect(["appended", "replaced"].map((name) => readFileSync(at(`${name}.csv`), "utf8"))).toEqual(written);
    for (const map of maps) expect(await world.features(map)).toHaveLength(2);
    // A job replaces its own output (docs/jobs.md).
    put("in/replaced.csv", pointsCsv("c"));
    const changed = await runThere("job.yaml", ["--only", "replaced"]);
    expect([changed.status, changed.report.steps[0]!.result]).toEqual([0, "done"]);
    expect(await fleet.left()).toEqual([]);
  });

  test("a large input is split among workers, and the output has the same bytes as a local run", async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `place number ${n},${n % 180},${n % 90},${"x".repeat(40)}`);
    mkdirSync(at("in"));
    put("in/large.csv", `name,lon,lat,text\n${lines.join("\n")}\n`);
    const both = (folder: string) =>
      `  - {name: a, source: in/large.csv, target: ${folder}/a.geojson}\n  - {name: b, source: in/large.csv, target: ${folder}/b.shp}\n`;
    for (const folder of ["out", "local"]) {
      mkdirSync(at(folder));
      put(`${folder}.yaml`, `name: ${folder}\nsteps:\n${both(folder)}`);
    }
    const workers = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name, ["--split-above", "1"])));
    const env = { SOURCE_DATE_EPOCH: "1700000000" };
    const { status, stderr } = await runThere("out.yaml", [], { env });
    expect([status, stderr]).toEqual([0, expect.stringContaining("done")]);
    expect((await run("local.yaml", [], { env })).status).toBe(0);
    const bytes = (folder: string) =>
      Object.fromEntries(readdirSync(at(folder)).map((name) => [name, readFileSync(at(join(folder, name)), "base64")]));
    expect(bytes("out")).toEqual(bytes("local"));
    const chunks = workers.map((worker) => worker.of("done").filter(({ what }) => what!.includes("chunk")).length);
    expect(chunks[0]! + chunks[1]!).toBeGreaterThan(3);
    expect(Math.min(...chunks)).toBeGreaterThan(0);
    expect(await fleet.left()).toEqual([]);
  });

  test("a map that was enqueued days ago, or by a clock that is behind, is synchronized", async () => {
    const map = await world.newMap();
    put("behind.csv", pointsCsv("a", "b"));
    const step = `{name: sync, source: behind.csv, target: {map: ${map}, remoteField: name}}`;
    put("behind.yaml", `name: behind\nsteps:\n  - ${step}\n`);
    const running = runThere("behind.yaml");
    const client = fleet.redis.client();
    const queues = `${fleet.prefix}:queues`;
    await waitUntil(async () => (await client.zcard(queues)) > 0);
    for (const name of await client.zrangebyscore(queues, "-inf", "+inf"))
      await client.zadd(queues, String(Date.now() - 3 * 86_400_000), name);
    await fleet.worker("late");
    expect((await running).status).toBe(0);
    expect(await world.features(map)).toHaveLength(2);
    client.disconnect();
  });

  test("two jobs that write to the same map do so one after the other", async () => {
    const map = await world.newMap();
    for (const job of ["a", "b"]) {
      mkdirSync(at(`${job}-in`));
      put(`${job}-in/t.csv`, pointsCsv(`${job}1`, `${job}2`, `${job}3`));
      const convert = `{name: convert, source: ${job}-in/*.csv, target: ${job}-out/, to: geojson}`;
      const sync = `{name: sync, needs: convert, source: ${job}-out/t.geojson, target: {map: ${map}, remoteField: name}}`;
      put(`${job}.yaml`, `name: ${job}\nsteps:\n  - ${convert}\n  - ${sync}\n`);
    }
    // The rate limit makes the first job slow enough for the second one to arrive meanwhile.
    const workers = await Promise.all(["w1", "w2"].map((name) => fleet.worker(name, ["--rate", "3"])));
    const [one, other] = [runThere("a.yaml"), runThere("b.yaml")];
    expect([(await one).status, (await other).status]).toEqual([0, 0]);
    const names = (await world.features(map)).map(({ properties }) => properties.name);
    expect(names.sort()).toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
    const spans = workers.flatMap((worker) => {
      const ofMap = worker.said.filter(({ what }) => what === "sync: the map");
      const [started, done] = ["started", "done"].map((type) => ofMap.filter((said) => said.type === type));
      return started!.map(({ time }, n) => [Date.parse(time), Date.parse(done![n]!.time)] as const);
    });
    expect(spans).toHaveLength(2);
    const [early, late] = spans.sort(([a], [b]) => a - b);
    expect(late![0]).toBeGreaterThanOrEqual(early![1]);
    expect(early![1] - early![0]).toBeGreaterThan(500);
    expect(await fleet.left()).toEqual([]);
  });

  test("network errors are retried, invalid files are not, and dependent steps are skipped", async () => {
    let asked = 0;
    const host = await serveTable((_, response) => {
      asked++;
      response.writeHead(asked < 4 ? 503 : 200).end(pointsCsv("x"));
    });
    put("bad.geojson", "{");
    const map = await world.newMap();
    put(
      "job.yaml",
      `name: again\nretryDelay: 100ms\nsteps:
  - {name: far, source: "http://${host}/x.csv", target: far.geojson}
  - {name: bad, source: bad.geojson, target: bad.gpkg}
  - {name: after, needs: bad, source: far.geojson, target: {map: ${map}, remoteField: name}}\n`,
    );
    await fleet.worker("w1");
    const { report, status } = await runThere("job.yaml");
    const [far, bad, after] = report.steps;
    expect([far!.result, far!.attempts]).toEqual(["done", expect.any(Number)]);
    expect(far!.attempts).toBeGreaterThan(1);
    expect([bad!.result, bad!.attempts, bad!.error!.kind]).toEqual(["failed", 1, "input"]);
    expect([after!.result, status]).toEqual(["skipped", 3]);
    expect(await world.features(map)).toEqual([]);
    expect(await fleet.left()).toEqual([]);
  });
});

/** Failures of workers and of Redis during work: no result is lost or duplicated, and no command hangs. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { main } from "../../support/command.js";
import type { JobRunOptions } from "../../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../../support/jobs/served-job-fixture.js";
import { WorkerFleet, type WorkerHandle, waitUntil } from "../../support/jobs/worker-fleet.js";
import { ConnectionCut, FaultProxy } from "../../support/servers/fault-proxy.js";
import { hasRedis, RedisServer } from "../../support/servers/redis.js";

const { at, put, serve, world, environment, runServed: run } = await ServedJobFixture.open();

/** Child processes of a worker (proc_pid_task(5), children). */
const workerProcessesOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** The long timeout is for machines that run tests in parallel. */
describe.runIf(hasRedis)("failures in distributed runs", { timeout: 600_000 }, () => {
  const fleet = new WorkerFleet(environment);
  const runThere = (job: string, flags: readonly string[] = [], options: JobRunOptions = {}) =>
    run(job, [...fleet.flags, ...flags], options);

  const bytes = (folder: string) =>
    Object.fromEntries(readdirSync(at(folder)).map((name) => [name, readFileSync(at(join(folder, name)), "base64")]));

  test("a worker resumes an input that another worker has split with another chunk size", async () => {
    const lines = Array.from({ length: 90_000 }, (_, n) => `place number ${n},${n % 180},${n % 90},${"x".repeat(40)}`);
    mkdirSync(at("in"));
    put("in/large.csv", `name,lon,lat,text\n${lines.join("\n")}\n`);
    for (const folder of ["out", "local"]) {
      mkdirSync(at(folder));
      put(
        `${folder}.yaml`,
        `name: ${folder}\nsteps:\n  - {name: a, source: in/large.csv, target: ${folder}/a.geojson}\n`,
      );
    }
    const first = await fleet.worker("first", ["--split-above", "1", "--shutdown-timeout", "0"]);
    const ran = runThere("out.yaml");
    await waitUntil(() => first.of("done").some(({ what }) => what!.includes("chunk")));
    expect(await first.end()).toBe(0);
    const second = await fleet.worker("second", ["--split-above", "3"]);
    expect((await ran).status).toBe(0);
    expect((await run("local.yaml")).status).toBe(0);
    expect(Object.keys(bytes("out"))).toEqual(["a.geojson"]);
    expect(bytes("out")["a.geojson"]!.length).toBe(bytes("local")["a.geojson"]!.length);
    expect(bytes("out")).toEqual(bytes("local"));
    await second.end();
    expect([first.isAtWork, second.isAtWork]).toEqual([false, false]);
  });

  test("a worker that shuts down requeues an unfinished map, and another worker completes it", async () => {
    const map = await world.newMap();
    const names = Array.from({ length: 3000 }, (_, n) => `p${n}`);
    put("a.csv", `name,lon,lat\n${names.map((name, n) => `${name},${n % 180},50`).join("\n")}\n`);
    put("job.yaml", `name: m\nsteps:\n  - {name: m, source: a.csv, target: {map: ${map}, remoteField: name}}\n`);
    const first = await fleet.worker("first", ["--shutdown-timeout", "0", "--rate", "1"]);
    const ran = runThere("job.yaml");
    await waitUntil(async () => (await world.features(map)).length > 0);
    expect(first.isAtWork).toBe(true);
    expect(await first.end()).toBe(0);
    expect(first.of("requeued")).toHaveLength(1);
    await fleet.worker("second");
    const { status, report } = await ran;
    expect([status, report.result, report.steps[0]!.items[0]!.worker]).toEqual([0, "done", "second"]);
    const there = (await world.features(map)).map(({ properties }) => properties.name);
    expect(there.sort()).toEqual(names.sort());
    expect(await fleet.left()).toEqual([]);
  });

  test("an append to a map whose worker was killed fails without being repeated", async () => {
    const map = await world.newMap();
    const names = Array.from({ length: 3000 }, (_, n) => `p${n}`);
    put("a.csv", `name,lon,lat\n${names.map((name, n) => `${name},${n % 180},50`).join("\n")}\n`);
    put("job.yaml", `name: m\nsteps:\n  - {name: m, source: a.csv, target: {map: ${map}, mode: append}}\n`);
    const first = await fleet.worker("first", ["--rate", "1"]);
    const ran = runThere("job.yaml");
    await waitUntil(async () => (await world.features(map)).length > 0);
    await first.end("SIGKILL");
    await fleet.worker("second");
    const { status, report } = await ran;
    expect([status, report.steps[0]!.error!.code]).toEqual([12, "append-interrupted"]);
    const there = (await world.features(map)).map(({ properties }) => properties.name);
    expect(new Set(there).size).toBe(there.length);
    expect(await fleet.left()).toEqual([]);
  });

  test.each(["before the service receives it", "after the service has applied it"])(
    "a map is completed without duplicates when its worker and process are killed at a write %s",
    async (moment) => {
      const map = await world.newMap();
      const names = Array.from({ length: 8500 }, (_, n) => `p${n}`);
      put("a.csv", `name,lon,lat\n${names.map((name, n) => `${name},${n % 180},50`).join("\n")}\n`);
      put("job.yaml", `name: m\nsteps:\n  - {name: m, source: a.csv, target: {map: ${map}, remoteField: name}}\n`);
      await using proxy = await FaultProxy.start(world.url);
      const sent: { readonly key: string; readonly features: number; readonly status: number }[] = [];
      let first: WorkerHandle | null = null;
      proxy.always({
        name: "recorded",
        async around(request, upstream) {
          const answer = await upstream.send(request);
          if (request.method !== "POST") return answer;
          const { features } = JSON.parse(request.body.toString()) as { readonly features: readonly unknown[] };
          const key = String(request.headers["idempotency-key"]);
          sent.push({ key, features: features.length, status: answer.status });
          return answer;
        },
      });
      // The first write succeeds, the second one kills the worker.
      proxy.on("POST", 2, {
        name: "killed",
        async around(request, upstream) {
          if (moment.startsWith("after")) await upstream.send(request);
          const { child } = first!;
          const processes = workerProcessesOf(child.pid!);
          await first!.end("SIGKILL");
          for (const pid of processes) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
          throw new ConnectionCut();
        },
      });
      const env = { GEOFERRY_URL: proxy.url };
      first = await fleet.worker("first");
      const ran = runThere("job.yaml", [], { env });
      await waitUntil(() => first!.child.signalCode !== null);
      const second = await fleet.worker("second");
      const { status, report } = await ran;
      expect([status, report.result, report.steps[0]!.items[0]!.worker]).toEqual([0, "done", "second"]);
      expect(second.of("stalled").length).toBeGreaterThan(0);
      const there = (await world.features(map)).map(({ properties }) => properties.name);
      expect(there.sort()).toEqual(names.sort());
      // The service creates features once per idempotency key (Map Features Service Interface, idempotency).
      const created = new Map(sent.filter(({ status }) => status < 300).map(({ key, features }) => [key, features]));
      expect([...created.values()].reduce((sum, count) => sum + count, 0)).toBe(names.length);
      expect(await fleet.left()).toEqual([]);
    },
  );

  test.each<[string, (redis: RedisServer) => Promise<void> | void]>([
    ["is stopped", (redis) => redis.stop()],
    ["hangs", (redis) => redis.freeze()],
  ])("a run that recovers stalled jobs can be interrupted when Redis %s", async (_, lose) => {
    const redis = await RedisServer.start();
    const queue = ["--queue", redis.url];
    let asked = 0;
    const host = await serve(({ method }, response) => {
      if (method === "GET") asked++;
      else response.end();
    });
    put("job.yaml", `name: slow\nsteps:\n  - {name: a, source: "http://${host}/x.csv", target: a.geojson}\n`);
    const flags = ["--stalled-after", "600", "--shutdown-timeout", "0", "--concurrency", "1", "--json"];
    const worker = await fleet.begin([main, "worker", ...queue, ...flags]);
    try {
      await run("job.yaml", queue, {
        watch: (child) => void waitUntil(() => asked > 0 && worker.isAtWork).then(() => child.kill("SIGKILL")),
      });
      // Its lock lasts for ten minutes.
      await worker.end("SIGKILL");
      let began = 0;
      const ran = run("job.yaml", queue, {
        watch: (child) =>
          child.stderr!.on("data", async (text: Buffer) => {
            if (!text.toString().includes("removing them")) return;
            await lose(redis);
            began = performance.now();
            child.kill("SIGINT");
          }),
      });
      const ended = await Promise.race([ran, pause(60_000, null, { ref: false })]);
      expect([ended?.status, ended?.stderr]).toEqual([
        130,
        expect.stringContaining("the next run of this job removes them"),
      ]);
      expect((performance.now() - began) / 1000).toBeLessThan(15);
    } finally {
      await redis.stop();
    }
  });

  test("a run can be interrupted when Redis hangs, and reports the jobs that remain", async () => {
    const redis = await RedisServer.start();
    put("a.csv", "name,lon,lat\nx,1,50\n");
    put("job.yaml", "name: q\nsteps:\n  - {name: a, source: a.csv, target: a.geojson}\n");
    try {
      const client = redis.client();
      const ran = run("job.yaml", ["--queue", redis.url], {
        watch: (child) =>
          void waitUntil(async () => (await client.keys("geoferry:work-*:prioritized")).length > 0).then(() => {
            redis.freeze();
            child.kill("SIGINT");
          }),
      });
      const ended = await Promise.race([ran, pause(60_000, null, { ref: false })]);
      client.disconnect();
      expect([ended?.status, ended?.stderr]).toEqual([130, expect.stringContaining("1 of its jobs remain in")]);
    } finally {
      await redis.stop();
    }
  });

  test("a run removes jobs of an earlier run of which Redis has lost a part", async () => {
    const names = ["a", "b", "c"];
    for (const folder of ["in", "out"]) mkdirSync(at(folder));
    for (const name of names) put(`in/${name}.csv`, "name,lon,lat\nx,1,50\n");
    put("job.yaml", "name: q\nsteps:\n  - {name: a, source: in/*.csv, target: out/, to: geojson}\n");
    const client = fleet.redis.client();
    const enqueued = () => client.keys(`${fleet.prefix}:work-*:${"[0-9a-f]".repeat(16)}.*`);
    try {
      await runThere("job.yaml", [], {
        watch: (child) => void waitUntil(async () => (await enqueued()).length === 3).then(() => child.kill("SIGKILL")),
      });
      const [first, second] = await enqueued();
      await client.hdel(first!, "data");
      await client.del(second!);
      await fleet.worker("w");
      const ran = runThere("job.yaml");
      const ended = await Promise.race([ran, pause(60_000, null, { ref: false })]);
      expect(ended?.status).toBe(0);
      expect(Object.keys(bytes("out")).sort()).toEqual(names.map((name) => `${name}.geojson`));
      expect(await fleet.left()).toEqual([]);
    } finally {
      client.disconnect();
    }
  });

  describe("the run after a killed one whose append", () => {
    const keys = async (pattern: string) => {
      const client = fleet.redis.client();
      const found = await client.keys(`${fleet.prefix}:${pattern}`);
      client.disconnect();
      return found;
    };
    /** Kills a run that waits for an append. */
    async function kill(): Promise<void> {
      put("a.csv", "name,lon,lat\nx,1,50\n");
      put("target.csv", "name,WKT\nw,POINT (1 1)\n");
      put("job.yaml", "name: q\nsteps:\n  - {name: a, source: a.csv, target: target.csv, append: true}\n");
      const isEnqueued = async () => (await keys("work-*:prioritized")).length > 0;
      const { signal } = await runThere("job.yaml", [], {
        watch: (child) => void waitUntil(isEnqueued).then(() => child.kill("SIGKILL")),
      });
      expect(signal).toBe("SIGKILL");
    }
    const lines = () => readFileSync(at("target.csv"), "utf8").trim().split("\n");
    async function append(): Promise<WorkerHandle> {
      const worker = await fleet.worker("w");
      await waitUntil(() => worker.of("done").length === 1);
      expect(lines()).toHaveLength(3);
      return worker;
    }
    /** Redis loses everything. */
    async function clear(): Promise<void> {
      const client = fleet.redis.client();
      await client.del(...(await keys("*")));
      client.disconnect();
    }

    test("was done days ago recognizes it", async () => {
      await kill();
      await append();
      const client = fleet.redis.client();
      const [completed] = await keys("work-*:completed");
      const [id] = await client.zrange(completed!, "0", "-1");
      await client.zadd(completed!, String(Date.now() - 30 * 3600_000), id!);
      client.disconnect();
      put("other.yaml", "name: o\nsteps:\n  - {name: o, source: a.csv, target: o.csv}\n");
      expect((await runThere("other.yaml")).status).toBe(0);
      const { status, report } = await runThere("job.yaml");
      expect([status, report.result, lines().length]).toEqual([0, "unchanged", 3]);
    });

    test("was done, but whose result Redis has lost, does not append without a word", async () => {
      await kill();
      await (await append()).end();
      await clear();
      const { status, report } = await runThere("job.yaml");
      expect([status, report.steps[0]!.error!.code, lines().length]).toEqual([12, "append-outcome-unknown", 3]);
    });

    test.each(["done", "waiting"])(
      "is %s does not append without the queue, and recognizes it with the queue",
      async (is) => {
        await kill();
        if (is === "done") await append();
        const count = lines().length;
        const without = await run("job.yaml");
        expect([without.status, without.report.steps[0]!.error!.code]).toEqual([12, "append-outcome-unknown"]);
        expect(without.stderr).toContain("run the job with that queue");
        expect(lines()).toHaveLength(count);
        if (is === "waiting") await append();
        const { status, report } = await runThere("job.yaml");
        expect([status, report.result, lines().length]).toEqual([0, "unchanged", 3]);
      },
    );

    test("was recognized although another program has appended to the file since", async () => {
      await kill();
      await append();
      appendFileSync(at("target.csv"), "y,POINT (2 2)\n");
      const { status, report } = await runThere("job.yaml");
      expect([status, report.result, lines().length]).toEqual([0, "unchanged", 4]);
    });

    test("was lost by Redis before a worker took it appends", async () => {
      await kill();
      await clear();
      await fleet.worker("w");
      const { status } = await runThere("job.yaml");
      expect([status, lines().length]).toEqual([0, 3]);
    });

    test("was removed from the queue appends, although another program has appended since", async () => {
      await kill();
      const other = await runThere("job.yaml", [], {
        watch: (child) =>
          child.stderr!.on("data", (text: Buffer) => {
            if (text.toString().includes("removing them")) setTimeout(() => child.kill("SIGINT"), 1500);
          }),
      });
      expect(other.status).toBe(130);
      appendFileSync(at("target.csv"), "y,POINT (2 2)\n");
      await fleet.worker("w");
      const { status } = await runThere("job.yaml");
      expect([status, lines().length]).toEqual([0, 4]);
    });
  });

  test("an append to a map whose job Redis has lost is not repeated, since a worker may have done it", async () => {
    const map = await world.newMap();
    put("append.csv", "name,lon,lat\nx,1,1\n");
    put("append.yaml", `name: m\nsteps:\n  - {name: a, source: append.csv, target: {map: ${map}, mode: append}}\n`);
    const ran = runThere("append.yaml");
    const client = fleet.redis.client();
    await waitUntil(async () => (await client.keys(`${fleet.prefix}:map-*:prioritized`)).length > 0);
    await client.del(...(await client.keys(`${fleet.prefix}:*`)));
    await fleet.worker("w");
    const { status, report } = await ran;
    expect([status, report.steps[0]!.error?.code]).toEqual([12, "append-interrupted"]);
    expect(await world.features(map)).toEqual([]);
    client.disconnect();
  });

  test("a worker shuts down on SIGTERM when Redis is stopped", async () => {
    const redis = await RedisServer.start();
    const flags = ["--queue", redis.url, "--shutdown-timeout", "1", "--concurrency", "1", "--json"];
    const worker = await fleet.begin([main, "worker", ...flags]);
    await redis.stop();
    await waitUntil(() => worker.of("disconnected").length > 0);
    const ended = worker.end();
    expect(await Promise.race([ended, pause(60_000, "hangs")])).toBe(0);
  });
});

/** Keys of a queue that another program has changed in Redis: the run ends with a message, and later runs work. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { workQueueName } from "../../../src/jobs/queue/queue-names.js";
import { ServedJobFixture } from "../../support/jobs/served-job-fixture.js";
import { WorkerFleet, waitUntil } from "../../support/jobs/worker-fleet.js";
import { hasRedis } from "../../support/servers/redis.js";

const { at, put, environment, runServed: run } = await ServedJobFixture.open();

describe.runIf(hasRedis)("a damaged queue", () => {
  const fleet = new WorkerFleet(environment);

  function connect(): Redis {
    const client = fleet.redis.client();
    onTestFinished(() => client.disconnect());
    return client;
  }

  /** Writes a job of two files, named after the target folder. */
  function writeJob(name: string): string {
    for (const folder of [`in-${name}`, name]) mkdirSync(at(folder), { recursive: true });
    for (const file of ["a", "b"]) put(`in-${name}/${file}.csv`, `ref,lon,lat\n${file},1,2\n`);
    put(
      `${name}.yaml`,
      `name: job-${name}\nsteps:\n  - {name: c, source: in-${name}/*.csv, target: ${name}/, to: geojson}\n`,
    );
    return `${name}.yaml`;
  }

  const start = (job: string) => run(job, fleet.flags);

  /** Key of the job of the first file, once both wait. */
  async function waitingJob(client: Redis): Promise<string> {
    let keys: string[] = [];
    await waitUntil(async () => {
      keys = (await client.keys(`${fleet.prefix}:${workQueueName}:*.*`)).sort();
      return keys.length === 2;
    });
    return keys[0]!;
  }

  test.each<readonly [string, readonly [member: string, value: string][], string]>([
    ["data", [["data", "{garbage"]], "not a JSON object"],
    ["null", [["data", "null"]], "not a JSON object"],
    ["list", [["data", "[]"]], "not a JSON object"],
    ["opts", [["opts", "{bad"]], "not a JSON object"],
    ["progress", [["progress", "{bad"]], "not a JSON object"],
  ])("fails a job with unreadable data (%s), and only that", async (name, changes, reason) => {
    const client = connect();
    const job = writeJob(name);
    const ran = start(job);
    const key = await waitingJob(client);
    for (const [member, value] of changes) await client.hset(key, member, value);
    const worker = await fleet.worker("w");
    const { status, report } = await ran;
    expect([status, JSON.stringify(report)]).toEqual([10, expect.stringContaining("queue-job-damaged")]);
    expect(JSON.stringify(report)).toContain(reason);
    expect(worker.of("done")).toHaveLength(1);
    expect((await start(job)).status).toBe(0);
    await worker.end();
  });

  test("fails jobs whose data or hash another program has deleted", async () => {
    const client = connect();
    const ran = start(writeJob("deleted"));
    const key = await waitingJob(client);
    await client.del(key);
    await client.hdel(key.replace(/0$/, "1"), "data");
    const worker = await fleet.worker("w");
    const { status, report } = await ran;
    expect(status).toBe(10);
    expect(JSON.stringify(report).match(/its data is missing/g)?.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(report)).not.toContain("undefined");
    await worker.end();
  });

  test("does not run an unknown kind of work as a conversion", async () => {
    const client = connect();
    const job = writeJob("kind");
    const ran = start(job);
    const key = await waitingJob(client);
    const data = (await client.hget(key, "data"))!;
    await client.hset(key, "data", data.replace('"kind":"conversion"', '"kind":"nonsense"'));
    const worker = await fleet.worker("w");
    const { status, report } = await ran;
    expect([status, JSON.stringify(report)]).toEqual([10, expect.stringContaining("unknown kind of work")]);
    await worker.end();
  });

  test("a damaged job of an interrupted run is removed by the next one", async () => {
    const client = connect();
    const job = writeJob("left");
    let child: ChildProcess | undefined;
    const ran = run(job, fleet.flags, {
      watch: (one) => {
        child = one;
      },
    });
    const key = await waitingJob(client);
    await client.hset(key, "data", "{garbage", "opts", "{bad");
    child!.kill("SIGKILL");
    await ran;
    const worker = await fleet.worker("w");
    expect((await start(job)).status).toBe(0);
    expect(await client.exists(key)).toBe(0);
    await worker.end();
  });

  test("a damaged job that no run waits for ends as failed", async () => {
    const client = connect();
    const ran = start(writeJob("unwatched"));
    const worker = await fleet.worker("w");
    await ran;
    const forged = `${fleet.prefix}:${workQueueName}:forged.x.0`;
    await client.hset(forged, { name: "c", data: "{garbage", opts: "{bad", timestamp: "1", delay: "0", priority: "0" });
    await client.lpush(`${fleet.prefix}:${workQueueName}:wait`, "forged.x.0");
    await client.zadd(`${fleet.prefix}:${workQueueName}:marker`, 0, "0");
    await waitUntil(() => worker.of("failed").length > 0);
    expect(worker.of("failed")[0]!.message).toContain("forged.x.0: the queue has a damaged job");
    // The worker says so before Redis has it among the failed ones.
    await waitUntil(async () => (await client.llen(`${fleet.prefix}:${workQueueName}:active`)) === 0);
    await worker.end();
  });

  test.each([
    ["queues", "queues"],
    ["list", `${workQueueName}:wait`],
    ["stalled", `${workQueueName}:stalled`],
  ])("names a key of another type (%s)", async (name, suffix) => {
    const client = connect();
    const key = `${fleet.prefix}:${suffix}`;
    await client.set(key, "x");
    const { status, stderr } = await start(writeJob(`type-${name}`));
    expect([status, stderr]).toEqual([8, expect.stringContaining(`its key ${key} is a string instead of a `)]);
    const worker = await fleet.worker("w");
    expect(worker.child.exitCode).toBe(8);
    expect(worker.stderr).toContain(key);
  });
});

/** Outcomes that the run command reads from Redis when it has missed their events. */
import { Queue, Worker } from "bullmq";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DispatchedJob, readOutcome } from "../../../src/jobs/queue/dispatcher/job-dispatcher.js";
import { waitUntil } from "../../support/jobs/worker-fleet.js";
import { hasRedis, RedisServer } from "../../support/servers/redis.js";

describe.runIf(hasRedis)("the outcome of a job", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  /** Runs a job twice; both attempts throw or return what `attempt` does. */
  async function runTwice(name: string, attempt: (number: number) => object): Promise<DispatchedJob> {
    const connection = { host: "127.0.0.1", port: redis.port };
    const queue = new Queue(name, { connection });
    const worker = new Worker(name, async ({ attemptsMade }) => attempt(attemptsMade + 1), { connection });
    try {
      const { id } = await queue.add("a", {}, { attempts: 2 });
      await waitUntil(
        async () =>
          (await queue.getJobCounts("completed", "failed")).failed === 1 || (await queue.getCompletedCount()) === 1,
      );
      return (await queue.getJob(id!)) as DispatchedJob;
    } finally {
      await worker.close();
      await queue.close();
    }
  }

  test("is the result of the last attempt, although an earlier one failed", async () => {
    const job = await runTwice("retried", (number) => {
      if (number === 1) throw new Error("OOM command not allowed when used memory > 'maxmemory'");
      return { worker: "a", attempts: number };
    });
    expect(job.failedReason).toContain("OOM");
    expect(readOutcome(job, "a.csv")).toEqual({ returnValue: { worker: "a", attempts: 2 } });
  });

  test("is the failure of the last attempt", async () => {
    const job = await runTwice("failing", (number) => {
      throw new Error(`attempt ${number}`);
    });
    expect(readOutcome(job, "a.csv")).toMatchObject({
      failure: { code: "worker-lost", message: expect.stringContaining("attempt 2") },
      attempts: 2,
    });
  });
});

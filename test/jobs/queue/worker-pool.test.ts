import { type ChildProcess, fork } from "node:child_process";
import { expect, test } from "vitest";
import { WorkerPool } from "../../../src/jobs/queue/worker/worker-pool.js";
import { main } from "../../support/command.js";

/** Starts the command, which sends no message. */
const start = (signal?: NodeJS.Signals): ChildProcess => {
  const child = fork(main, ["no-such-command"], { stdio: "ignore" });
  if (signal) child.kill(signal);
  return child;
};

test.each<[string, NodeJS.Signals | undefined, string]>([
  ["was killed", "SIGKILL", "its process ended with SIGKILL before it started a job"],
  ["has ended", undefined, "its process ended with 2 before it started a job"],
])("a process that %s before it is ready is an error of the worker", async (_, signal, reason) => {
  await using pool = new WorkerPool(() => start(signal), 0);
  await expect(pool.acquire("w1")).rejects.toMatchObject({
    code: "worker-incompatible",
    message: expect.stringContaining(reason),
  });
});

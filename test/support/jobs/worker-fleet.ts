/** Workers on a separate Redis, for tests of the queue. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll } from "vitest";
import { main } from "../command.js";
import { RedisServer } from "../servers/redis.js";

/** A line of a worker's log. */
export interface LogLine {
  readonly time: string;
  readonly type: string;
  readonly job?: string;
  readonly what?: string;
  readonly message?: string;
  readonly notice?: string;
}

/** Polls until a condition holds. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(20);
}

export class WorkerHandle {
  readonly said: LogLine[] = [];
  stderr = "";
  private readonly ended: Promise<unknown[]>;

  constructor(readonly child: ChildProcess) {
    this.ended = once(child, "close");
    let rest = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.said.push(...lines.map((line) => JSON.parse(line) as LogLine));
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
  }

  of = (type: string): LogLine[] => this.said.filter((one) => one.type === type);

  get isAtWork(): boolean {
    const ended = ["done", "failed", "refused", "requeued", "split"].flatMap(this.of);
    return this.of("started").length > ended.length;
  }

  /** @returns the exit status */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.child.kill(signal);
    const [status] = await this.ended;
    return status as number | null;
  }
}

/** Create it at the top of a test file: each test uses separate names in Redis, and its workers end with it. */
export class WorkerFleet {
  redis!: RedisServer;
  private readonly workers: WorkerHandle[] = [];
  private tests = 0;

  constructor(private readonly environment: () => NodeJS.ProcessEnv) {
    beforeAll(async () => {
      this.redis = await RedisServer.start();
    });
    afterEach(async () => {
      await Promise.all(this.workers.splice(0).map((worker) => worker.end("SIGKILL")));
      this.tests++;
    });
    afterAll(() => this.redis?.stop());
  }

  get prefix(): string {
    return `test${this.tests}`;
  }

  /** Flags for `geoferry run`. */
  get flags(): string[] {
    return ["--queue", this.redis.url, "--queue-prefix", this.prefix];
  }

  /** Starts a worker; an unresponsive one is soon considered dead. */
  worker(name: string, flags: readonly string[] = [], program = main): Promise<WorkerHandle> {
    const width = flags.includes("--concurrency") ? [] : ["--concurrency", "1"];
    const takeover = flags.includes("--stalled-after") ? [] : ["--stalled-after", "3"];
    const usual = ["--name", name, ...takeover, ...width, "--json"];
    return this.begin([program, "worker", ...this.flags, ...usual, ...flags]);
  }

  /** @param words a command, without Node */
  async begin(words: readonly string[]): Promise<WorkerHandle> {
    const child = spawn(process.execPath, words, {
      env: { ...process.env, NO_COLOR: "1", ...this.environment() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const worker = new WorkerHandle(child);
    this.workers.push(worker);
    await waitUntil(() => worker.of("ready").length > 0 || child.exitCode !== null);
    return worker;
  }

  /** Keys in Redis that contain jobs. */
  async left(): Promise<string[]> {
    const client = this.redis.client();
    const keys = await client.keys(`${this.prefix}:*`);
    client.disconnect();
    const history = /:(meta|events|id|stalled-check|marker|pc|queues)$/;
    return keys.filter((key) => !history.test(key));
  }
}

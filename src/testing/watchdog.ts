import { Worker } from "node:worker_threads";

/** Waits for a heartbeat in shared memory; where none comes in time it says what hangs and ends the process. */
const watchdogProgram = `
const { workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { state, text, limit } = workerData;
for (;;) {
  const seen = Atomics.load(state, 0);
  const outcome = Atomics.wait(state, 0, seen, limit);
  if (Atomics.load(state, 1) === 2) break;
  if (outcome === "timed-out" && Atomics.load(state, 1) === 1 && Atomics.load(state, 0) === seen) {
    const words = Buffer.from(Uint8Array.from(text.subarray(0, Atomics.load(state, 2)))).toString("utf8");
    writeSync(2, "geoferry/testing: " + words + " does not end (waited " + limit + " ms)\\n");
    process.kill(process.pid, "SIGKILL");
  }
}
`;

const maxTextBytes = 1024;

/**
 * Guards code that may hang without ever giving the thread back, as damaged files make it do: nothing on the same thread
 * can stop it, so that the process is ended with a message instead of waiting for ever.
 */
export class Watchdog {
  private readonly state = new Int32Array(new SharedArrayBuffer(12));
  private readonly text = new Uint8Array(new SharedArrayBuffer(maxTextBytes));
  private readonly worker: Worker;

  /** @param limit milliseconds that one guarded call may take */
  constructor(private readonly limit: number) {
    // Much longer than the limit that is checked between reads: only what truly hangs is worth a process.
    const workerData = { state: this.state, text: this.text, limit: limit * 2 };
    this.worker = new Worker(watchdogProgram, { eval: true, workerData });
    this.worker.unref();
  }

  /** Runs `run`, which must end in time. @param what the thing done, for the message: "reading /tmp/x" */
  async guard<T>(what: string, run: () => Promise<T>): Promise<T> {
    const { written } = new TextEncoder().encodeInto(what, this.text);
    Atomics.store(this.state, 2, written);
    Atomics.store(this.state, 1, 1);
    this.beat();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} does not end (waited ${this.limit} ms)`)), this.limit);
    });
    try {
      return await Promise.race([run(), late]);
    } finally {
      clearTimeout(timer);
      Atomics.store(this.state, 1, 0);
      this.beat();
    }
  }

  private beat(): void {
    Atomics.add(this.state, 0, 1);
    Atomics.notify(this.state, 0);
  }

  stop(): void {
    Atomics.store(this.state, 1, 2);
    this.beat();
  }
}

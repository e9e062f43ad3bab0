import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { createError, fromPlainError, GeoferryError } from "../../../errors.js";
import { problem } from "../../http/problems.js";
import type { ThreadMethod, ThreadOptions, ThreadReply, ThreadRequest } from "./protocol.js";

// Always the built file, since a worker cannot run TypeScript.
const threadPath = createRequire(import.meta.url).resolve("#sqlite-store");

interface PendingCall {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Problems by error code of the store. The original error is kept as the cause, for the log. */
const problemCodes: Readonly<Record<string, "store-unavailable" | "disk-full">> = {
  "store-unavailable": "store-unavailable",
  "store-replaced": "store-unavailable",
  "store-full": "disk-full",
};

function toProblem(error: unknown): unknown {
  const code = error instanceof GeoferryError ? problemCodes[error.code] : undefined;
  return code === undefined ? error : problem(code, {}, { cause: error });
}

/** Client of a store thread. The thread starts at once; its database must be opened. */
export class StoreThread {
  private readonly worker: Worker;
  private readonly pending = new Map<number, PendingCall>();
  /** Resolves with the cause after the thread has ended. */
  readonly end: Promise<unknown>;
  private opening: PendingCall | undefined;
  private ended: unknown;
  private nextId = 0;

  constructor(options: ThreadOptions) {
    this.worker = new Worker(threadPath, { workerData: options });
    this.worker.on("message", (reply: ThreadReply) => this.onMessage(reply));
    let reason: unknown;
    const end = (cause: unknown) => {
      reason ??= cause;
      this.ended ??= createError("store-unavailable", { store: options.path, reason: "its thread has ended" }, cause);
      this.opening?.reject(this.ended);
      for (const { reject } of this.pending.values()) reject(toProblem(this.ended));
      this.pending.clear();
    };
    this.worker.on("error", end);
    this.end = new Promise((resolve) => {
      this.worker.on("exit", (code) => {
        end(new Error(`exit status ${code}`));
        resolve(reason);
      });
    });
  }

  private onMessage(reply: ThreadReply): void {
    if ("open" in reply) {
      if (reply.open) this.opening?.resolve(null);
      else this.opening?.reject(fromPlainError(reply.error));
      return;
    }
    const waiting = this.pending.get(reply.id);
    this.pending.delete(reply.id);
    if ("error" in reply) waiting?.reject(toProblem(fromPlainError(reply.error)));
    else waiting?.resolve(reply.result);
  }

  private send(request: ThreadRequest): void {
    this.worker.postMessage(request);
  }

  /** Call it once, before any method. */
  async open(): Promise<void> {
    if (this.ended) throw this.ended;
    await new Promise((resolve, reject) => {
      this.opening = { resolve, reject };
      this.send({ open: true });
    });
  }

  /** Does not wait for a busy thread. @throws store-unavailable after the thread has ended */
  expectAlive(): void {
    if (this.ended) throw toProblem(this.ended);
  }

  /** Number of pending calls; infinite after the thread has ended. */
  get load(): number {
    return this.ended ? Number.POSITIVE_INFINITY : this.pending.size;
  }

  call(method: ThreadMethod, values: readonly unknown[]): Promise<unknown> {
    if (this.ended) return Promise.reject(toProblem(this.ended));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.send({ id, method, values });
    });
  }

  /** Waits for pending calls. */
  async close(): Promise<void> {
    if (!this.ended) this.send({ close: true });
    await this.end;
  }
}

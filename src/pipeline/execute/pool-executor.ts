import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { fromPlainError, type PlainError } from "../../errors.js";
import { transferableBuffers } from "../../model/batch.js";
import { BufferReleaser } from "./buffer-releaser.js";
import { type Executor, mapInOrder, type TaskHandle } from "./executor.js";
import { releasableBuffers } from "./releasable-buffers.js";
import type { FormatRef, Piece, PieceResult, ScanSpec, TaskSpec } from "./task.js";

/** Formats that worker threads load before they get tasks. */
export interface PreloadFormats {
  readonly readers: readonly FormatRef[];
  readonly writers: readonly FormatRef[];
}

export type WorkerRequest =
  /** Loads formats before tasks need them. */
  | { readonly kind: "load"; readonly formats: PreloadFormats }
  | { readonly kind: "open"; readonly task: number; readonly spec: TaskSpec }
  | { readonly kind: "run"; readonly task: number; readonly id: number; readonly piece: Piece }
  | { readonly kind: "close"; readonly task: number }
  | { readonly kind: "scan-part"; readonly id: number; readonly spec: ScanSpec; readonly part: unknown }
  /** Returns buffers of written results for reuse. */
  | { readonly kind: "memory"; readonly buffers: readonly ArrayBuffer[] };

export type WorkerReply =
  | {
      readonly id: number;
      readonly result: PieceResult;
      /** The buffers of the result that the worker wants back. */
      readonly acquiredBuffers: ArrayBuffer[];
      readonly error?: undefined;
    }
  | { readonly id: number; readonly scanned: unknown; readonly result?: undefined; readonly error?: undefined }
  | { readonly id: number; readonly error: PlainError; readonly result?: undefined };

type SuccessReply = Exclude<WorkerReply, { error: PlainError }>;

interface PendingReply {
  resolve(reply: SuccessReply): void;
  reject(error: unknown): void;
}

/** The worker that produced a result, and the buffers to return to it. */
interface ResultOrigin {
  readonly worker: PoolWorker;
  readonly acquiredBuffers: ArrayBuffer[];
}

interface PoolWorker {
  readonly thread: Worker;
  readonly pendingReplies: Map<number, PendingReply>;
  readonly openTasks: Set<number>;
}

// Always the compiled file, since a worker cannot run TypeScript.
const workerPath = createRequire(import.meta.url).resolve("#worker");

/** Megabytes. Batches are in buffers outside the heap: a small young generation is collected, and frees them, more often. */
const workerResourceLimits = { maxYoungGenerationSizeMb: 8 };

/** Runs tasks on worker threads. Each piece goes to the worker with the fewest pending pieces. */
export class PoolExecutor implements Executor {
  readonly parallelism: number;
  private workers: PoolWorker[] = [];
  private nextTaskId = 0;
  private nextId = 0;
  private failure: unknown;
  private readonly resultOrigins = new WeakMap<PieceResult, ResultOrigin>();
  private readonly bufferReleaser = new BufferReleaser();

  constructor(private readonly threadCount: number) {
    this.parallelism = threadCount;
  }

  /** Starts the threads unless they are running. @param preload the formats to load first */
  start(preload?: PreloadFormats): void {
    if (this.workers.length > 0) return;
    this.workers = Array.from({ length: this.threadCount }, () => {
      const worker: PoolWorker = {
        thread: new Worker(workerPath, { resourceLimits: workerResourceLimits }),
        pendingReplies: new Map(),
        openTasks: new Set(),
      };
      worker.thread.on("message", (reply: WorkerReply) => {
        const waiting = worker.pendingReplies.get(reply.id);
        worker.pendingReplies.delete(reply.id);
        if (reply.error) waiting?.reject(fromPlainError(reply.error));
        else {
          if (reply.result) this.resultOrigins.set(reply.result, { worker, acquiredBuffers: reply.acquiredBuffers });
          waiting?.resolve(reply);
        }
      });
      const onDeath = (error: unknown) => {
        this.failure ??= error;
        for (const waiting of worker.pendingReplies.values()) waiting.reject(error);
        worker.pendingReplies.clear();
      };
      worker.thread.on("error", onDeath);
      worker.thread.on("exit", (code) => onDeath(new Error(`a worker thread exited with code ${code}`)));
      if (preload) worker.thread.postMessage({ kind: "load", formats: preload } satisfies WorkerRequest);
      return worker;
    });
  }

  async open(spec: TaskSpec): Promise<TaskHandle> {
    this.start();
    const task = this.nextTaskId++;
    return {
      run: (piece) => this.run(task, spec, piece),
      close: async () => {
        for (const worker of this.workers) {
          if (worker.openTasks.delete(task)) worker.thread.postMessage({ kind: "close", task } satisfies WorkerRequest);
        }
      },
    };
  }

  private async run(task: number, spec: TaskSpec, piece: Piece): Promise<PieceResult> {
    const worker = this.leastBusy();
    if (!worker.openTasks.has(task)) {
      worker.openTasks.add(task);
      worker.thread.postMessage({ kind: "open", task, spec } satisfies WorkerRequest);
    }
    const id = this.nextId++;
    const { result } = await this.request(worker, { kind: "run", task, id, piece }, transferableBuffers(piece));
    return result!;
  }

  scanParts(spec: ScanSpec, parts: AsyncIterable<unknown>): AsyncIterable<unknown> {
    this.start();
    return mapInOrder(parts, this.parallelism + 1, async (part) => {
      const answer = await this.request(this.leastBusy(), { kind: "scan-part", id: this.nextId++, spec, part });
      return "scanned" in answer ? answer.scanned : undefined;
    });
  }

  /** @throws the error that ended a thread */
  private leastBusy(): PoolWorker {
    if (this.failure) throw this.failure;
    return this.workers.reduce((least, other) =>
      other.pendingReplies.size < least.pendingReplies.size ? other : least,
    );
  }

  private request(
    worker: PoolWorker,
    request: WorkerRequest & { id: number },
    transfer: ArrayBuffer[] = [],
  ): Promise<SuccessReply> {
    return new Promise((resolve, reject) => {
      worker.pendingReplies.set(request.id, { resolve, reject });
      worker.thread.postMessage(request, transfer);
    });
  }

  /** Returns the worker's own buffers to it, and frees the others. */
  releaseBuffers(result: PieceResult): void {
    const origin = this.resultOrigins.get(result);
    const buffers = new Set(releasableBuffers(result));
    for (const buffer of origin?.acquiredBuffers ?? []) buffers.delete(buffer);
    this.bufferReleaser.free([...buffers]);
    if (!origin || origin.acquiredBuffers.length === 0) return;
    const { worker, acquiredBuffers } = origin;
    worker.thread.postMessage({ kind: "memory", buffers: acquiredBuffers } satisfies WorkerRequest, acquiredBuffers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.bufferReleaser.close();
    await Promise.all(this.workers.map((worker) => worker.thread.terminate()));
  }
}

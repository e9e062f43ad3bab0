import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { fromPlainError, type PlainError } from "../../errors.js";
import { transferableBuffers } from "../../model/batch.js";
import { BufferReleaser } from "./buffer-releaser.js";
import { type Executor, mapInOrder, type OpenTask } from "./executor.js";
import type { FormatRef, Piece, PieceResult, ScanSpec, TaskSpec } from "./task.js";

/** Formats that tasks will read and write with. */
export interface PreloadFormats {
  readonly readers: readonly FormatRef[];
  readonly writers: readonly FormatRef[];
}

export type WorkerRequest =
  /** Loads what tasks will want, ahead of them. */
  | { readonly kind: "load"; readonly formats: PreloadFormats }
  | { readonly kind: "open"; readonly task: number; readonly spec: TaskSpec }
  | { readonly kind: "run"; readonly task: number; readonly id: number; readonly piece: Piece }
  | { readonly kind: "close"; readonly task: number }
  | { readonly kind: "prescan"; readonly id: number; readonly spec: ScanSpec; readonly piece: unknown }
  /** Buffers of results that were written, to be used again. */
  | { readonly kind: "memory"; readonly buffers: readonly ArrayBuffer[] };

export type WorkerReply =
  | {
      readonly id: number;
      readonly result: PieceResult;
      /** Those of its buffers that the worker wants back. */
      readonly borrowed: ArrayBuffer[];
      readonly error?: undefined;
    }
  | { readonly id: number; readonly scanned: unknown; readonly result?: undefined; readonly error?: undefined }
  | { readonly id: number; readonly error: PlainError; readonly result?: undefined };

type SuccessReply = Exclude<WorkerReply, { error: PlainError }>;

interface PendingReply {
  resolve(answer: SuccessReply): void;
  reject(error: unknown): void;
}

/** Which worker a result came from, and what goes back to it. */
interface ResultOrigin {
  readonly worker: PoolWorker;
  readonly borrowed: ArrayBuffer[];
}

interface PoolWorker {
  readonly worker: Worker;
  readonly waiting: Map<number, PendingReply>;
  readonly openTasks: Set<number>;
}

// Always the built file: a worker cannot run TypeScript.
const workerPath = createRequire(import.meta.url).resolve("#worker");

/** Megabytes: batches live in buffers outside of the heap, and a small one is swept, and they with it, more often. */
const workerResourceLimits = { maxYoungGenerationSizeMb: 8 };

/** Runs tasks on worker threads. A piece of work goes to the member with the least to do. */
export class PoolExecutor implements Executor {
  readonly parallelism: number;
  private workers: PoolWorker[] = [];
  private tasks = 0;
  private pieces = 0;
  private failure: unknown;
  private readonly origins = new WeakMap<PieceResult, ResultOrigin>();
  private readonly bufferReleaser = new BufferReleaser();

  constructor(private readonly threads: number) {
    this.parallelism = threads;
  }

  /** Begins the threads, unless they are there. @param likely what they load meanwhile */
  start(likely?: PreloadFormats): void {
    if (this.workers.length > 0) return;
    this.workers = Array.from({ length: this.threads }, () => {
      const worker: PoolWorker = {
        worker: new Worker(workerPath, { resourceLimits: workerResourceLimits }),
        waiting: new Map(),
        openTasks: new Set(),
      };
      worker.worker.on("message", (reply: WorkerReply) => {
        const waiting = worker.waiting.get(reply.id);
        worker.waiting.delete(reply.id);
        if (reply.error) waiting?.reject(fromPlainError(reply.error));
        else {
          if (reply.result) this.origins.set(reply.result, { worker, borrowed: reply.borrowed });
          waiting?.resolve(reply);
        }
      });
      const died = (error: unknown) => {
        this.failure ??= error;
        for (const waiting of worker.waiting.values()) waiting.reject(error);
        worker.waiting.clear();
      };
      worker.worker.on("error", died);
      worker.worker.on("exit", (code) => died(new Error(`a worker thread ended with ${code}`)));
      if (likely) worker.worker.postMessage({ kind: "load", formats: likely } satisfies WorkerRequest);
      return worker;
    });
  }

  async open(spec: TaskSpec): Promise<OpenTask> {
    this.start();
    const task = this.tasks++;
    return {
      run: (work) => this.run(task, spec, work),
      close: async () => {
        for (const member of this.workers) {
          if (member.openTasks.delete(task)) member.worker.postMessage({ kind: "close", task } satisfies WorkerRequest);
        }
      },
    };
  }

  private async run(task: number, spec: TaskSpec, piece: Piece): Promise<PieceResult> {
    const member = this.leastBusy();
    if (!member.openTasks.has(task)) {
      member.openTasks.add(task);
      member.worker.postMessage({ kind: "open", task, spec } satisfies WorkerRequest);
    }
    const id = this.pieces++;
    const { result } = await this.request(member, { kind: "run", task, id, piece }, transferableBuffers(piece));
    return result!;
  }

  scanParts(spec: ScanSpec, pieces: AsyncIterable<unknown>): AsyncIterable<unknown> {
    this.start();
    return mapInOrder(pieces, this.parallelism + 1, async (piece) => {
      const answer = await this.request(this.leastBusy(), { kind: "prescan", id: this.pieces++, spec, piece });
      return "scanned" in answer ? answer.scanned : undefined;
    });
  }

  /** @throws what ended a thread */
  private leastBusy(): PoolWorker {
    if (this.failure) throw this.failure;
    return this.workers.reduce((least, other) => (other.waiting.size < least.waiting.size ? other : least));
  }

  private request(
    member: PoolWorker,
    request: WorkerRequest & { id: number },
    handed: ArrayBuffer[] = [],
  ): Promise<SuccessReply> {
    return new Promise((resolve, reject) => {
      member.waiting.set(request.id, { resolve, reject });
      member.worker.postMessage(request, handed);
    });
  }

  /** What a worker had borrowed goes back to it. */
  releaseBuffers(result: PieceResult): void {
    const origin = this.origins.get(result);
    const buffers = new Set(transferableBuffers(result.chunks));
    for (const buffer of origin?.borrowed ?? []) buffers.delete(buffer);
    this.bufferReleaser.free([...buffers]);
    if (!origin || origin.borrowed.length === 0) return;
    const { worker, borrowed } = origin;
    worker.worker.postMessage({ kind: "memory", buffers: borrowed } satisfies WorkerRequest, borrowed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.bufferReleaser.close();
    await Promise.all(this.workers.map((member) => member.worker.terminate()));
  }
}

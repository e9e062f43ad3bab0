import { releaseBuffer } from "../../model/buffer-pool.js";
import { BufferReleaser } from "./buffer-releaser.js";
import type { Executor, TaskHandle } from "./executor.js";
import { releasableBuffers } from "./releasable-buffers.js";
import { type FindFormat, openTask, type PieceResult, TaskSource, type TaskSpec } from "./task.js";

/** Runs tasks on the calling thread, one piece at a time. */
export class LocalExecutor implements Executor {
  readonly parallelism = 1;
  private readonly bufferReleaser = new BufferReleaser();
  /** The source of the last task, for the next layer: opening a source of many layers takes long. */
  private source: TaskSource | null = null;

  constructor(
    private readonly findFormat: FindFormat,
    private readonly signal: AbortSignal,
  ) {}

  async open(spec: TaskSpec): Promise<TaskHandle> {
    const source = this.takeSource(spec) ?? new TaskSource(spec, this.findFormat, this.signal);
    const task = await openTask(spec, this.findFormat, this.signal, source).catch(async (error: unknown) => {
      await source[Symbol.asyncDispose]();
      throw error;
    });
    let last: Promise<unknown> = Promise.resolve();
    let isFailed = false;
    return {
      run(piece) {
        const fetched = task.prefetch(piece);
        fetched.catch(() => undefined);
        const next = last.then(() => task.run(piece, fetched));
        last = next.catch(() => {
          isFailed = true;
        });
        return next;
      },
      close: async () => {
        await last;
        if (isFailed) await source[Symbol.asyncDispose]();
        else await this.keepSource(source);
      },
    };
  }

  private takeSource(spec: TaskSpec): TaskSource | undefined {
    const { source } = this;
    if (!source?.takeLayer(spec)) return undefined;
    this.source = null;
    return source;
  }

  private async keepSource(source: TaskSource): Promise<void> {
    // Replaced before anything is awaited, since several conversions of a batch may end at once.
    const earlier = this.source;
    this.source = source;
    await earlier?.[Symbol.asyncDispose]();
  }

  async closeSource(): Promise<void> {
    const { source } = this;
    this.source = null;
    await source?.[Symbol.asyncDispose]();
  }

  releaseBuffers(result: PieceResult): void {
    this.bufferReleaser.free(releasableBuffers(result).filter((buffer) => !releaseBuffer(buffer)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeSource();
    this.bufferReleaser.close();
  }
}

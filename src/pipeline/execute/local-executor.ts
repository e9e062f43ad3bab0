import { releaseBuffer } from "../../model/buffer-pool.js";
import { BufferReleaser } from "./buffer-releaser.js";
import type { Executor, TaskHandle } from "./executor.js";
import { releasableBuffers } from "./releasable-buffers.js";
import { type FindFormat, openTask, type PieceResult, type Task, type TaskSpec } from "./task.js";

/** Runs tasks on the calling thread, one piece at a time. */
export class LocalExecutor implements Executor {
  readonly parallelism = 1;
  private readonly bufferReleaser = new BufferReleaser();

  constructor(
    private readonly findFormat: FindFormat,
    private readonly signal: AbortSignal,
  ) {}

  async open(spec: TaskSpec): Promise<TaskHandle> {
    const task: Task = await openTask(spec, this.findFormat, this.signal);
    let last: Promise<unknown> = Promise.resolve();
    return {
      run(piece) {
        const fetched = task.prefetch(piece);
        fetched.catch(() => undefined);
        const next = last.then(() => task.run(piece, fetched));
        last = next.catch(() => undefined);
        return next;
      },
      async close() {
        await last;
        await task.close();
      },
    };
  }

  releaseBuffers(result: PieceResult): void {
    this.bufferReleaser.free(releasableBuffers(result).filter((buffer) => !releaseBuffer(buffer)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.bufferReleaser.close();
  }
}

import { transferables } from "../model/batch.js";
import { giveBack } from "../model/memory.js";
import { Drain } from "./drain.js";
import type { Executor, OpenTask } from "./executor.js";
import { type FindFormat, openTask, type Task, type TaskSpec, type WorkResult } from "./task.js";

/** Runs tasks on the calling thread, one piece of work of a task at a time. */
export class LocalExecutor implements Executor {
  readonly width = 1;
  private readonly drain = new Drain();

  constructor(
    private readonly findFormat: FindFormat,
    private readonly signal: AbortSignal,
  ) {}

  async open(spec: TaskSpec): Promise<OpenTask> {
    const task: Task = await openTask(spec, this.findFormat, this.signal);
    let last: Promise<unknown> = Promise.resolve();
    return {
      run(work) {
        const fetched = task.fetch(work);
        fetched.catch(() => undefined);
        const next = last.then(() => task.run(work, fetched));
        last = next.catch(() => undefined);
        return next;
      },
      async close() {
        await last;
        await task.close();
      },
    };
  }

  release(result: WorkResult): void {
    this.drain.free(transferables(result.chunks).filter((buffer) => !giveBack(buffer)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain.close();
  }
}

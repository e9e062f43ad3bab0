import { setTimeout as sleep } from "node:timers/promises";
import type { ThreadMethod, ThreadOptions } from "./protocol.js";
import { StoreThread } from "./store-thread.js";

/** An unexpected end of a thread, after running out of memory or a failure of the database library. */
export interface ThreadExit {
  readonly role: ThreadOptions["role"];
  readonly cause: unknown;
  /** Milliseconds until a new thread starts. */
  readonly restartDelay: number;
}

/**
 * Delays before a restart, in milliseconds: none after the first exit within the period, then doubling. Restarts never
 * stop: a service that runs but never responds would need an operator, and the cause, such as one request, may not
 * recur.
 */
const restartDelaysMs = { second: 500, most: 30_000, within: 600_000 } as const;

/**
 * A thread of the store that is restarted when it ends. Pending calls, and calls until the restart, fail with
 * `store-unavailable`; a transaction in progress is rolled back.
 */
export class SupervisedThread {
  private thread: StoreThread;
  private readonly closing = new AbortController();
  private exitTimes: number[] = [];
  private restarting: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: ThreadOptions,
    private readonly onExit: (exit: ThreadExit) => void,
  ) {
    this.thread = new StoreThread(options);
  }

  /** Call it once, before any method. A thread that fails to open is not restarted. */
  async open(): Promise<void> {
    await this.thread.open();
    this.watch(this.thread);
  }

  private watch(thread: StoreThread): void {
    void thread.end.then((cause) => {
      if (!this.closing.signal.aborted) this.restarting = this.restart(cause);
    });
  }

  private async restart(cause: unknown): Promise<void> {
    const now = performance.now();
    this.exitTimes = [...this.exitTimes.filter((end) => end > now - restartDelaysMs.within), now];
    const before = this.exitTimes.length - 1;
    const restartDelay = before === 0 ? 0 : Math.min(restartDelaysMs.second * 2 ** (before - 1), restartDelaysMs.most);
    this.onExit({ role: this.options.role, cause, restartDelay });
    const { signal } = this.closing;
    await sleep(restartDelay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const next = new StoreThread(this.options);
    try {
      await next.open();
      this.thread = next;
      this.watch(next);
    } catch (error) {
      await next.close();
      await this.restart(error);
    }
  }

  /** Does not wait for a busy thread. @throws store-unavailable while there is no thread */
  expectAlive(): void {
    this.thread.expectAlive();
  }

  /** Number of pending calls; infinite while there is no thread. */
  get load(): number {
    return this.thread.load;
  }

  call(method: ThreadMethod, values: readonly unknown[]): Promise<unknown> {
    return this.thread.call(method, values);
  }

  /** Waits for pending calls. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.restarting;
    await this.thread.close();
  }
}

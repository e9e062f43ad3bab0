import { setTimeout as sleep } from "node:timers/promises";
import type { ThreadMethod, ThreadOptions } from "./protocol.js";
import { StoreThread } from "./store-thread.js";

/** A thread ended that no one asked to end: it ran out of memory, or the database's library failed. */
export interface ThreadExit {
  readonly role: ThreadOptions["role"];
  readonly cause: unknown;
  /** Milliseconds until a new one takes its place. */
  readonly restartDelay: number;
}

/**
 * Milliseconds before a new thread: none after the first end within a while, then twice as many each time. There is no
 * end of it: a service that lives and never answers again would have to be found and started again by somebody, and what
 * ends a thread, such as one request, need not come again.
 */
const restartDelaysMs = { second: 500, most: 30_000, within: 600_000 } as const;

/**
 * A member of the store whose thread is replaced when it ends. What it was asked just then is answered by
 * `store-unavailable`, and what is asked until the new one is there, too; a transaction that was under way is undone.
 */
export class SupervisedThread {
  private thread: StoreThread;
  private readonly closing = new AbortController();
  private exitTimes: number[] = [];
  private restarting: Promise<void> = Promise.resolve();

  constructor(
    private readonly role: ThreadOptions,
    private readonly onExit: (end: ThreadExit) => void,
  ) {
    this.thread = new StoreThread(role);
  }

  /** Once, before it is asked anything. A thread that does not come so far is not replaced. */
  async open(): Promise<void> {
    await this.thread.open();
    this.watch(this.thread);
  }

  private watch(member: StoreThread): void {
    void member.end.then((cause) => {
      if (!this.closing.signal.aborted) this.restarting = this.restart(cause);
    });
  }

  private async restart(cause: unknown): Promise<void> {
    const now = performance.now();
    this.exitTimes = [...this.exitTimes.filter((end) => end > now - restartDelaysMs.within), now];
    const before = this.exitTimes.length - 1;
    const restartDelay = before === 0 ? 0 : Math.min(restartDelaysMs.second * 2 ** (before - 1), restartDelaysMs.most);
    this.onExit({ role: this.role.role, cause, restartDelay });
    const { signal } = this.closing;
    await sleep(restartDelay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const next = new StoreThread(this.role);
    try {
      await next.open();
      this.thread = next;
      this.watch(next);
    } catch (error) {
      await next.close();
      await this.restart(error);
    }
  }

  /** @throws store-unavailable while there is no thread; one that is busy is not asked */
  expectAlive(): void {
    this.thread.expectAlive();
  }

  /** How many questions it has not answered yet; infinitely many while there is no thread. */
  get load(): number {
    return this.thread.load;
  }

  call(question: ThreadMethod, values: readonly unknown[]): Promise<unknown> {
    return this.thread.call(question, values);
  }

  /** After all that was asked is answered. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.restarting;
    await this.thread.close();
  }
}

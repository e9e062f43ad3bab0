import { setTimeout as sleep } from "node:timers/promises";
import { Member } from "./member.js";
import type { ThreadQuestion, ThreadRole } from "./protocol.js";

/** A thread ended that nobody asked to end: it ran out of memory, or the database's library failed. */
export interface ThreadEnd {
  readonly role: ThreadRole["role"];
  readonly cause: unknown;
  /** Milliseconds until a new one takes its place. */
  readonly pause: number;
}

/**
 * Milliseconds before a new thread: none after the first end within a while, then twice as many each time. There is no
 * end of it: a service that lives and never answers again would have to be found and started anew by somebody, and what
 * ends a thread, such as one request, need not come again.
 */
const pauses = { second: 500, most: 30_000, within: 600_000 } as const;

/**
 * A member of the store whose thread is replaced when it ends. What it was asked just then is answered by
 * `store-unavailable`, and what is asked until the new one is there, too; a transaction that was under way is undone.
 */
export class LastingMember {
  private member: Member;
  private readonly closing = new AbortController();
  private ends: number[] = [];
  private replacing: Promise<void> = Promise.resolve();

  constructor(
    private readonly role: ThreadRole,
    private readonly report: (end: ThreadEnd) => void,
  ) {
    this.member = new Member(role);
  }

  /** Once, before it is asked anything. A thread that does not come so far is not replaced. */
  async open(): Promise<void> {
    await this.member.open();
    this.watch(this.member);
  }

  private watch(member: Member): void {
    void member.end.then((cause) => {
      if (!this.closing.signal.aborted) this.replacing = this.replace(cause);
    });
  }

  private async replace(cause: unknown): Promise<void> {
    const now = performance.now();
    this.ends = [...this.ends.filter((end) => end > now - pauses.within), now];
    const before = this.ends.length - 1;
    const pause = before === 0 ? 0 : Math.min(pauses.second * 2 ** (before - 1), pauses.most);
    this.report({ role: this.role.role, cause, pause });
    const { signal } = this.closing;
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const next = new Member(this.role);
    try {
      await next.open();
      this.member = next;
      this.watch(next);
    } catch (error) {
      await next.close();
      await this.replace(error);
    }
  }

  /** @throws store-unavailable while there is no thread; one that is busy is not asked */
  expectAlive(): void {
    this.member.expectAlive();
  }

  /** How many questions it has not answered yet; infinitely many while there is no thread. */
  get load(): number {
    return this.member.load;
  }

  ask(question: ThreadQuestion, values: readonly unknown[]): Promise<unknown> {
    return this.member.ask(question, values);
  }

  /** After all that was asked is answered. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.replacing;
    await this.member.close();
  }
}

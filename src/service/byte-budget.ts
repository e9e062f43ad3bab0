import { setTimeout as sleep } from "node:timers/promises";
import { type Problem, problem } from "./problems.js";
import type { Settings } from "./settings.js";

/** Gives the bytes back; once is enough. */
export type Release = () => void;

/**
 * Bytes that requests hold at once, in memory or on a disk. Each account may hold half of what the others leave free, so
 * that there is always room for one more account (dynamic thresholds, as switches use them for queues). An account that
 * holds nothing gets what it asks for where that is free, however much it is.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #used = 0;
  /** Called for each request that is refused. */
  onRefused: () => void = () => {};

  constructor(total: number) {
    this.#total = total;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** Null where there is no room for so many bytes now. */
  take(account: string, bytes: number): Release | null {
    const held = this.#held.get(account) ?? 0;
    const free = this.#total - this.#used;
    const isFair = held === 0 || held + bytes <= (free + held) / 2;
    // Alone, one request is carried out that is larger than the whole.
    if (!isFair || (bytes > free && this.#used > 0)) return null;
    this.#change(account, bytes);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#change(account, -bytes);
      for (const wake of [...this.#waiting]) wake();
    };
  }

  /** @throws overloaded where there is no room for so many bytes within so many milliseconds */
  async wait(account: string, bytes: number, milliseconds: number): Promise<Release> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const release = this.take(account, bytes);
      if (release) return release;
      const left = end - performance.now();
      if (left <= 0) throw this.refuse();
      await this.#released(left);
    }
  }

  refuse(cause?: unknown): Problem {
    this.onRefused();
    return problem("overloaded", {}, { cause });
  }

  #change(account: string, bytes: number): void {
    this.#used += bytes;
    const held = (this.#held.get(account) ?? 0) + bytes;
    if (held === 0) this.#held.delete(account);
    else this.#held.set(account, held);
  }

  /** Until bytes are given back, or the time is over. */
  async #released(milliseconds: number): Promise<void> {
    const over = new AbortController();
    const wake = () => over.abort();
    this.#waiting.add(wake);
    await sleep(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
    this.#waiting.delete(wake);
  }
}

export interface Budgets {
  readonly memory: ByteBudget;
  /** Of the folder of large pages. */
  readonly disk: ByteBudget;
}

export const newBudgets = ({ memoryBytes, spoolBytes }: Settings): Budgets => ({
  memory: new ByteBudget(memoryBytes),
  disk: new ByteBudget(spoolBytes),
});

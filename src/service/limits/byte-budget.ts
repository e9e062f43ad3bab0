import { type Problem, problem } from "../http/problems.js";
import type { Settings } from "../settings.js";

/** Returns the bytes to the budget, except for those to keep; further calls without an argument have no effect. */
export type Release = (keptBytes?: number) => void;

/** Maximum number of waiting requests per account; each holds a connection, but none of its body. */
const maxWaitersPerAccount = 256;

interface Waiter {
  readonly bytes: number;
  readonly admit: (release: Release) => void;
}

/**
 * Bounds the bytes that concurrent requests hold in memory or on disk. Each account may hold half of what the others
 * leave free, so that there is always room for another account (dynamic thresholds, as in switch buffers). An account
 * that holds nothing may take all free bytes.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  /** By account, first in, first out. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #used = 0;
  /** Called for each rejected request. */
  onRefused: () => void = () => {};

  constructor(total: number) {
    this.#total = total;
  }

  /** Bytes held now. */
  get used(): number {
    return this.#used;
  }

  /** Returns null if the budget has no room. */
  take(account: string, bytes: number): Release | null {
    const held = this.#held.get(account) ?? 0;
    const free = this.#total - this.#used;
    const isFair = held === 0 || held + bytes <= (free + held) / 2;
    // A request larger than the whole budget is admitted when nothing else is held.
    if (!isFair || (bytes > free && this.#used > 0)) return null;
    this.#change(account, bytes);
    let left = bytes;
    return (keptBytes = 0) => {
      if (keptBytes >= left) return;
      this.#change(account, keptBytes - left);
      left = keptBytes;
      this.#admit();
    };
  }

  /**
   * Waits for room; requests of one account are admitted in order of arrival.
   * @param onCancelable receives a function that cancels the wait, for example when the client disconnects
   * @throws overloaded if the wait exceeds `milliseconds`, or if too many requests of the account wait
   */
  wait(
    account: string,
    bytes: number,
    milliseconds: number,
    onCancelable: (cancel: () => void) => void = () => {},
  ): Promise<Release> {
    const queue = this.#waiting.get(account) ?? new Set<Waiter>();
    const release = queue.size === 0 ? this.take(account, bytes) : null;
    if (release) return Promise.resolve(release);
    if (queue.size >= maxWaitersPerAccount || milliseconds <= 0) return Promise.reject(this.refuse());
    this.#waiting.set(account, queue);
    return new Promise((resolve, reject) => {
      const dequeue = () => {
        clearTimeout(timer);
        if (queue.delete(waiter) && queue.size === 0) this.#waiting.delete(account);
      };
      const cancel = () => {
        if (!queue.has(waiter)) return;
        dequeue();
        reject(this.refuse());
        // Those behind may need less.
        this.#admit();
      };
      const waiter: Waiter = {
        bytes,
        admit: (admitted) => {
          dequeue();
          resolve(admitted);
        },
      };
      const timer = setTimeout(cancel, milliseconds);
      queue.add(waiter);
      onCancelable(cancel);
    });
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

  /** Admits waiting requests while there is room. */
  #admit(): void {
    for (const [account, queue] of this.#waiting) {
      for (const { bytes, admit } of queue) {
        const release = this.take(account, bytes);
        if (!release) break;
        admit(release);
      }
    }
  }
}

export interface Budgets {
  readonly memory: ByteBudget;
  /** Of the spool folder. */
  readonly disk: ByteBudget;
}

export const createBudgets = ({ memoryBytes, spoolBytes }: Settings): Budgets => ({
  memory: new ByteBudget(memoryBytes),
  disk: new ByteBudget(spoolBytes),
});

import { type Problem, problem } from "../http/problems.js";
import type { Settings } from "../settings.js";

/** Gives the bytes back; once is enough. */
export type Release = () => void;

/** Requests of one account that may wait for room at once; each has a connection, and none of its body is read. */
const maxWaitersPerAccount = 256;

interface Waiter {
  readonly bytes: number;
  readonly admit: (release: Release) => void;
}

/**
 * Bytes that requests hold at once, in memory or on a disk. Each account may hold half of what the others leave free, so
 * that there is always room for one more account (dynamic thresholds, as switches use them for queues). An account that
 * holds nothing gets what it asks for where that is free, however much it is.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  /** By account, in the order in which they came. */
  readonly #waiting = new Map<string, Set<Waiter>>();
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
      this.#admit();
    };
  }

  /**
   * Those of one account get room in the order in which they came.
   * @param whenGone called with what ends the waiting, where who waits may go away
   * @throws overloaded where there is no room for so many bytes within so many milliseconds, or too many of the account
   * wait for some
   */
  wait(
    account: string,
    bytes: number,
    milliseconds: number,
    whenGone: (leave: () => void) => void = () => {},
  ): Promise<Release> {
    const queue = this.#waiting.get(account) ?? new Set<Waiter>();
    const release = queue.size === 0 ? this.take(account, bytes) : null;
    if (release) return Promise.resolve(release);
    if (queue.size >= maxWaitersPerAccount || milliseconds <= 0) return Promise.reject(this.refuse());
    this.#waiting.set(account, queue);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        if (queue.delete(waiter) && queue.size === 0) this.#waiting.delete(account);
      };
      const giveUp = () => {
        if (!queue.has(waiter)) return;
        leave();
        reject(this.refuse());
        // Those behind may need less.
        this.#admit();
      };
      const waiter: Waiter = {
        bytes,
        admit: (admitted) => {
          leave();
          resolve(admitted);
        },
      };
      const timer = setTimeout(giveUp, milliseconds);
      queue.add(waiter);
      whenGone(giveUp);
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

  /** Gives room to those who wait, as far as there is some. */
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
  /** Of the folder of large pages. */
  readonly disk: ByteBudget;
}

export const createBudgets = ({ memoryBytes, spoolBytes }: Settings): Budgets => ({
  memory: new ByteBudget(memoryBytes),
  disk: new ByteBudget(spoolBytes),
});

/**
 * Limits attempts to guess passwords and secrets, by name and address together, and by address alone. A client with
 * another address is not affected. The store counts failures for all processes of the service; this process rejects
 * known offenders from memory, without a query.
 */

import { sha256 } from "../identifiers/sha256.js";
import { clientNetwork } from "../limits/client-network.js";
import type { Settings } from "../settings.js";
import type { AccountStore } from "../store/contract.js";

export interface Attempt {
  /** What is guessed: a password, or a client secret. */
  readonly kind: "login" | "token";
  /** Email address or client id; any text. */
  readonly name: string;
  /** Address of the client. */
  readonly address: string;
}

/** Outcome of an attempt. */
export type AttemptResult<T> =
  | { readonly kind: "right"; readonly value: T }
  | { readonly kind: "wrong" }
  /** Too many failures; the next attempt is allowed after `seconds`. */
  | { readonly kind: "wait"; readonly seconds: number };

/** Counter of this process for one name. */
interface AttemptCounter {
  /** Attempts being checked now. */
  active: number;
  /** Failures in the window from `since` to `until`, as last reported by the store. */
  failures: number;
  since: number;
  until: number;
}

/** Number of counters above which expired ones are removed. */
const pruneThreshold = 10_000;

export class AttemptLimiter {
  readonly #store: Pick<AccountStore, "countAttempt" | "forgetAttempts">;
  readonly #settings: Settings;
  readonly #now: () => number;
  readonly #counters = new Map<string, AttemptCounter>();
  /** Resumes attempts that wait for a concurrent check to finish. */
  readonly #waiters = new Set<() => void>();

  constructor(store: Pick<AccountStore, "countAttempt" | "forgetAttempts">, settings: Settings, now: () => number) {
    this.#store = store;
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * Checks an attempt unless the limit is reached. No more attempts run concurrently than may still fail; the others
   * wait for their results.
   * @param guess returns null if the password or secret is wrong
   */
  async check<T>(attempt: Attempt, guess: () => Promise<T | null>): Promise<AttemptResult<T>> {
    const limits = this.#limitsOf(attempt);
    for (;;) {
      const seconds = this.#remainingSeconds(limits);
      if (seconds > 0) return { kind: "wait", seconds };
      if (limits.every(([name, limit]) => this.#hasCapacity(name, limit))) break;
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
    const known = limits.map(([name]) => this.#getCounter(name));
    for (const one of known) one.active++;
    try {
      const value = await guess();
      if (value !== null) return { kind: "right", value };
      await Promise.all(limits.map(([name]) => this.#count(name)));
      return { kind: "wrong" };
    } finally {
      for (const one of known) one.active--;
      this.#prune();
      const waiting = [...this.#waiters];
      this.#waiters.clear();
      for (const resume of waiting) resume();
    }
  }

  /** Resets the failures of this name; failures of other names from the same address still count. */
  async succeeded(attempt: Attempt): Promise<void> {
    const { one } = counterNames(attempt);
    this.#getCounter(one).failures = 0;
    await this.#store.forgetAttempts([one]);
  }

  #limitsOf(attempt: Attempt): readonly (readonly [name: string, limit: number])[] {
    const { one, all } = counterNames(attempt);
    return [
      [one, this.#settings.attemptsPerName],
      [all, this.#settings.attemptsPerAddress],
    ];
  }

  /** Seconds until the next attempt is allowed; 0 if it is allowed now. */
  #remainingSeconds(limits: readonly (readonly [name: string, limit: number])[]): number {
    const now = this.#now();
    const ends = limits.map(([name, limit]) => {
      const known = this.#counters.get(name);
      return known && currentFailures(known, now) >= limit ? known.until : now;
    });
    return Math.ceil((Math.max(...ends) - now) / 1000);
  }

  #hasCapacity(name: string, limit: number): boolean {
    const known = this.#counters.get(name);
    return !known || known.active < limit - currentFailures(known, this.#now());
  }

  #getCounter(name: string): AttemptCounter {
    const known = this.#counters.get(name) ?? { active: 0, failures: 0, since: 0, until: 0 };
    this.#counters.set(name, known);
    return known;
  }

  async #count(name: string): Promise<void> {
    const now = this.#now();
    const window = this.#settings.attemptSeconds * 1000;
    const { count, until } = await this.#store.countAttempt({ names: [name], now, window });
    const known = this.#getCounter(name);
    // Replies of the store may arrive out of order.
    const failures = known.until === until ? Math.max(known.failures, count) : count;
    Object.assign(known, { failures, since: now, until });
  }

  #prune(): void {
    if (this.#counters.size < pruneThreshold) return;
    const now = this.#now();
    for (const [name, known] of this.#counters) {
      if (known.active === 0 && currentFailures(known, now) === 0) this.#counters.delete(name);
    }
  }
}

/**
 * If the clock was set back to before the window, the count is ignored, so that it cannot block for longer than the
 * window.
 */
const currentFailures = ({ failures, since, until }: AttemptCounter, now: number): number =>
  since <= now && now < until ? failures : 0;

/** Names of fixed length, derived from what the client sent. */
function counterNames({ kind, name, address }: Attempt): { readonly one: string; readonly all: string } {
  const network = clientNetwork(address);
  const digest = sha256(name.toLowerCase()).toString("base64url");
  return { one: `${kind} ${network} ${digest}`, all: `${kind} ${network}` };
}

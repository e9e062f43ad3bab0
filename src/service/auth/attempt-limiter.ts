/**
 * Limits guesses at passwords and secrets: by the name that is guessed at from one address, and by the address. No one
 * who comes from elsewhere is kept out by them. Counts are the store's, for all processes of the service; who has too
 * many is turned away by memory, without asking it.
 */

import { sha256 } from "../identifiers/sha256.js";
import { clientNetwork } from "../limits/client-network.js";
import type { Settings } from "../settings.js";
import type { AccountStore } from "../store/contract.js";

export interface Attempt {
  /** What is guessed at: a password, a client's secret. */
  readonly kind: "login" | "token";
  /** Whose: an email, a client id. Any text. */
  readonly name: string;
  /** Where from. */
  readonly address: string;
}

/** What a guess came to. */
export type AttemptResult<T> =
  | { readonly kind: "right"; readonly value: T }
  | { readonly kind: "wrong" }
  /** There were too many: seconds until another is possible. */
  | { readonly kind: "wait"; readonly seconds: number };

/** What this process knows of a name. */
interface AttemptCounter {
  /** Guesses being checked now. */
  active: number;
  /** Failures that the store counted last, and the window in which they count. */
  failures: number;
  since: number;
  until: number;
}

/** Names that are remembered before those whose windows are over are looked for. */
const pruneThreshold = 10_000;

export class AttemptLimiter {
  readonly #store: Pick<AccountStore, "countAttempt" | "forgetAttempts">;
  readonly #settings: Settings;
  readonly #now: () => number;
  readonly #counters = new Map<string, AttemptCounter>();
  /** Guesses that wait until others are checked. */
  readonly #waitingCount = new Set<() => void>();

  constructor(store: Pick<AccountStore, "countAttempt" | "forgetAttempts">, settings: Settings, now: () => number) {
    this.#store = store;
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * Checks a guess, unless there were too many. Of guesses that arrive together no more are checked at a time than may
   * fail: the others wait for what those come to.
   * @param guess answers null where it is wrong
   */
  async check<T>(attempt: Attempt, guess: () => Promise<T | null>): Promise<AttemptResult<T>> {
    const limits = this.#limitsOf(attempt);
    for (;;) {
      const seconds = this.#remainingSeconds(limits);
      if (seconds > 0) return { kind: "wait", seconds };
      if (limits.every(([name, limit]) => this.#hasCapacity(name, limit))) break;
      await new Promise<void>((resolve) => this.#waitingCount.add(resolve));
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
      const waiting = [...this.#waitingCount];
      this.#waitingCount.clear();
      for (const resume of waiting) resume();
    }
  }

  /** Forgets what failed for this name; what failed for others from the same address still counts. */
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

  /** Seconds until another attempt is possible; 0 for at once. */
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
    // Answers of the store may overtake each other.
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

/** A clock that was set back is before the window: what was counted then must not block for longer than the window. */
const currentFailures = ({ failures, since, until }: AttemptCounter, now: number): number =>
  since <= now && now < until ? failures : 0;

/** Names of one length, whatever was sent. */
function counterNames({ kind, name, address }: Attempt): { readonly one: string; readonly all: string } {
  const network = clientNetwork(address);
  const digest = sha256(name.toLowerCase()).toString("base64url");
  return { one: `${kind} ${network} ${digest}`, all: `${kind} ${network}` };
}

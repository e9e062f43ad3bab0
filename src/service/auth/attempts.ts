/**
 * Limits guesses at passwords and secrets: by the name that is guessed at from one address, and by the address. Nobody
 * who comes from elsewhere is kept out by them. Counts are the store's, for all processes of the service; who has too
 * many is turned away by memory, without asking it.
 */
import { isIPv6 } from "node:net";
import type { Settings } from "../settings.js";
import { sha256 } from "../sha256.js";
import type { PeopleStore } from "../store/contract.js";

export interface Attempt {
  /** What is guessed at: a password, a client's secret. */
  readonly kind: "login" | "token";
  /** Whose: an email, a client id. Any text. */
  readonly name: string;
  /** Where from. */
  readonly address: string;
}

/** Blocks that are remembered before those that are over are looked for. */
const many = 10_000;

export class Attempts {
  readonly #store: Pick<PeopleStore, "countAttempt" | "forgetAttempts">;
  readonly #settings: Settings;
  readonly #now: () => number;
  readonly #blocked = new Map<string, number>();

  constructor(store: Pick<PeopleStore, "countAttempt" | "forgetAttempts">, settings: Settings, now: () => number) {
    this.#store = store;
    this.#settings = settings;
    this.#now = now;
  }

  /** Seconds until another attempt is possible; 0 for at once. To be asked before anything is looked up. */
  wait(attempt: Attempt): number {
    const { one, all } = namesOf(attempt);
    const until = Math.max(this.#blocked.get(one) ?? 0, this.#blocked.get(all) ?? 0);
    return Math.max(0, Math.ceil((until - this.#now()) / 1000));
  }

  async failed(attempt: Attempt): Promise<void> {
    const { one, all } = namesOf(attempt);
    const { attemptsPerName, attemptsPerAddress } = this.#settings;
    await Promise.all([this.#count(one, attemptsPerName), this.#count(all, attemptsPerAddress)]);
  }

  /** Forgets what failed for this name; what failed for others from the same address still counts. */
  async succeeded(attempt: Attempt): Promise<void> {
    const { one } = namesOf(attempt);
    this.#blocked.delete(one);
    await this.#store.forgetAttempts([one]);
  }

  async #count(name: string, limit: number): Promise<void> {
    const now = this.#now();
    const window = this.#settings.attemptSeconds * 1000;
    const { count, until } = await this.#store.countAttempt({ names: [name], now, window });
    if (count < limit) return;
    if (this.#blocked.size >= many) for (const [old, end] of this.#blocked) if (end <= now) this.#blocked.delete(old);
    this.#blocked.set(name, until);
  }
}

/** Names of one length, whatever was sent. */
function namesOf({ kind, name, address }: Attempt): { readonly one: string; readonly all: string } {
  const network = networkOf(address);
  const digest = sha256(name.toLowerCase()).toString("base64url");
  return { one: `${kind} ${network} ${digest}`, all: `${kind} ${network}` };
}

/** Who has an IPv6 address has its 64 bits of others, too (RFC 6177). */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = "", rest] = address.split("%", 1)[0]!.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = rest === undefined || rest === "" ? [] : rest.split(":");
  const all =
    rest === undefined ? groups : [...groups, ...Array(8 - groups.length - behind.length).fill("0"), ...behind];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

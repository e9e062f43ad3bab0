/** How often a person may fail to sign in before having to wait. */
import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Settings } from "../settings.js";
import type { PeopleStore } from "../store/contract.js";

export type AttemptSettings = Pick<Settings, "attemptsPerName" | "attemptsPerAddress" | "attemptSeconds">;

interface Attempt {
  /** As it was typed, whether or not there is such an account. */
  readonly email: string;
  readonly address: string;
  readonly now: number;
}

/** Emails are kept as hashes: people type passwords there. */
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Whose address it is: of IPv6, the half that a network is given. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

const nameOf = ({ email, address }: Attempt): string => `sign-in ${digest(email.toLowerCase())} ${networkOf(address)}`;

/** Counts an attempt, before it is looked at. Seconds to wait where there were too many; null where it may go on. */
export async function countSignIn(
  store: PeopleStore,
  attempt: Attempt,
  settings: AttemptSettings,
): Promise<number | null> {
  const { now } = attempt;
  const window = settings.attemptSeconds * 1000;
  const limits = [
    { name: nameOf(attempt), most: settings.attemptsPerName },
    // Wherever from: a crowd of addresses guesses one password, too.
    { name: `sign-in ${digest(attempt.email.toLowerCase())}`, most: settings.attemptsPerAddress },
    { name: `sign-in ${networkOf(attempt.address)}`, most: settings.attemptsPerAddress },
  ];
  const counts = await Promise.all(limits.map(({ name }) => store.countAttempt({ names: [name], now, window })));
  const waits = counts.flatMap(({ count, until }, at) => (count > limits[at]!.most ? [until - now] : []));
  return waits.length === 0 ? null : Math.max(1, Math.ceil(Math.max(...waits) / 1000));
}

/** Once a person has signed in, what they mistyped before does not count. Attempts of others do. */
export const forgiveSignIn = (store: PeopleStore, attempt: Attempt): Promise<void> =>
  store.forgetAttempts([nameOf(attempt)]);

import type { AccountStore, Session } from "../store/contract.js";
import { hashSecret, newSecret } from "./secrets.js";

/** How long a person stays signed in, in milliseconds: while nothing is done, and at most. */
export interface SessionLimits {
  readonly idle: number;
  readonly absolute: number;
}

/** What a browser is known by: 256 random bits. A store knows the SHA-256 of those that are signed in. */
export const newBrowserToken = (): string => newSecret("session");

export const isBrowserToken = (text: string | undefined): text is string =>
  text !== undefined && /^gfn_[\w-]{43}$/.test(text);

/**
 * Signs in, under a token that no one has seen before: the one that the browser came with may have been planted there
 * (session fixation).
 */
export async function startSession(
  store: AccountStore,
  account: string,
  now: number,
  limits: SessionLimits,
): Promise<string> {
  const token = newBrowserToken();
  const expires = now + Math.min(limits.idle, limits.absolute);
  await store.addSession({ hash: hashSecret(token), account, created: now, expires });
  return token;
}

/** Who is signed in under a token; null where no one is, or not any longer. That somebody asks keeps the session up. */
export async function currentSession(
  store: AccountStore,
  token: string,
  now: number,
  limits: SessionLimits,
): Promise<Session | null> {
  const hash = hashSecret(token);
  const session = await store.session({ hash, now });
  if (session === null) return null;
  const end = session.created + limits.absolute;
  if (now >= end) {
    await store.endSession(hash);
    return null;
  }
  const expires = Math.min(now + limits.idle, end);
  // Not with every request: a write costs more than the question.
  if (expires - session.expires > limits.idle / 20) await store.extendSession({ hash, expires });
  return session;
}

export const endSession = (store: AccountStore, token: string): Promise<void> => store.endSession(hashSecret(token));

import { type AccountStore, clockToleranceMs, type Session } from "../store/contract.js";
import { hashSecret, newSecret } from "./secrets.js";

/** Lifetime of a session in milliseconds: since the last request, and in total. */
export interface SessionLimits {
  readonly idle: number;
  readonly absolute: number;
}

/** The token in the browser's cookie: 256 random bits. The store keeps the SHA-256 of tokens with a session. */
export const newBrowserToken = (): string => newSecret("session");

export const isBrowserToken = (text: string | undefined): text is string =>
  text !== undefined && /^gfn_[\w-]{43}$/.test(text);

/**
 * Starts a session with a new token, since an attacker may have planted the previous one in the browser (session
 * fixation).
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

/** The session of a token; null if there is none or it has expired. Each lookup may extend the session. */
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
  // A session from the future was started by a clock that was ahead: it would last until that time.
  if (now >= end || session.created > now + clockToleranceMs) {
    await store.endSession(hash);
    return null;
  }
  const expires = Math.min(now + limits.idle, end);
  // Not extended on every request, since a write costs more than a read.
  if (expires - session.expires > limits.idle / 20) await store.extendSession({ hash, expires });
  return session;
}

export const endSession = (store: AccountStore, token: string): Promise<void> => store.endSession(hashSecret(token));

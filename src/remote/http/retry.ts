/** Asks again, later and later, as long as it may help. */
import { createError, type GeoferryError } from "../../errors.js";
import { maxTimeoutRetries } from "../../network-settings.js";
import type { Traffic } from "../client/map-client.js";
import { backoffMs, maxRetryAfterMs, waitOrAbort } from "./rate-limiter.js";

/** What came of one attempt: something to go on with, or a reason to try again. */
export type AttemptResult<T> = { readonly done: T } | RetryReason;

export interface RetryReason {
  readonly isRetryable: string;
  /** The service let the time pass that it was given. */
  readonly isTimeout?: boolean;
  /** The service answers, but with something else than it should: waiting longer is no remedy. */
  readonly protocolError?: boolean;
  /** The service does something for the request meanwhile: it is no failure, and may take long. */
  readonly isInProgress?: boolean;
  /** An earlier request with the same Idempotency-Key is being carried out: nobody knows what becomes of it. */
  readonly isKeyInUse?: boolean;
  /** Milliseconds that the service asks for. */
  readonly retryAfterMs?: number | null;
}

/** How often a service may say that it is still about it. Ours does so after some 20 seconds each time. */
const maxInProgressWaits = 1000;

/** Milliseconds of the first back-off, at most. */
const defaultFirstRetryDelayMs = 500;

/** @throws remote-unavailable, remote-protocol-error; the reason of `signal` */
export async function retry<T>(
  service: string,
  traffic: Traffic,
  signal: AbortSignal,
  once: () => Promise<AttemptResult<T>>,
): Promise<T> {
  let [waits, late] = [0, 0];
  for (let attempt = 1; ; attempt++) {
    const found = await once();
    if ("done" in found) return found.done;
    if (found.isInProgress && waits++ < maxInProgressWaits) {
      attempt = 0;
      await waitOrAbort(found.retryAfterMs ?? 0, signal);
      continue;
    }
    if (found.isTimeout) late++;
    if (attempt > traffic.retries || late > maxTimeoutRetries || (found.retryAfterMs ?? 0) > maxRetryAfterMs)
      throw retriesExhaustedError(service, found, attempt);
    await waitOrAbort(backoffMs(attempt, traffic.firstRetryDelay ?? defaultFirstRetryDelayMs), signal);
  }
}

function retriesExhaustedError(
  service: string,
  { isRetryable, protocolError }: RetryReason,
  times: number,
): GeoferryError {
  const reason = times > 1 ? `${isRetryable} (tried ${times} times)` : isRetryable;
  const code = protocolError ? "remote-protocol-error" : "remote-unavailable";
  return createError(code, { service, reason });
}

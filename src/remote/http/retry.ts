/** Retries requests with increasing delays. */
import { createError, type GeoferryError } from "../../errors.js";
import { backoffMs, maxRetryAfterMs, waitOrAbort } from "../../io/http/rate-limiter.js";
import { maxTimeoutRetries } from "../../network-settings.js";
import type { Traffic } from "../client/map-client.js";

/** The result of one attempt: a value, or a reason to retry. */
export type AttemptResult<T> = { readonly done: T } | RetryReason;

export interface RetryReason {
  readonly isRetryable: string;
  /** The request timed out. */
  readonly isTimeout?: boolean;
  /** The response is invalid; a longer timeout does not help. */
  readonly protocolError?: boolean;
  /** The service is still working on the request; this is not a failure and may take long. */
  readonly isInProgress?: boolean;
  /** An earlier request with the same Idempotency-Key is in progress; its outcome is unknown. */
  readonly isKeyInUse?: boolean;
  /** Delay that the service requests, in milliseconds. */
  readonly retryAfterMs?: number | null;
}

/** Maximum number of consecutive "in progress" responses. Geoferry's own service sends one about every 20 seconds. */
const maxInProgressWaits = 1000;

/** Maximum delay of the first backoff, in milliseconds. */
const defaultFirstRetryDelayMs = 500;

/** @throws remote-unavailable, remote-protocol-error; the reason of `signal` */
export async function retry<T>(
  service: string,
  traffic: Traffic,
  signal: AbortSignal,
  attemptRequest: () => Promise<AttemptResult<T>>,
): Promise<T> {
  let [waits, timeouts] = [0, 0];
  for (let attempt = 1; ; attempt++) {
    const result = await attemptRequest();
    if ("done" in result) return result.done;
    if (result.isInProgress && waits++ < maxInProgressWaits) {
      attempt = 0;
      await waitOrAbort(result.retryAfterMs ?? 0, signal);
      continue;
    }
    if (result.isTimeout) timeouts++;
    if (attempt > traffic.retries || timeouts > maxTimeoutRetries || (result.retryAfterMs ?? 0) > maxRetryAfterMs)
      throw retriesExhaustedError(service, result, attempt);
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

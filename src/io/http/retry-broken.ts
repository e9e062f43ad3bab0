import { setTimeout as delay } from "node:timers/promises";
import { createError, GeoferryError } from "../../errors.js";
import { maxTimeoutRetries } from "../../network-settings.js";
import { isTimeoutError } from "./http-exchange.js";

/** The delay before a retry doubles each time, up to the maximum. */
const firstRetryDelayMs = 250;
const maxRetryDelayMs = 30_000;

/**
 * Repeats a request that failed with `input-unavailable`, at most `retries` times.
 * @param mayRetry whether the failure may pass; by default always
 * @throws what the last attempt throws, interrupted
 */
export async function retryBroken<T>(
  attempt: () => Promise<T>,
  retries: number,
  signal: AbortSignal,
  mayRetry: () => boolean = () => true,
): Promise<T> {
  let late = 0;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw createError("interrupted", {}, error);
      const isTransient = error instanceof GeoferryError && error.code === "input-unavailable" && mayRetry();
      if (!isTransient || tries > retries) throw error;
      if (isTimeoutError(error.cause) && ++late > maxTimeoutRetries) throw error;
      const pause = Math.min(firstRetryDelayMs * 2 ** (tries - 1), maxRetryDelayMs);
      await delay(pause, undefined, { signal }).catch(() => {
        throw createError("interrupted", {}, error);
      });
    }
  }
}

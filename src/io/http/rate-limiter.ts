/** Limits the request rate to the configured maximum, and pauses when the service asks for it. */
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Maximum pause that a service may request, in milliseconds; a longer one counts as unavailable. */
export const maxRetryAfterMs = 15 * 60_000;

/** @throws the reason of `signal` */
export async function waitOrAbort(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (milliseconds <= 0) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

export class RateLimiter {
  /** Earliest time of the next request, by `performance.now`. */
  private next = 0;
  private pausedUntil = 0;
  private readonly interval: number;

  /** @param rate requests per second; null for unlimited */
  constructor(rate: number | null) {
    this.interval = rate === null ? 0 : 1000 / rate;
  }

  /** Resolves when a request may be sent. @throws the reason of `signal` */
  async wait(signal: AbortSignal): Promise<void> {
    const at = Math.max(performance.now(), this.next);
    this.next = at + this.interval;
    await waitOrAbort(at - performance.now(), signal);
    // Another request may have started a pause meanwhile.
    while (this.pausedUntil > performance.now()) await waitOrAbort(this.pausedUntil - performance.now(), signal);
  }

  /** Pauses all requests for this many milliseconds. */
  pauseUntil(milliseconds: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + Math.min(milliseconds, maxRetryAfterMs));
  }
}

/** Exponential backoff with full jitter: milliseconds before attempt `attempt`, counted from 1. */
export const backoffMs = (attempt: number, first: number): number =>
  Math.random() * Math.min(first * 2 ** (attempt - 1), 60 * first);

/** Retry-After (RFC 9110, 10.2.3) in milliseconds, from seconds or a date; null if absent. */
export function parseRetryAfter(headers: Readonly<IncomingHttpHeaders>, now: number = Date.now()): number | null {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  // Relative to the clock of the service if the response has a Date.
  const from = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.max(0, date - (Number.isNaN(from) ? now : from));
}

/**
 * Milliseconds until the rate limit resets; null if requests remain or the headers are absent. Parses RateLimit of
 * draft-ietf-httpapi-ratelimit-headers-08 and later (`"name";r=0;t=30`), of -07 (`limit=9, remaining=0, reset=30`), and
 * the separate fields of earlier drafts.
 */
export function parseRateLimitReset(headers: Readonly<IncomingHttpHeaders>): number | null {
  const fields = headerText(headers.ratelimit);
  if (fields !== undefined) {
    const waits = fields.split(/,(?=\s*"?[\w-]+"?\s*;)/).flatMap((item) => {
      const remaining = /(?:^|[;,\s])(?:r|remaining)\s*=\s*(\d+)/i.exec(item)?.[1];
      const reset = /(?:^|[;,\s])(?:t|reset)\s*=\s*(\d+)/i.exec(item)?.[1];
      return remaining !== undefined && Number(remaining) === 0 && reset !== undefined ? [Number(reset) * 1000] : [];
    });
    return waits.length > 0 ? Math.max(...waits) : null;
  }
  const [remaining, reset] = ["ratelimit-remaining", "ratelimit-reset"].map((name) => headerText(headers[name]));
  return remaining?.trim() === "0" && reset && /^\s*\d+\s*$/.test(reset) ? Number(reset) * 1000 : null;
}

/** The types allow a list for headers that Node.js does not know; at run time they are strings. */
const headerText = (value: string | string[] | undefined): string | undefined => value?.toString();

/** When the next request may go out: as often as the person allows, and not before the service wants to hear of us. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceResponseHeaders } from "./send-request.js";

/** Milliseconds that a service may ask to be left alone; one that asks for more is taken for gone. */
export const maxRetryAfterMs = 15 * 60_000;

/** @throws the reason of `signal` */
export async function waitOrAbort(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (milliseconds <= 0) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

export class RateLimiter {
  /** When the next request may go out; milliseconds of `performance.now`. */
  private next = 0;
  private pausedUntil = 0;
  private readonly interval: number;

  /** @param rate requests a second; null for as many as there are */
  constructor(rate: number | null) {
    this.interval = rate === null ? 0 : 1000 / rate;
  }

  /** Resolves when a request may go out. @throws the reason of `signal` */
  async wait(signal: AbortSignal): Promise<void> {
    const at = Math.max(performance.now(), this.next);
    this.next = at + this.interval;
    await waitOrAbort(at - performance.now(), signal);
    // Others may have been told to wait meanwhile.
    while (this.pausedUntil > performance.now()) await waitOrAbort(this.pausedUntil - performance.now(), signal);
  }

  /** Keeps every request back for so many milliseconds. */
  pauseUntil(milliseconds: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + Math.min(milliseconds, maxRetryAfterMs));
  }
}

/** Exponential back-off with full jitter: milliseconds before attempt `attempt`, which counts from 1. */
export const backoffMs = (attempt: number, first: number): number =>
  Math.random() * Math.min(first * 2 ** (attempt - 1), 60 * first);

/** Milliseconds of Retry-After (RFC 9110, 10.2.3), in seconds or as a date; null where there is none. */
export function parseRetryAfter(headers: ServiceResponseHeaders, now: number = Date.now()): number | null {
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  // By the service's own clock where it tells the time.
  const from = Date.parse(headers.date ?? "");
  return Number.isNaN(date) ? null : Math.max(0, date - (Number.isNaN(from) ? now : from));
}

/**
 * Milliseconds until there are requests left again; null where there are, or nothing is said. RateLimit of
 * draft-ietf-httpapi-ratelimit-headers-08 and later (`"name";r=0;t=30`), of -07 (`limit=9, remaining=0, reset=30`), and
 * the fields of their own before that.
 */
export function parseRateLimitReset(headers: ServiceResponseHeaders): number | null {
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

/** Of headers that Node.js does not know, the type leaves open whether they come as lists: they do not. */
const headerText = (value: string | string[] | undefined): string | undefined => value?.toString();

import type { FastifyRateLimitStore } from "@fastify/rate-limit";

/** Maximum number of counted accounts and addresses; the one that was used longest ago is forgotten first. */
const maxKeys = 5000;

interface Count {
  current: number;
  /** Start of the window, in milliseconds of `performance.now`. */
  start: number;
}

/**
 * Counts requests for `@fastify/rate-limit`. Its own store measures windows by the time of day, so that a clock that is set
 * back makes a minute last for hours.
 */
export class RequestCounts implements FastifyRateLimitStore {
  private readonly counts = new Map<string, Count>();

  incr(
    key: string,
    callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    timeWindow: number,
  ): void {
    const now = performance.now();
    const known = this.counts.get(key);
    const count = known && known.start + timeWindow > now ? known : { current: 0, start: now };
    count.current++;
    this.counts.delete(key);
    this.counts.set(key, count);
    if (this.counts.size > maxKeys) this.counts.delete(this.counts.keys().next().value!);
    callback(null, { current: count.current, ttl: timeWindow - (now - count.start) });
  }

  child(): RequestCounts {
    return new RequestCounts();
  }
}

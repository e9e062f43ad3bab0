/** Removes the locks of disconnected workers, so that others take over their jobs before the locks expire. */
import type { Redis } from "ioredis";
import { listConnectedWorkers } from "../dispatcher/connected-workers.js";

/** A worker is lost after this time without a connection; live workers reconnect within 2 s. */
const reconnectMs = 3000;

/** Removes a lock unless another worker has acquired it. */
const releaseLock = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

export class LostWorkers {
  /** Worker ids, with the time since which they own a job without being connected. */
  private readonly missingSince = new Map<string, number>();

  private seenWorkers = false;

  /**
   * @param ownId id of this worker: a list without it is not reliable
   * @param reconnect called if Redis has closed the connection of this worker unnoticed
   */
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly ownId: string,
    private readonly reconnect: () => void,
  ) {}

  /** Call after a disconnect of Redis: all workers are about to reconnect. */
  reset(): void {
    this.missingSince.clear();
  }

  /** @param queues names of the queues to check @param now milliseconds of a monotonic clock */
  async check(queues: readonly string[], now: number): Promise<void> {
    const workers = await listConnectedWorkers(this.redis, this.prefix);
    const ids = new Set(workers?.map(({ id }) => id));
    if (!ids.has(this.ownId)) {
      // Other workers would take over the jobs of this one.
      if (workers !== null && this.seenWorkers) this.reconnect();
      this.seenWorkers = false;
      return this.reset();
    }
    this.seenWorkers = true;
    for (const id of ids) this.missingSince.delete(id);
    for (const queue of queues) {
      const active = await this.redis.lrange(`${this.prefix}:${queue}:active`, 0, -1);
      for (const job of active) await this.checkWorker(`${this.prefix}:${queue}:${job}`, ids, now);
    }
  }

  private async checkWorker(job: string, connected: ReadonlySet<string>, now: number): Promise<void> {
    const found = await this.redis.multi().hget(job, "pb").get(`${job}:lock`).exec();
    const [holder, token] = (found ?? []).map(([, value]) => value as string | null);
    if (!holder || !token || connected.has(holder)) return;
    const since = this.missingSince.get(holder) ?? now;
    this.missingSince.set(holder, since);
    if (now - since >= reconnectMs) await this.redis.eval(releaseLock, 1, `${job}:lock`, token);
  }
}

/** Jobs of workers whose connection has ended: their locks are removed, so that others need not wait until they expire. */
import type { Redis } from "ioredis";
import { listConnectedWorkers } from "../dispatcher/connected-workers.js";

/** Milliseconds without a connection after which a worker is lost; one that lives connects again within 2 s. */
const reconnectMs = 3000;

/** Removes a lock unless it is another one by now. */
const releaseLock = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

export class LostWorkers {
  /** By id of the worker: when it was first seen to have a job and no connection. */
  private readonly missingSince = new Map<string, number>();

  private seenWorkers = false;

  /**
   * @param ownId id of the worker that looks: where it does not find itself, the list says nothing of others
   * @param reconnect is called where Redis has closed its connection and the network has not said so
   */
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly ownId: string,
    private readonly reconnect: () => void,
  ) {}

  /** Redis was away: all are about to connect again. */
  reset(): void {
    this.missingSince.clear();
  }

  /** @param queues those whose jobs count @param now milliseconds of a clock that is never set back */
  async check(queues: readonly string[], now: number): Promise<void> {
    const workers = await listConnectedWorkers(this.redis, this.prefix);
    const ids = new Set(workers?.map(({ id }) => id));
    if (!ids.has(this.ownId)) {
      // Others would take its jobs.
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

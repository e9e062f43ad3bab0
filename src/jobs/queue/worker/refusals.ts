/** Jobs that a worker cannot do return to the queue for other workers, without counting as an attempt. */
import { setTimeout as pause } from "node:timers/promises";
import { version } from "../../../version.js";
import { noop } from "../connection.js";
import type { ConnectedWorker } from "../dispatcher/connected-workers.js";

/** How long a worker holds a job that it refuses, so that other workers take the remaining jobs. */
const minPauseMs = 100;
const maxPauseMs = 2000;

export class Refusals {
  private nextPause = minPauseMs;
  private readonly reasons = new Set<string>();

  /** @param id of the worker @param connected lists all workers; null if the server does not allow it */
  constructor(
    readonly id: string,
    private readonly connected: () => Promise<readonly ConnectedWorker[] | null>,
  ) {}

  /** @param refusedBy ids of workers @returns whether another worker of this version is connected */
  async hasOtherWorker(refusedBy: readonly string[]): Promise<boolean> {
    const workers = (await this.connected()) ?? [];
    return workers.some((worker) => worker.version === version && !refusedBy.includes(worker.id));
  }

  /** The delay doubles with each refusal, so that a misconfigured worker does not slow down the others. */
  async wait(signal: AbortSignal): Promise<void> {
    const duration = this.nextPause;
    this.nextPause = Math.min(maxPauseMs, 2 * duration);
    await pause(duration, undefined, { signal }).catch(noop);
  }

  reset(): void {
    this.nextPause = minPauseMs;
  }

  /** @returns whether this run has not been refused for this reason before */
  isNew(run: string, reason: string): boolean {
    const key = `${run} ${reason}`;
    const isNew = !this.reasons.has(key);
    // Bounds memory; a forgotten reason is reported again.
    if (this.reasons.size > 1000) this.reasons.clear();
    this.reasons.add(key);
    return isNew;
  }
}

/** Jobs that a worker cannot do: they go back to the queue for those that can, and no try is counted. */
import { setTimeout as pause } from "node:timers/promises";
import { version } from "../../../version.js";
import { noop } from "../connection.js";
import type { ConnectedWorker } from "../dispatcher/connected-workers.js";

/** Milliseconds for which a worker holds a job that it refuses: the first one, and at most. Meanwhile others take the rest. */
const minPauseMs = 100;
const maxPauseMs = 2000;

export class Refusals {
  private nextPause = minPauseMs;
  private readonly reasons = new Set<string>();

  /** @param id of the worker @param connected all workers, or null where the server does not list them */
  constructor(
    readonly id: string,
    private readonly connected: () => Promise<readonly ConnectedWorker[] | null>,
  ) {}

  /** @param refusedBy ids of workers that cannot do a job @returns whether one is connected that may be able to */
  async hasOtherWorker(refusedBy: readonly string[]): Promise<boolean> {
    const workers = (await this.connected()) ?? [];
    return workers.some((worker) => worker.version === version && !refusedBy.includes(worker.id));
  }

  /** Waits longer from refusal to refusal, so that a worker that can do nothing is not in the way of the others. */
  async wait(signal: AbortSignal): Promise<void> {
    const duration = this.nextPause;
    this.nextPause = Math.min(maxPauseMs, 2 * duration);
    await pause(duration, undefined, { signal }).catch(noop);
  }

  reset(): void {
    this.nextPause = minPauseMs;
  }

  /** @returns whether it is the first refusal of a run for the reason */
  isNew(run: string, reason: string): boolean {
    const key = `${run} ${reason}`;
    const isNew = !this.reasons.has(key);
    // No run has so many reasons; what is forgotten is said again.
    if (this.reasons.size > 1000) this.reasons.clear();
    this.reasons.add(key);
    return isNew;
  }
}

/** What a run with a queue is given and reports, apart from the code that needs the queue's library. */
import type { QueueAddress } from "../queue-address.js";

export interface DispatcherSettings {
  readonly address: QueueAddress;
  readonly prefix: string;
}

export interface QueueSettings extends DispatcherSettings {
  /** Files of the run with the lowest number are dispatched first; from 1. */
  readonly priority: number;
  /** Looks up the service of the maps when a step needs it. @throws remote-unknown … */
  readonly service: () => Promise<{ readonly url: string; readonly insecureHttp: boolean }>;
}

/** The progress of a step whose items workers process. */
export interface DistributedProgress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
  /** Names of the workers that have an item of the step. */
  readonly workers: readonly string[];
}

/** How the queues of a fleet are called in Redis, all with one prefix. */
import { plainAddress } from "../../sync/state-folder.js";
import { textDigest } from "./handed.js";

/** Files, and pieces of large ones. */
export const workQueue = "work";

/** A queue of its own for each map, of which one job is done at a time: a map has one writer. */
export const mapQueue = (service: string, map: string): string =>
  `map-${textDigest(`${plainAddress(service)}\n${map.toLowerCase()}`).slice(0, 24)}`;

/** A sorted set of the queues of maps that have had a job, by when that was said last. */
export const mapsKey = (prefix: string): string => `${prefix}:maps`;

/** Where it is told which jobs are to be stopped. */
export const cancelChannel = (prefix: string): string => `${prefix}:cancel`;

/** What is to be stopped: a run, or one step of it. */
export interface Cancellation {
  readonly run: string;
  readonly step: string | null;
}

/** Of all jobs of a run; BullMQ takes no colon. */
export const jobId = (job: string, run: string, number: number): string => `${job}.${run}.${number}`;

/** How the queues of a fleet are called in Redis, all with one prefix. */
import { normalizeServiceUrl } from "../../sync/state/state-folder.js";
import { version } from "../../version.js";
import { digestText } from "./job-payload.js";

/** Of `Handed` and `Answer`: to be raised when what they mean changes. */
export const payloadVersion = 3;

/** Ends the names of queues: workers of other versions, which may write other bytes, never see the jobs. */
const versionSuffix = `-p${payloadVersion}-${version}`;

/** Files, and pieces of large ones. */
export const workQueueName = `work${versionSuffix}`;

/** A queue of its own for each map, of which one job is done at a time: a map has one writer. */
export const mapQueueName = (service: string, map: string): string =>
  `map-${digestText(`${normalizeServiceUrl(service)}\n${map.toLowerCase()}`).slice(0, 24)}${versionSuffix}`;

export const isMapQueue = (name: string): boolean => name.startsWith("map-");

/** Whether workers of this version take its jobs. */
export const isOfThisVersion = (name: string): boolean => name.endsWith(versionSuffix);

/** Whether this version understands what its jobs say. */
export const isReadable = (name: string): boolean => name.includes(`-p${payloadVersion}-`);

/** What the queues of all versions for the same work have in common: "work", "map-0123…" */
export const queueSubject = (name: string): string => name.replace(/-p\d+-.*$/s, "");

/** A sorted set of the queues that have had a job, by when that was said last. */
export const queuesKey = (prefix: string): string => `${prefix}:queues`;

/** Where it is told which jobs are to be stopped. */
export const cancelChannel = (prefix: string): string => `${prefix}:cancel`;

/** What is to be stopped: a run, or one step of it. */
export interface Cancellation {
  readonly runId: string;
  readonly step: string | null;
}

/** Of all jobs of a run; BullMQ takes no colon. */
export const jobId = (job: string, run: string, number: number): string => `${job}.${run}.${number}`;

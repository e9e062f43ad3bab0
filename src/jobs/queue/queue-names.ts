import { normalizeServiceUrl } from "../../sync/state/state-folder.js";
import { version } from "../../version.js";
import { digestText } from "./job-payload.js";

/** Version of `JobPayload` and `JobReturnValue`; increase it when their meaning changes. */
export const payloadVersion = 4;

/** Suffix of queue names: workers of other versions, which may write other bytes, never get the jobs. */
const versionSuffix = `-p${payloadVersion}-${version}`;

/** Queue of files, and of chunks of large files. */
export const workQueueName = `work${versionSuffix}`;

/** Each map has its own queue, which runs one job at a time: a map has one writer. */
export const mapQueueName = (service: string, map: string): string =>
  `map-${digestText(`${normalizeServiceUrl(service)}\n${map.toLowerCase()}`).slice(0, 24)}${versionSuffix}`;

export const isMapQueue = (name: string): boolean => name.startsWith("map-");

/** Whether workers of this version take jobs from the queue. */
export const isOfThisVersion = (name: string): boolean => name.endsWith(versionSuffix);

/** Whether this version understands the payloads in the queue. */
export const isReadable = (name: string): boolean => name.includes(`-p${payloadVersion}-`);

/** The queue name without its version suffix: "work", "map-0123…" */
export const queueSubject = (name: string): string => name.replace(/-p\d+-.*$/s, "");

/**
 * How long Redis keeps the results of a run that ended without reading them, and the names of its queues, in seconds: the
 * next run of the job needs them.
 */
export const resultRetention = 92 * 24 * 3600;

/** Sorted set of queue names, by the time of their latest job. */
export const queuesKey = (prefix: string): string => `${prefix}:queues`;

/** Pub/sub channel for `Cancellation` messages. */
export const cancelChannel = (prefix: string): string => `${prefix}:cancel`;

/** Cancels a run, or one step of it. */
export interface Cancellation {
  readonly runId: string;
  readonly step: string | null;
}

/** Jobs of a run share the prefix `job.run.`. BullMQ does not allow colons. */
export const jobId = (job: string, run: string, number: number): string => `${job}.${run}.${number}`;

/** The data of queue jobs and their results: small, JSON, and without secrets. */
import { createHash } from "node:crypto";
import {
  createError,
  type ErrorCode,
  type ErrorKind,
  errorDefinitions as errors,
  GeoferryError,
} from "../../errors.js";
import { redact } from "../../io/redact.js";
import type { Registry } from "../../plugin/registry.js";
import { hashOfSettings } from "../../sync/state/map-state.js";
import type { Carrier } from "../../tracing/span.js";
import type { Step } from "../job.js";
import type { ItemReport } from "../report/run-report.js";
import type { OutputRecord } from "../run/job-state.js";
import type { ConversionRecord } from "../steps/conversion-record.js";

/** Names a step of a job file. The worker reads the file itself and resolves secrets in its own environment. */
export interface JobPayload {
  /** Version of geoferry: another version may write other bytes. */
  readonly version: string;
  /** Ids of the formats that the worker needs. */
  readonly formats: readonly string[];
  readonly runId: string;
  /** Host and process that started the run. */
  readonly startedBy: string;
  /** Path of the job file, and SHA-256 of its contents. */
  readonly file: string;
  readonly digest: string;
  readonly step: string;
  /** `digestStep` in the environment of the command that started the run. */
  readonly settings: string;
  /** Start of the run, in milliseconds since 1970. */
  readonly now: number;
  /** Trace headers of the step, if the run is traced. */
  readonly trace?: Carrier;
  readonly work: Work;
  /** Ids of the workers that refused the job. */
  readonly refusedBy?: readonly string[];
}

export type Work = ConversionWork | SyncWork | ChunkWork;

export interface ConversionWork {
  readonly kind: "conversion";
  readonly inputs: readonly InputName[];
  /** Null for the output of the step, whose address may contain secrets. */
  readonly output: string | null;
  /** The existing output was written by this job. */
  readonly overwrite: boolean;
  /** Null if sources cannot be compared, such as maps and databases. */
  readonly sources: readonly SourceFileStat[] | null;
  /** Set before the output files are renamed to their final names: the files, and the result to return for them. */
  readonly pendingCommit?: { readonly files: OutputRecord["files"]; readonly done: ConversionRecord & SourceDigests };
  /** Set when the input was split: the chunk size, which a worker that resumes the job must keep. */
  readonly chunkBytes?: number;
}

export interface SyncWork {
  readonly kind: "sync";
  /** Address of the service. */
  readonly service: string;
  readonly insecureHttp: boolean;
  /** Id of the state folder (`ensureStateId`). */
  readonly state: string;
  readonly sources: readonly SourceFileStat[] | null;
  /** Result of earlier attempts. */
  readonly previousResult?: ItemReport;
}

/** One chunk of a large input; `folder` contains its task and pieces. */
export interface ChunkWork {
  readonly kind: "chunk";
  readonly folder: string;
  readonly task: number;
  readonly group: number;
}

/** SHA-256 of the sources, in the order of `sources`; null for those that were not read. */
export interface SourceDigests {
  readonly digests: readonly (string | null)[];
}

/** A path, or `rest` appended to the input with this index in the job file. */
export type InputName = string | { readonly textIndex: number; readonly rest: string };

/** A file as the command that started the run sees it; size "" for an address. */
export interface SourceFileStat {
  readonly name: string;
  readonly size: string;
  /** Nanoseconds since 1970. */
  readonly modified: string;
}

/** Return value of a queue job. */
export interface JobReturnValue {
  readonly worker: string;
  readonly attempts: number;
  readonly converted?: ConversionRecord & SourceDigests;
  readonly itemReport?: ItemReport;
}

/** Progress of a queue job. `processMark` is null when no process works on the job. */
export interface JobProgress {
  readonly worker: string;
  readonly processMark: string | null;
  readonly features?: number;
  readonly notice?: string;
}

/** The failure reason of a queue job, stored in Redis as JSON. */
export interface JobFailure {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly worker: string | null;
  readonly itemReport?: ItemReport;
}

export const toJobFailure = ({ code, kind, message }: GeoferryError, worker: string | null): JobFailure => {
  return { code, kind, message, worker };
};

/** BullMQ's own failure reason when workers repeatedly ended during a job. */
const stalledMessage = /stalled more than|started more than/;

/** @param text the failure reason in Redis @param what the job processes, for messages */
export function readFailure(text: string, what: string): JobFailure {
  try {
    const failure = JSON.parse(text) as JobFailure;
    if (Object.hasOwn(errors, failure.code)) return failure;
  } catch {
    // Written by BullMQ itself.
  }
  const reason = stalledMessage.test(text)
    ? "each worker that started it ended before finishing it; see their logs"
    : text;
  return toJobFailure(createError("worker-lost", { what, reason }), null);
}

export const errorFromFailure = ({ code, message }: JobFailure): GeoferryError => new GeoferryError(code, message, {});

export const digestText = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Hashes what the result of a step depends on, without secrets, which may differ between machines. */
export function digestStep(step: Step, registry: Registry): string {
  const { workers: _, ...source } = step.kind === "conversion" ? step.request : step.request.source;
  const request = step.kind === "conversion" ? source : { ...step.request, source };
  return hashOfSettings(
    JSON.parse(JSON.stringify(request), (_, value) => (typeof value === "string" ? redact(value, registry) : value)),
  );
}

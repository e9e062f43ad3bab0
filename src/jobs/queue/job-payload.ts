/** What is handed to a worker, and what comes back: plain data, small, and without secrets. */
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

/** A step of a job, which the worker reads itself: secrets are resolved where they are used. */
export interface JobPayload {
  /** Of geoferry: another one may write other bytes. */
  readonly version: string;
  /** Ids of the formats that the starter knows; the worker must know them, too. */
  readonly formats: readonly string[];
  readonly runId: string;
  /** Who began it: host and process. */
  readonly startedBy: string;
  /** The job's file, and SHA-256 of what stands in it. */
  readonly file: string;
  readonly digest: string;
  readonly step: string;
  /** What the step comes to in the environment of the starter (`digestStep`). */
  readonly settings: string;
  /** Milliseconds since 1970: what the run calls now. */
  readonly now: number;
  /** The span of the step, where the run is traced. */
  readonly trace?: Carrier;
  readonly work: Work;
  /** Ids of the workers that cannot do it. */
  readonly refusedBy?: readonly string[];
}

export type Work = ConversionWork | SyncWork | ChunkWork;

export interface ConversionWork {
  readonly kind: "conversion";
  readonly inputs: readonly InputName[];
  /** Null for the one of the step, whose address may hold secrets. */
  readonly output: string | null;
  /** The job wrote what is there. */
  readonly overwrite: boolean;
  /** Null where no one can tell. */
  readonly sources: readonly StarterFileStat[] | null;
  /** What the files are that were about to get their names, and what is to be told of them. */
  readonly pendingCommit?: { readonly files: OutputRecord["files"]; readonly done: ConversionRecord & SourceDigests };
  /** Its pieces were handed over: bytes of input of each, whatever the worker that goes on would make of it. */
  readonly chunkBytes?: number;
}

export interface SyncWork {
  readonly kind: "synchronisation";
  /** Address of the service. */
  readonly service: string;
  readonly insecureHttp: boolean;
  /** Id of the folder of all states (`stateId`). */
  readonly state: string;
  readonly sources: readonly StarterFileStat[] | null;
  /** What earlier tries have done. */
  readonly previousResult?: ItemReport;
}

/** Splits of a large input, of which the folder of the pieces knows everything. */
export interface ChunkWork {
  readonly kind: "pieces";
  readonly folder: string;
  readonly task: number;
  readonly group: number;
}

/** SHA-256 of the sources, in the order of `sources`; null for what was not read. */
export interface SourceDigests {
  readonly digests: readonly (string | null)[];
}

/** A path, or what a text of the step begins: its rest may be added to it. */
export type InputName = string | { readonly textIndex: number; readonly rest: string };

/** A file as the starter sees it. */
export interface StarterFileStat {
  readonly name: string;
  readonly size: string;
  /** Nanoseconds since 1970. */
  readonly modified: string;
}

/** What a worker says of a job that it has done. */
export interface JobAnswer {
  readonly worker: string;
  readonly tries: number;
  readonly converted?: ConversionRecord & SourceDigests;
  readonly itemReport?: ItemReport;
}

/** What a worker says while it is at it; `hand` is null where it has let go of it. */
export interface JobProgress {
  readonly worker: string;
  readonly processMark: string | null;
  readonly features?: number;
  readonly notice?: string;
}

/** Why a job failed, as it stands in Redis. */
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

/** What BullMQ says itself where workers end again and again in the middle of a job. */
const stalledMessage = /stalled more than|started more than/;

/** @param text as it stands in Redis @param what it is of, for people */
export function readFailure(text: string, what: string): JobFailure {
  try {
    const failure = JSON.parse(text) as JobFailure;
    if (Object.hasOwn(errors, failure.code)) return failure;
  } catch {
    // BullMQ's own words.
  }
  const reason = stalledMessage.test(text)
    ? "each of the workers that took it ended in the middle of it; their logs tell more"
    : text;
  return toJobFailure(createError("worker-lost", { what, reason }), null);
}

export const errorFromFailure = ({ code, message }: JobFailure): GeoferryError => new GeoferryError(code, message, {});

export const digestText = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Everything that the result of a step depends on, but its secrets: they may be others where it is done. */
export function digestStep(step: Step, registry: Registry): string {
  const { workers: _, ...source } = step.kind === "conversion" ? step.request : step.request.source;
  const request = step.kind === "conversion" ? source : { ...step.request, source };
  return hashOfSettings(
    JSON.parse(JSON.stringify(request), (_, value) => (typeof value === "string" ? redact(value, registry) : value)),
  );
}

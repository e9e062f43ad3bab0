/** What is handed to a worker, and what comes back: plain data, small, and without secrets. */
import { createHash } from "node:crypto";
import { type ErrorCode, type ErrorKind, registry as errors, fault, GeoferryError } from "../../errors.js";
import { tellable } from "../../io/without-secrets.js";
import type { Registry } from "../../plugin/registry.js";
import { settingsHash } from "../../sync/state.js";
import type { Carrier } from "../../tracing/span.js";
import type { Converted } from "../converted.js";
import type { Step } from "../job.js";
import type { Written } from "../job-state.js";
import type { ItemReport } from "../run-report.js";

/** A step of a job, which the worker reads itself: secrets are resolved where they are used. */
export interface Handed {
  /** Of geoferry: another one may write other bytes. */
  readonly version: string;
  /** Ids of the formats that the starter knows; the worker must know them, too. */
  readonly formats: readonly string[];
  readonly run: string;
  /** Who began it: host and process. */
  readonly starter: string;
  /** The job's file, and SHA-256 of what stands in it. */
  readonly file: string;
  readonly digest: string;
  readonly step: string;
  /** What the step comes to in the environment of the starter (`stepDigest`). */
  readonly settings: string;
  /** Milliseconds since 1970: what the run calls now. */
  readonly now: number;
  /** The span of the step, where the run is traced. */
  readonly trace?: Carrier;
  readonly work: Work;
  /** Ids of the workers that cannot do it. */
  readonly refusedBy?: readonly string[];
}

export type Work = ConversionWork | SynchronisationWork | PiecesWork;

export interface ConversionWork {
  readonly takes: "conversion";
  readonly inputs: readonly InputName[];
  /** Null for the one of the step, whose address may hold secrets. */
  readonly output: string | null;
  /** The job wrote what is there. */
  readonly overwrite: boolean;
  /** Null where nobody can tell. */
  readonly sources: readonly Seen[] | null;
  /** What the files are that were about to get their names, and what is to be told of them. */
  readonly begun?: { readonly files: Written["files"]; readonly done: Converted & Digests };
  /** Its pieces were handed over: bytes of input of each, whatever the worker that goes on would make of it. */
  readonly spread?: number;
}

export interface SynchronisationWork {
  readonly takes: "synchronisation";
  /** Address of the service. */
  readonly service: string;
  readonly insecureHttp: boolean;
  /** Id of the folder of all states (`stateId`). */
  readonly state: string;
  readonly sources: readonly Seen[] | null;
  /** What earlier tries have done. */
  readonly before?: ItemReport;
}

/** Splits of a large input, of which the folder of the pieces knows everything. */
export interface PiecesWork {
  readonly takes: "pieces";
  readonly folder: string;
  readonly task: number;
  readonly group: number;
}

/** SHA-256 of the sources, in the order of `sources`; null for what was not read. */
export interface Digests {
  readonly digests: readonly (string | null)[];
}

/** A path, or what a text of the step begins: its rest may be added to it. */
export type InputName = string | { readonly of: number; readonly rest: string };

/** A file as the starter sees it. */
export interface Seen {
  readonly name: string;
  readonly size: string;
  /** Nanoseconds since 1970. */
  readonly modified: string;
}

/** What a worker says of a job that it has done. */
export interface Answer {
  readonly worker: string;
  readonly tries: number;
  readonly converted?: Converted & Digests;
  readonly item?: ItemReport;
}

/** What a worker says while it is at it; `hand` is null where it has let go of it. */
export interface Underway {
  readonly worker: string;
  readonly hand: string | null;
  readonly features?: number;
  readonly notice?: string;
}

/** Why a job failed, as it stands in Redis. */
export interface Failure {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly worker: string | null;
  readonly item?: ItemReport;
}

export const failureOf = ({ code, kind, message }: GeoferryError, worker: string | null): Failure => {
  return { code, kind, message, worker };
};

/** What BullMQ says itself where workers end again and again in the middle of a job. */
const stalledTooOften = /stalled more than|started more than/;

/** @param text as it stands in Redis @param what it is of, for people */
export function readFailure(text: string, what: string): Failure {
  try {
    const failure = JSON.parse(text) as Failure;
    if (Object.hasOwn(errors, failure.code)) return failure;
  } catch {
    // BullMQ's own words.
  }
  const reason = stalledTooOften.test(text)
    ? "each of the workers that took it ended in the middle of it; their logs tell more"
    : text;
  return failureOf(fault("worker-lost", { what, reason }), null);
}

export const errorOf = ({ code, message }: Failure): GeoferryError => new GeoferryError(code, message, {});

export const textDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Everything that the result of a step depends on, but its secrets: they may be others where it is done. */
export function stepDigest(step: Step, registry: Registry): string {
  const { workers: _, ...source } = step.kind === "conversion" ? step.request : step.request.source;
  const request = step.kind === "conversion" ? source : { ...step.request, source };
  return settingsHash(
    JSON.parse(JSON.stringify(request), (_, value) => (typeof value === "string" ? tellable(value, registry) : value)),
  );
}

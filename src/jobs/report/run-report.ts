/** What a run of a job did: kept from run to run, written as JSON, and shown on a page. */
import { asGeoferryError, createError, type ErrorKind, type GeoferryError } from "../../errors.js";
import { emptyFindings, type FindingLists, type Regression } from "./findings.js";

/** `unchanged`: there was nothing to do. `rejects`: done, but for features that could not be carried. */
export type Result = "done" | "unchanged" | "rejects" | "failed" | "skipped";

export interface ErrorReport {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
}

/** Features by what became of them; only those that apply. */
export interface Counts {
  readonly read?: number;
  readonly written?: number;
  readonly rejected?: number;
  /** Of those written, or sent to a map, the ones without a geometry. */
  readonly withoutGeometry?: number;
  readonly created?: number;
  readonly updated?: number;
  readonly deleted?: number;
}

export interface BackupReport {
  /** Absolute, on the machine of the worker where one wrote it. */
  readonly path: string;
  /** Features that the run created, which restoring deletes. */
  readonly created: number;
}

/** One input of a step and its output, or its map. */
export interface ItemReport extends FindingLists {
  readonly source: string;
  readonly target: string;
  readonly result: Result;
  readonly counts: Counts;
  readonly error: ErrorReport | null;
  /** What is worse than the last time that it was done. */
  readonly changes: readonly Regression[];
  /** The file with the rejected features, where there are any. */
  readonly rejects?: string;
  /** What `restore` undoes the changes of a map by: one of each try that wrote, in the order of time. */
  readonly backups?: readonly BackupReport[];
  /** The worker that did it, where it was handed to one. */
  readonly worker?: string;
}

/** Its findings and changes are those of its items together. */
export interface StepReport extends FindingLists {
  readonly name: string;
  readonly result: Result;
  /** The worst of its items. */
  readonly error: ErrorReport | null;
  readonly tries: number;
  /** ISO 8601, UTC. */
  readonly began: string;
  readonly seconds: number;
  readonly counts: Counts;
  readonly changes: readonly Regression[];
  readonly items: readonly ItemReport[];
}

export interface RunReport {
  readonly job: string;
  /** The job's file. */
  readonly file: string;
  readonly geoferry: string;
  readonly began: string;
  readonly seconds: number;
  /** Nothing was written: the steps tell what would be. */
  readonly dryRun: boolean;
  readonly result: Result;
  /** Why no step was begun; absent where the steps say what happened. */
  readonly error?: ErrorReport;
  readonly steps: readonly StepReport[];
}

/** Of what was not done, or not looked at. */
export const emptyFindingLists = { ...emptyFindings, changes: [] } as const;

export const toErrorReport = (error: GeoferryError): ErrorReport => ({
  code: error.code,
  kind: error.kind,
  message: error.message,
});

/** Anything thrown; where everything is being stopped, that. */
export const toGeoferryError = (error: unknown, signal: AbortSignal): GeoferryError =>
  signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);

/** From the best to the worst. */
const resultOrder: readonly Result[] = ["skipped", "unchanged", "done", "rejects", "failed"];

export const worstResult = (results: readonly Result[]): Result =>
  results.reduce((a, b) => (resultOrder.indexOf(b) > resultOrder.indexOf(a) ? b : a), "unchanged");

/** All of them together. */
export function sumCounts(counts: readonly Counts[]): Counts {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

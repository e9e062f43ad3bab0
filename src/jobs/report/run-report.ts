/** The report of a run: stored in the job's state, written as JSON, and shown on an HTML page. */
import { asGeoferryError, createError, type ErrorKind, type GeoferryError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import { type ComparedField, emptyFindings, type FindingLists, type Regression } from "./findings.js";

/** `unchanged`: nothing to do. `rejects`: done, with rejected features. */
export type Result = "done" | "unchanged" | "rejects" | "failed" | "skipped";

export interface ErrorReport {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
}

/** Features by outcome; only the outcomes that apply. */
export interface Counts {
  readonly read?: number;
  readonly written?: number;
  readonly rejected?: number;
  /** Features written, or sent to a map, without a geometry. */
  readonly withoutGeometry?: number;
  readonly created?: number;
  readonly updated?: number;
  readonly deleted?: number;
}

export interface BackupReport {
  /** Absolute path, on the worker's machine if a worker wrote it. */
  readonly path: string;
  /** Number of features that the run created; restoring deletes them. */
  readonly created: number;
}

/** One input of a step and its output file or map. */
export interface ItemReport extends FindingLists {
  readonly source: string;
  readonly target: string;
  readonly result: Result;
  readonly counts: Counts;
  readonly error: ErrorReport | null;
  /** Regressions since the previous run. */
  readonly regressions: readonly Regression[];
  /** The file with the rejected features, if any. */
  readonly rejects?: string;
  /** Backups for `geoferry restore`, oldest first: one for each attempt that wrote to the map. */
  readonly backups?: readonly BackupReport[];
  /** Name of the worker that processed it. */
  readonly worker?: string;
}

/** What a sync step returns: its item, and the fields of the source, which are compared with the previous run's. */
export interface SyncedItem extends ItemReport {
  readonly sourceFields?: readonly ComparedField[];
  /** In degrees (WGS 84). */
  readonly sourceExtent?: Extent | null;
}

/** Findings and regressions are those of all items. */
export interface StepReport extends FindingLists {
  readonly name: string;
  readonly result: Result;
  /** The most severe error of the items. */
  readonly error: ErrorReport | null;
  readonly attempts: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly counts: Counts;
  readonly regressions: readonly Regression[];
  readonly items: readonly ItemReport[];
}

export interface RunReport {
  readonly job: string;
  /** Path of the job file. */
  readonly file: string;
  readonly geoferry: string;
  readonly startedAt: string;
  readonly seconds: number;
  /** Nothing was written; the steps report what would be. */
  readonly dryRun: boolean;
  readonly result: Result;
  /** Set if no step was started. */
  readonly error?: ErrorReport;
  readonly steps: readonly StepReport[];
}

export const emptyFindingLists = { ...emptyFindings, regressions: [] } as const;

export const toErrorReport = (error: GeoferryError): ErrorReport => ({
  code: error.code,
  kind: error.kind,
  message: error.message,
});

/** @returns `interrupted` if the signal is aborted */
export const toGeoferryError = (error: unknown, signal: AbortSignal): GeoferryError =>
  signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);

/** From best to worst. */
const resultOrder: readonly Result[] = ["skipped", "unchanged", "done", "rejects", "failed"];

export const worstResult = (results: readonly Result[]): Result =>
  results.reduce((a, b) => (resultOrder.indexOf(b) > resultOrder.indexOf(a) ? b : a), "unchanged");

export function sumCounts(counts: readonly Counts[]): Counts {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

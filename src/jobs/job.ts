/** A job: the steps that `geoferry run` executes. `readJob` parses it from a YAML file. */
import type { NetworkSettings } from "../network-settings.js";
import type { ConvertRequest } from "../pipeline/request.js";
import type { ServiceConnectionOptions } from "../remote/connection/resolve-connection.js";
import type { SyncRequest } from "../sync/request.js";

export interface Job {
  readonly name: string;
  /** Connection settings that the file gives; the environment and profiles supply the rest. */
  readonly service: ServiceConnectionOptions;
  /** Maximum number of steps that run at the same time. */
  readonly parallel: number;
  readonly steps: readonly Step[];
  /** Milliseconds. A run that finds an earlier one still running after this time fails instead of being skipped. */
  readonly overdueAfter: number;
  readonly onFailure: OnFailure | null;
  readonly reports: Reports;
}

/** Paths of the report files. */
export interface Reports {
  readonly json?: string;
  readonly html?: string;
  /** For the textfile collector of the Prometheus node exporter. */
  readonly metrics?: string;
}

/** Notifications of a run with an exit status other than 0. */
export interface OnFailure {
  /** Shell command; environment variables give it the status and the path of the report. */
  readonly command?: string;
  /** http(s) address that receives the report by POST. */
  readonly webhook?: string;
}

interface StepBase {
  readonly name: string;
  /** Names of earlier steps that must succeed before this one starts. */
  readonly needs: readonly string[];
  /** Attempts after the first one, for transient errors. */
  readonly retries: number;
  /** Milliseconds before the second attempt; doubles with each further attempt. */
  readonly retryDelay: number;
  /** Network settings of the step; flags of the command line override them. */
  readonly network: Partial<NetworkSettings>;
  /** Milliseconds, for all attempts together. */
  readonly timeout: number | null;
  /** Line of the job file. */
  readonly line: number;
}

/** Converts sources to files. */
export interface ConversionStep extends StepBase {
  readonly kind: "conversion";
  readonly request: ConvertRequest;
  /** Converts unchanged sources, too. */
  readonly always: boolean;
  /** `12` or `5%`: a greater decrease of the features read since the last run fails; null: any is allowed. */
  readonly maxDecrease: string | null;
}

/** Syncs sources to a map. */
export interface SyncStep extends StepBase {
  readonly kind: "sync";
  readonly request: SyncRequest;
  /** Backup of changed and deleted features; null for a file in the state folder. */
  readonly backup: string | null;
}

export type Step = ConversionStep | SyncStep;

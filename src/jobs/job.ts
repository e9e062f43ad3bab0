/** A job: what `geoferry run` does, step by step. A job file says it in YAML (`readJob`). */
import type { NetworkSettings } from "../network-settings.js";
import type { ConvertRequest } from "../pipeline/request.js";
import type { ServiceConnectionOptions } from "../remote/connection/resolve-connection.js";
import type { SyncRequest } from "../sync/request.js";

export interface Job {
  readonly name: string;
  /** The service of its maps, as far as the file says; the environment and profiles say the rest. */
  readonly service: ServiceConnectionOptions;
  /** So many steps run at a time, of those that need none that is to come. */
  readonly parallel: number;
  readonly steps: readonly Step[];
  /** Milliseconds after which a run that is still at work is a failure of the next one. */
  readonly overdueAfter: number;
  readonly onFailure: OnFailure | null;
  readonly reports: Reports;
}

/** Where a run is reported besides the terminal; paths. */
export interface Reports {
  readonly json?: string;
  readonly html?: string;
  /** For the textfile collector of Prometheus' node exporter. */
  readonly metrics?: string;
}

/** What is notified of a run that did not end with 0. */
export interface OnFailure {
  /** For the system's shell, which finds the report in the environment. */
  readonly command?: string;
  /** An http(s) address that the report is posted to. */
  readonly webhook?: string;
}

interface StepBase {
  readonly name: string;
  /** Names of steps before it, without whose success it is not begun. */
  readonly needs: readonly string[];
  /** It is tried again so often where trying again can help. */
  readonly retries: number;
  /** Milliseconds before it is tried the second time, twice as many before the third, and so on. */
  readonly retryDelay: number;
  /** What holds in it, where the command line does not say otherwise. */
  readonly network: Partial<NetworkSettings>;
  /** Milliseconds, of all its tries. */
  readonly timeout: number | null;
  /** Where it stands in the file. */
  readonly line: number;
}

/** Sources into files. */
export interface ConversionStep extends StepBase {
  readonly kind: "conversion";
  readonly request: ConvertRequest;
  /** Sources that have not changed since it wrote its outputs are converted all the same. */
  readonly always: boolean;
}

/** Sources onto a map. */
export interface SyncStep extends StepBase {
  readonly kind: "synchronisation";
  readonly request: SyncRequest;
  /** Where features go that are changed or deleted; null for a name that says map and time. */
  readonly backup: string | null;
}

export type Step = ConversionStep | SyncStep;

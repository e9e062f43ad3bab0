/** What a worker and its hands, the processes that do the work, say to each other. */

import type { ItemReport } from "../../report/run-report.js";
import type { OutputRecord } from "../../run/job-state.js";
import type { ConversionRecord } from "../../steps/conversion-record.js";
import type { ChunkWork, ConversionWork, JobFailure, JobPayload, SourceDigests } from "../job-payload.js";

/** One job. */
export interface JobRequest {
  readonly id: string;
  readonly handed: JobPayload;
  /** The name of the worker. */
  readonly worker: string;
  /** How the marks begin of the process that had the job before and lost it (`ownMarks`). */
  readonly gone: string | null;
  /** Whether a process had the job before, be it this one, and did not come to an end with it. */
  readonly isCut: boolean;
  /** Why pieces of it failed. */
  readonly failures: readonly string[];
}

export type CommitRequest = NonNullable<ConversionWork["begun"]>;

/** What came of a job. */
export type JobResult =
  | { readonly kind: "converted"; readonly converted: ConversionRecord & SourceDigests }
  | { readonly kind: "synchronised"; readonly item: ItemReport }
  /** Of a large input: these pieces, of so many bytes each, are to be done first. */
  | { readonly kind: "pieces"; readonly pieces: readonly ChunkWork[]; readonly bytes: number }
  | { readonly kind: "piece" }
  | {
      readonly kind: "failed";
      readonly failure: JobFailure;
      readonly again: boolean;
      /** Nothing was begun: another worker may be able to do it. */
      readonly isRefusal?: true;
    };

export type ToWorkerProcess =
  | { readonly kind: "order"; readonly order: JobRequest }
  | { readonly kind: "stop" }
  /** Whether outputs may get their names. */
  | { readonly kind: "answer"; readonly may: boolean };

export type FromWorkerProcess =
  | { readonly kind: "ready"; readonly marks: string }
  | {
      readonly kind: "commit";
      readonly begun: { readonly files: OutputRecord["files"]; readonly done: CommitRequest["done"] };
    }
  | { readonly kind: "progress"; readonly features: number }
  | { readonly kind: "notice"; readonly sentence: string }
  | { readonly kind: "done"; readonly done: JobResult };

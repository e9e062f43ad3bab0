/** What a worker and its hands, the processes that do the work, say to each other. */

import type { ItemReport } from "../../report/run-report.js";
import type { ConversionRecord } from "../../steps/conversion-record.js";
import type { ChunkWork, ConversionWork, JobFailure, JobPayload, SourceDigests } from "../job-payload.js";

/** One job. */
export interface JobRequest {
  readonly id: string;
  readonly payload: JobPayload;
  /** The name of the worker. */
  readonly worker: string;
  /** How the marks begin of the process that had the job before and lost it (`ownMarkPrefix`). */
  readonly previousProcessMark: string | null;
  /** Whether a process had the job before, be it this one, and did not come to an end with it. */
  readonly isInterrupted: boolean;
  /** Why pieces of it failed. */
  readonly failures: readonly string[];
}

export type CommitRequest = NonNullable<ConversionWork["pendingCommit"]>;

/** What came of a job. */
export type JobResult =
  | { readonly kind: "converted"; readonly converted: ConversionRecord & SourceDigests }
  | { readonly kind: "synchronised"; readonly itemReport: ItemReport }
  /** Of a large input: these pieces, of so many bytes each, are to be done first. */
  | { readonly kind: "pieces"; readonly chunks: readonly ChunkWork[]; readonly chunkBytes: number }
  | { readonly kind: "piece" }
  | {
      readonly kind: "failed";
      readonly failure: JobFailure;
      readonly mayRetry: boolean;
      /** Nothing was begun: another worker may be able to do it. */
      readonly isRefusal?: true;
    };

export type ToWorkerProcess =
  | { readonly kind: "order"; readonly request: JobRequest }
  | { readonly kind: "stop" }
  /** Whether outputs may get their names. */
  | { readonly kind: "answer"; readonly mayCommit: boolean };

export type FromWorkerProcess =
  | { readonly kind: "ready"; readonly processMark: string }
  | {
      readonly kind: "commit";
      readonly pendingCommit: CommitRequest;
    }
  | { readonly kind: "progress"; readonly features: number }
  | { readonly kind: "notice"; readonly sentence: string }
  | { readonly kind: "done"; readonly result: JobResult };

/** The messages between a worker and its child processes. */

import type { ItemReport } from "../../report/run-report.js";
import type { ConversionRecord } from "../../steps/conversion-record.js";
import type { ChunkWork, ConversionWork, JobFailure, JobPayload, SourceDigests } from "../job-payload.js";

export interface JobRequest {
  readonly id: string;
  readonly payload: JobPayload;
  /** The name of the worker. */
  readonly worker: string;
  /** Mark prefix of the process that lost the job, for deleting its temporary files (`ownMarkPrefix`). */
  readonly previousProcessMark: string | null;
  /** Whether an earlier execution of the job ended without a result. */
  readonly isInterrupted: boolean;
  /** Failure reasons of its chunks. */
  readonly failures: readonly string[];
}

export type CommitRequest = NonNullable<ConversionWork["pendingCommit"]>;

export type JobResult =
  | { readonly kind: "converted"; readonly converted: ConversionRecord & SourceDigests }
  | { readonly kind: "synced"; readonly itemReport: ItemReport }
  /** The job continues when these chunks of a large input are done. */
  | { readonly kind: "chunks-pending"; readonly chunks: readonly ChunkWork[]; readonly chunkBytes: number }
  | { readonly kind: "chunk" }
  | {
      readonly kind: "failed";
      readonly failure: JobFailure;
      readonly mayRetry: boolean;
      /** Nothing was written, and another worker may be able to run the job. */
      readonly isRefusal?: true;
    };

export type ToWorkerProcess =
  | { readonly kind: "run"; readonly request: JobRequest }
  | { readonly kind: "stop" }
  | { readonly kind: "commit-reply"; readonly mayCommit: boolean };

export type FromWorkerProcess =
  | { readonly kind: "ready"; readonly processMark: string }
  | {
      readonly kind: "commit";
      readonly pendingCommit: CommitRequest;
    }
  | { readonly kind: "progress"; readonly features: number }
  | { readonly kind: "notice"; readonly sentence: string }
  | { readonly kind: "done"; readonly result: JobResult };

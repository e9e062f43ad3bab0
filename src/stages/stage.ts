import type { Batch } from "../model/batch.js";
import type { Reject } from "../model/report.js";

/** A stage as plain data, from which any thread builds it. */
export interface StageSpec {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Where a stage says what it could not carry. */
export interface StageContext {
  readonly layer: string;
  lose(code: string, field: string | undefined, example: string, count?: number): void;
  notice(code: string, field: string | undefined, example: string, count?: number): void;
  /** Features whose geometry cannot be carried go on without it, as the rejects say; else they are left out. */
  readonly keepsRows: boolean;
  reject(reject: Reject): void;
  /** So many positions went by this of several operations between two systems. */
  went(operation: string, accuracy: number | null, positions: number): void;
}

/** Batch in, batch out. Knows nothing of its neighbours; never changes the batch it was given. */
export interface Stage {
  apply(batch: Batch): Batch;
}

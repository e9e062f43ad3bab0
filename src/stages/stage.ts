import type { Batch } from "../model/batch.js";
import type { OperationUse, Reject } from "../model/report.js";

/** A stage as plain data, from which any thread builds it. */
export interface StageSpec {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Where a stage says what it could not carry. */
export interface StageContext {
  readonly layer: string;
  reportLoss(code: string, field: string | undefined, example: string, count?: number): void;
  reportNotice(code: string, field: string | undefined, example: string, count?: number): void;
  /** Features whose geometry cannot be carried go on without it, as the rejects say; else they are left out. */
  readonly keepsBadGeometries: boolean;
  reject(reject: Reject): void;
  /** Positions went by one route of the operation between two systems, or are served by none. */
  countOperation(use: Omit<OperationUse, "layer">): void;
}

/** Batch in, batch out. Knows nothing of its neighbors; never changes the batch it was given. */
export interface Stage {
  apply(batch: Batch): Batch;
}

import type { Batch } from "../model/batch.js";
import type { OperationUse, Reject } from "../model/report.js";

/** A stage as plain data, from which any thread builds it. */
export interface StageSpec {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Receives the losses, notices and rejects of a stage. */
export interface StageContext {
  readonly layer: string;
  reportLoss(code: string, field: string | undefined, example: string, count?: number): void;
  reportNotice(code: string, field: string | undefined, example: string, count?: number): void;
  /** Whether features whose geometry cannot be written are kept without it, or left out. */
  readonly keepsBadGeometries: boolean;
  reject(reject: Reject): void;
  /** Positions went by one route of the operation between two systems, or are served by none. */
  countOperation(use: Omit<OperationUse, "layer">): void;
}

/** Converts a batch to another batch. It does not depend on other stages, and never changes its input. */
export interface Stage {
  apply(batch: Batch): Batch;
}

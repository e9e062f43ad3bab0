import type { Batch, BatchData } from "../../model/batch.js";
import type { Loss } from "../../model/report.js";
import { Tally } from "../../model/report.js";
import type { PluginContext, WriteContext } from "../../plugin/format.js";
import type { FitFault } from "./fit-faults.js";
import type { ProofRowEncoder } from "./proof-row.js";
import { splitMultiPoints } from "./split-multi-points.js";

/** A batch as it was written or read back, for the verification: its digests, the batch itself, or both. Plain data. */
export interface ProofChunk {
  readonly rows: number;
  readonly fields: readonly string[];
  /** One digest for each row; null if the batches are compared in their order. */
  readonly digests: Uint8Array | null;
  /** Null if only the digests are needed. */
  readonly batch: BatchData | null;
  /** What the writer reported as it encoded the batch. */
  readonly losses: readonly Loss[];
  /** What the fit changed before without a report. */
  readonly fitFaults: readonly FitFault[];
}

export function createProofChunk(
  given: Batch,
  encoder: ProofRowEncoder,
  keepsBatch: boolean,
  losses: readonly Loss[] = [],
  fitFaults: readonly FitFault[] = [],
): ProofChunk {
  const batch = encoder.rules.splitsMultiPoints ? splitMultiPoints(given) : given;
  return {
    rows: batch.length,
    fields: batch.fields.map(({ name }) => name),
    digests: encoder.rules.isOrdered ? null : encoder.digests(batch),
    batch: keepsBatch ? batch.toData() : null,
    losses,
    fitFaults,
  };
}

/** The context of a writer that also counts its losses apart from those of readers and stages. */
export class WriterLosses implements WriteContext {
  private tally = new Tally();

  constructor(private readonly context: WriteContext & { readonly layer: string }) {}

  get signal(): AbortSignal {
    return this.context.signal;
  }

  get crs(): PluginContext["crs"] {
    return this.context.crs;
  }

  get now(): Date {
    return this.context.now;
  }

  reportLoss(code: string, field: string | undefined, example: string, count = 1): void {
    this.tally.add(code, this.context.layer, field, count, example);
    this.context.reportLoss(code, field, example, count);
  }

  reportNotice(code: string, field: string | undefined, example: string, count?: number): void {
    this.context.reportNotice(code, field, example, count);
  }

  createTemporaryPath(name: string): Promise<string> {
    return this.context.createTemporaryPath(name);
  }

  getTextEncoder(encoding: string): (text: string) => Uint8Array {
    return this.context.getTextEncoder(encoding);
  }

  /** The losses since the last call. */
  take(): Loss[] {
    const losses = this.tally.list();
    if (losses.length > 0) this.tally = new Tally();
    return losses;
  }
}

import type { Batch } from "../../model/batch.js";
import type { WriteContext } from "../../plugin/format.js";
import { fitBatch } from "../../stages/fit-batch.js";
import type { FitPlan } from "../../stages/fit-plan.js";
import type { StageContext } from "../../stages/stage.js";
import { type FitFault, FitLosses, findFitFaults } from "./fit-faults.js";
import { createProofChunk, type ProofChunk, WriterLosses } from "./proof-chunk.js";
import { ProofRowEncoder } from "./proof-row.js";
import type { ProofRules } from "./proof-rules.js";

/** The batches of a fit, and what it changed without a report, by part. */
interface CheckedFit {
  readonly parts: ReturnType<typeof fitBatch>;
  readonly faults: ReadonlyMap<number, readonly FitFault[]>;
}

/** What a task does for a verification: it digests batches, and collects faults of the fit and losses of the writer. */
export class TaskProof {
  /** The context of the encoders, which counts their losses apart. */
  readonly writerContext: WriterLosses;
  private readonly encoders: readonly ProofRowEncoder[];

  /** @param rules for each part */
  constructor(rules: readonly ProofRules[], context: WriteContext & { readonly layer: string }) {
    this.writerContext = new WriterLosses(context);
    this.encoders = rules.map((each) => new ProofRowEncoder(each));
  }

  fit(plan: FitPlan, batch: Batch, context: StageContext): CheckedFit {
    const losses = new FitLosses(context);
    const parts = fitBatch(plan, batch, losses);
    return { parts, faults: findFitFaults(plan, batch, parts, losses) };
  }

  /** The chunk of a batch that was encoded just before. */
  ofWritten(part: number, fitted: Batch, faults: CheckedFit["faults"]): ProofChunk {
    return createProofChunk(fitted, this.encoders[part]!, true, this.writerContext.take(), faults.get(part));
  }

  /** The chunk of a batch that was read again. */
  ofRead(batch: Batch, keepsBatch: boolean): ProofChunk {
    return createProofChunk(batch, this.encoders[0]!, keepsBatch);
  }
}

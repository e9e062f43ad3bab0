import type { Spool } from "../../io/input/spool.js";
import { type Notice, type Reject, Tally } from "../../model/report.js";
import type { ConversionContext } from "../conversion-context.js";
import { processLayer } from "../execute/process-layer.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { StagePlan } from "../plan/plan-stages.js";
import type { ProofChunk } from "./proof-chunk.js";
import type { ProofRules } from "./proof-rules.js";
import { ProofSide } from "./proof-side.js";

/** What a reader noted, and the features that it could not read. */
export interface ReaderFindings {
  readonly notices: readonly Notice[];
  readonly rejects: readonly Reject[];
}

/** Consecutive features that were read back. */
export interface ReadChunks extends ReaderFindings {
  readonly chunks: readonly ProofChunk[];
}

/** A layer as it was read back. */
export interface ReadLayer extends ReaderFindings {
  readonly side: ProofSide;
}

const maxRejects = 100;
const noStages: StagePlan = { stages: [], crs: null, isCrsAssumed: false };

/**
 * Reads a layer again. What the reader notes comes with or before the features that it is about.
 * @param keepsBatches whether the features themselves are needed, and not only their digests
 */
export async function* readBackChunks(
  conversion: ConversionContext,
  open: OpenLayer,
  rules: ProofRules,
  keepsBatches: boolean,
): AsyncGenerator<ReadChunks> {
  const outcome = { kind: "digest", rules, keepsBatches } as const;
  for await (const result of processLayer(conversion, open, noStages, outcome, Number.POSITIVE_INFINITY)) {
    const { notices, rejects } = open.context.takeFindings(0);
    yield {
      chunks: result.proofs,
      notices: [...notices, ...result.notices],
      rejects: [...rejects, ...result.rejects],
    };
    conversion.executor.releaseBuffers(result);
    conversion.progress.features += result.read;
    conversion.progress.report("verify");
  }
  const { notices, rejects } = open.context.takeFindings(0);
  yield { chunks: [], notices, rejects };
}

/** The first rejects, and all notices. */
export class FindingsCollector implements ReaderFindings {
  rejects: readonly Reject[] = [];
  private readonly tally = new Tally();

  add({ notices, rejects }: ReaderFindings): void {
    this.rejects = [...this.rejects, ...rejects].slice(0, maxRejects);
    this.tally.merge(notices);
  }

  get notices(): readonly Notice[] {
    return this.tally.list();
  }
}

/** Reads a layer into temporary files. */
export async function readBackLayer(
  conversion: ConversionContext,
  open: OpenLayer,
  rules: ProofRules,
  keepsBatches: boolean,
  spool: Spool,
): Promise<ReadLayer> {
  const findings = new FindingsCollector();
  // Buffers of features that were read are released, so that none stays in memory.
  const side = new ProofSide(spool.folder(), { left: 0 }, rules);
  try {
    for await (const read of readBackChunks(conversion, open, rules, keepsBatches)) {
      for (const chunk of read.chunks) side.add(chunk);
      findings.add(read);
    }
    return { side, rejects: findings.rejects, notices: findings.notices };
  } catch (error) {
    side[Symbol.dispose]();
    throw error;
  }
}

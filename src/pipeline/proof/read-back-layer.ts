import type { Spool } from "../../io/input/spool.js";
import { type Notice, type Reject, Tally } from "../../model/report.js";
import type { ConversionContext } from "../conversion-context.js";
import { processLayer } from "../execute/process-layer.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { StagePlan } from "../plan/plan-stages.js";
import type { ProofRules } from "./proof-rules.js";
import { ProofSide } from "./proof-side.js";

/** A layer as it was read back. */
export interface ReadLayer {
  readonly side: ProofSide;
  /** Features that the reader could not read. */
  readonly rejects: readonly Reject[];
  /** What the reader noted. */
  readonly notices: readonly Notice[];
}

const maxRejects = 100;
const noStages: StagePlan = { stages: [], crs: null, isCrsAssumed: false };

/** @param keepsBatches whether the features themselves are needed, and not only their digests */
export async function readBackLayer(
  conversion: ConversionContext,
  open: OpenLayer,
  rules: ProofRules,
  keepsBatches: boolean,
  spool: Spool,
): Promise<ReadLayer> {
  const side = new ProofSide(spool.folder());
  const rejects: Reject[] = [];
  const notices = new Tally();
  try {
    const outcome = { kind: "digest", rules, keepsBatches } as const;
    for await (const result of processLayer(conversion, open, noStages, outcome, Number.POSITIVE_INFINITY)) {
      for (const chunk of result.proofs) side.add(chunk);
      rejects.push(...result.rejects.slice(0, maxRejects - rejects.length));
      notices.merge(result.notices);
      conversion.progress.features += result.read;
      conversion.progress.report("verify");
    }
    const findings = open.context.takeFindings(0);
    rejects.push(...findings.rejects.slice(0, maxRejects - rejects.length));
    notices.merge(findings.notices);
    return { side, rejects, notices: notices.list() };
  } catch (error) {
    side[Symbol.dispose]();
    throw error;
  }
}

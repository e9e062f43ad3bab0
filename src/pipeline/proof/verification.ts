/**
 * The verification of a conversion: keeps what is passed to the writer, in memory and temporary files, reads the output with the
 * reader of its own format before it gets its name, and compares both, feature by feature.
 */

import type { VerifiedDifference } from "../../errors/verify-errors.js";
import { createError } from "../../errors.js";
import { Spool } from "../../io/input/spool.js";
import type { HostSink } from "../../io/output/create-sink.js";
import type { Loss } from "../../model/report.js";
import type { ReadBack, TargetLayer } from "../../plugin/format.js";
import { type ConversionContext, ProgressTracker } from "../conversion-context.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { PlannedPart } from "../plan/plan-layer.js";
import type { MemoryBudget } from "./batch-store.js";
import { linkOutput, openOutput } from "./open-output.js";
import type { LayerProof, Proof } from "./proof.js";
import type { ProofChunk } from "./proof-chunk.js";
import { type ProofRules, proofRules } from "./proof-rules.js";
import { ProofSide } from "./proof-side.js";
import { verifyLayer } from "./verify-layer.js";

/** A layer of the output: how it is read back, and what was written. */
interface WrittenLayer {
  readonly part: PlannedPart;
  readonly readBack: ReadBack;
  readonly rules: ProofRules;
  readonly side: ProofSide;
}

/** An output file with its layers. */
export interface WrittenFile {
  readonly sink: HostSink;
  readonly parts: readonly PlannedPart[];
}

/** Bytes of written batches that are kept in memory: those of some hundred thousand points. */
const maxMemoryBytes = 1 << 26;
/** Differences in the details of the error. */
const maxListed = 100;

export class Verification implements AsyncDisposable {
  private readonly spool = new Spool();
  private readonly budget: MemoryBudget = { left: maxMemoryBytes };
  private readonly layers = new Map<PlannedPart, WrittenLayer>();

  constructor(private readonly conversion: ConversionContext) {}

  /** Plans the comparison of the layers of one file. */
  async plan(parts: readonly PlannedPart[]): Promise<void> {
    const { writer } = this.conversion;
    const targets = parts.map(({ layer }) => layer);
    const module = await writer.format.writer!.load();
    const readBack = module.readBack?.(targets, writer.formatRef.options) ?? {};
    for (const part of parts) {
      const rules = proofRules(part.layer, readBack, writer.capabilities);
      this.layers.set(part, { part, readBack, rules, side: new ProofSide(this.spool.folder(), this.budget, rules) });
    }
  }

  rulesOf(part: PlannedPart): ProofRules {
    return this.layers.get(part)!.rules;
  }

  add(part: PlannedPart, chunk: ProofChunk): void {
    this.layers.get(part)!.side.add(chunk);
  }

  /** Adds what the writer reported as it assembled a file. */
  addLosses(parts: readonly PlannedPart[], losses: readonly Loss[]): void {
    for (const part of parts)
      this.layers
        .get(part)!
        .side.addLosses(losses.filter(({ layer }) => parts.length === 1 || layer === part.layer.name));
  }

  /**
   * Reads complete files that do not have their names yet, and compares them with what was written.
   * @throws verify-failed
   */
  async run(files: readonly WrittenFile[]): Promise<Proof> {
    const { host, request } = this.conversion;
    const progress = new ProgressTracker(host.onProgress);
    const conversion: ConversionContext = {
      ...this.conversion,
      request: { inputs: request.inputs, output: request.output },
      progress,
    };
    const proofs: LayerProof[] = [];
    const differences: VerifiedDifference[] = [];
    let count = 0;
    for (const file of files) {
      const found = await this.verifyFile(file, conversion);
      proofs.push(...found.proofs);
      differences.push(...found.differences);
      count += found.count;
    }
    if (count > 0) {
      const listed = differences.slice(0, maxListed);
      throw createError("verify-failed", { output: request.output, count, differences: listed });
    }
    return { layers: proofs };
  }

  private async verifyFile(
    { sink, parts }: WrittenFile,
    conversion: ConversionContext,
  ): Promise<{ readonly proofs: LayerProof[]; readonly differences: VerifiedDifference[]; readonly count: number }> {
    const { writer } = conversion;
    const [first] = parts;
    if (!first) return { proofs: [], differences: [], count: 0 };
    const path = linkOutput(sink, this.spool);
    const host = { ...conversion.host, displayNames: new Map([[path, sink.name]]) };
    const { readBack } = this.layers.get(first)!;
    await using inputs = await openOutput(path, writer, readBack, writer.capabilities, host, this.spool);
    const proofs: LayerProof[] = [];
    const differences: VerifiedDifference[] = [];
    let count = 0;
    for (const part of parts) {
      const open = findLayer(inputs?.layers ?? [], part.layer, parts.length);
      const { rules, side, readBack } = this.layers.get(part)!;
      const ignoredFields = (readBack.addedFields ?? []).filter((name) => !side.fields.has(name));
      const written = { part, side, rules: { ...rules, ignoredFields } };
      const found = await verifyLayer(written, open, { ...conversion, host }, this.spool);
      proofs.push(found.proof);
      differences.push(...found.collector.differences);
      count += found.collector.count;
    }
    return { proofs, differences, count };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { side } of this.layers.values()) side[Symbol.dispose]();
    this.layers.clear();
    await this.spool[Symbol.asyncDispose]();
  }
}

/** The layer of this name; the only one if one was written. */
function findLayer(layers: readonly OpenLayer[], { name }: TargetLayer, written: number): OpenLayer | null {
  const found = layers.find(({ layer }) => layer.name === name);
  return found ?? (written === 1 && layers.length === 1 ? layers[0]! : null);
}

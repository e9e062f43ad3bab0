/** Compares one layer of an output with what was written. */
import { isSameCrs } from "../../crs/index.js";
import type { Spool } from "../../io/input/spool.js";
import type { Reject } from "../../model/report.js";
import type { TargetLayer } from "../../plugin/format.js";
import type { ConversionContext } from "../conversion-context.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { PlannedPart } from "../plan/plan-layer.js";
import { DifferenceCollector } from "./differences.js";
import { hashDigests } from "./hash-digests.js";
import { OrderedComparison } from "./ordered-comparison.js";
import { compareInOrder, pairUnequal } from "./pair-rows.js";
import type { LayerProof } from "./proof.js";
import { ProofRowEncoder } from "./proof-row.js";
import type { ProofRules } from "./proof-rules.js";
import { ProofSide } from "./proof-side.js";
import { FindingsCollector, type ReadLayer, readBackChunks, readBackLayer } from "./read-back-layer.js";

/** A layer as it was written. */
interface WrittenLayer {
  readonly part: PlannedPart;
  readonly rules: ProofRules;
  readonly side: ProofSide;
}

/** How the features of a layer came back. */
interface FeatureComparison {
  readonly collector: DifferenceCollector;
  /** Features that did not come back as they were written. */
  readonly changed: number;
  readonly rejects: readonly Reject[];
  readonly writtenHash: string;
  readonly readHash: string;
}

/** The comparison of a layer. */
class LayerVerification {
  private readonly encoder: ProofRowEncoder;

  constructor(
    private readonly written: WrittenLayer,
    private readonly open: OpenLayer | null,
    private readonly conversion: ConversionContext,
    private readonly spool: Spool,
  ) {
    this.encoder = new ProofRowEncoder(written.rules);
  }

  private createCollector(): DifferenceCollector {
    const { part, side } = this.written;
    const assignsIds = this.conversion.writer.capabilities.ids !== true;
    return new DifferenceCollector(part.layer.name, this.encoder, side.losses, assignsIds);
  }

  /** Compares the features as they are read; only if one differs that no loss explains are they read a second time. */
  async compareInOrder(): Promise<FeatureComparison> {
    const { side, rules } = this.written;
    let collector = this.createCollector();
    const comparison = new OrderedComparison(side, this.encoder, collector);
    const findings = new FindingsCollector();
    if (this.open)
      for await (const read of readBackChunks(this.conversion, this.open, rules, true)) {
        findings.add(read);
        collector.addNotices(read.notices);
        for (const { batch } of read.chunks) comparison.add(batch!);
      }
    comparison.finish();
    const writtenHash = side.hashInOrder();
    const readHash = comparison.readHash(writtenHash);
    let { changed } = comparison;
    let { rejects } = findings;
    if (collector.count > 0) {
      // Pairs by content describe missing features and changes of order better.
      side.digestBatches(this.encoder);
      const read = await this.readAgain({ ...rules, isOrdered: false }, true);
      using readSide = read.side;
      collector = this.createCollector();
      collector.addNotices(read.notices);
      changed = comparePairs(side, readSide, this.encoder, collector);
      rejects = read.rejects;
      if (collector.count === 0) noteOrder(side, readSide, collector);
    }
    return { collector, changed, rejects, writtenHash, readHash };
  }

  /** Compares the digests of the features; reads the features themselves only if a digest differs. */
  async compareDigests(): Promise<FeatureComparison> {
    const { side, rules } = this.written;
    const mayDiffer = side.losses.length > 0;
    let read = await this.readAgain(rules, mayDiffer);
    try {
      const collector = this.createCollector();
      const writtenHash = hashDigests(side.digests);
      const readHash = hashDigests(read.side.digests);
      let changed = 0;
      if (writtenHash !== readHash) {
        if (!mayDiffer) {
          read.side[Symbol.dispose]();
          read = await this.readAgain(rules, true);
        }
        collector.addNotices(read.notices);
        changed = comparePairs(side, read.side, this.encoder, collector);
      }
      return { collector, changed, rejects: read.rejects, writtenHash, readHash };
    } finally {
      read.side[Symbol.dispose]();
    }
  }

  private async readAgain(rules: ProofRules, keepsBatches: boolean): Promise<ReadLayer> {
    if (this.open) return readBackLayer(this.conversion, this.open, rules, keepsBatches, this.spool);
    return { side: new ProofSide(this.spool.folder(), { left: 0 }, rules), rejects: [], notices: [] };
  }
}

/**
 * Reads a layer of the output again and compares it with what was written.
 * @param open null if the output has no such layer
 */
export async function verifyLayer(
  written: WrittenLayer,
  open: OpenLayer | null,
  conversion: ConversionContext,
  spool: Spool,
): Promise<{ readonly proof: LayerProof; readonly collector: DifferenceCollector }> {
  const { part, side, rules } = written;
  const verification = new LayerVerification(written, open, conversion, spool);
  const comparison = rules.isOrdered ? await verification.compareInOrder() : await verification.compareDigests();
  const { collector, changed, rejects, writtenHash, readHash } = comparison;
  for (const { reason, place } of rejects)
    collector.add({
      kind: "unreadable",
      feature: place.record ?? null,
      field: null,
      written: "a feature",
      read: reason,
    });
  if (open === null && side.rows > 0)
    collector.add({ kind: "layer-missing", feature: null, field: null, written: part.layer.name, read: "no layer" });
  for (const { row, field, before, after } of side.fitFaults)
    collector.add({ kind: "fit", feature: row + 1, field, written: after, read: before });
  if (open !== null) await compareSchema(part.layer, open, rules, collector, conversion);
  const proof: LayerProof = {
    path: part.path,
    layer: part.layer.name,
    features: side.rows,
    identical: side.rows - changed,
    isOrdered: rules.isOrdered,
    decimals: rules.decimals,
    types: rules.types,
    writtenHash,
    readHash,
    explained: collector.explained,
  };
  return { proof, collector };
}

/** Compares the features that differ by their digests, in any order. @returns how many do */
function comparePairs(
  written: ProofSide,
  read: ProofSide,
  encoder: ProofRowEncoder,
  collector: DifferenceCollector,
): number {
  const pairs = pairUnequal(written, read, encoder);
  for (const [one, other] of pairs) {
    if (one === null) collector.addUnexpected(other! + 1);
    else if (other === null) collector.addMissing(one + 1);
    else collector.compare({ feature: one + 1, written: written.rowAt(one), read: read.rowAt(other) });
  }
  return pairs.length;
}

/** Notes the first feature that came back in another place. */
function noteOrder(written: ProofSide, read: ProofSide, collector: DifferenceCollector): void {
  let first: number | null = null;
  const { differing } = compareInOrder(written, read, (row) => {
    first ??= row + 1;
  });
  if (first === null) return;
  const description = `${differing} features are in another place`;
  collector.add({ kind: "order", feature: first, field: null, written: "in this order", read: description });
}

/** Compares what the layer declares: its fields with their types, and the reference system. */
async function compareSchema(
  { fields, crs }: TargetLayer,
  { layer }: OpenLayer,
  { types }: ProofRules,
  collector: DifferenceCollector,
  { writer }: ConversionContext,
): Promise<void> {
  if (types === "layer" && fields && layer.fields) {
    const declared = new Map(layer.fields.map(({ name, type }) => [name, type]));
    for (const { name, type } of fields) {
      const other = declared.get(name);
      if (other === type || collector.explain(name, () => 1)) continue;
      if (other === undefined)
        collector.add({ kind: "field-missing", feature: null, field: name, written: type, read: "no field" });
      else collector.add({ kind: "type", feature: null, field: name, written: type, read: other });
    }
  }
  const holdsCrs = writer.capabilities.crs === "any" && crs !== null && layer.crs !== null;
  if (!holdsCrs || (crs.id !== null && crs.id === layer.crs!.id)) return;
  // A format may write another text for the same system.
  if (await isSameCrs(crs, layer.crs!)) return;
  const nameOf = ({ id, name }: NonNullable<TargetLayer["crs"]>) => id ?? name;
  collector.add({ kind: "crs", feature: null, field: null, written: nameOf(crs), read: nameOf(layer.crs!) });
}

/**
 * The verification of a conversion: keeps what is passed to the writer in temporary files, reads the output with the
 * reader of its own format before it gets its name, and compares both, feature by feature.
 */

import { hasSameDefinition } from "../../crs/index.js";
import type { VerifiedDifference } from "../../errors/verify-errors.js";
import { createError } from "../../errors.js";
import { Spool } from "../../io/input/spool.js";
import type { HostSink } from "../../io/output/create-sink.js";
import type { Loss } from "../../model/report.js";
import type { ReadBack, TargetLayer } from "../../plugin/format.js";
import { type ConversionContext, ProgressTracker } from "../conversion-context.js";
import type { OpenLayer } from "../input/open-inputs.js";
import type { PlannedPart } from "../plan/plan-layer.js";
import { DifferenceCollector } from "./differences.js";
import { hashDigests } from "./hash-digests.js";
import { linkOutput, openOutput } from "./open-output.js";
import { compareInOrder, pairUnequal } from "./pair-rows.js";
import type { LayerProof, Proof } from "./proof.js";
import type { ProofChunk } from "./proof-chunk.js";
import { ProofRowEncoder } from "./proof-row.js";
import { type ProofRules, proofRules } from "./proof-rules.js";
import { ProofSide } from "./proof-side.js";
import { type ReadLayer, readBackLayer } from "./read-back-layer.js";

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

/** Differences in the details of the error. */
const maxListed = 100;

export class Verification implements AsyncDisposable {
  private readonly spool = new Spool();
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
      this.layers.set(part, { part, readBack, rules, side: new ProofSide(this.spool.folder()) });
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
      const found = await this.verifyLayer(this.layers.get(part)!, open, { ...conversion, host });
      proofs.push(found.proof);
      differences.push(...found.collector.differences);
      count += found.collector.count;
    }
    return { proofs, differences, count };
  }

  private async verifyLayer(
    { part, readBack, rules: given, side }: WrittenLayer,
    open: OpenLayer | null,
    conversion: ConversionContext,
  ): Promise<{ readonly proof: LayerProof; readonly collector: DifferenceCollector }> {
    const ignoredFields = (readBack.addedFields ?? []).filter((name) => !side.fields.has(name));
    const rules = { ...given, ignoredFields };
    const encoder = new ProofRowEncoder(rules);
    const assignsIds = conversion.writer.capabilities.ids !== true;
    const createCollector = () =>
      new DifferenceCollector(part.layer.name, encoder, side.losses, read.notices, assignsIds);
    const isOrdered = readBack.order !== "any";
    const mayDiffer = side.losses.length > 0;
    const readLayer = async (keepsBatches: boolean): Promise<ReadLayer> =>
      open === null
        ? { side: new ProofSide(this.spool.folder()), rejects: [], notices: [] }
        : readBackLayer(conversion, open, rules, keepsBatches, this.spool);
    let read = await readLayer(mayDiffer);
    try {
      const hashes = { written: hashDigests(side.digests, isOrdered), read: hashDigests(read.side.digests, isOrdered) };
      let changed = 0;
      let collector = createCollector();
      if (hashes.written !== hashes.read) {
        if (!mayDiffer) {
          read.side[Symbol.dispose]();
          read = await readLayer(true);
          collector = createCollector();
        }
        changed = compareRows(side, read.side, isOrdered, encoder, collector);
        if (collector.count > 0 && isOrdered) {
          // Pairs by content describe missing features and changes of order better.
          const repaired = createCollector();
          changed = compareRows(side, read.side, false, encoder, repaired);
          if (repaired.count === 0) noteOrder(side, read.side, repaired);
          collector = repaired;
        }
      }
      for (const { reason, place } of read.rejects)
        collector.add({
          kind: "unreadable",
          feature: place.record ?? null,
          field: null,
          written: "a feature",
          read: reason,
        });
      if (open === null && side.rows > 0)
        collector.add({
          kind: "layer-missing",
          feature: null,
          field: null,
          written: part.layer.name,
          read: "no layer",
        });
      for (const { row, field, before, after } of side.fitFaults)
        collector.add({ kind: "fit", feature: row + 1, field, written: after, read: before });
      if (open !== null) compareSchema(part.layer, open, rules, collector, conversion);
      const proof: LayerProof = {
        path: part.path,
        layer: part.layer.name,
        features: side.rows,
        identical: side.rows - changed,
        isOrdered,
        decimals: rules.decimals,
        types: rules.types,
        writtenHash: hashes.written,
        readHash: hashes.read,
        explained: collector.explained,
      };
      return { proof, collector };
    } finally {
      read.side[Symbol.dispose]();
    }
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

/** Compares the features that differ by their digests. @returns how many do */
function compareRows(
  written: ProofSide,
  read: ProofSide,
  inPlace: boolean,
  encoder: ProofRowEncoder,
  collector: DifferenceCollector,
): number {
  let changed = 0;
  const compare = (one: number | null, other: number | null) => {
    changed++;
    if (one === null)
      collector.add({
        kind: "feature-added",
        feature: other! + 1,
        field: null,
        written: "no feature",
        read: "a feature",
      });
    else if (other === null)
      collector.add({
        kind: "feature-missing",
        feature: one + 1,
        field: null,
        written: "a feature",
        read: "no feature",
      });
    else collector.compare({ feature: one + 1, written: written.rowAt(one), read: read.rowAt(other) });
  };
  if (inPlace) {
    compareInOrder(written, read, (row) => compare(row, row));
    for (let row = read.rows; row < written.rows; row++) compare(row, null);
    for (let row = written.rows; row < read.rows; row++) compare(null, row);
  } else for (const [one, other] of pairUnequal(written, read, encoder)) compare(one, other);
  return changed;
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
function compareSchema(
  { fields, crs }: TargetLayer,
  { layer }: OpenLayer,
  { types }: ProofRules,
  collector: DifferenceCollector,
  { writer }: ConversionContext,
): void {
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
  if (!holdsCrs || hasSameDefinition(crs, layer.crs!)) return;
  if (crs.id !== null && crs.id === layer.crs!.id) return;
  const nameOf = ({ id, name }: NonNullable<TargetLayer["crs"]>) => id ?? name;
  collector.add({ kind: "crs", feature: null, field: null, written: nameOf(crs), read: nameOf(layer.crs!) });
}

/**
 * The part of a conversion that any thread can run: reads a split, applies the stages to its batches, fits and encodes
 * them, or summarizes them. Takes and returns plain data.
 */

import { geographicConversion } from "../../crs/index.js";
import { createError } from "../../errors.js";
import { createSource } from "../../io/input/create-source.js";
import type { SourceSpec } from "../../io/input/source.js";
import { Batch, type BatchData, collectBuffers } from "../../model/batch.js";
import { isAcquired, releaseBuffer } from "../../model/buffer-pool.js";
import { extentOfColumn } from "../../model/feature-box.js";
import type { Extent } from "../../model/geometry.js";
import type { Crs, Dataset, Layer, Split } from "../../model/layer.js";
import { Summarizer, type SummaryState } from "../../model/layer-summary.js";
import { packFeatures } from "../../model/pack-features.js";
import type { Chunk, Encoder, Format, ReaderModule, TargetLayer, WriteContext } from "../../plugin/format.js";
import type { OptionTable, OptionValues } from "../../plugin/options.js";
import { buildStage } from "../../stages/build-stage.js";
import { fitBatch } from "../../stages/fit-batch.js";
import type { FitPlan } from "../../stages/fit-plan.js";
import type { Stage, StageContext, StageSpec } from "../../stages/stage.js";
import type { StatisticsCollector, StatisticsState } from "../../statistics/statistics.js";
import type { ProofChunk } from "../proof/proof-chunk.js";
import type { ProofRules } from "../proof/proof-rules.js";
import type { TaskProof } from "../proof/task-proof.js";
import { countDropped } from "../write/rejects-file.js";
import { collectGarbage } from "./collect-garbage.js";
import { type Findings, HostContext } from "./host-context.js";

/** A format and its options as plain data. Another thread imports `module` to get the format. */
export interface FormatRef {
  readonly id: string;
  readonly module: string;
  readonly options: OptionValues<OptionTable>;
}

/** A source and its reader, for scanning parts of it on another thread. */
export interface ScanSpec {
  readonly source: SourceSpec;
  readonly reader: FormatRef;
  readonly skipErrors: boolean;
  /** Features whose geometry cannot be written are kept without it. */
  readonly keepsBadGeometries: boolean;
}

export interface TaskSpec extends ScanSpec {
  readonly scanResult: unknown;
  /** Index of the layer in its dataset, and its name for reports. */
  readonly layerIndex: number;
  readonly layerName: string;
  readonly stages: readonly StageSpec[];
  /** Stages that only report: their rejects are counted, and the features continue unchanged. */
  readonly checks?: readonly StageSpec[];
  /** Names of fields that the request mentions. */
  readonly requestedFields?: readonly string[];
  readonly outcome: SummarySpec | EncodeSpec | DigestSpec;
  /** Start time of the run, in milliseconds since 1970. */
  readonly now: number;
}

export interface SummarySpec {
  readonly kind: "summary";
  readonly refinesTypes: boolean;
  /** Also collects statistics; the system of the coordinates, null if it is unknown. */
  readonly statistics?: { readonly crs: Crs | null };
}

export interface EncodeSpec {
  readonly kind: "encode";
  readonly fitPlan: FitPlan;
  readonly writer: FormatRef;
  /** One for each part of the fit plan. */
  readonly targetLayers: readonly TargetLayer[];
  /** For a verification: the rules of each part. */
  readonly proofRules?: readonly ProofRules[];
}

/** The features for a verification: digests, batches or both. */
export interface DigestSpec {
  readonly kind: "digest";
  readonly rules: ProofRules;
  readonly keepsBatches: boolean;
}

/** What a task processes at once: a split, a batch that was already read, or with neither the whole layer. */
export interface Piece {
  readonly split?: Split;
  readonly batch?: BatchData;
  /** Bytes of the input that a batch stands for. */
  readonly bytes?: number;
}

export interface EncodedChunk {
  readonly partIndex: number;
  readonly features: number;
  /** Features with a geometry. */
  readonly withGeometry: number;
  /** Of the positions, in the target's coordinates; null without any. */
  readonly extent: Extent | null;
  readonly chunk: Chunk;
  /** The batch that was encoded, for a verification. */
  readonly proof?: ProofChunk;
}

export interface PieceResult extends Findings {
  /** Features that the reader returned or rejected, before any stage. */
  readonly read: number;
  /** The fields of the batches, if the request mentions any. */
  readonly seenFields: readonly string[];
  readonly chunks: readonly EncodedChunk[];
  /** Of features that are read back. */
  readonly proofs: readonly ProofChunk[];
  readonly summary: SummaryState | null;
  readonly statistics?: StatisticsState;
  /** Features with a geometry after the stages. */
  readonly withGeometry: number;
}

const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

export type FindFormat = (ref: FormatRef) => Promise<Format>;

/** An open task, which keeps its source open between pieces. */
export interface Task {
  /** Starts reading the bytes of a piece while another one is processed. */
  prefetch(piece: Piece): Promise<unknown>;
  /** Processes a piece; one at a time. @param fetched the result of `prefetch` for this piece */
  run(piece: Piece, fetched: Promise<unknown>): Promise<PieceResult>;
  /** To be closed after the task, or given to another one. */
  readonly source: TaskSource;
}

/**
 * @param source of an earlier task, if it serves this one, too
 * @throws format-cannot-write, and errors of encoders and stages about their settings
 */
export async function openTask(
  spec: TaskSpec,
  findFormat: FindFormat,
  signal: AbortSignal,
  source = new TaskSource(spec, findFormat, signal),
): Promise<Task> {
  const { context } = source;
  context.layer = spec.layerName;
  const stageContext = new RejectCountingContext(spec.layerName, context);
  const build = (stages: readonly StageSpec[]) => Promise.all(stages.map((stage) => buildStage(stage, stageContext)));
  const stages = await build(spec.stages);
  const checks = await build(spec.checks ?? []);
  const proof = await openProof(spec.outcome, context);
  const encoders =
    spec.outcome.kind === "encode" ? await openEncoders(spec.outcome, findFormat, proof?.writerContext ?? context) : [];
  const statistics = spec.outcome.kind === "summary" ? spec.outcome.statistics : undefined;
  const createCollector = statistics ? await prepareStatistics(statistics.crs) : () => null;
  const pipeline = { stages, checks, encoders, proof, createCollector };
  return new LayerTask(spec, signal, source, stageContext, pipeline);
}

/** Loads the code of verifications, which few runs need. */
async function openProof(outcome: TaskSpec["outcome"], context: HostContext): Promise<TaskProof | null> {
  const rules =
    outcome.kind === "digest" ? [outcome.rules] : outcome.kind === "encode" ? outcome.proofRules : undefined;
  if (!rules) return null;
  const { TaskProof } = await import("../proof/task-proof.js");
  return new TaskProof(rules, context);
}

/** Loads the code of statistics, which few runs need. */
async function prepareStatistics(crs: Crs | null): Promise<() => StatisticsCollector> {
  const { StatisticsCollector } = await import("../../statistics/statistics.js");
  const toDegrees = await geographicConversion(crs);
  return () => new StatisticsCollector(toDegrees);
}

/** Counts the features that stages reject, apart from those that the reader rejects. */
class RejectCountingContext implements StageContext {
  rejected = 0;

  constructor(
    readonly layer: string,
    private readonly host: HostContext,
  ) {}

  get keepsBadGeometries(): boolean {
    return this.host.keepsBadGeometries;
  }

  reportLoss(...loss: Parameters<StageContext["reportLoss"]>): void {
    this.host.reportLoss(...loss);
  }

  reportNotice(...notice: Parameters<StageContext["reportNotice"]>): void {
    this.host.reportNotice(...notice);
  }

  countOperation(...use: Parameters<StageContext["countOperation"]>): void {
    this.host.countOperation(...use);
  }

  reject(...reject: Parameters<StageContext["reject"]>): void {
    if (!reject[0].kept) this.rejected++;
    this.host.reject(...reject);
  }
}

/** Scans a part of a source for the thread that opens it. @throws format-cannot-read, and what the reader throws */
export async function scanPart(
  { source: sourceSpec, reader: ref, skipErrors, keepsBadGeometries }: ScanSpec,
  part: unknown,
  findFormat: FindFormat,
  signal: AbortSignal,
): Promise<unknown> {
  const source = createSource(sourceSpec, signal);
  const reader = await loadReader(ref, findFormat);
  await using context = new HostContext(source.name, signal, skipErrors, undefined, new Date(0), keepsBadGeometries);
  return reader.scanPart!(source, part, context);
}

async function loadReader(ref: FormatRef, findFormat: FindFormat): Promise<ReaderModule<OptionValues<OptionTable>>> {
  const format = await findFormat(ref);
  if (!format.reader) throw createError("format-cannot-read", { format: format.id });
  return format.reader.load();
}

/** The stages, checks and encoders that batches pass through. */
interface StagePipeline {
  readonly stages: readonly Stage[];
  readonly checks: readonly Stage[];
  readonly encoders: readonly Encoder[];
  /** For a verification. */
  readonly proof: TaskProof | null;
  readonly createCollector: () => StatisticsCollector | null;
}

/** An open source, which tasks for its layers use one after the other. Opened when the first one reads. */
export class TaskSource implements AsyncDisposable {
  readonly context: HostContext;
  private dataset: Promise<Dataset> | undefined;
  /** Numbers of the layers that were read. */
  private readonly taken = new Set<number>();

  constructor(
    private readonly spec: TaskSpec,
    private readonly findFormat: FindFormat,
    private readonly signal: AbortSignal,
  ) {
    const { layerName, skipErrors, scanResult, now, keepsBadGeometries } = spec;
    this.context = new HostContext(layerName, signal, skipErrors, scanResult, new Date(now), keepsBadGeometries);
    this.taken.add(spec.layerIndex);
  }

  /** Whether a task can use it: if it reads another layer of the same source in the same way. */
  takeLayer({ source, reader, scanResult, skipErrors, keepsBadGeometries, now, layerIndex }: TaskSpec): boolean {
    const { spec, taken } = this;
    const isSame =
      spec.reader === reader &&
      spec.scanResult === scanResult &&
      spec.skipErrors === skipErrors &&
      spec.keepsBadGeometries === keepsBadGeometries &&
      spec.now === now &&
      !taken.has(layerIndex) &&
      JSON.stringify(spec.source) === JSON.stringify(source);
    if (isSame) taken.add(layerIndex);
    return isSame;
  }

  private async openDataset(): Promise<Dataset> {
    const { reader: ref, source } = this.spec;
    const reader = await loadReader(ref, this.findFormat);
    return reader.open(createSource(source, this.signal), ref.options, this.context);
  }

  async getLayer(index: number): Promise<Layer> {
    this.dataset ??= this.openDataset();
    return (await this.dataset).layers[index]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.dataset?.catch(() => undefined);
    await opened?.[Symbol.asyncDispose]();
    await this.context[Symbol.asyncDispose]();
  }
}

class LayerTask implements Task {
  /** Whether there was a batch. */
  private isUnderWay = false;

  constructor(
    private readonly spec: TaskSpec,
    private readonly signal: AbortSignal,
    readonly source: TaskSource,
    private readonly stageContext: RejectCountingContext,
    private readonly pipeline: StagePipeline,
  ) {}

  private async *readBatches(piece: Piece, fetched: unknown): AsyncGenerator<Batch> {
    if (piece.batch) {
      yield new Batch(piece.batch);
      return;
    }
    const layer = await this.source.getLayer(this.spec.layerIndex);
    let record = 1;
    for await (const batch of layer.batches(piece.split, fetched)) {
      if (batch instanceof Batch) yield batch;
      else {
        yield packFeatures(batch, record, layer.fields);
        record += batch.length;
      }
    }
  }

  async prefetch({ split }: Piece): Promise<unknown> {
    return split && (await this.source.getLayer(this.spec.layerIndex)).prefetch?.(split);
  }

  async run(piece: Piece, fetched: Promise<unknown>): Promise<PieceResult> {
    const { spec, stageContext } = this;
    const { stages, checks, proof } = this.pipeline;
    const seen = new Set<string>();
    const chunks: EncodedChunk[] = [];
    const proofs: ProofChunk[] = [];
    const summarizer = spec.outcome.kind === "summary" ? new Summarizer(spec.outcome.refinesTypes) : null;
    const collector = this.pipeline.createCollector();
    let read = 0;
    let withGeometry = 0;
    let lastRecord = 0;
    stageContext.rejected = 0;
    for await (const batch of this.readBatches(piece, await fetched)) {
      this.signal.throwIfAborted();
      read += batch.length;
      if (spec.requestedFields?.length) for (const { name } of batch.fields) seen.add(name);
      if (batch.length > 0) lastRecord = batch.recordAt(batch.length - 1);
      if (!this.isUnderWay) collectGarbage(batch.fields.length);
      this.isUnderWay = true;
      const shaped = applyStages(stages, batch);
      if (shaped.length === 0) continue;
      withGeometry += countGeometries(shaped);
      if (checks.length > 0) applyStages(checks, shaped);
      summarizer?.add(shaped);
      collector?.add(shaped);
      const readProof = spec.outcome.kind === "digest" ? proof!.ofRead(shaped, spec.outcome.keepsBatches) : null;
      if (readProof) proofs.push(readProof);
      const encoded = spec.outcome.kind === "encode" ? this.encode(shaped, spec.outcome.fitPlan) : [];
      chunks.push(...encoded);
      releaseBatchBuffers(batch, readProof ?? encoded);
      // Lets pending writes of earlier results continue.
      await yieldToEventLoop();
    }
    const findings = this.source.context.takeFindings(lastRecord);
    read += countDropped(findings.rejects) - stageContext.rejected;
    return {
      ...findings,
      read,
      seenFields: [...seen],
      withGeometry,
      chunks,
      proofs,
      summary: summarizer?.state ?? null,
      ...(collector ? { statistics: collector.finishPart() } : {}),
    };
  }

  private encode(batch: Batch, plan: FitPlan): EncodedChunk[] {
    const encoded: EncodedChunk[] = [];
    const { encoders, proof } = this.pipeline;
    const checked = proof?.fit(plan, batch, this.stageContext);
    for (const [partIndex, fitted] of checked?.parts ?? fitBatch(plan, batch, this.stageContext)) {
      const withGeometry = countGeometries(fitted);
      encoded.push({
        partIndex,
        features: fitted.length,
        withGeometry,
        extent: extentOfColumn(fitted.geometry),
        chunk: encoders[partIndex]!.encode(fitted),
        ...(checked && { proof: proof!.ofWritten(partIndex, fitted, checked.faults) }),
      });
    }
    return encoded;
  }
}

/** Releases the pooled buffers of a processed batch, except those that became part of its results. */
function releaseBatchBuffers({ geometry: { xy, z, m } }: Batch, results: readonly EncodedChunk[] | ProofChunk): void {
  const buffers = [xy, z, m].flatMap((column) => (column && isAcquired(column.buffer) ? [column.buffer] : []));
  if (buffers.length === 0) return;
  const kept = collectBuffers(results, (view) => buffers.includes(view.buffer));
  for (const buffer of buffers) if (!kept.includes(buffer as ArrayBuffer)) releaseBuffer(buffer);
}

function applyStages(stages: readonly Stage[], batch: Batch): Batch {
  let shaped = batch;
  for (const stage of stages) {
    if (shaped.length === 0) break;
    shaped = stage.apply(shaped);
  }
  return shaped;
}

function countGeometries({ geometry: { kinds } }: Batch): number {
  let count = 0;
  for (let row = 0; row < kinds.length; row++) if (kinds[row] !== 0) count++;
  return count;
}

async function openEncoders(spec: EncodeSpec, findFormat: FindFormat, context: WriteContext): Promise<Encoder[]> {
  const format = await findFormat(spec.writer);
  if (!format.writer) throw createError("format-cannot-write", { format: format.id });
  const writer = await format.writer.load();
  return Promise.all(spec.targetLayers.map((target) => writer.createEncoder(target, spec.writer.options, context)));
}

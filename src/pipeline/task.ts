/**
 * The part of a conversion that any thread can do: read a split, send its batches through the stages, fit and encode
 * them (or sum them up). Built from plain data; gives plain data.
 */
import { fault } from "../errors.js";
import { FileSource, type SourceSpec } from "../io/source.js";
import { Batch, type BatchData, buffersIn } from "../model/batch.js";
import type { Dataset, Layer, Split } from "../model/layer.js";
import { giveBack, isBorrowed } from "../model/memory.js";
import { packFeatures } from "../model/pack.js";
import { Summariser, type SummaryState } from "../model/summary.js";
import type { Chunk, Encoder, Format, TargetLayer } from "../plugin/format.js";
import type { OptionTable, OptionValues } from "../plugin/options.js";
import { buildStage } from "../stages/build.js";
import { type FitPlan, fitBatch } from "../stages/fit.js";
import type { Stage, StageContext, StageSpec } from "../stages/stage.js";
import { type Findings, HostContext } from "./context.js";

/** A format and its options, so that another thread finds them: `module` is what it imports. */
export interface FormatRef {
  readonly id: string;
  readonly module: string;
  readonly options: OptionValues<OptionTable>;
}

export interface TaskSpec {
  readonly source: SourceSpec;
  readonly reader: FormatRef;
  readonly blueprint: unknown;
  /** Index of the layer in its dataset, and its name for reports. */
  readonly layer: number;
  readonly layerName: string;
  readonly skipErrors: boolean;
  readonly stages: readonly StageSpec[];
  /** Stages that only look: what they reject is told, and the features go on as if they had not been there. */
  readonly checks?: readonly StageSpec[];
  /** Names of fields that the request speaks of. */
  readonly wanted?: readonly string[];
  readonly end: { readonly kind: "summary"; readonly refine: boolean } | EncodeSpec;
  /** Milliseconds since 1970: what the run calls now. */
  readonly now: number;
}

export interface EncodeSpec {
  readonly kind: "encode";
  readonly fit: FitPlan;
  readonly writer: FormatRef;
  /** One for each part of the plan. */
  readonly targets: readonly TargetLayer[];
}

/** What there is to read: a split, a batch that was read elsewhere, or nothing of either for the whole layer. */
export interface Work {
  readonly split?: Split;
  readonly batch?: BatchData;
}

export interface EncodedChunk {
  readonly part: number;
  readonly features: number;
  readonly chunk: Chunk;
}

export interface WorkResult extends Findings {
  /** Features that the reader met, before any stage: those it gave and those it rejected. */
  readonly read: number;
  /** The fields that were there, where the request speaks of any. */
  readonly seen: readonly string[];
  readonly chunks: readonly EncodedChunk[];
  readonly summary: SummaryState | null;
  /** Features with a geometry that came out of the stages. */
  readonly located: number;
}

export type FindFormat = (ref: FormatRef) => Promise<Format>;

/** A task once opened: it keeps its source open from piece to piece. */
export interface Task {
  /** Begins to read the bytes of a piece, while another is worked on. */
  fetch(work: Work): Promise<unknown>;
  /** Works on a piece, one at a time. @param fetched what `fetch` promised for it */
  run(work: Work, fetched: Promise<unknown>): Promise<WorkResult>;
  close(): Promise<void>;
}

export async function openTask(spec: TaskSpec, findFormat: FindFormat, signal: AbortSignal): Promise<Task> {
  const context = new HostContext(spec.layerName, signal, spec.skipErrors, spec.blueprint, new Date(spec.now));
  let rejectedLater = 0;
  const stageContext: StageContext = {
    layer: spec.layerName,
    lose: (code, field, example, count) => context.lose(code, field, example, count),
    notice: (code, field, example, count) => context.notice(code, field, example, count),
    reject(reject) {
      rejectedLater++;
      context.reject(reject);
    },
  };
  const stages = await Promise.all(spec.stages.map((stage) => buildStage(stage, stageContext)));
  const checks = await Promise.all((spec.checks ?? []).map((stage) => buildStage(stage, stageContext)));
  const encoders = spec.end.kind === "encode" ? await openEncoders(spec.end, findFormat, context) : [];
  let dataset: Promise<Dataset> | undefined;

  async function openDataset(): Promise<Dataset> {
    const format = await findFormat(spec.reader);
    if (!format.reader) throw fault("format-cannot-read", { format: format.id });
    const reader = await format.reader.load();
    return reader.open(FileSource.at(spec.source.path, spec.source.name), spec.reader.options, context);
  }

  async function layer(): Promise<Layer> {
    dataset ??= openDataset();
    return (await dataset).layers[spec.layer]!;
  }

  async function* batches(work: Work, fetched: unknown): AsyncGenerator<Batch> {
    if (work.batch) {
      yield new Batch(work.batch);
      return;
    }
    const from = await layer();
    let record = 1;
    for await (const batch of from.batches(work.split, fetched)) {
      if (batch instanceof Batch) yield batch;
      else {
        yield packFeatures(batch, record, from.fields);
        record += batch.length;
      }
    }
  }

  return {
    async fetch({ split }) {
      return split && (await layer()).fetch?.(split);
    },
    async run(work, fetched) {
      let read = 0;
      rejectedLater = 0;
      const seen = new Set<string>();
      let located = 0;
      let lastRecord = 0;
      const chunks: EncodedChunk[] = [];
      const summariser = spec.end.kind === "summary" ? new Summariser(spec.end.refine) : null;
      for await (const batch of batches(work, await fetched)) {
        signal.throwIfAborted();
        const before = chunks.length;
        read += batch.length;
        if (spec.wanted?.length) for (const { name } of batch.fields) seen.add(name);
        if (batch.length > 0) lastRecord = batch.recordAt(batch.length - 1);
        const shaped = applyStages(stages, batch);
        if (shaped.length === 0) continue;
        located += countLocated(shaped);
        if (checks.length > 0) applyStages(checks, shaped);
        if (summariser) summariser.add(shaped);
        else if (spec.end.kind === "encode") {
          for (const [part, fitted] of fitBatch(spec.end.fit, shaped, stageContext)) {
            chunks.push({ part, features: fitted.length, chunk: encoders[part]!.encode(fitted) });
          }
        }
        giveBackBatch(batch, chunks.slice(before));
      }
      const found = context.take(lastRecord);
      read += found.rejects.length - rejectedLater;
      return { ...found, read, seen: [...seen], located, chunks, summary: summariser?.state ?? null };
    },
    async close() {
      const opened = await dataset?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
}

/** The memory that a reader borrowed for a batch which has been worked on; not what an encoder put into its chunk. */
function giveBackBatch({ geometry: { xy, z, m } }: Batch, chunks: readonly EncodedChunk[]): void {
  const buffers = [xy, z, m].flatMap((column) => (column && isBorrowed(column.buffer) ? [column.buffer] : []));
  if (buffers.length === 0) return;
  const kept = buffersIn(chunks, (view) => buffers.includes(view.buffer));
  for (const buffer of buffers) if (!kept.includes(buffer as ArrayBuffer)) giveBack(buffer);
}

function applyStages(stages: readonly Stage[], batch: Batch): Batch {
  let shaped = batch;
  for (const stage of stages) {
    if (shaped.length === 0) break;
    shaped = stage.apply(shaped);
  }
  return shaped;
}

function countLocated(batch: Batch): number {
  let count = 0;
  for (const kind of batch.geometry.kinds) if (kind !== 0) count++;
  return count;
}

async function openEncoders(end: EncodeSpec, findFormat: FindFormat, context: HostContext): Promise<Encoder[]> {
  const format = await findFormat(end.writer);
  if (!format.writer) throw fault("format-cannot-write", { format: format.id });
  const writer = await format.writer.load();
  return Promise.all(end.targets.map((target) => writer.encoder(target, end.writer.options, context)));
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { crsContext } from "../crs/index.js";
import { findNameEncoder } from "../io/encodings.js";
import { Batch, type BatchData } from "../model/batch.js";
import type { Crs } from "../model/layer.js";
import { Summarizer } from "../model/layer-summary.js";
import type { Loss } from "../model/report.js";
import type { Encoder, Format, Sink, TargetLayer, WriterCapabilities, WriterModule } from "../plugin/format.js";
import { type OptionTable, type OptionValues, parseOptions } from "../plugin/options.js";
import { fitBatch } from "../stages/fit-batch.js";
import { type FitPart, type FitPlan, planFit, summaryOfPart } from "../stages/fit-plan.js";
import { cloneThroughThread } from "./read-file.js";
import { RecordingContext } from "./recording-context.js";
import { splitIntoBatches } from "./sample-layer.js";
import { TestFolderSink } from "./temporary-folder.js";

export interface WriteFileOptions {
  /** As on the command line after `--out`. */
  readonly options?: Readonly<Record<string, string>>;
  /** The layer's name, and the stem of the file's. */
  readonly name?: string;
  readonly crs?: Crs | null;
  /** Features in a batch. */
  readonly batchSize?: number;
  /** Hand every chunk to another thread and back, as the host does with workers. */
  readonly throughThreads?: boolean;
}

/** One file that was written, and what the writer was given for it. */
export interface WrittenFile {
  readonly path: string;
  /** The target layer's name. */
  readonly layer: string;
  /** What the writer was given, after it was fitted to what the format accepts. */
  readonly input: readonly Batch[];
  readonly losses: readonly Loss[];
}

/** A writer made ready, as the host does it. */
export interface OpenWriter {
  readonly module: WriterModule<OptionValues<OptionTable>>;
  readonly options: OptionValues<OptionTable>;
  readonly capabilities: WriterCapabilities;
}

export async function openWriter(format: Format, given: Readonly<Record<string, string>> = {}): Promise<OpenWriter> {
  assert.ok(format.writer, `${format.id} has no writer`);
  const options: OptionValues<OptionTable> = parseOptions(format.id, format.writer.options, given);
  return { module: await format.writer.load(), options, capabilities: format.writer.capabilities(options) };
}

/** A layer as the writer gets it: the plan that fits batches to it, and its description. */
export interface FittedTarget {
  readonly part: FitPart;
  readonly index: number;
  readonly layer: TargetLayer;
  readonly plan: FitPlan;
}

/** What a batch becomes in the format: one target, or one for each family of geometry types in it. */
export function planTargets(
  format: Format,
  accepts: WriterCapabilities,
  batch: Batch,
  name: string,
  crs: Crs | null,
): readonly FittedTarget[] {
  let summary = null;
  if (accepts.requiredScan !== "nothing") {
    const summariser = new Summarizer(false);
    summariser.add(batch);
    summary = summariser.summary();
  }
  const plan = planFit(summary, accepts, format.label, { encodeName: findNameEncoder(accepts) });
  return plan.parts.map((part, index) => ({
    part,
    index,
    plan,
    layer: {
      name: part.suffix === "" ? name : `${name}_${part.suffix}`,
      crs,
      fields: plan.fields?.map(({ source: _, ...field }) => field) ?? null,
      summary: summary && summaryOfPart(plan, part, summary),
    },
  }));
}

const silentStageContext = {
  layer: "",
  keepsBadGeometries: false,
  reportLoss() {},
  reportNotice() {},
  reject() {},
  countOperation() {},
};

/** The rows of a batch that go to a target, cut to a size. */
export function fittedBatches(target: FittedTarget, batch: Batch, batchSize: number): Batch[] {
  const fitted: Batch[] = [];
  for (const slice of splitIntoBatches(batch, batchSize)) {
    for (const [part, rows] of fitBatch(target.plan, slice, silentStageContext))
      if (part === target.index) fitted.push(rows);
  }
  return fitted;
}

/**
 * Writes a batch as the host would write a layer of these features: fitted, encoded batch by batch, assembled in order.
 * One file each family of geometry types that is in it.
 */
export async function writeFile(
  format: Format,
  folder: string,
  batch: Batch,
  wanted: WriteFileOptions = {},
): Promise<WrittenFile[]> {
  const { name = "sample", crs = crsContext.wgs84, batchSize = 1000, throughThreads = false } = wanted;
  const writer = await openWriter(format, wanted.options);
  const written: WrittenFile[] = [];
  for (const target of planTargets(format, writer.capabilities, batch, name, crs)) {
    const input = fittedBatches(target, batch, batchSize);
    const path = join(folder, `${target.layer.name}.${format.extensions[0]}`);
    const context = new RecordingContext();
    const sink = new TestFolderSink(path);
    try {
      const layers = [{ target: target.layer, batches: input }];
      await writeLayers(writer, sink, layers, context, throughThreads);
    } finally {
      await sink.close();
    }
    written.push({ path, layer: target.layer.name, input, losses: context.losses });
  }
  return written;
}

/** Writes layers that are fitted already into one sink. */
export async function writeLayers(
  writer: OpenWriter,
  sink: Sink,
  layers: readonly { readonly target: TargetLayer; readonly batches: readonly Batch[] }[],
  context: RecordingContext,
  throughThreads: boolean,
): Promise<void> {
  const { module, options } = writer;
  const assembler = await module.createAssembler(
    sink,
    layers.map(({ target }) => target),
    options,
    context,
  );
  try {
    for (const [index, { target, batches }] of layers.entries()) {
      const encoder: Encoder = await module.createEncoder(target, options, context);
      for (const batch of batches) {
        const own = throughThreads ? new Batch(structuredClone<BatchData>(batch.toData())) : batch;
        const chunk = encoder.encode(own);
        await assembler.append(throughThreads ? cloneThroughThread(chunk) : chunk, index);
      }
    }
    await assembler.finish();
    if (sink.inPlaceTarget) await assembler.commit?.();
  } catch (error) {
    await assembler.abort?.();
    throw error;
  }
}

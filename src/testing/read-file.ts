import assert from "node:assert/strict";
import { FileSource } from "../io/input/source.js";
import { Batch, type BatchData, transferableBuffers } from "../model/batch.js";
import type { Dataset, Layer, LayerInfo, Split } from "../model/layer.js";
import { packFeatures } from "../model/pack-features.js";
import type { Loss, Reject } from "../model/report.js";
import type { Format, ReadContext } from "../plugin/format.js";
import { type OptionTable, type OptionValues, parseOptions } from "../plugin/options.js";
import { RecordingContext } from "./recording-context.js";
import { SourceMonitor } from "./watched-source.js";
import { assertWellFormed } from "./well-formed.js";

export interface ReadFileOptions {
  /** As on the command line after `--in`. */
  readonly options?: Readonly<Record<string, string>>;
  readonly skipErrors?: boolean;
  /** Split by split, where the layer has splits; records are made absolute, as the host does. */
  readonly bySplits?: boolean;
  /** Called for every batch; throws where it has seen enough. */
  readonly onBatch?: (batch: Batch) => void;
  /** Keep no batches: `each` has seen them. */
  readonly discard?: boolean;
  /** Called at every read of a file. */
  readonly onDataset?: () => void;
}

/** A layer and all that is in it. */
export interface LayerContent {
  readonly info: LayerInfo;
  readonly bytes: number;
  /** The splits that it was read by; null if it has none or was read whole. */
  readonly splits: readonly Split[] | null;
  readonly batches: readonly Batch[];
  /** The record of the source that each feature is, counted from 1 over the whole layer. */
  readonly records: readonly number[];
  readonly rejects: readonly Reject[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

/** Handed to another thread and back: what shares memory with what the plugin keeps would be torn from it. */
export function cloneThroughThread<T extends object>(data: T): T {
  return structuredClone(data, { transfer: transferableBuffers(data) });
}

/** The batches of a layer or split, well-formed, as a thread that they were handed to has them. */
export async function* layerBatches(layer: Layer, split?: Split): AsyncGenerator<Batch> {
  let record = 1;
  for await (const given of layer.batches(split)) {
    const batch = given instanceof Batch ? given : packFeatures(given, record, layer.fields);
    record += batch.length;
    assertWellFormed(batch, layer.fields);
    yield new Batch(cloneThroughThread<BatchData>(batch.toData()));
  }
}

/** What a format needs to open a file: its options parsed, its module loaded. */
export async function openDataset(
  format: Format,
  path: string,
  context: ReadContext,
  given: Readonly<Record<string, string>> = {},
  watch = new SourceMonitor(),
): Promise<Dataset> {
  assert.ok(format.reader, `${format.id} has no reader`);
  const options: OptionValues<OptionTable> = parseOptions(format.id, format.reader.options, given);
  const reader = await format.reader.load();
  return reader.open(watch.watch(FileSource.at(path)), options, context);
}

/** Reads every layer of a file to its end, and sees that no file stays open. */
export async function readFile(format: Format, path: string, wanted: ReadFileOptions = {}): Promise<LayerContent[]> {
  const context = new RecordingContext(wanted.skipErrors);
  const watch = new SourceMonitor(wanted.onDataset);
  try {
    await using dataset = await openDataset(format, path, context, wanted.options, watch);
    return await readDataset(dataset, context, wanted);
  } finally {
    assert.deepEqual(watch.stillOpen(), [], "files stay open after the dataset was disposed of, or open failed");
  }
}

async function readDataset(
  dataset: Dataset,
  context: RecordingContext,
  wanted: ReadFileOptions,
): Promise<LayerContent[]> {
  const read: LayerContent[] = [];
  for (const layer of dataset.layers) {
    const collected = { batches: [] as Batch[], records: [] as number[], splits: null as Split[] | null };
    const firstReject = context.rejects.length;
    if (wanted.bySplits && layer.splits) {
      collected.splits = [];
      let before = 0;
      for await (const split of layer.splits()) {
        collected.splits.push(split);
        before += await readSplit(layer, split, before, context, collected, wanted);
      }
    } else await readSplit(layer, undefined, 0, context, collected, wanted);
    const { name, crs, fields, geometryTypes, featureCount, extent, bytes } = layer;
    read.push({
      info: { name, crs, fields, geometryTypes, featureCount, extent },
      bytes,
      ...collected,
      rejects: context.rejects.slice(firstReject),
      losses: context.losses,
      notices: context.notices,
    });
  }
  return read;
}

/** Reads a split, or the whole layer; returns the number of its source records, counted as the host does. */
async function readSplit(
  layer: Layer,
  split: Split | undefined,
  before: number,
  context: RecordingContext,
  into: { readonly batches: Batch[]; readonly records: number[] },
  wanted: ReadFileOptions,
): Promise<number> {
  const passedBefore = context.records;
  const firstReject = context.rejects.length;
  let last = 0;
  for await (const batch of layerBatches(layer, split)) {
    wanted.onBatch?.(batch);
    if (!wanted.discard) {
      into.batches.push(batch);
      for (let row = 0; row < batch.length; row++) into.records.push(before + batch.recordAt(row));
    }
    if (batch.length > 0) last = batch.recordAt(batch.length - 1);
  }
  for (let r = firstReject; r < context.rejects.length; r++) {
    const { place, ...reject } = context.rejects[r]!;
    const absolute = place.record === undefined ? place : { ...place, record: before + place.record };
    context.rejects[r] = { ...reject, place: absolute };
  }
  return Math.max(context.records - passedBefore, last);
}

/** Features of all batches together. */
export const countOf = (batches: readonly Batch[]): number => batches.reduce((sum, batch) => sum + batch.length, 0);

/** Helpers for tests of readers and writers, besides the published kit. */
import { Batch, type Dataset, type Feature, type Layer, packFeatures } from "../../src/model/index.js";

export { RecordingContext } from "../../src/testing/recording-context.js";
export { TemporaryFolder, TestFolderSink as PlainSink } from "../../src/testing/temporary-folder.js";

/**
 * The batches of a layer, split by split, with their bytes prefetched; the remainder is dropped after the last read.
 */
export async function* prefetchedBatches(layer: Layer): AsyncGenerator<Batch> {
  for await (const split of layer.splits!()) {
    const fetched = await layer.prefetch?.(split);
    const batches: Batch[] = [];
    for await (const batch of layer.batches(split, fetched)) if (batch instanceof Batch) batches.push(batch);
    if (Buffer.isBuffer(fetched)) fetched.fill(0);
    yield* batches;
  }
}

/** All batches of a layer, split by split if it has splits. */
export async function* readBatches(layer: Layer, bySplits: boolean): AsyncGenerator<Batch> {
  const asBatch = (batch: Batch | Feature[]) => (batch instanceof Batch ? batch : packFeatures(batch, 1, layer.fields));
  if (bySplits && layer.splits) {
    for await (const split of layer.splits()) for await (const batch of layer.batches(split)) yield asBatch(batch);
  } else for await (const batch of layer.batches()) yield asBatch(batch);
}

export async function readFeatures(dataset: Dataset, layer = 0, bySplits = true): Promise<Feature[]> {
  const features: Feature[] = [];
  for await (const batch of readBatches(dataset.layers[layer]!, bySplits)) features.push(...batch.features());
  return features;
}

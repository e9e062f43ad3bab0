import { createError } from "../../../src/plugin/index.js";
import type { ScratchFile } from "../../shared/scratch-file.js";
import { sortedIndexes, writeCurveKeys } from "../index/curve-order.js";
import { boxBytes, type FgbChunk } from "./encoder.js";
import { KeptFeatures } from "./kept-features.js";
import { allocate, Buckets, type Memory, type SortedPart, wordBytes } from "./sorted-parts.js";

/** Boxes that are read at once for their keys. */
const boxesPerRead = 1 << 15;
const readBytes = 1 << 22;
/** Features are sorted in memory in parts of so many bytes. */
const defaultBucketBytes = 1 << 25;
/** Features that take at most so many times the size of a part stay in memory. */
const keptFactor = 4;
/** Most parts; larger files have larger parts. */
const maxBuckets = 256;
const maxFeatures = 2 ** 31;

/**
 * Keeps features in memory, or in a temporary file if they are more than 128 MiB, and sorts them along a Hilbert curve.
 * In memory are about twenty bytes for each feature, and all features or two parts of them.
 */
export class FeatureSpool {
  count = 0;
  private sizes = new Uint32Array(1 << 12);
  private kept: KeptFeatures | null;
  private features: ScratchFile | null = null;
  private boxes: ScratchFile | null = null;
  private readonly opened: ScratchFile[] = [];

  /**
   * @param open creates a temporary file
   * @param leastBucketBytes size of the parts that are sorted in memory, unless there would be too many
   * @throws output-failed, and so do all its methods
   */
  constructor(
    private readonly output: string,
    private readonly open: () => Promise<ScratchFile>,
    private readonly leastBucketBytes: number = defaultBucketBytes,
  ) {
    this.kept = new KeptFeatures(keptFactor * leastBucketBytes);
  }

  private async openFile(): Promise<ScratchFile> {
    const file = await this.open();
    this.opened.push(file);
    return file;
  }

  async add({ bytes, sizes, boxes }: FgbChunk): Promise<void> {
    if (this.count + sizes.length > maxFeatures)
      throw createError("output-failed", {
        output: this.output,
        reason: `more than ${maxFeatures} features; write it without an index: --out index=no`,
      });
    this.boxes ??= await this.openFile();
    if (!this.kept?.add(bytes, sizes)) {
      this.features ??= await this.openFile();
      for (const some of this.kept?.contents() ?? []) this.features.write(some, this.features.size);
      this.kept = null;
      this.features.write(bytes, this.features.size);
    }
    this.boxes.write(new Uint8Array(boxes!.buffer, boxes!.byteOffset, boxes!.byteLength), this.boxes.size);
    if (this.count + sizes.length > this.sizes.length) {
      const grown = new Uint32Array(2 * (this.count + sizes.length));
      grown.set(this.sizes.subarray(0, this.count));
      this.sizes = grown;
    }
    this.sizes.set(sizes, this.count);
    this.count += sizes.length;
  }

  /** All features in their order. Call once. @param extent of all boxes */
  async *sorted(extent: Float64Array): AsyncGenerator<SortedPart> {
    const { count } = this;
    if (count === 0) return;
    const order = sortedIndexes(this.curveKeys(extent));
    const rank = new Uint32Array(count);
    const offsets = new Float64Array(count + 1);
    for (let n = 0; n < count; n++) {
      rank[order[n]!] = n;
      offsets[n + 1] = offsets[n]! + this.sizes[order[n]!]!;
    }
    if (this.kept) {
      yield* this.kept.sorted(order, offsets);
      return;
    }
    const bucketBytes = Math.max(this.leastBucketBytes, Math.ceil(offsets[count]! / maxBuckets));
    const buckets = new Buckets(await this.openFile(), offsets, bucketBytes);
    this.eachRecord((index, memory, at, end) => buckets.add(rank[index]!, memory, at, end));
    buckets.flush();
    for (let b = 0; b < buckets.count; b++) yield buckets.load(b);
  }

  private curveKeys(extent: Float64Array): Uint32Array {
    const keys = new Uint32Array(this.count);
    const boxes = new Float64Array(4 * Math.min(boxesPerRead, this.count));
    for (let done = 0; done < this.count; done += boxesPerRead) {
      const some = boxes.subarray(0, 4 * Math.min(boxesPerRead, this.count - done));
      this.boxes!.read(new Uint8Array(some.buffer, 0, some.byteLength), boxBytes * done);
      writeCurveKeys(some, extent, keys, done);
    }
    return keys;
  }

  /** Visits the records in the order in which they were added: the box and the feature are the words `at … end`. */
  private eachRecord(visit: (index: number, memory: Memory, at: number, end: number) => void): void {
    const file = this.features!;
    let memory = allocate(Math.min(readBytes, file.size));
    let [position, filled, at] = [0, 0, 0];
    for (let index = 0; index < this.count; index++) {
      const size = boxBytes + this.sizes[index]!;
      if (at + size > filled) {
        position += at;
        const length = Math.min(file.size - position, Math.max(readBytes, size));
        if (length > memory.bytes.length) memory = allocate(length);
        file.read(memory.bytes.subarray(0, length), position);
        [filled, at] = [length, 0];
      }
      visit(index, memory, at / wordBytes, (at + size) / wordBytes);
      at += size;
    }
  }

  close(): void {
    for (const file of this.opened.splice(0)) file.close();
  }
}

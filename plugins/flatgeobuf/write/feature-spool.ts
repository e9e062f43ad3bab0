import { createError } from "../../../src/plugin/index.js";
import type { ScratchFile } from "../../shared/scratch-file.js";
import { sortedIndexes, writeCurveKeys } from "../index/curve-order.js";
import { boxBytes, type FgbChunk } from "./encoder.js";

/** Boxes that are read at once for their keys. */
const boxesPerRead = 1 << 15;
const readBytes = 1 << 22;
/** Features are sorted in memory in parts of so many bytes. */
const defaultBucketBytes = 1 << 25;
/** Most parts; larger files have larger parts. */
const maxBuckets = 256;
const bucketBufferBytes = 1 << 17;
const maxFeatures = 2 ** 31;
/** A record in a bucket begins with the place of the feature in the order. */
const rankBytes = 8;

/** Features in their order, with boxes; valid until the next part. */
export interface SortedPart {
  /** Number of the first feature. */
  readonly first: number;
  readonly features: Uint8Array;
  /** Least x, least y, greatest x, greatest y of each. */
  readonly boxes: Float64Array;
  /** Where each begins, from the first feature of the file. */
  readonly offsets: Float64Array;
}

/**
 * Keeps features in a temporary file and sorts them along a Hilbert curve. In memory are about twenty bytes for each
 * feature, and one part of the features.
 */
export class FeatureSpool {
  count = 0;
  private sizes = new Uint32Array(1 << 12);
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
  ) {}

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
    this.features ??= await this.openFile();
    this.boxes ??= await this.openFile();
    this.features.write(bytes, this.features.size);
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
    const total = offsets[count]!;
    const bucketBytes = Math.max(this.leastBucketBytes, Math.ceil(total / maxBuckets));
    if (total <= bucketBytes) {
      const part = new PartBuilder(offsets, 0, count);
      this.eachRecord((index, bytes, at) => part.add(rank[index]!, bytes, at));
      yield part;
      return;
    }
    const buckets = new Buckets(await this.openFile(), offsets, bucketBytes);
    this.eachRecord((index, bytes, at, end) => buckets.add(rank[index]!, bytes, at, end));
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

  /** Visits the records in the order in which they were added: the box and the feature are `bytes[at … end]`. */
  private eachRecord(visit: (index: number, bytes: Uint8Array, at: number, end: number) => void): void {
    const file = this.features!;
    let buffer = new Uint8Array(Math.min(readBytes, file.size));
    let [position, filled, at] = [0, 0, 0];
    for (let index = 0; index < this.count; index++) {
      const size = boxBytes + this.sizes[index]!;
      if (at + size > filled) {
        position += at;
        const length = Math.min(file.size - position, Math.max(readBytes, size));
        if (length > buffer.length) buffer = new Uint8Array(length);
        file.read(buffer.subarray(0, length), position);
        [filled, at] = [length, 0];
      }
      visit(index, buffer, at, at + size);
      at += size;
    }
  }

  close(): void {
    for (const file of this.opened.splice(0)) file.close();
  }
}

/** Puts features at their places in memory. */
class PartBuilder implements SortedPart {
  readonly features: Uint8Array;
  readonly boxes: Float64Array;
  readonly offsets: Float64Array;
  private readonly words: Int32Array;
  private readonly boxBytes: Uint8Array;

  /** The features `first … end` of the order, which begin at `offsets`. */
  constructor(
    private readonly allOffsets: Float64Array,
    readonly first: number,
    end: number,
  ) {
    this.features = new Uint8Array(allOffsets[end]! - allOffsets[first]!);
    this.words = new Int32Array(this.features.buffer);
    this.boxes = new Float64Array(4 * (end - first));
    this.boxBytes = new Uint8Array(this.boxes.buffer);
    this.offsets = allOffsets.subarray(first, end);
  }

  /** @param at where the box is in `bytes`, before the feature; a multiple of eight */
  add(rank: number, bytes: Uint8Array, at: number): void {
    const { allOffsets, first, words } = this;
    const from = allOffsets[rank]!;
    const size = allOffsets[rank + 1]! - from;
    const into = from - allOffsets[first]!;
    const box = boxBytes * (rank - first);
    for (let i = 0; i < boxBytes; i++) this.boxBytes[box + i] = bytes[at + i]!;
    if (size > maxLoopBytes) {
      this.features.set(bytes.subarray(at + boxBytes, at + boxBytes + size), into);
      return;
    }
    if (bytes.buffer !== this.sourceBuffer) {
      this.sourceBuffer = bytes.buffer;
      this.source = new Int32Array(bytes.buffer);
    }
    const { source } = this;
    const end = (bytes.byteOffset + at + boxBytes + size) >> 2;
    for (let k = (bytes.byteOffset + at + boxBytes) >> 2, w = into >> 2; k < end; k++, w++) words[w] = source[k]!;
  }

  private sourceBuffer: ArrayBufferLike | null = null;
  private source: Int32Array = new Int32Array();
}

/** For longer features, a native copy is faster than a loop over words. */
const maxLoopBytes = 400;

interface Bucket {
  readonly first: number;
  readonly end: number;
  /** Where its records are in the file, and where the next ones go. */
  readonly start: number;
  next: number;
  readonly buffer: Uint8Array;
  filled: number;
}

/** Distributes features to parts of their order, each of which fits into memory. */
class Buckets {
  private readonly buckets: Bucket[] = [];
  /** The first feature of each bucket. */
  private readonly firsts: Uint32Array;

  constructor(
    private readonly file: ScratchFile,
    private readonly offsets: Float64Array,
    bucketBytes: number,
  ) {
    const count = offsets.length - 1;
    for (let first = 0; first < count; ) {
      let end = first + 1;
      while (end < count && offsets[end + 1]! - offsets[first]! <= bucketBytes) end++;
      const start = offsets[first]! + (rankBytes + boxBytes) * first;
      this.buckets.push({ first, end, start, next: start, buffer: new Uint8Array(bucketBufferBytes), filled: 0 });
      first = end;
    }
    this.firsts = Uint32Array.from(this.buckets, ({ first }) => first);
  }

  get count(): number {
    return this.buckets.length;
  }

  private bucketOf(rank: number): Bucket {
    const { firsts } = this;
    let [low, high] = [0, firsts.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (firsts[middle]! <= rank) low = middle;
      else high = middle;
    }
    return this.buckets[low]!;
  }

  add(rank: number, bytes: Uint8Array, at: number, end: number): void {
    const bucket = this.bucketOf(rank);
    const size = rankBytes + end - at;
    if (bucket.filled + size > bucketBufferBytes) this.flushBucket(bucket);
    const header = new Uint8Array(rankBytes);
    new DataView(header.buffer).setUint32(0, rank, true);
    if (size > bucketBufferBytes) {
      this.file.write(header, bucket.next);
      this.file.write(bytes.subarray(at, end), bucket.next + rankBytes);
      bucket.next += size;
      return;
    }
    bucket.buffer.set(header, bucket.filled);
    bucket.buffer.set(bytes.subarray(at, end), bucket.filled + rankBytes);
    bucket.filled += size;
  }

  private flushBucket(bucket: Bucket): void {
    if (bucket.filled === 0) return;
    this.file.write(bucket.buffer.subarray(0, bucket.filled), bucket.next);
    bucket.next += bucket.filled;
    bucket.filled = 0;
  }

  flush(): void {
    for (const bucket of this.buckets) this.flushBucket(bucket);
  }

  load(b: number): SortedPart {
    const { first, end, start, next } = this.buckets[b]!;
    const bytes = new Uint8Array(next - start);
    this.file.read(bytes, start);
    const view = new DataView(bytes.buffer);
    const part = new PartBuilder(this.offsets, first, end);
    for (let at = 0; at < bytes.length; ) {
      const rank = view.getUint32(at, true);
      part.add(rank, bytes, at + rankBytes);
      at += rankBytes + boxBytes + this.offsets[rank + 1]! - this.offsets[rank]!;
    }
    return part;
  }
}

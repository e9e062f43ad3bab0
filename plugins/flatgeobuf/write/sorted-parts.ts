/** Parts of the features of a file in their order, each of which fits into memory. */
import type { ScratchFile } from "../../shared/scratch-file.js";
import { boxBytes } from "./encoder.js";

/** Memory of each part for features that are not written yet. */
const bucketBufferBytes = 1 << 17;
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

/** Features and boxes are multiples of words, which a loop copies faster than a native copy, unless they are many. */
export interface Memory {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

export const wordBytes = 4;
const maxLoopWords = 100;
const boxWords = boxBytes / wordBytes;

export function allocate(size: number): Memory {
  const bytes = new Uint8Array(size);
  return { bytes, words: new Int32Array(bytes.buffer) };
}

/** Copies the words `from … end`. */
function copyWords(source: Memory, from: number, end: number, target: Memory, at: number): void {
  if (end - from > maxLoopWords) target.words.set(source.words.subarray(from, end), at);
  else for (let k = from, w = at; k < end; k++, w++) target.words[w] = source.words[k]!;
}

/** Puts features at their places in memory, which the next part takes over. */
export class PartBuilder implements SortedPart {
  first = 0;
  features: Uint8Array = new Uint8Array();
  boxes: Float64Array = new Float64Array();
  offsets: Float64Array = new Float64Array();
  private featureMemory = allocate(0);
  private boxMemory = allocate(0);
  private start = 0;

  constructor(private readonly allOffsets: Float64Array) {}

  /** Begins the part of the features `first … end` of the order. */
  begin(first: number, end: number): this {
    const { allOffsets } = this;
    this.first = first;
    this.start = allOffsets[first]!;
    const size = allOffsets[end]! - this.start;
    const count = end - first;
    if (size > this.featureMemory.bytes.length) this.featureMemory = allocate(size);
    if (boxBytes * count > this.boxMemory.bytes.length) this.boxMemory = allocate(boxBytes * count);
    this.features = this.featureMemory.bytes.subarray(0, size);
    this.boxes = new Float64Array(this.boxMemory.bytes.buffer as ArrayBuffer, 0, 4 * count);
    this.offsets = allOffsets.subarray(first, end);
    return this;
  }

  /** @param at where the box is, before the feature, in words */
  add(rank: number, source: Memory, at: number, end: number): void {
    copyWords(source, at, at + boxWords, this.boxMemory, boxWords * (rank - this.first));
    copyWords(source, at + boxWords, end, this.featureMemory, (this.allOffsets[rank]! - this.start) / wordBytes);
  }
}

interface Bucket {
  readonly first: number;
  readonly end: number;
  /** Where its records are in the file, and where the next ones go. */
  readonly start: number;
  next: number;
  readonly memory: Memory;
  /** Words in memory. */
  filled: number;
}

/** Distributes features to parts of their order, each of which fits into memory. */
export class Buckets {
  private readonly buckets: Bucket[] = [];
  private readonly part: PartBuilder;
  private loaded = allocate(0);

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
      this.buckets.push({ first, end, start, next: start, memory: allocate(bucketBufferBytes), filled: 0 });
      first = end;
    }
    this.part = new PartBuilder(offsets);
  }

  get count(): number {
    return this.buckets.length;
  }

  private bucketOf(rank: number): Bucket {
    const { buckets } = this;
    let [low, high] = [0, buckets.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (buckets[middle]!.first <= rank) low = middle;
      else high = middle;
    }
    return buckets[low]!;
  }

  add(rank: number, source: Memory, at: number, end: number): void {
    const bucket = this.bucketOf(rank);
    const size = rankBytes / wordBytes + end - at;
    if (wordBytes * (bucket.filled + size) > bucketBufferBytes) this.flushBucket(bucket);
    const { memory, filled } = bucket;
    memory.words[filled] = rank;
    bucket.filled += rankBytes / wordBytes;
    if (wordBytes * size <= bucketBufferBytes) {
      copyWords(source, at, end, memory, bucket.filled);
      bucket.filled += end - at;
      return;
    }
    this.flushBucket(bucket);
    this.file.write(source.bytes.subarray(wordBytes * at, wordBytes * end), bucket.next);
    bucket.next += wordBytes * (end - at);
  }

  private flushBucket(bucket: Bucket): void {
    if (bucket.filled === 0) return;
    const size = wordBytes * bucket.filled;
    this.file.write(bucket.memory.bytes.subarray(0, size), bucket.next);
    bucket.next += size;
    bucket.filled = 0;
  }

  flush(): void {
    for (const bucket of this.buckets) this.flushBucket(bucket);
  }

  load(b: number): SortedPart {
    const { first, end, start, next } = this.buckets[b]!;
    const size = next - start;
    if (size > this.loaded.bytes.length) this.loaded = allocate(size);
    const { loaded, offsets } = this;
    this.file.read(loaded.bytes.subarray(0, size), start);
    const part = this.part.begin(first, end);
    for (let at = 0; at < size / wordBytes; ) {
      const rank = loaded.words[at]!;
      const record = at + rankBytes / wordBytes;
      at = record + boxWords + (offsets[rank + 1]! - offsets[rank]!) / wordBytes;
      part.add(rank, loaded, record, at);
    }
    return part;
  }
}

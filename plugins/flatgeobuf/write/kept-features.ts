/** Features that fit into memory, in the order in which they were added. */
import { boxBytes } from "./encoder.js";
import { allocate, type Memory, PartBuilder, type SortedPart, wordBytes } from "./sorted-parts.js";

/** Most bytes of a block of memory, and of a sorted part. */
const maxBlockBytes = 1 << 22;

export class KeptFeatures {
  private readonly blocks: Memory[] = [];
  private readonly blockBytes: number;
  private readonly maxBlocks: number;
  /** Bytes that are taken of each block. */
  private readonly filled: number[] = [];
  /** Where the record of each feature begins, its box and the feature, in words from the first block. */
  private starts = new Uint32Array(1 << 12);
  private count = 0;

  constructor(maxBytes: number) {
    this.blockBytes = Math.min(maxBlockBytes, maxBytes - (maxBytes % wordBytes));
    this.maxBlocks = Math.floor(maxBytes / this.blockBytes);
  }

  /** Adds records of features of these sizes. @returns false, with nothing added, if there is no room for them */
  add(bytes: Uint8Array, sizes: Uint32Array): boolean {
    const { blocks, blockBytes, filled } = this;
    if (blocks.length === 0 || filled.at(-1)! + bytes.length > blockBytes) {
      if (bytes.length > blockBytes || blocks.length === this.maxBlocks) return false;
      blocks.push(allocate(blockBytes));
      filled.push(0);
    }
    const last = blocks.length - 1;
    blocks[last]!.bytes.set(bytes, filled[last]);
    this.reserve(sizes.length);
    let at = last * blockBytes + filled[last]!;
    filled[last]! += bytes.length;
    for (const size of sizes) {
      this.starts[this.count++] = at / wordBytes;
      at += boxBytes + size;
    }
    return true;
  }

  private reserve(more: number): void {
    if (this.count + more <= this.starts.length) return;
    const grown = new Uint32Array(2 * (this.count + more));
    grown.set(this.starts.subarray(0, this.count));
    this.starts = grown;
  }

  /** What was added, block by block. */
  *contents(): Generator<Uint8Array> {
    for (const [b, { bytes }] of this.blocks.entries()) yield bytes.subarray(0, this.filled[b]);
  }

  /** The features in the order of their numbers `order`; each part is valid until the next one. @param offsets in the result */
  *sorted(order: Uint32Array, offsets: Float64Array): Generator<SortedPart> {
    const { blocks, starts, count } = this;
    const blockWords = this.blockBytes / wordBytes;
    const part = new PartBuilder(offsets);
    for (let first = 0; first < count; ) {
      let end = first + 1;
      while (end < count && offsets[end + 1]! - offsets[first]! <= maxBlockBytes) end++;
      part.begin(first, end);
      for (let rank = first; rank < end; rank++) {
        const start = starts[order[rank]!]!;
        const block = Math.floor(start / blockWords);
        const at = start - block * blockWords;
        const size = boxBytes + offsets[rank + 1]! - offsets[rank]!;
        part.add(rank, blocks[block]!, at, at + size / wordBytes);
      }
      yield part;
      first = end;
    }
  }
}

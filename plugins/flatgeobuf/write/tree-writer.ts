/** Writes a packed R-tree (packedrtree.h of FlatGeobuf) into the place that is reserved for it. */
import type { SinkFile } from "../../../src/plugin/index.js";
import { entryBytes, entryOffsetAt, type Level, treeBytes, treeLevels } from "../index/levels.js";
import type { SortedPart } from "./sorted-parts.js";

export const writtenNodeSize = 16;
const patchEntries = 1 << 15;
const zeros = Buffer.alloc(1 << 16);

/** The box of a node that has no entry yet. */
const emptyBox = [
  Number.POSITIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];

export class TreeWriter {
  private readonly levels: readonly Level[];
  /** The boxes of the level above the features. */
  private readonly parents: Float64Array;

  /** @param at position of the tree in the file */
  constructor(
    private readonly file: SinkFile,
    private readonly at: number,
    features: number,
  ) {
    this.levels = treeLevels(features, writtenNodeSize);
    this.parents = emptyBoxesOf(this.levels[1]!);
  }

  /** Reserves the place of the tree at the end of the file. */
  async reserve(): Promise<void> {
    for (let left = treeBytes(this.levels); left > 0; left -= zeros.length)
      await this.file.write(left < zeros.length ? zeros.subarray(0, left) : zeros);
  }

  /** Writes the entries of features. */
  async addFeatures({ first, boxes, offsets }: SortedPart): Promise<void> {
    const { parents, levels } = this;
    for (let n = 0; n < offsets.length; n++)
      widen(parents, 4 * Math.floor((first + n) / writtenNodeSize), boxes, 4 * n);
    await this.writeEntries(levels[0]!.from + first, boxes, (n) => offsets[n]!);
  }

  /** Writes the levels above the features. */
  async finish(): Promise<void> {
    let boxes = this.parents;
    for (let level = 1; level < this.levels.length; level++) {
      const below = this.levels[level - 1]!;
      await this.writeEntries(this.levels[level]!.from, boxes, (n) => below.from + n * writtenNodeSize);
      const above = this.levels[level + 1];
      if (!above) return;
      const wider = emptyBoxesOf(above);
      for (let n = 0; n < boxes.length / 4; n++) widen(wider, 4 * Math.floor(n / writtenNodeSize), boxes, 4 * n);
      boxes = wider;
    }
  }

  private async writeEntries(first: number, boxes: Float64Array, integerOf: (n: number) => number): Promise<void> {
    const count = boxes.length / 4;
    for (let done = 0; done < count; done += patchEntries) {
      const end = Math.min(count, done + patchEntries);
      const bytes = Buffer.alloc(entryBytes * (end - done));
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let n = done, at = 0; n < end; n++, at += entryBytes) {
        for (let side = 0; side < 4; side++) view.setFloat64(at + 8 * side, boxes[4 * n + side]!, true);
        const integer = integerOf(n);
        view.setUint32(at + entryOffsetAt, integer % 2 ** 32, true);
        view.setUint32(at + entryOffsetAt + 4, Math.floor(integer / 2 ** 32), true);
      }
      await this.file.patch(this.at + entryBytes * (first + done), bytes);
    }
  }
}

function emptyBoxesOf({ from, to }: Level): Float64Array {
  return Float64Array.from({ length: 4 * (to - from) }, (_, k) => emptyBox[k & 3]!);
}

/** Widens `into[at …]` by `boxes[k …]`. */
function widen(into: Float64Array, at: number, boxes: Float64Array, k: number): void {
  if (boxes[k]! < into[at]!) into[at] = boxes[k]!;
  if (boxes[k + 1]! < into[at + 1]!) into[at + 1] = boxes[k + 1]!;
  if (boxes[k + 2]! > into[at + 2]!) into[at + 2] = boxes[k + 2]!;
  if (boxes[k + 3]! > into[at + 3]!) into[at + 3] = boxes[k + 3]!;
}

/** Initial number of slots: enough for rings of 2,048 positions. */
const minSlots = 4096;

/** A ring that visits a vertex twice has at least six positions (two triangles), without the closing one. */
const minPositionsToTouch = 6;

/**
 * Finds rings that visit a vertex twice: an open-addressing hash table of position indexes. Indexes grow within a batch,
 * so entries of earlier rings are recognized and the table need not be cleared between rings.
 */
export class VertexTable {
  private slots = new Int32Array(minSlots).fill(-1);
  private words: Uint32Array;

  /** @param xy the positions of a batch; they may be written between calls */
  constructor(xy: Float64Array) {
    this.words = new Uint32Array(xy.buffer, xy.byteOffset, 2 * xy.length);
  }

  /**
   * Whether the closed ring `from … to` may visit a position twice, apart from the closing one and adjacent repetitions.
   * False positives are possible but rare; there are no false negatives.
   */
  mayTouchItself(from: number, to: number): boolean {
    const last = to - 1;
    if (last - from < minPositionsToTouch) return false;
    if (2 * (last - from) > this.slots.length) this.slots = slotsFor(last - from);
    const { words, slots } = this;
    const mask = slots.length - 1;
    // A hot loop: runs for every vertex of every polygon.
    for (let k = from; k < last; k++) {
      const x0 = words[4 * k]!;
      const x1 = words[4 * k + 1]!;
      const y0 = words[4 * k + 2]!;
      const y1 = words[4 * k + 3]!;
      const mixed =
        Math.imul(x0 ^ (x1 << 7) ^ (y1 << 17), 0x9e3779b1) ^ Math.imul(y0 ^ (y1 << 7) ^ (x1 << 17), 0x85ebca6b);
      let slot = (mixed ^ (mixed >>> 15)) & mask;
      for (let at = slots[slot]!; at >= from; at = slots[slot]!) {
        if (words[4 * at] === x0 && words[4 * at + 2] === y0 && words[4 * at + 1] === x1 && words[4 * at + 3] === y1) {
          if (at !== k - 1) return true;
          break;
        }
        slot = (slot + 1) & mask;
      }
      slots[slot] = k;
    }
    return false;
  }
}

const slotsFor = (positions: number) => new Int32Array(2 ** Math.ceil(Math.log2(4 * positions))).fill(-1);

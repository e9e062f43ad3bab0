/** Slots that are there from the beginning: enough for rings of 2,048 positions. */
const minSlots = 4096;

/** Two triangles that share a vertex: a ring that visits a vertex twice has at least these positions, without the last. */
const minPositionsToTouch = 6;

/**
 * Finds rings that visit a vertex twice: an open-addressing table of the indices of positions, hashed by their bits.
 * Indices grow within a batch, so that entries of earlier rings are known as such and nothing is cleared between rings.
 */
export class VertexTable {
  private slots = new Int32Array(minSlots).fill(-1);
  private words: Uint32Array;

  /** @param xy the positions of a batch; they may be written between calls */
  constructor(xy: Float64Array) {
    this.words = new Uint32Array(xy.buffer, xy.byteOffset, 2 * xy.length);
  }

  /**
   * Whether a position of the closed ring `from … to` is there again, its last one and repetitions side by side aside.
   * In rare cases it says so of a ring that has none, never the other way.
   */
  mayTouchItself(from: number, to: number): boolean {
    const last = to - 1;
    if (last - from < minPositionsToTouch) return false;
    if (2 * (last - from) > this.slots.length) this.slots = slotsFor(last - from);
    const { words, slots } = this;
    const mask = slots.length - 1;
    // Plain and long, as every vertex of every polygon passes here.
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

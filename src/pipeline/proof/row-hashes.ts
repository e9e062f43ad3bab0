/**
 * Hashes of all rows of a batch, computed column by column. They find accidents and not forgeries: two lanes of 32 bits,
 * each mixed with every word as MurmurHash3 mixes its blocks (multiply, rotate, multiply), and MurmurHash3's finalization.
 * A word is mixed in bijectively, so that two rows that differ in one word never have the same hash.
 */

import { mayBeTime } from "../../canonical/canonical-value.js";
import { digestBytes } from "../../canonical/digest-file.js";
import { type BytesColumn, Presence } from "../../model/column.js";
import { unitsOf } from "./units-of.js";

/** Multipliers of MurmurHash3_x86_128. */
const [c1, c2, c3, c4] = [0x239b961b, 0xab0e9789 | 0, 0x38b34ae5, 0xa1e38b93 | 0];
const [seedA, seedB] = [0x1f8eac27, 0x7c1db5e3];

const scratch = new Float64Array(1);
const scratchWords = new Int32Array(scratch.buffer);

/** fmix32 of MurmurHash3. */
function finalize(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function mixA(a: number, word: number): number {
  const h = Math.imul(a ^ Math.imul(word, c1), c2);
  return (h << 15) | (h >>> 17);
}

function mixB(b: number, word: number): number {
  const h = Math.imul(b ^ Math.imul(word, c3), c4);
  return (h << 17) | (h >>> 15);
}

/** Mixes words into the hash of one row after the other. */
export class RowHashes {
  private readonly states: Int32Array<ArrayBuffer>;
  private row = 0;
  private a = 0;
  private b = 0;

  constructor(readonly rows: number) {
    this.states = new Int32Array(2 * rows);
    for (let row = 0; row < rows; row++) {
      this.states[2 * row] = seedA;
      this.states[2 * row + 1] = seedB;
    }
  }

  /** Continues a row; `close` stores it. */
  open(row: number): void {
    this.row = row;
    this.a = this.states[2 * row]!;
    this.b = this.states[2 * row + 1]!;
  }

  close(): void {
    this.states[2 * this.row] = this.a;
    this.states[2 * this.row + 1] = this.b;
  }

  word(word: number): void {
    this.a = mixA(this.a, word);
    this.b = mixB(this.b, word);
  }

  /** Negative zero counts as zero, and every NaN as the same. */
  double(value: number): void {
    scratch[0] = Number.isNaN(value) ? Number.NaN : value + 0;
    this.word(scratchWords[0]!);
    this.word(scratchWords[1]!);
  }

  /**
   * Mixes in x and y of the positions `from` … `to`, as `double` does, but without calls.
   * @param scale 10 to the power of `decimals`
   */
  positions(
    xy: Float64Array,
    from: number,
    to: number,
    reversed: boolean,
    decimals: number | null,
    scale: number,
  ): void {
    let { a, b } = this;
    const step = reversed ? -2 : 2;
    for (let n = from, at = reversed ? 2 * (to - 1) : 2 * from; n < to; n++, at += step) {
      for (let k = at; k < at + 2; k++) {
        const value = xy[k]!;
        scratch[0] = Number.isNaN(value) ? Number.NaN : unitsOf(value, decimals, scale) + 0;
        const [low, high] = [scratchWords[0]!, scratchWords[1]!];
        a = mixA(mixA(a, low), high);
        b = mixB(mixB(b, low), high);
      }
    }
    this.a = a;
    this.b = b;
  }

  /** Mixes in `bytes[from … to]`, without their number; a last word is filled with zeros. */
  bytes(bytes: Uint8Array, from: number, to: number): void {
    let { a, b } = this;
    let at = from;
    for (; at + 4 <= to; at += 4) {
      const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      a = mixA(a, word);
      b = mixB(b, word);
    }
    if (at < to) {
      let last = 0;
      for (let shift = 0; at < to; at++, shift += 8) last |= bytes[at]! << shift;
      a = mixA(a, last);
      b = mixB(b, last);
    }
    this.a = a;
    this.b = b;
  }

  /**
   * Mixes in a word and the number of each row that has one: as `word` and `double` do, but without calls, since this is
   * most of the work.
   */
  numbers(values: Float64Array | Int32Array, presence: Uint8Array, word: number): void {
    const { states, rows } = this;
    for (let row = 0; row < rows; row++) {
      if (presence[row] !== Presence.value) continue;
      const value = values[row]!;
      scratch[0] = Number.isNaN(value) ? Number.NaN : value + 0;
      const [low, high] = [scratchWords[0]!, scratchWords[1]!];
      states[2 * row] = mixA(mixA(mixA(states[2 * row]!, word), low), high);
      states[2 * row + 1] = mixB(mixB(mixB(states[2 * row + 1]!, word), low), high);
    }
  }

  /**
   * Mixes in a word, the length and the bytes of each text.
   * @param isExact false leaves out texts that may be times
   */
  texts({ bytes, offsets, presence }: BytesColumn, word: number, isExact: boolean): void {
    for (let row = 0; row < this.rows; row++) {
      if (presence[row] !== Presence.value) continue;
      const [from, to] = [offsets[row]!, offsets[row + 1]!];
      if (!isExact && mayBeTime(bytes, from, to)) continue;
      this.open(row);
      this.a = mixA(mixA(this.a, word), to - from);
      this.b = mixB(mixB(this.b, word), to - from);
      this.bytes(bytes, from, to);
      this.close();
    }
  }

  /** The digests of all rows: the 64 bits of each, and as many that follow from them. */
  finish(): Buffer {
    const digests = new Int32Array((this.rows * digestBytes) / 4);
    for (let row = 0; row < this.rows; row++) {
      const [a, b] = [this.states[2 * row]!, this.states[2 * row + 1]!];
      // The lanes take part in each other, as at the end of MurmurHash3_x86_128.
      const first = finalize((a + b) | 0);
      const second = finalize((b + first) | 0);
      digests[4 * row] = (first + second) | 0;
      digests[4 * row + 1] = (second + first + second) | 0;
      digests[4 * row + 2] = finalize((first ^ c1) + second);
      digests[4 * row + 3] = finalize((second ^ c3) + first);
    }
    return Buffer.from(digests.buffer);
  }
}

import { isLittleEndian } from "../../../src/model/index.js";
import { curveSteps } from "../../shared/hilbert-curve.js";

/** 2²² × 2²² cells: on the whole globe, a cell is about 10 m by 5 m at the equator. */
const levels = 22;
export const curveCells = 2 ** levels;

/** Low bits of a key that hold the index of the entry. */
const entryBits = 19;
export const maxKeyedEntries = 2 ** entryBits;
const entryMask = maxKeyedEntries - 1;

/** Indexes of the high and the low 32 bits of a 64-bit number in memory. */
const [highWord, lowWord] = isLittleEndian ? [1, 0] : [0, 1];

/**
 * Writes the 64-bit key of a cell to `keys[2 * at …]`: the position along the Hilbert curve above the index of the
 * entry, so that keys sort by position, and by entry within a cell.
 */
export function writeHilbertKey(keys: Uint32Array, at: number, column: number, row: number, entry: number): void {
  let state = 0;
  let high = 0;
  let low = 0;
  for (let shift = levels - 2; shift >= 12; shift -= 2) {
    const step = curveSteps[(state << 4) | (((column >>> shift) & 3) << 2) | ((row >>> shift) & 3)]!;
    high = (high << 4) | (step & 15);
    state = step >>> 4;
  }
  for (let shift = 10; shift >= 0; shift -= 2) {
    const step = curveSteps[(state << 4) | (((column >>> shift) & 3) << 2) | ((row >>> shift) & 3)]!;
    low = (low << 4) | (step & 15);
    state = step >>> 4;
  }
  // `high` has 20 bits and `low` 24, of which 13 share a word with the entry.
  keys[2 * at + highWord] = (high << 11) | (low >>> 13);
  keys[2 * at + lowWord] = (low << entryBits) | entry;
}

export const hilbertPositionOf = (keys: Uint32Array, at: number): number =>
  keys[2 * at + highWord]! * 2 ** (32 - entryBits) + (keys[2 * at + lowWord]! >>> entryBits);

export const entryIndexOf = (keys: Uint32Array, at: number): number => keys[2 * at + lowWord]! & entryMask;

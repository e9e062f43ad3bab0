import { isLittleEndian } from "../../../src/model/index.js";

/** The curve goes through 2²² × 2²² cells: of the whole globe, each is ten metres wide and five high. */
const levels = 22;
export const curveCells = 2 ** levels;

/** Entries that are numbered within their keys. */
const entryBits = 19;
export const maxKeyedEntries = 2 ** entryBits;
const entryMask = maxKeyedEntries - 1;

/** Halves of a 64-bit number in memory. */
const [highWord, lowWord] = isLittleEndian ? [1, 0] : [0, 1];

/**
 * What two levels of the curve come to: by its state, of four, and two bits of the column and of the row, the four bits
 * of the place and, above them, the next state.
 */
const curveSteps = Uint8Array.from({ length: 64 }, (_, index) => {
  let swapped = (index >> 5) & 1;
  let turned = (index >> 4) & 1;
  let place = 0;
  for (const level of [1, 0]) {
    const column = (index >> (2 + level)) & 1;
    const row = (index >> level) & 1;
    const right = (swapped ? row : column) ^ turned;
    const above = (swapped ? column : row) ^ turned;
    place = (place << 2) | ((3 * right) ^ above);
    if (above === 1) continue;
    turned ^= right;
    swapped ^= 1;
  }
  return (((swapped << 1) | turned) << 4) | place;
});

/**
 * Puts the place of a cell along the Hilbert curve into `keys[2 * at]` and behind, with the number `entry` below it:
 * as numbers of 64 bits, keys sort by places, and those of one cell by entries.
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
  // 20 bits and 24, of which 13 go beside the entry.
  keys[2 * at + highWord] = (high << 11) | (low >>> 13);
  keys[2 * at + lowWord] = (low << entryBits) | entry;
}

/** The place that a key says. */
export const hilbertPositionOf = (keys: Uint32Array, at: number): number =>
  keys[2 * at + highWord]! * 2 ** (32 - entryBits) + (keys[2 * at + lowWord]! >>> entryBits);

/** The entry that a key says. */
export const entryIndexOf = (keys: Uint32Array, at: number): number => keys[2 * at + lowWord]! & entryMask;

/** Sorting of many rows by numbers, in time that grows with their number only. */

const digitBits = 16;
const digits = 1 << digitBits;

/**
 * Sorts rows by unsigned keys of 32 bits, from the least significant key on. Equal rows keep their order.
 * @param rows are replaced by the sorted rows
 * @param keys by row, the most significant key last
 */
export function radixSort(rows: Uint32Array, keys: readonly Uint32Array[]): Uint32Array {
  let from = rows;
  let to: Uint32Array = new Uint32Array(rows.length);
  const counts = new Uint32Array(digits);
  for (const key of keys) {
    for (let shift = 0; shift < 32; shift += digitBits) {
      counts.fill(0);
      for (let i = 0; i < from.length; i++) counts[(key[from[i]!]! >>> shift) & (digits - 1)]!++;
      // One digit that all rows share changes nothing.
      if (from.length === 0 || counts[(key[from[0]!]! >>> shift) & (digits - 1)] === from.length) continue;
      for (let d = 0, sum = 0; d < digits; d++) {
        const count = counts[d]!;
        counts[d] = sum;
        sum += count;
      }
      for (let i = 0; i < from.length; i++) {
        const row = from[i]!;
        to[counts[(key[row]! >>> shift) & (digits - 1)]!++] = row;
      }
      [from, to] = [to, from];
    }
  }
  return from;
}

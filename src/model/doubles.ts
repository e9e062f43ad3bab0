import { acquireBuffer } from "./buffer-pool.js";

/** So many numbers, of memory as `borrow` gives it. */
export function acquireDoubles(count: number): Float64Array<ArrayBuffer> {
  return new Float64Array(acquireBuffer(8 * count).buffer, 0, count);
}

/** Whether the numbers of typed arrays are little-endian on this machine, so that their bytes can be copied as such. */
export const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

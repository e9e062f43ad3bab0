import { acquireBuffer } from "./buffer-pool.js";

/** Acquires an array of numbers from the buffer pool. */
export function acquireDoubles(count: number): Float64Array<ArrayBuffer> {
  return new Float64Array(acquireBuffer(8 * count).buffer, 0, count);
}

/** Whether this machine is little-endian, so that bytes of files can be copied into typed arrays. */
export const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

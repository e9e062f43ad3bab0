/**
 * Memory of a thread that is used again. Fresh pages for megabyte after megabyte cost the system a fault for each of
 * them, and the collector runs for buffers outside its heap.
 */
const freeBuffers: ArrayBuffer[] = [];
const acquired = new WeakSet<ArrayBufferLike>();

/** Smaller pieces are not worth the bookkeeping. */
const minPooledBytes = 1 << 16;
/** Bytes that may wait for their next use: what a split, its batches and its chunks take. */
const maxFreeBytes = 1 << 23;
let freeBytes = 0;

/** The smallest free buffer of at least this size that is not far too large. */
function findFreeBuffer(bytes: number): number {
  let best = -1;
  for (let i = 0; i < freeBuffers.length; i++) {
    const size = freeBuffers[i]!.byteLength;
    if (size >= bytes && size <= 4 * bytes && (best < 0 || size < freeBuffers[best]!.byteLength)) best = i;
  }
  return best;
}

/**
 * Bytes that are not cleared: each must be written before it is read. Who borrows for a batch or a chunk keeps no hold
 * of it: the host gives it back when the batch has been worked on, the chunk been appended. Who borrows for itself
 * calls `giveBack`. Without either the collector frees it, like any other.
 */
export function acquireBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes < minPooledBytes) return new Uint8Array(bytes);
  const found = findFreeBuffer(bytes);
  const buffer = found < 0 ? Buffer.allocUnsafeSlow(bytes + (bytes >> 3)).buffer : freeBuffers.splice(found, 1)[0]!;
  if (found >= 0) freeBytes -= buffer.byteLength;
  acquired.add(buffer);
  return new Uint8Array(buffer, 0, bytes);
}

/** Ends the use of what was borrowed: no view of it may be used after. False, and nothing done, for other memory. */
export function releaseBuffer(buffer: ArrayBufferLike): boolean {
  const borrowed = acquired.delete(buffer);
  if (borrowed) donateBuffer(buffer as ArrayBuffer);
  return borrowed;
}

/** Takes in a buffer that no one else uses, such as one that comes back from another thread. */
export function donateBuffer(buffer: ArrayBuffer): void {
  freeBuffers.push(buffer);
  freeBytes += buffer.byteLength;
  while (freeBytes > maxFreeBytes) freeBytes -= freeBuffers.shift()!.byteLength;
}

/** Whether a buffer was borrowed and has not been given back: it belongs to its view alone. */
export function isAcquired(buffer: ArrayBufferLike): boolean {
  return acquired.has(buffer);
}

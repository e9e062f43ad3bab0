/**
 * Buffers of a thread for reuse. New memory causes a page fault for each page, and triggers the garbage collector.
 */
const freeBuffers: ArrayBuffer[] = [];
const acquired = new WeakSet<ArrayBufferLike>();

/** Smaller buffers are not pooled. */
const minPooledBytes = 1 << 16;
/** Maximum total size of free buffers: enough for a split, its batches and its chunks. */
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
 * Acquires a buffer with undefined content. The host releases buffers of batches and chunks when they have been processed
 * or appended; a caller that keeps a buffer for itself calls `releaseBuffer`. Otherwise the garbage collector frees it.
 */
export function acquireBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes < minPooledBytes) return new Uint8Array(bytes);
  const found = findFreeBuffer(bytes);
  const buffer = found < 0 ? Buffer.allocUnsafeSlow(bytes + (bytes >> 3)).buffer : freeBuffers.splice(found, 1)[0]!;
  if (found >= 0) freeBytes -= buffer.byteLength;
  acquired.add(buffer);
  return new Uint8Array(buffer, 0, bytes);
}

/** Returns an acquired buffer to the pool; its views must not be used afterwards. False, without effect, for other memory. */
export function releaseBuffer(buffer: ArrayBufferLike): boolean {
  const borrowed = acquired.delete(buffer);
  if (borrowed) donateBuffer(buffer as ArrayBuffer);
  return borrowed;
}

/** Adds an unused buffer to the pool, such as one that another thread has returned. */
export function donateBuffer(buffer: ArrayBuffer): void {
  freeBuffers.push(buffer);
  freeBytes += buffer.byteLength;
  while (freeBytes > maxFreeBytes) freeBytes -= freeBuffers.shift()!.byteLength;
}

/** Whether a buffer is acquired and not released. */
export function isAcquired(buffer: ArrayBufferLike): boolean {
  return acquired.has(buffer);
}

/** Minimum number of columns for which a batch takes its arrays from slabs. */
const minColumns = 1024;
/** Size of a slab in bytes. */
const chunkBytes = 1 << 18;

/**
 * Shared memory for the arrays of a batch with very many sparse columns: an array with its own buffer has an overhead of
 * some hundred bytes, a view of a shared buffer a third of that.
 */
export class Slab {
  private chunk = new ArrayBuffer(0);
  private end = 0;
  private readonly onesByLength = new Map<number, Uint8Array>();

  private allocate(bytes: number): number {
    const from = Math.ceil(this.end / 8) * 8;
    if (from + bytes <= this.chunk.byteLength) {
      this.end = from + bytes;
      return from;
    }
    this.chunk = new ArrayBuffer(Math.max(chunkBytes, bytes));
    this.end = bytes;
    return 0;
  }

  uint8(length: number): Uint8Array<ArrayBuffer> {
    const from = this.allocate(length);
    return new Uint8Array(this.chunk, from, length);
  }

  uint32(length: number): Uint32Array<ArrayBuffer> {
    const from = this.allocate(4 * length);
    return new Uint32Array(this.chunk, from, length);
  }

  int32(length: number): Int32Array<ArrayBuffer> {
    const from = this.allocate(4 * length);
    return new Int32Array(this.chunk, from, length);
  }

  float64(length: number): Float64Array<ArrayBuffer> {
    const from = this.allocate(8 * length);
    return new Float64Array(this.chunk, from, length);
  }

  bigint64(length: number): BigInt64Array<ArrayBuffer> {
    const from = this.allocate(8 * length);
    return new BigInt64Array(this.chunk, from, length);
  }

  buffer(length: number): Buffer<ArrayBuffer> {
    const from = this.allocate(length);
    return Buffer.from(this.chunk, from, length);
  }

  /** A shared array of ones; must not be changed. */
  allOnes(length: number): Uint8Array {
    let ones = this.onesByLength.get(length);
    if (!ones) {
      ones = this.uint8(length).fill(1);
      this.onesByLength.set(length, ones);
    }
    return ones;
  }
}

/** Creates a slab for a batch with very many columns; else null. */
export const createSlab = (columns: number): Slab | null => (columns < minColumns ? null : new Slab());

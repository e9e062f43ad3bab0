/** From so many columns on, a batch takes the arrays of all of them from slabs. */
const minColumns = 1024;
/** Bytes of a piece of memory that arrays are cut from. */
const chunkBytes = 1 << 18;

/**
 * Memory for the arrays of a batch of very many columns, which have few values each: an array with memory of its own
 * takes some hundred bytes more than the values in it, a part of a common piece a third of that.
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

  /** The same ones for all who ask for as many of them, and who write nothing else to them. */
  allOnes(length: number): Uint8Array {
    let ones = this.onesByLength.get(length);
    if (!ones) {
      ones = this.uint8(length).fill(1);
      this.onesByLength.set(length, ones);
    }
    return ones;
  }
}

/** Where a batch of so many columns takes their arrays from; null if each of them has memory of its own. */
export const createSlab = (columns: number): Slab | null => (columns < minColumns ? null : new Slab());

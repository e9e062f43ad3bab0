/** A growing buffer for canonical forms. The written bytes are valid until the next `reset`. */
export class ByteWriter {
  private buffer = Buffer.allocUnsafe(1 << 12);
  length = 0;

  reset(): void {
    this.length = 0;
  }

  private reserve(size: number): void {
    if (this.length + size <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.length + size, 2 * this.buffer.length));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  count(value: number): void {
    this.reserve(4);
    this.length = this.buffer.writeUInt32LE(value, this.length);
  }

  /** Writes negative zero as zero, and every NaN as the same bytes. */
  double(value: number): void {
    this.reserve(8);
    this.length = this.buffer.writeDoubleLE(Number.isNaN(value) ? Number.NaN : value + 0, this.length);
  }

  /** Writes the length first, so that the end of the text is known. */
  text(text: string): void {
    this.reserve(4 + 3 * text.length);
    const size = this.buffer.write(text, this.length + 4, "utf8");
    this.buffer.writeUInt32LE(size, this.length);
    this.length += 4 + size;
  }

  /** Writes `source[from … to]` with its length first. */
  bytes(source: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.reserve(4 + size);
    const { buffer } = this;
    let at = buffer.writeUInt32LE(size, this.length);
    // For few bytes, a loop is faster than `Uint8Array.set`.
    if (size < 24) for (let i = from; i < to; i++) buffer[at++] = source[i]!;
    else {
      buffer.set(source.subarray(from, to), at);
      at += size;
    }
    this.length = at;
  }

  get written(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}

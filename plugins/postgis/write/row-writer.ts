/** Builds the rows of a binary COPY in a growing buffer. */
export class RowWriter {
  private buffer = Buffer.allocUnsafeSlow(1 << 16);
  size = 0;

  /** Reserves bytes. @returns their offset */
  private reserve(count: number): number {
    const { size } = this;
    if (size + count > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size + count, 2 * this.buffer.length));
      grown.set(this.buffer.subarray(0, size));
      this.buffer = grown;
    }
    this.size = size + count;
    return size;
  }

  begin(columns: number): void {
    this.buffer.writeInt16BE(columns, this.reserve(2));
  }

  none(): void {
    this.buffer.writeInt32BE(-1, this.reserve(4));
  }

  byte(value: number): void {
    const at = this.reserve(5);
    this.buffer.writeInt32BE(1, at);
    this.buffer[at + 4] = value;
  }

  int32(value: number): void {
    const at = this.reserve(8);
    this.buffer.writeInt32BE(4, at);
    this.buffer.writeInt32BE(value, at + 4);
  }

  int64(value: bigint): void {
    const at = this.reserve(12);
    this.buffer.writeInt32BE(8, at);
    this.buffer.writeBigInt64BE(value, at + 4);
  }

  double(value: number): void {
    const at = this.reserve(12);
    this.buffer.writeInt32BE(8, at);
    this.buffer.writeDoubleBE(value, at + 4);
  }

  /** @param prefix a byte to write first; -1 for none */
  bytes(source: Uint8Array, from: number, to: number, prefix = -1): void {
    const before = prefix < 0 ? 0 : 1;
    const count = to - from;
    let at = this.reserve(4 + before + count);
    const { buffer } = this;
    buffer.writeInt32BE(count + before, at);
    at += 4;
    if (before > 0) buffer[at++] = prefix;
    // For short values a loop is faster than `copy`.
    if (count < 24) for (let i = 0; i < count; i++) buffer[at + i] = source[from + i]!;
    else buffer.set(source.subarray(from, to), at);
  }

  /** Returns a copy of all rows and resets the writer. */
  finish(): Uint8Array<ArrayBuffer> {
    const rows = new Uint8Array(this.size);
    rows.set(this.buffer.subarray(0, this.size));
    this.size = 0;
    return rows;
  }
}

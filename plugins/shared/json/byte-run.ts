/** A run of expected bytes, compared four at a time. */
export class ByteRun {
  readonly length: number;
  /**
   * The bytes as four-byte words from the first byte on, then the last four bytes, which may overlap the previous word.
   */
  private readonly words: Int32Array;
  private readonly last: number;

  constructor(readonly bytes: Uint8Array) {
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    this.length = length;
    this.words = Int32Array.from({ length: length >> 2 }, (_, w) => view.getInt32(4 * w));
    this.last = length < 4 ? 0 : view.getInt32(length - 4);
  }

  /** Whether `view` holds these bytes at `at`, before `end`. */
  isAt(view: DataView, at: number, end: number): boolean {
    const { length, words } = this;
    if (at + length > end) return false;
    if (length < 4) return this.isShortAt(view, at);
    for (let w = 0; w < words.length; w++) if (view.getInt32(at + 4 * w) !== words[w]) return false;
    return view.getInt32(at + length - 4) === this.last;
  }

  private isShortAt(view: DataView, at: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < bytes.length; i++) if (view.getUint8(at + i) !== bytes[i]) return false;
    return true;
  }

  equals(other: ByteRun): boolean {
    return Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

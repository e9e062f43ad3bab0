import { type CodecName, compress } from "../parquet/codecs.js";
import { encodeStruct } from "../parquet/thrift-writer.js";

const dataPage = 0;
const plainEncoding = 0;
const rleEncoding = 3;

/** A data page with its header, and what the footer says about it. */
export interface EncodedPage {
  readonly bytes: Uint8Array;
  /** Size with the header, before compression. */
  readonly uncompressed: number;
  readonly nulls: number;
  /** Whether no value counts for the statistics: all are null or NaN. */
  readonly isEmpty: boolean;
  /** The least and the greatest value in the encoding PLAIN; null if there is none, or if they are too long. */
  readonly least: Uint8Array | null;
  readonly greatest: Uint8Array | null;
}

/** A growing buffer for the content of a page. */
export class PageBuffer {
  bytes = Buffer.allocUnsafeSlow(1 << 16);
  at = 0;

  reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.at + size, 2 * this.bytes.length));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  varint(value: number): void {
    this.reserve(5);
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.bytes[this.at++] = (rest & 127) | 128;
    this.bytes[this.at++] = rest;
  }

  /** Length and bytes, as PLAIN has byte arrays. */
  byteArray(source: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.reserve(4 + size);
    const { bytes, at } = this;
    bytes[at] = size;
    bytes[at + 1] = size >>> 8;
    bytes[at + 2] = size >>> 16;
    bytes[at + 3] = size >>> 24;
    if (size < 24) for (let i = 0; i < size; i++) bytes[at + 4 + i] = source[from + i]!;
    else bytes.set(source.subarray(from, to), at + 4);
    this.at = at + 4 + size;
  }

  /**
   * Begins a page: writes definition levels of 0 and 1 (RLE with their length before).
   * @param isPresent 1 for rows with a value
   * @returns the number of rows without one
   */
  begin(isPresent: Uint8Array): number {
    this.at = 4;
    const { length } = isPresent;
    let values = 0;
    for (let row = 0; row < length; row++) values += isPresent[row]!;
    if (values === length || values === 0) {
      this.varint(length << 1);
      this.reserve(1);
      this.bytes[this.at++] = values === 0 ? 0 : 1;
    } else this.bitPacked(isPresent);
    this.bytes.writeUInt32LE(this.at - 4, 0);
    return length - values;
  }

  private bitPacked(bits: Uint8Array): void {
    const groups = Math.ceil(bits.length / 8);
    this.varint((groups << 1) | 1);
    this.packBits(bits);
  }

  packBits(bits: Uint8Array): void {
    const size = Math.ceil(bits.length / 8);
    this.reserve(size);
    const { bytes, at } = this;
    bytes.fill(0, at, at + size);
    for (let i = 0; i < bits.length; i++) if (bits[i]) bytes[at + (i >> 3)]! |= 1 << (i & 7);
    this.at += size;
  }

  /** Ends a page: compresses it and writes its header. */
  finish(
    codec: CodecName,
    rows: number,
    nulls: number,
    least: Uint8Array | null,
    greatest: Uint8Array | null,
    isEmpty = least === null,
  ): EncodedPage {
    const content = this.bytes.subarray(0, this.at);
    const packed = compress(codec, content);
    const header = encodeStruct([
      [1, { i32: dataPage }],
      [2, { i32: content.length }],
      [3, { i32: packed.length }],
      [
        5,
        {
          struct: [
            [1, { i32: rows }],
            [2, { i32: plainEncoding }],
            [3, { i32: rleEncoding }],
            [4, { i32: rleEncoding }],
          ],
        },
      ],
    ]);
    const bytes = new Uint8Array(header.length + packed.length);
    bytes.set(header);
    bytes.set(packed, header.length);
    return { bytes, uncompressed: header.length + content.length, nulls, isEmpty, least, greatest };
  }
}

import { acquireBuffer, releaseBuffer } from "../../../src/model/index.js";

const initialBytes = 1 << 17;

/** A growing buffer of little-endian values, in memory for the buffers of a chunk. */
export class FeatureBuffer {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);
  at = 0;

  /** Begins in new memory. */
  begin(): void {
    this.replace(acquireBuffer(initialBytes));
    this.at = 0;
  }

  private replace(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  reserve(size: number): void {
    const { bytes, at } = this;
    if (at + size <= bytes.length) return;
    const grown = acquireBuffer(Math.max(at + size, 2 * bytes.length));
    grown.set(bytes.subarray(0, at));
    this.replace(grown);
    releaseBuffer(bytes.buffer);
  }

  /** Reserves zeros. @returns their position */
  zeros(size: number): number {
    this.reserve(size);
    const { at } = this;
    this.at = at + size;
    if (size < 64) for (let i = at; i < this.at; i++) this.bytes[i] = 0;
    else this.bytes.fill(0, at, this.at);
    return at;
  }

  /** Adds zeros until the position plus `before` is a multiple of `size`. */
  align(size: number, before = 0): void {
    const over = (this.at + before) % size;
    if (over > 0) this.zeros(size - over);
  }

  /** What was written. */
  finish(): Uint8Array<ArrayBuffer> {
    const written = this.bytes.subarray(0, this.at);
    this.bytes = new Uint8Array();
    return written;
  }
}

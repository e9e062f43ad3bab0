import { acquireBuffer } from "../../../src/model/index.js";

/**
 * Where the values of a column are in the bytes of a chunk, in the encoding PLAIN but for booleans, which take a byte
 * each.
 */
export interface ColumnPart {
  /** 1 for rows with a value; null if all rows have one. */
  readonly presence: Uint8Array | null;
  readonly start: number;
  /** Row i is `bytes[offsets[i] … offsets[i + 1]]`; null if all values have the same size. */
  readonly offsets: Uint32Array | null;
}

/** The bytes of a value of each type of equal sizes. */
export type ValueKind = "boolean" | "int32" | "int64" | "float" | "double" | "bytes" | "text";
export const valueBytes: Readonly<Record<ValueKind, number>> = {
  boolean: 1,
  int32: 4,
  int64: 8,
  float: 4,
  double: 8,
  bytes: 0,
  text: 0,
};

/** Presence without the array if all rows have a value. */
export const presenceOf = (isPresent: Uint8Array): Uint8Array | null => (isPresent.includes(0) ? isPresent : null);

/** The values of the rows `from … to`, in the bytes of their chunk. */
export function valuesOf(
  bytes: Uint8Array,
  { presence, start, offsets }: ColumnPart,
  kind: ValueKind,
  from: number,
  to: number,
): Uint8Array {
  if (offsets) return bytes.subarray(offsets[from]!, offsets[to]!);
  const size = valueBytes[kind];
  if (!presence) return bytes.subarray(start + size * from, start + size * to);
  let before = 0;
  for (let row = 0; row < from; row++) before += presence[row]!;
  let count = 0;
  for (let row = from; row < to; row++) count += presence[row]!;
  return bytes.subarray(start + size * before, start + size * (before + count));
}

/** A growing buffer. */
export class ByteBuffer {
  bytes = Buffer.allocUnsafeSlow(1 << 14);
  view = new DataView(this.bytes.buffer);
  at = 0;

  reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.at + size, 2 * this.bytes.length));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** A copy of the content in a pooled buffer, which the host releases. */
  copy(): Uint8Array<ArrayBuffer> {
    const copy = acquireBuffer(this.at);
    copy.set(this.bytes.subarray(0, this.at));
    return copy;
  }
}

/** The values of columns as bytes to count: equal values of different columns and types have equal bytes. */
import { type Column, decodeUtf8, isBytesColumn } from "../model/column.js";

/** What the bytes of a value are. */
export const Tag = {
  boolean: 0,
  /** A double of eight bytes: every number that a double holds exactly. */
  number: 1,
  /** A 64-bit integer that a double does not hold exactly. */
  integer: 2,
  text: 3,
  binary: 4,
  /** The text of a JSON array or object. */
  json: 5,
} as const;

/** The current value of a column. */
export class ValueReader {
  tag: number = Tag.text;
  bytes: Uint8Array = new Uint8Array();
  from = 0;
  to = 0;
  /** The value of a number; a bigint only where a number would not be exact. */
  number: number | bigint = 0;

  private readonly double = new Float64Array(1);
  private readonly integer = new BigInt64Array(this.double.buffer);
  private readonly scratch = new Uint8Array(this.double.buffer);

  /** Reads the value of a row, which must have one. */
  read(column: Column, row: number): void {
    if (isBytesColumn(column)) {
      const { bytes, offsets, type } = column;
      const [from, to] = [offsets[row]!, offsets[row + 1]!];
      if (type === "json") this.readJson(bytes, from, to);
      else this.setBytes(type === "binary" ? Tag.binary : Tag.text, bytes, from, to);
    } else if (column.type === "boolean") this.setBoolean(column.values[row] === 1);
    else if (column.type === "int64") this.setInteger(column.values[row]!);
    else this.setNumber(column.values[row]!);
  }

  private setBytes(tag: number, bytes: Uint8Array, from: number, to: number): void {
    this.tag = tag;
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  private setScratch(tag: number): void {
    this.tag = tag;
    this.bytes = this.scratch;
    this.from = 0;
    this.to = 8;
  }

  private setBoolean(value: boolean): void {
    this.double[0] = value ? 1 : 0;
    this.setScratch(Tag.boolean);
  }

  private setNumber(value: number): void {
    // −0 and 0 are equal.
    this.double[0] = value + 0;
    this.number = this.double[0]!;
    this.setScratch(Tag.number);
  }

  private setInteger(value: bigint): void {
    const near = Number(value);
    if (BigInt(near) === value) this.setNumber(near);
    else {
      this.integer[0] = value;
      this.setScratch(Tag.integer);
    }
    this.number = Number.isSafeInteger(near) ? near : value;
  }

  /** A scalar of a column of mixed types is the same value as in a column of its own type. */
  private readJson(bytes: Uint8Array, from: number, to: number): void {
    const first = bytes[from];
    const isNested = first === 0x7b || first === 0x5b;
    const value: unknown = isNested ? undefined : JSON.parse(decodeUtf8(bytes, from, to));
    if (typeof value === "string") {
      const text = Buffer.from(value, "utf8");
      this.setBytes(Tag.text, text, 0, text.length);
    } else if (typeof value === "number") this.setNumber(value);
    else if (typeof value === "boolean") this.setBoolean(value);
    else this.setBytes(Tag.json, bytes, from, to);
  }
}

const view = new DataView(new ArrayBuffer(8));
const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The value of counted bytes: a boolean, number, bigint, text, or the hexadecimal digits of binary. */
export function valueOfBytes(
  tag: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean | number | bigint | string {
  if (tag === Tag.text || tag === Tag.json) return decodeUtf8(bytes, from, to);
  if (tag === Tag.binary) return Buffer.from(bytes.subarray(from, to)).toString("hex");
  for (let k = 0; k < 8; k++) view.setUint8(k, bytes[from + k]!);
  if (tag === Tag.integer) return view.getBigInt64(0, littleEndian);
  const value = view.getFloat64(0, littleEndian);
  return tag === Tag.boolean ? value === 1 : value;
}

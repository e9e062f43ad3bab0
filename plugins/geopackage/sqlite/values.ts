import type { SqliteHeader } from "./header.js";
import { type SqliteRow, VarintReader } from "./row-reader.js";

/** Content size by serial type (file format, 2.1); from 12 on the serial type encodes the size. */
export const contentBytesBySerial = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0] as const;

export const SerialType = { null: 0, int64: 6, double: 7, zero: 8, one: 9, blob: 12, text: 13 } as const;

export const contentBytes = (serial: number): number =>
  serial < 12 ? contentBytesBySerial[serial]! : (serial - 12) >>> 1;
export const isText = (serial: number): boolean => serial >= 13 && (serial & 1) === 1;
export const isBlob = (serial: number): boolean => serial >= 12 && (serial & 1) === 0;
export const isInteger = (serial: number): boolean => (serial >= 1 && serial <= 6) || serial === 8 || serial === 9;

/**
 * Reads an integer; 64-bit values are rounded to a double. Sizes up to 32 bits are read without Buffer methods, which
 * check their arguments.
 */
export function readInteger(bytes: Buffer, at: number, serial: number): number {
  switch (serial) {
    case 1:
      return (bytes[at]! << 24) >> 24;
    case 2:
      return ((bytes[at]! << 24) >> 16) | bytes[at + 1]!;
    case 3:
      return ((bytes[at]! << 24) >> 8) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    case 4:
      return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    case 5:
      return bytes.readIntBE(at, 6);
    case 6:
      return Number(bytes.readBigInt64BE(at));
    default:
      return serial - 8;
  }
}

export type SqliteValue = null | number | bigint | string | Uint8Array;

/** Decodes all values of a record. `exact`: return integers as bigint, which distinguishes them from doubles. */
export function decodeValues(row: SqliteRow, encoding: SqliteHeader["encoding"], exact = false): SqliteValue[] {
  const varint = new VarintReader();
  const { bytes, from, to } = row;
  let head = varint.read(bytes, from);
  let body = from + varint.size;
  const end = body;
  const values: SqliteValue[] = [];
  while (head < end && head < to) {
    head = varint.read(bytes, head);
    const serial = varint.size;
    const size = contentBytes(serial);
    if (body + size > to) break;
    const value = decodeValue(bytes, body, serial, size, encoding);
    values.push(exact && isInteger(serial) ? BigInt(value as number) : value);
    body += size;
  }
  return values;
}

function decodeValue(
  bytes: Buffer,
  at: number,
  serial: number,
  size: number,
  encoding: SqliteHeader["encoding"],
): SqliteValue {
  if (serial === SerialType.null || serial === 10 || serial === 11) return null;
  if (serial === SerialType.int64) return bytes.readBigInt64BE(at);
  if (serial === SerialType.double) return bytes.readDoubleBE(at);
  if (isText(serial)) return decodeText(bytes, at, at + size, encoding);
  if (isBlob(serial)) return Uint8Array.from(bytes.subarray(at, at + size));
  return readInteger(bytes, at, serial);
}

export function decodeText(bytes: Buffer, from: number, to: number, encoding: SqliteHeader["encoding"]): string {
  if (encoding !== "utf16be") return bytes.toString(encoding, from, to);
  const copy = Buffer.from(bytes.subarray(from, to - ((to - from) % 2)));
  return copy.swap16().toString("utf16le");
}

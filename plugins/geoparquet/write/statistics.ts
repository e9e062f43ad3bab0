/** The least and the greatest value of a page or column (parquet.thrift, Statistics). */
import { dataViewOf } from "../../shared/text/data-view.js";
import type { ValueKind } from "./column-part.js";

/** Longer texts have no statistics. */
const maxTextBytes = 64;

export interface Bounds {
  /** In the encoding PLAIN, texts without their length; null if there is none. */
  readonly least: Uint8Array | null;
  readonly greatest: Uint8Array | null;
  /** A value is too long, so that the column has none. */
  readonly isUnknown: boolean;
}

export const noBounds: Bounds = { least: null, greatest: null, isUnknown: false };
const unknownBounds: Bounds = { least: null, greatest: null, isUnknown: true };

type Reader = { readonly size: number; read(view: DataView, at: number): number | bigint };

const readers: Readonly<Partial<Record<ValueKind, Reader>>> = {
  boolean: { size: 1, read: (view, at) => view.getUint8(at) },
  int32: { size: 4, read: (view, at) => view.getInt32(at, true) },
  int64: { size: 8, read: (view, at) => view.getBigInt64(at, true) },
  float: { size: 4, read: (view, at) => view.getFloat32(at, true) },
  double: { size: 8, read: (view, at) => view.getFloat64(at, true) },
};

/** The bounds of values in the encoding PLAIN. NaN does not count, as the format demands. */
export function boundsOf(kind: ValueKind, values: Uint8Array): Bounds {
  if (kind === "bytes") return unknownBounds;
  if (kind === "text") return textBounds(values);
  const { size, read } = readers[kind]!;
  const view = dataViewOf(values);
  let least = -1;
  let greatest = -1;
  let [low, high]: (number | bigint)[] = [0, 0];
  for (let at = 0; at < values.length; at += size) {
    const value = read(view, at);
    if (typeof value === "number" && Number.isNaN(value)) continue;
    if (least < 0 || value < low!) {
      least = at;
      low = value;
    }
    if (greatest < 0 || value > high!) {
      greatest = at;
      high = value;
    }
  }
  if (least < 0) return noBounds;
  const bound = (at: number) => copyOf(values, at, at + size);
  if (kind !== "float" && kind !== "double")
    return { least: bound(least), greatest: bound(greatest), isUnknown: false };
  return {
    least: withSign(bound(least), low as number, -0),
    greatest: withSign(bound(greatest), high as number, 0),
    isUnknown: false,
  };
}

/** A copy of its own: `slice` of a Buffer shares memory. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array => Uint8Array.from(bytes.subarray(from, to));

/** A bound of 0 has the sign with which it includes the other 0. */
function withSign(bytes: Uint8Array, value: number, zero: number): Uint8Array {
  if (value === 0) bytes[bytes.length - 1] = Object.is(zero, -0) ? 0x80 : 0;
  return bytes;
}

function textBounds(values: Uint8Array): Bounds {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.length);
  const view = dataViewOf(values);
  let [least, leastEnd, greatest, greatestEnd] = [-1, 0, -1, 0];
  for (let at = 0; at < values.length; ) {
    const from = at + 4;
    const to = from + view.getUint32(at, true);
    if (least < 0 || bytes.compare(bytes, least, leastEnd, from, to) < 0) [least, leastEnd] = [from, to];
    if (greatest < 0 || bytes.compare(bytes, greatest, greatestEnd, from, to) > 0) [greatest, greatestEnd] = [from, to];
    at = to;
  }
  if (least < 0) return noBounds;
  if (Math.max(leastEnd - least, greatestEnd - greatest) > maxTextBytes) return unknownBounds;
  return { least: copyOf(values, least, leastEnd), greatest: copyOf(values, greatest, greatestEnd), isUnknown: false };
}

/** The bounds of both. */
export function mergeBounds(kind: ValueKind, a: Bounds, b: Bounds): Bounds {
  if (a.isUnknown || b.isUnknown) return unknownBounds;
  if (!a.least || !a.greatest) return b;
  if (!b.least || !b.greatest) return a;
  return {
    least: compareValues(kind, a.least, b.least) <= 0 ? a.least : b.least,
    greatest: compareValues(kind, a.greatest, b.greatest) >= 0 ? a.greatest : b.greatest,
    isUnknown: false,
  };
}

function compareValues(kind: ValueKind, a: Uint8Array, b: Uint8Array): number {
  const reader = readers[kind];
  if (!reader) return Buffer.compare(a, b);
  const left = reader.read(dataViewOf(a), 0);
  const right = reader.read(dataViewOf(b), 0);
  // -0 is less than 0 here.
  if (left === 0 && right === 0) return (Object.is(left, -0) ? 0 : 1) - (Object.is(right, -0) ? 0 : 1);
  return left < right ? -1 : left > right ? 1 : 0;
}

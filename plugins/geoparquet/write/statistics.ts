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

/** Where the least and the greatest value are, −1 for none. */
type Places = readonly [least: number, greatest: number];

/** The bounds of values in the encoding PLAIN. NaN does not count, as the format demands. */
export function boundsOf(kind: ValueKind, values: Uint8Array): Bounds {
  if (kind === "bytes") return unknownBounds;
  if (kind === "text") return textBounds(values);
  const { size, read } = readers[kind]!;
  const view = dataViewOf(values);
  const [least, greatest] = findPlaces(kind, view);
  if (least < 0) return noBounds;
  const bound = (at: number) => copyOf(values, at, at + size);
  if (kind !== "float" && kind !== "double")
    return { least: bound(least), greatest: bound(greatest), isUnknown: false };
  return {
    least: withSign(bound(least), read(view, least) as number, -0),
    greatest: withSign(bound(greatest), read(view, greatest) as number, 0),
    isUnknown: false,
  };
}

/** A loop for each type: one for all of them takes four times as long. */
function findPlaces(kind: ValueKind, view: DataView): Places {
  switch (kind) {
    case "double":
      return placesOfDoubles(view);
    case "float":
      return placesOfFloats(view);
    case "int64":
      return placesOfLongs(view);
    case "int32":
      return placesOfIntegers(view);
    default:
      return placesOfBytes(view);
  }
}

function placesOfDoubles(view: DataView): Places {
  let [least, greatest, low, high] = [-1, -1, Infinity, -Infinity];
  for (let at = 0; at < view.byteLength; at += 8) {
    const value = view.getFloat64(at, true);
    // Most values are between the bounds; NaN is not.
    if (value > low && value < high) continue;
    if (value < low || (least < 0 && value === low)) [least, low] = [at, value];
    if (value > high || (greatest < 0 && value === high)) [greatest, high] = [at, value];
  }
  return [least, greatest];
}

function placesOfFloats(view: DataView): Places {
  let [least, greatest, low, high] = [-1, -1, Infinity, -Infinity];
  for (let at = 0; at < view.byteLength; at += 4) {
    const value = view.getFloat32(at, true);
    if (value > low && value < high) continue;
    if (value < low || (least < 0 && value === low)) [least, low] = [at, value];
    if (value > high || (greatest < 0 && value === high)) [greatest, high] = [at, value];
  }
  return [least, greatest];
}

/** Compares the signed upper halves, then the lower ones: a bigint would be an object for each value. */
function placesOfLongs(view: DataView): Places {
  let [least, greatest, lowUpper, lowLower, highUpper, highLower] = [-1, -1, 0, 0, 0, 0];
  for (let at = 0; at < view.byteLength; at += 8) {
    const lower = view.getUint32(at, true);
    const upper = view.getInt32(at + 4, true);
    if (least < 0 || upper < lowUpper || (upper === lowUpper && lower < lowLower))
      [least, lowUpper, lowLower] = [at, upper, lower];
    if (greatest < 0 || upper > highUpper || (upper === highUpper && lower > highLower))
      [greatest, highUpper, highLower] = [at, upper, lower];
  }
  return [least, greatest];
}

function placesOfIntegers(view: DataView): Places {
  let [least, greatest, low, high] = [-1, -1, 0, 0];
  for (let at = 0; at < view.byteLength; at += 4) {
    const value = view.getInt32(at, true);
    if (least < 0 || value < low) [least, low] = [at, value];
    if (greatest < 0 || value > high) [greatest, high] = [at, value];
  }
  return [least, greatest];
}

function placesOfBytes(view: DataView): Places {
  let [least, greatest] = [-1, -1];
  for (let at = 0; at < view.byteLength; at++) {
    if (least < 0 || view.getUint8(at) < view.getUint8(least)) least = at;
    if (greatest < 0 || view.getUint8(at) > view.getUint8(greatest)) greatest = at;
  }
  return [least, greatest];
}

/** A copy of its own: `slice` of a Buffer shares memory. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array => Uint8Array.from(bytes.subarray(from, to));

/** A bound of 0 has the sign with which it includes the other 0. */
function withSign(bytes: Uint8Array, value: number, zero: number): Uint8Array {
  if (value === 0) bytes[bytes.length - 1] = Object.is(zero, -0) ? 0x80 : 0;
  return bytes;
}

/** Compares two parts byte by byte: most differ in the first ones, where a call of `Buffer.compare` takes longer. */
function compareBytes(bytes: Uint8Array, from: number, to: number, otherFrom: number, otherTo: number): number {
  const length = Math.min(to - from, otherTo - otherFrom);
  for (let i = 0; i < length; i++) {
    const difference = bytes[from + i]! - bytes[otherFrom + i]!;
    if (difference !== 0) return difference;
  }
  return to - from - (otherTo - otherFrom);
}

function textBounds(values: Uint8Array): Bounds {
  const view = dataViewOf(values);
  let [least, leastEnd, greatest, greatestEnd] = [-1, 0, -1, 0];
  // The first four bytes of both, if they have as many: most texts lie between those.
  let [leastHead, greatestHead] = [-1, -1];
  for (let at = 0; at < values.length; ) {
    const from = at + 4;
    const size = view.getUint32(at, true);
    const to = from + size;
    if (size >= 4 && leastHead >= 0) {
      const head = view.getUint32(from);
      if (head > leastHead && head < greatestHead) {
        at = to;
        continue;
      }
    }
    if (least < 0 || compareBytes(values, from, to, least, leastEnd) < 0) [least, leastEnd] = [from, to];
    if (greatest < 0 || compareBytes(values, from, to, greatest, greatestEnd) > 0) [greatest, greatestEnd] = [from, to];
    const haveHeads = leastEnd - least >= 4 && greatestEnd - greatest >= 4;
    leastHead = haveHeads ? view.getUint32(least) : -1;
    greatestHead = haveHeads ? view.getUint32(greatest) : -1;
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

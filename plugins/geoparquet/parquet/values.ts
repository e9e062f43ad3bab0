/** Decodes the values of pages into typed arrays or ranges of bytes, without an object for each value. */
import { deltaBinaryUnpack } from "hyparquet/src/delta.js";
import { byteStreamSplit } from "hyparquet/src/encoding.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { UnsupportedParquet } from "./codecs.js";
import { readHybrid } from "./rle.js";

export type Numbers = Uint8Array | Int32Array | BigInt64Array | Float64Array;

/** Value i is `bytes[starts[i] … ends[i]]`. */
export interface ByteRanges {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Values that are not null: numbers, or bytes for BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY and INT96. */
export type Values = Numbers | ByteRanges;

export const isNumbers = (values: Values): values is Numbers => ArrayBuffer.isView(values);

/** A leaf of the schema, as plain data. */
export interface LeafType {
  readonly physical: string;
  /** Of FIXED_LEN_BYTE_ARRAY. */
  readonly length: number;
}

const int96Bytes = 12;
const shortPage = () => new Error("a page is shorter than its values");

const fixedBytes: Readonly<Record<string, number>> = { INT32: 4, INT64: 8, FLOAT: 4, DOUBLE: 8, INT96: int96Bytes };

/** The values `from … to`. Shares memory. */
export function sliceValues(values: Values, from: number, to: number): Values {
  if (isNumbers(values)) return values.subarray(from, to);
  return { bytes: values.bytes, starts: values.starts.subarray(from, to), ends: values.ends.subarray(from, to) };
}

export const countValues = (values: Values): number => (isNumbers(values) ? values.length : values.starts.length);

/** Joins the values of several pages. */
export function joinValues(all: readonly Values[]): Values {
  if (all.length === 1) return all[0]!;
  const [first] = all;
  if (first === undefined || isNumbers(first)) {
    const count = all.reduce((sum, each) => sum + countValues(each), 0);
    const joined = new ((first?.constructor ?? Uint8Array) as new (length: number) => Numbers)(count);
    let at = 0;
    for (const each of all as Numbers[]) {
      (joined as Float64Array).set(each as Float64Array, at);
      at += each.length;
    }
    return joined;
  }
  return joinRanges(all as ByteRanges[]);
}

function joinRanges(all: readonly ByteRanges[]): ByteRanges {
  let size = 0;
  let count = 0;
  for (const { starts, ends } of all) {
    count += starts.length;
    for (let i = 0; i < starts.length; i++) size += ends[i]! - starts[i]!;
  }
  const joined = { bytes: new Uint8Array(size), starts: new Uint32Array(count), ends: new Uint32Array(count) };
  let at = 0;
  let n = 0;
  for (const { bytes, starts, ends } of all) {
    for (let i = 0; i < starts.length; i++, n++) {
      joined.starts[n] = at;
      joined.bytes.set(bytes.subarray(starts[i]!, ends[i]!), at);
      at += ends[i]! - starts[i]!;
      joined.ends[n] = at;
    }
  }
  return joined;
}

/** Values in the encoding PLAIN, also those of a dictionary. @throws Error if the page is too short */
export function readPlain(type: LeafType, bytes: Uint8Array, count: number): Values {
  const { physical } = type;
  if (physical === "BYTE_ARRAY") return readByteArrays(bytes, count);
  if (physical === "BOOLEAN") return readBooleans(bytes, count);
  const size = fixedBytes[physical] ?? type.length;
  if (!(size > 0) || bytes.length < size * count) throw shortPage();
  if (physical === "FIXED_LEN_BYTE_ARRAY" || physical === "INT96") return readFixed(bytes, size, count);
  // A copy, aligned to numbers: `slice` of a Buffer would share memory.
  const aligned = Uint8Array.from(bytes.subarray(0, size * count)).buffer;
  switch (physical) {
    case "INT32":
      return new Int32Array(aligned);
    case "INT64":
      return new BigInt64Array(aligned);
    case "FLOAT":
      return Float64Array.from(new Float32Array(aligned));
    case "DOUBLE":
      return new Float64Array(aligned);
    default:
      throw new Error(`${physical} is not a type`);
  }
}

function readBooleans(bytes: Uint8Array, count: number): Uint8Array {
  if (bytes.length < Math.ceil(count / 8)) throw shortPage();
  const values = new Uint8Array(count);
  for (let i = 0; i < count; i++) values[i] = (bytes[i >> 3]! >> (i & 7)) & 1;
  return values;
}

function readFixed(bytes: Uint8Array, size: number, count: number): ByteRanges {
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    starts[i] = i * size;
    ends[i] = (i + 1) * size;
  }
  return { bytes, starts, ends };
}

function readByteArrays(bytes: Uint8Array, count: number): ByteRanges {
  if (bytes.length < 4 * count) throw shortPage();
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const view = dataViewOf(bytes);
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 4 > bytes.length) throw shortPage();
    const start = at + 4;
    at = start + view.getUint32(at, true);
    if (at > bytes.length) throw shortPage();
    starts[i] = start;
    ends[i] = at;
  }
  return { bytes, starts, ends };
}

/** The arrays of equal length that a decoder of hyparquet made. */
function packArrays(arrays: readonly Uint8Array[]): ByteRanges {
  const size = arrays[0]?.length ?? 0;
  const bytes = new Uint8Array(size * arrays.length);
  arrays.forEach((array, i) => {
    bytes.set(array, i * size);
  });
  return readFixed(bytes, size, arrays.length);
}

type Reader = { view: DataView; offset: number };

function readLengths(reader: Reader, count: number): Int32Array {
  const lengths = new Int32Array(count);
  deltaBinaryUnpack(reader, count, lengths);
  for (let i = 0; i < count; i++) if (lengths[i]! < 0) throw new Error("a length is negative");
  return lengths;
}

/** DELTA_LENGTH_BYTE_ARRAY */
function readDeltaLengths(reader: Reader, bytes: Uint8Array, count: number): ByteRanges {
  const lengths = readLengths(reader, count);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let at = reader.offset;
  for (let i = 0; i < count; i++) {
    starts[i] = at;
    at += lengths[i]!;
    if (at > bytes.length) throw shortPage();
    ends[i] = at;
  }
  return { bytes, starts, ends };
}

/** The most bytes that the values of a page can have. */
const maxPageBytes = 1 << 30;

/** DELTA_BYTE_ARRAY: each value begins with a part of the one before. */
function readDeltaArrays(reader: Reader, page: Uint8Array, count: number): ByteRanges {
  const prefixes = readLengths(reader, count);
  const suffixes = readDeltaLengths(reader, page, count);
  let size = 0;
  for (let i = 0; i < count; i++) size += prefixes[i]! + suffixes.ends[i]! - suffixes.starts[i]!;
  if (size > maxPageBytes) throw new Error("the values of a page are too long");
  const bytes = new Uint8Array(size);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[i]!;
    const before = i === 0 ? 0 : starts[i - 1]!;
    if (prefix > (i === 0 ? 0 : ends[i - 1]! - before)) throw new Error("a value refers to more than the one before");
    starts[i] = at;
    bytes.copyWithin(at, before, before + prefix);
    bytes.set(page.subarray(suffixes.starts[i]!, suffixes.ends[i]!), at + prefix);
    at += prefix + suffixes.ends[i]! - suffixes.starts[i]!;
    ends[i] = at;
  }
  return { bytes, starts, ends };
}

function readIndices(bytes: Uint8Array, count: number): Uint32Array {
  const indices = new Uint32Array(count);
  if (count === 0) return indices;
  const width = bytes[0];
  if (width === undefined || width > 32) throw new Error("the width of dictionary indices is wrong");
  if (width > 0) readHybrid(bytes, 1, bytes.length, width, count, indices);
  return indices;
}

function lookUp(dictionary: Values, indices: Uint32Array): Values {
  const size = countValues(dictionary);
  for (let i = 0; i < indices.length; i++)
    if (indices[i]! >= size) throw new Error(`the dictionary has no value ${indices[i]}`);
  if (!isNumbers(dictionary)) {
    const { bytes, starts, ends } = dictionary;
    return { bytes, starts: indices.map((index) => starts[index]!), ends: indices.map((index) => ends[index]!) };
  }
  const values = new (dictionary.constructor as new (length: number) => Numbers)(indices.length);
  for (let i = 0; i < indices.length; i++) values[i] = dictionary[indices[i]!]!;
  return values;
}

/** Decodes the values of a data page. @throws Error if the page is damaged, UnsupportedParquet */
export function readValues(
  type: LeafType,
  encoding: string,
  bytes: Uint8Array,
  count: number,
  dictionary: Values | null,
): Values {
  if (count === 0) return readPlain(type, new Uint8Array(), 0);
  const reader = { view: dataViewOf(bytes), offset: 0 };
  switch (encoding) {
    case "PLAIN":
      return readPlain(type, bytes, count);
    case "PLAIN_DICTIONARY":
    case "RLE_DICTIONARY":
      if (!dictionary) throw new Error("a page refers to a dictionary that is missing");
      return lookUp(dictionary, readIndices(bytes, count));
    case "RLE": {
      if (bytes.length < 4 || type.physical !== "BOOLEAN") throw shortPage();
      const values = new Uint8Array(count);
      readHybrid(bytes, 4, Math.min(bytes.length, 4 + reader.view.getUint32(0, true)), 1, count, values);
      return values;
    }
    case "DELTA_BINARY_PACKED": {
      const values = type.physical === "INT32" ? new Int32Array(count) : new BigInt64Array(count);
      deltaBinaryUnpack(reader, count, values);
      return values;
    }
    case "DELTA_LENGTH_BYTE_ARRAY":
      return readDeltaLengths(reader, bytes, count);
    case "DELTA_BYTE_ARRAY":
      return readDeltaArrays(reader, bytes, count);
    case "BYTE_STREAM_SPLIT": {
      const split = byteStreamSplit(reader, count, type.physical as "DOUBLE", type.length);
      if (Array.isArray(split)) return packArrays(split as Uint8Array[]);
      return split instanceof Float32Array ? Float64Array.from(split) : (split as Numbers);
    }
    default:
      throw new UnsupportedParquet(`the encoding ${encoding}`);
  }
}

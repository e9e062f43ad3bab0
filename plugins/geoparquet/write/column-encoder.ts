/** Encodes the column of a field as a page. */
import { type BytesColumn, type Column, isLittleEndian, Presence } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/index.js";
import type { CodecName } from "../parquet/codecs.js";
import type { EncodedPage, PageBuffer } from "./page-encoder.js";
import { readDate, readOffset, readTime, type TimeOfDay } from "./temporal-numbers.js";

/** Longer texts have no statistics. */
const maxStatisticsBytes = 64;

/** Datetimes with and without an offset to UTC. */
export interface Zones {
  utc: number;
  local: number;
}

export class ColumnEncoder {
  private readonly time: TimeOfDay = { microseconds: 0, isCut: false, end: 0 };

  constructor(
    private readonly page: PageBuffer,
    private readonly codec: CodecName,
    private readonly context: WriteContext,
  ) {}

  encode(name: string, column: Column, rows: number, zones: Zones): EncodedPage {
    const isPresent = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) isPresent[row] = column.presence[row] === Presence.value ? 1 : 0;
    switch (column.type) {
      case "boolean":
        return this.booleans(column.values, isPresent);
      case "int32":
      case "double":
      case "int64":
        return this.numbers(column.values, isPresent);
      case "date":
        return this.dates(name, column as BytesColumn, isPresent);
      case "time":
      case "datetime":
        return this.times(name, column as BytesColumn, isPresent, zones);
      default:
        return this.byteArrays(column as BytesColumn, isPresent);
    }
  }

  private booleans(values: Uint8Array, isPresent: Uint8Array): EncodedPage {
    const { page } = this;
    const nulls = page.begin(isPresent);
    const dense = values.subarray(0, isPresent.length).filter((_, row) => isPresent[row] === 1);
    page.packBits(dense);
    const bounds = dense.length === 0 ? null : [dense.every(Boolean), dense.some(Boolean)];
    const [least, greatest] = bounds ? bounds.map((value) => Uint8Array.of(Number(value))) : [null, null];
    return page.finish(this.codec, isPresent.length, nulls, least!, greatest!);
  }

  private numbers(values: Int32Array | Float64Array | BigInt64Array, isPresent: Uint8Array): EncodedPage {
    const { page } = this;
    const rows = isPresent.length;
    const nulls = page.begin(isPresent);
    const size = values.BYTES_PER_ELEMENT;
    page.reserve(size * rows);
    const { bytes } = page;
    let least: number | bigint | null = null;
    let greatest: number | bigint | null = null;
    // A bulk copy where nothing is missing.
    const isCopied = nulls === 0 && isLittleEndian;
    if (isCopied) {
      bytes.set(new Uint8Array(values.buffer, values.byteOffset, size * rows), page.at);
      page.at += size * rows;
    }
    for (let row = 0; row < rows; row++) {
      if (isPresent[row] === 0) continue;
      const value = values[row]!;
      if (!isCopied) page.at = writeNumber(bytes, value, page.at, values);
      // NaN is not part of the statistics.
      if (typeof value === "number" && Number.isNaN(value)) continue;
      if (least === null || value < least) least = value;
      if (greatest === null || value > greatest) greatest = value;
    }
    // -0 and 0 are equal: the bounds include both.
    if (least === 0) least = values instanceof Float64Array ? -0 : 0;
    if (Object.is(greatest, -0)) greatest = 0;
    const bound = (value: number | bigint | null) => {
      if (value === null) return null;
      const encoded = Buffer.alloc(size);
      writeNumber(encoded, value, 0, values);
      return encoded;
    };
    return page.finish(this.codec, rows, nulls, bound(least), bound(greatest));
  }

  private byteArrays({ type, offsets, bytes }: BytesColumn, isPresent: Uint8Array): EncodedPage {
    const { page } = this;
    const rows = isPresent.length;
    const nulls = page.begin(isPresent);
    let least = -1;
    let greatest = -1;
    const hasBounds = type === "text";
    for (let row = 0; row < rows; row++) {
      if (isPresent[row] === 0) continue;
      page.byteArray(bytes, offsets[row]!, offsets[row + 1]!);
      if (!hasBounds) continue;
      if (least < 0) {
        least = row;
        greatest = row;
      } else if (compareBytes(bytes, offsets, row, least) < 0) least = row;
      else if (compareBytes(bytes, offsets, row, greatest) > 0) greatest = row;
    }
    const bound = (row: number) => (row < 0 ? null : bytes.slice(offsets[row]!, offsets[row + 1]!));
    const [low, high] = [bound(least), bound(greatest)];
    const isShort = low !== null && high !== null && Math.max(low.length, high.length) <= maxStatisticsBytes;
    return page.finish(this.codec, rows, nulls, isShort ? low : null, isShort ? high : null, nulls === rows);
  }

  private dates(name: string, { offsets, bytes }: BytesColumn, isPresent: Uint8Array): EncodedPage {
    const days = new Int32Array(isPresent.length);
    let missing = 0;
    for (let row = 0; row < isPresent.length; row++) {
      if (isPresent[row] === 0) continue;
      const day = readDate(bytes, offsets[row]!);
      if (Number.isNaN(day)) {
        isPresent[row] = 0;
        missing++;
      } else days[row] = day;
    }
    this.reportMissingDays(name, missing);
    return this.numbers(days, isPresent);
  }

  private reportMissingDays(name: string, count: number): void {
    if (count > 0)
      this.context.reportLoss("value-unreadable", name, "a day that its month does not have became null", count);
  }

  private times(name: string, column: BytesColumn, isPresent: Uint8Array, zones: Zones): EncodedPage {
    const { time } = this;
    const { type, offsets, bytes } = column;
    const values = new BigInt64Array(isPresent.length);
    let [missing, cut, shifted] = [0, 0, 0];
    for (let row = 0; row < isPresent.length; row++) {
      if (isPresent[row] === 0) continue;
      const from = offsets[row]!;
      const to = offsets[row + 1]!;
      const day = type === "time" ? 0 : readDate(bytes, from);
      readTime(bytes, type === "time" ? from : from + 11, to, time);
      if (Number.isNaN(day)) {
        isPresent[row] = 0;
        missing++;
        continue;
      }
      if (time.isCut) cut++;
      const offset = type === "time" ? null : readOffset(bytes, time.end, to);
      if (offset === null) zones.local++;
      else zones.utc++;
      if (offset) shifted++;
      const number = day * 86_400_000_000 + time.microseconds - (offset ?? 0) * 60_000_000;
      values[row] = Number.isSafeInteger(number)
        ? BigInt(number)
        : BigInt(day) * 86_400_000_000n + BigInt(time.microseconds - (offset ?? 0) * 60_000_000);
    }
    const { context } = this;
    this.reportMissingDays(name, missing);
    if (cut > 0) context.reportLoss("time-rounded", name, "fractions beyond microseconds were cut", cut);
    if (shifted > 0)
      context.reportLoss("zone-dropped", name, "a time with an offset became the same instant in UTC", shifted);
    return this.numbers(values, isPresent);
  }
}

function writeNumber(
  bytes: Buffer,
  value: number | bigint,
  at: number,
  type: Int32Array | Float64Array | BigInt64Array,
): number {
  if (type instanceof BigInt64Array) return bytes.writeBigInt64LE(value as bigint, at);
  return type instanceof Int32Array
    ? bytes.writeInt32LE(value as number, at)
    : bytes.writeDoubleLE(value as number, at);
}

/** Compares the values of two rows byte by byte. */
function compareBytes(bytes: Uint8Array, offsets: Uint32Array, a: number, b: number): number {
  const [fromA, fromB] = [offsets[a]!, offsets[b]!];
  const [sizeA, sizeB] = [offsets[a + 1]! - fromA, offsets[b + 1]! - fromB];
  const length = Math.min(sizeA, sizeB);
  for (let i = 0; i < length; i++) {
    const difference = bytes[fromA + i]! - bytes[fromB + i]!;
    if (difference !== 0) return difference;
  }
  return sizeA - sizeB;
}

/** Encodes the columns of fields. */
import { type BytesColumn, type Column, isLittleEndian, Presence } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/index.js";
import { endDay, firstDay } from "../read/temporal-text.js";
import { type ByteBuffer, type ColumnPart, presenceOf } from "./column-part.js";
import { readDate, readOffset, readTime, type TimeOfDay } from "./temporal-numbers.js";

/** Datetimes with and without an offset to UTC. */
export interface Zones {
  utc: number;
  local: number;
}

type Numbers = Int32Array | Float64Array | BigInt64Array;

export class ColumnEncoder {
  private readonly time: TimeOfDay = { microseconds: 0, isCut: false, end: 0 };

  /** @param buffer the bytes of the chunk in progress */
  constructor(
    private readonly context: WriteContext,
    private readonly buffer: ByteBuffer,
  ) {}

  /** Appends the values of a column to the buffer. */
  encode(name: string, column: Column, rows: number, zones: Zones): ColumnPart {
    const isPresent = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) isPresent[row] = column.presence[row] === Presence.value ? 1 : 0;
    switch (column.type) {
      case "boolean":
        return this.fixed(
          isPresent,
          column.values.subarray(0, rows).filter((_, row) => isPresent[row] === 1),
        );
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

  private fixed(isPresent: Uint8Array, values: Uint8Array): ColumnPart {
    const start = this.buffer.at;
    this.buffer.append(values);
    return { presence: presenceOf(isPresent), start, offsets: null };
  }

  private numbers(values: Numbers, isPresent: Uint8Array): ColumnPart {
    const { buffer } = this;
    const start = buffer.at;
    const presence = presenceOf(isPresent);
    const dense = presence
      ? (values as Float64Array).filter((_, row) => isPresent[row] === 1)
      : values.subarray(0, isPresent.length);
    buffer.append(new Uint8Array(dense.buffer, dense.byteOffset, dense.byteLength));
    if (!isLittleEndian) swapBytes(buffer.bytes.subarray(start, buffer.at), dense.BYTES_PER_ELEMENT);
    return { presence, start, offsets: null };
  }

  private byteArrays({ offsets, bytes }: BytesColumn, isPresent: Uint8Array): ColumnPart {
    const { buffer } = this;
    const start = buffer.at;
    const rows = isPresent.length;
    const ends = new Uint32Array(rows + 1);
    ends[0] = start;
    buffer.reserve(offsets[rows]! - offsets[0]! + 4 * rows);
    const { bytes: into, view } = buffer;
    let at = start;
    for (let row = 0; row < rows; row++) {
      if (isPresent[row] === 1) {
        const from = offsets[row]!;
        const to = offsets[row + 1]!;
        view.setUint32(at, to - from, true);
        at += 4;
        // For few bytes, a loop is faster than `Uint8Array.set`.
        if (to - from < 24) for (let k = from; k < to; k++) into[at++] = bytes[k]!;
        else {
          into.set(bytes.subarray(from, to), at);
          at += to - from;
        }
      }
      ends[row + 1] = at;
    }
    buffer.at = at;
    return { presence: presenceOf(isPresent), start, offsets: ends };
  }

  private dates(name: string, { offsets, bytes }: BytesColumn, isPresent: Uint8Array): ColumnPart {
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

  private times(name: string, column: BytesColumn, isPresent: Uint8Array, zones: Zones): ColumnPart {
    const { time } = this;
    const { type, offsets, bytes } = column;
    const values = new BigInt64Array(isPresent.length);
    let [missing, cut, shifted, outOfRange] = [0, 0, 0, 0];
    for (let row = 0; row < isPresent.length; row++) {
      if (isPresent[row] === 0) continue;
      const from = offsets[row]!;
      const to = offsets[row + 1]!;
      const day = type === "time" ? 0 : readDate(bytes, from);
      if (Number.isNaN(day)) {
        isPresent[row] = 0;
        missing++;
        continue;
      }
      readTime(bytes, type === "time" ? from : from + 11, to, time);
      const offset = type === "time" ? null : readOffset(bytes, time.end, to);
      const ofDay = time.microseconds - (offset ?? 0) * 60_000_000;
      const utcDay = day + Math.floor(ofDay / 86_400_000_000);
      if (utcDay < firstDay || utcDay >= endDay) {
        isPresent[row] = 0;
        outOfRange++;
        continue;
      }
      if (time.isCut) cut++;
      if (offset === null) zones.local++;
      else zones.utc++;
      if (offset) shifted++;
      const number = day * 86_400_000_000 + ofDay;
      values[row] = Number.isSafeInteger(number) ? BigInt(number) : BigInt(day) * 86_400_000_000n + BigInt(ofDay);
    }
    const { context } = this;
    this.reportMissingDays(name, missing);
    if (outOfRange > 0)
      context.reportLoss(
        "date-out-of-range",
        name,
        "a time outside the years 0 to 9999 in UTC became null",
        outOfRange,
      );
    if (cut > 0) context.reportLoss("time-rounded", name, "fractions beyond microseconds were cut", cut);
    if (shifted > 0)
      context.reportLoss("zone-dropped", name, "a time with an offset became the same instant in UTC", shifted);
    return this.numbers(values, isPresent);
  }
}

/** Reverses the bytes of each number. */
export function swapBytes(bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** Turns the values of a leaf into the column of a field. */
import {
  BytesBuilder,
  type BytesColumn,
  type BytesType,
  type Column,
  type FieldType,
  Presence,
} from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { checkJsonColumn, checkTextColumn } from "../../shared/text/text-columns.js";
import type { LeafRows } from "../parquet/leaf-reader.js";
import type { Leaf } from "../parquet/schema.js";
import { type ByteRanges, isNumbers, type Numbers, type Values } from "../parquet/values.js";
import type { Decoding, TimeUnit } from "./field-decoding.js";
import { dateBytes, endDay, firstDay, maxTimeBytes, writeDate, writeTime } from "./temporal-text.js";

type Report = Pick<ReadContext, "reportLoss" | "reportNotice">;

const nanosecondsPer: Readonly<Record<TimeUnit, number>> = { MILLIS: 1e6, MICROS: 1e3, NANOS: 1 };
const unitsPerSecond: Readonly<Record<TimeUnit, number>> = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 };
const secondsPerDay = 86400;
/** The Julian day of 1970-01-01, from which INT96 counts. */
const julianEpoch = 2440588;

const numbersOf = (values: Values): Numbers => (isNumbers(values) ? values : new Uint8Array());
const rangesOf = (values: Values): ByteRanges =>
  isNumbers(values) ? { bytes: new Uint8Array(), starts: new Uint32Array(), ends: new Uint32Array() } : values;

function presenceOf({ entries, definitions }: LeafRows, leaf: Leaf): Uint8Array {
  const presence = new Uint8Array(entries).fill(Presence.value);
  if (definitions)
    for (let i = 0; i < entries; i++) if (definitions[i] !== leaf.maxDefinition) presence[i] = Presence.null;
  return presence;
}

/** The values at their rows; rows without one have 0. */
function scatter<A extends Numbers>(values: Numbers, presence: Uint8Array, into: A): A {
  if (values.length === presence.length) {
    (into as Float64Array).set(values as Float64Array);
    return into;
  }
  for (let row = 0, k = 0; row < presence.length; row++) if (presence[row] === Presence.value) into[row] = values[k++]!;
  return into;
}

/** Builds the column of a leaf without lists, or of the values of one. */
export class FieldColumns {
  constructor(
    private readonly name: string,
    private readonly leaf: Leaf,
    private readonly type: FieldType,
    private readonly decoding: Decoding,
    private readonly context: Report,
  ) {}

  column(rows: LeafRows): Column {
    const presence = presenceOf(rows, this.leaf);
    const { values } = rows;
    const { decoding, type } = this;
    switch (decoding.kind) {
      case "plain":
        return this.plainColumn(presence, values);
      case "uint32": {
        const wide = BigInt64Array.from(numbersOf(values) as Int32Array, (value) => BigInt(value >>> 0));
        return { type: "int64", presence, values: scatter(wide, presence, new BigInt64Array(presence.length)) };
      }
      case "float16": {
        const { bytes, starts } = rangesOf(values);
        const view = dataViewOf(bytes);
        const numbers = Float64Array.from(starts, (start) => float16(view.getUint16(start, true)));
        return { type: "double", presence, values: scatter(numbers, presence, new Float64Array(presence.length)) };
      }
      case "decimal":
        return this.decimalColumn(presence, values, decoding.scale, type);
      case "datetime":
        return this.temporal(presence, "datetime", (k, bytes, at) =>
          this.writeTimestamp((numbersOf(values) as BigInt64Array)[k]!, decoding.unit, decoding.isUtc, bytes, at),
        );
      case "int96": {
        const { bytes: source, starts } = rangesOf(values);
        const view = dataViewOf(source);
        return this.temporal(presence, "datetime", (k, bytes, at) => {
          const nanoseconds = view.getBigInt64(starts[k]!, true);
          const day = view.getInt32(starts[k]! + 8, true) - julianEpoch;
          return this.writeDayAndNanoseconds(day, nanoseconds, bytes, at);
        });
      }
      case "time":
        return this.temporal(presence, "time", (k, bytes, at) =>
          this.writeTimeOfDay(BigInt(numbersOf(values)[k]!), decoding.unit, bytes, at),
        );
      default:
        return this.texts(presence, values, decoding.kind);
    }
  }

  private plainColumn(presence: Uint8Array, values: Values): Column {
    const { length } = presence;
    const { type } = this;
    switch (type) {
      case "boolean":
        return { type, presence, values: scatter(numbersOf(values), presence, new Uint8Array(length)) };
      case "int32":
        return { type, presence, values: scatter(numbersOf(values), presence, new Int32Array(length)) };
      case "int64":
        return { type, presence, values: scatter(numbersOf(values), presence, new BigInt64Array(length)) };
      case "double":
        return { type, presence, values: scatter(numbersOf(values), presence, new Float64Array(length)) };
      case "date":
        return this.temporal(presence, "date", (k, bytes, at) => {
          const day = numbersOf(values)[k] as number;
          return isWritableDay(day) ? writeDate(day, bytes, at) : this.outOfRange();
        });
      default:
        return this.bytesColumn(type as BytesType, presence, rangesOf(values));
    }
  }

  private bytesColumn(type: BytesType, presence: Uint8Array, { bytes, starts, ends }: ByteRanges): Column {
    let size = 0;
    for (let i = 0; i < starts.length; i++) size += ends[i]! - starts[i]!;
    const into = new Uint8Array(size);
    const offsets = new Uint32Array(presence.length + 1);
    let at = 0;
    for (let row = 0, k = 0; row < presence.length; row++) {
      if (presence[row] === Presence.value) {
        const from = starts[k]!;
        const to = ends[k++]!;
        if (to - from < 24) for (let i = from; i < to; i++) into[at++] = bytes[i]!;
        else {
          into.set(bytes.subarray(from, to), at);
          at += to - from;
        }
      }
      offsets[row + 1] = at;
    }
    const column: BytesColumn = { type, presence, offsets, bytes: into };
    if (type === "json") return checkJsonColumn(column, this.name, this.context);
    return type === "text" ? checkTextColumn(column, this.name, this.context) : column;
  }

  private decimalColumn(presence: Uint8Array, values: Values, scale: number, type: FieldType): Column {
    const at = (k: number): bigint => (isNumbers(values) ? BigInt(values[k]!) : bigEndian(values, k));
    if (type === "int32" || type === "int64") {
      const into = type === "int32" ? new Int32Array(presence.length) : new BigInt64Array(presence.length);
      for (let row = 0, k = 0; row < presence.length; row++)
        if (presence[row] === Presence.value) {
          const value = at(k++);
          into[row] = type === "int32" ? Number(value) : value;
        }
      return { type, presence, values: into } as Column;
    }
    if (type === "double") {
      const into = new Float64Array(presence.length);
      for (let row = 0, k = 0; row < presence.length; row++)
        // The division of two exact numbers is correctly rounded.
        if (presence[row] === Presence.value) into[row] = Number(at(k++)) / 10 ** scale;
      return { type, presence, values: into };
    }
    const builder = new BytesBuilder("text", presence.length);
    for (let row = 0, k = 0; row < presence.length; row++) {
      if (presence[row] === Presence.value) builder.push(decimalText(at(k++), scale));
      else builder.pushNull();
    }
    return builder.finish();
  }

  private texts(presence: Uint8Array, values: Values, kind: "uint64" | "uuid" | "interval" | "null"): Column {
    const builder = new BytesBuilder("text", presence.length);
    for (let row = 0, k = 0; row < presence.length; row++) {
      if (presence[row] !== Presence.value || kind === "null") {
        builder.pushNull();
        continue;
      }
      if (kind === "uint64") builder.push(String(BigInt.asUintN(64, (numbersOf(values) as BigInt64Array)[k]!)));
      else if (kind === "uuid") builder.push(uuidText(rangesOf(values), k));
      else builder.push(intervalText(rangesOf(values), k));
      k++;
    }
    return builder.finish();
  }

  /** @param write writes value k to `bytes` from `at` and returns its end, −1 if it becomes null */
  private temporal(
    presence: Uint8Array,
    type: "date" | "time" | "datetime",
    write: (k: number, bytes: Uint8Array, at: number) => number,
  ): Column {
    const bytes = new Uint8Array(presence.length * (dateBytes + 1 + maxTimeBytes + 1));
    const offsets = new Uint32Array(presence.length + 1);
    let at = 0;
    for (let row = 0, k = 0; row < presence.length; row++) {
      if (presence[row] === Presence.value) {
        const end = write(k++, bytes, at);
        if (end < 0) presence[row] = Presence.null;
        else at = end;
      }
      offsets[row + 1] = at;
    }
    return { type, presence, offsets, bytes: bytes.slice(0, at) };
  }

  private outOfRange(): number {
    this.context.reportLoss("date-out-of-range", this.name, "a date outside the years 0 to 9999 became null");
    return -1;
  }

  private writeTimestamp(value: bigint, unit: TimeUnit, isUtc: boolean, bytes: Uint8Array, start: number): number {
    const perSecond = unitsPerSecond[unit];
    const number = Number(value);
    let second: number;
    let rest: number;
    if (Number.isSafeInteger(number)) {
      second = Math.floor(number / perSecond);
      rest = number - second * perSecond;
    } else {
      const wide = BigInt(perSecond);
      const remainder = ((value % wide) + wide) % wide;
      rest = Number(remainder);
      second = Number((value - remainder) / wide);
    }
    const day = Math.floor(second / secondsPerDay);
    if (!isWritableDay(day)) return this.outOfRange();
    let at = writeDate(day, bytes, start);
    bytes[at++] = 84;
    at = writeTime(second - day * secondsPerDay, rest * nanosecondsPer[unit], bytes, at);
    if (isUtc) bytes[at++] = 90;
    return at;
  }

  private writeDayAndNanoseconds(julianDay: number, nanoseconds: bigint, bytes: Uint8Array, start: number): number {
    const second = Number(nanoseconds / 1_000_000_000n);
    const nanosecond = Number(nanoseconds % 1_000_000_000n);
    const day = julianDay + Math.floor(second / secondsPerDay);
    if (!isWritableDay(day) || nanosecond < 0) return this.outOfRange();
    const at = writeDate(day, bytes, start);
    bytes[at] = 84;
    return writeTime(second - Math.floor(second / secondsPerDay) * secondsPerDay, nanosecond, bytes, at + 1);
  }

  private writeTimeOfDay(value: bigint, unit: TimeUnit, bytes: Uint8Array, at: number): number {
    const perSecond = BigInt(unitsPerSecond[unit]);
    const second = Number(value / perSecond);
    if (value < 0n || second >= secondsPerDay) {
      this.context.reportLoss("value-unreadable", this.name, "a time outside of the day became null");
      return -1;
    }
    return writeTime(second, Number(value % perSecond) * nanosecondsPer[unit], bytes, at);
  }
}

const isWritableDay = (day: number): boolean => day >= firstDay && day < endDay;

function bigEndian({ bytes, starts, ends }: ByteRanges, k: number): bigint {
  let value = 0n;
  for (let i = starts[k]!; i < ends[k]!; i++) value = (value << 8n) | BigInt(bytes[i]!);
  return BigInt.asIntN(8 * (ends[k]! - starts[k]!), value);
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const sign = unscaled < 0n ? "-" : "";
  return scale > 0 ? `${sign}${whole}.${digits.slice(digits.length - scale)}` : `${sign}${whole}`;
}

function uuidText({ bytes, starts, ends }: ByteRanges, k: number): string {
  const hex = Buffer.from(bytes.subarray(starts[k]!, ends[k]!)).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Months, days and milliseconds as an ISO 8601 duration. */
function intervalText({ bytes, starts }: ByteRanges, k: number): string {
  const view = dataViewOf(bytes);
  const [months, days, milliseconds] = [0, 4, 8].map((at) => view.getUint32(starts[k]! + at, true));
  return `P${months}M${days}DT${milliseconds! / 1000}S`;
}

/** IEEE 754 binary16. */
function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

import { parseExactly } from "./exact-json.js";
import type { FieldType } from "./field.js";
import type { Slab } from "./slab.js";

/** Whether a row has a value; `absent` is a property that the GeoJSON feature does not have. */
export const Presence = { null: 0, value: 1, absent: 2 } as const;

export interface BooleanColumn {
  readonly type: "boolean";
  readonly presence: Uint8Array;
  readonly values: Uint8Array;
}
export interface Int32Column {
  readonly type: "int32";
  readonly presence: Uint8Array;
  readonly values: Int32Array;
}
export interface Int64Column {
  readonly type: "int64";
  readonly presence: Uint8Array;
  readonly values: BigInt64Array;
}
export interface DoubleColumn {
  readonly type: "double";
  readonly presence: Uint8Array;
  readonly values: Float64Array;
}
export type BytesType = "text" | "date" | "time" | "datetime" | "json" | "binary";
/** Row i is `bytes[offsets[i] … offsets[i+1]]`: UTF-8 for all but binary. */
export interface BytesColumn {
  readonly type: BytesType;
  readonly presence: Uint8Array;
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}
/** One field's values for the rows of a batch. */
export type Column = BooleanColumn | Int32Column | Int64Column | DoubleColumn | BytesColumn;

/** A value in JavaScript: text for text, dates, times and json; bigint for int64. */
export type Value = null | boolean | number | bigint | string | Uint8Array;

export function isBytesColumn(column: Column): column is BytesColumn {
  return "offsets" in column;
}

/** The UTF-8 text of `bytes[from … to]`. */
export function decodeUtf8(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
}

export function valueAt(column: Column, row: number): Value {
  if (column.presence[row] !== Presence.value) return null;
  switch (column.type) {
    case "boolean":
      return column.values[row] === 1;
    case "int32":
    case "int64":
    case "double":
      return column.values[row]!;
    case "binary":
      return column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!);
    default:
      return decodeUtf8(column.bytes, column.offsets[row]!, column.offsets[row + 1]!);
  }
}

/** The value for JSON: integers beyond 2^53 as text, binary as base64, json parsed, non-finite numbers as null. */
export function jsonValueAt(column: Column, row: number): unknown {
  const value = valueAt(column, row);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (column.type === "json" && value !== null) return parseExactly(value as string);
  return value;
}

function grow<A extends Uint8Array | Uint32Array | Int32Array | Float64Array | BigInt64Array>(
  array: A,
  needed: number,
): A {
  const length = Math.max(needed, array.length * 2);
  const grown = new (array.constructor as new (length: number) => A)(length);
  (grown as Uint8Array).set(array as Uint8Array);
  return grown;
}

/** An array with `slice` (copy) and `subarray` (view). */
interface Sliceable<A> {
  readonly length: number;
  slice(from: number, to: number): A;
  subarray(from: number, to: number): A;
}

/** The first elements, or the array itself if it has no others. */
const trimToLength = <A extends Sliceable<A>>(array: A, length: number, slab: Slab | null): A =>
  array.length === length ? array : slab ? array.subarray(0, length) : array.slice(0, length);

/** Initial capacity of a builder in bytes of text per row. */
const initialTextBytesPerRow = 16;
const emptyBuffer = Buffer.alloc(0);

/** Initial capacity of a builder in rows, the usual size of a batch. */
const defaultRowCapacity = 1024;
/** Initial capacity of all builders of a batch together, in cells. */
const maxInitialCells = 1 << 18;

/** Initial capacity in rows for a number of columns, so that many sparse columns do not take much memory. */
export const initialRowCapacity = (columns: number): number =>
  Math.max(1, Math.min(defaultRowCapacity, Math.floor(maxInitialCells / columns)));

abstract class PresenceBuilder {
  protected presence: Uint8Array;
  /** Whether `presence` is shared with other columns of a slab, as long as every row has a value. */
  private sharesPresence: boolean;
  /** Rows so far. */
  length = 0;

  constructor(
    rows: number,
    protected readonly slab: Slab | null,
  ) {
    this.presence = slab ? slab.allOnes(rows) : new Uint8Array(rows);
    this.sharesPresence = slab !== null;
  }

  protected addRow(presence: number): number {
    const row = this.length++;
    if (row === this.presence.length) this.growPresence();
    this.presence[row] = presence;
    return row;
  }

  protected addNullRow(presence: number): number {
    if (this.sharesPresence) {
      const own = this.slab!.uint8(this.presence.length);
      own.set(this.presence);
      this.presence = own;
      this.sharesPresence = false;
    }
    return this.addRow(presence);
  }

  /** Adds rows. @returns the first one */
  protected addRows(presence: Uint8Array): number {
    const first = this.length;
    this.length += presence.length;
    if (this.length > this.presence.length) this.presence = grow(this.presence, this.length);
    this.presence.set(presence, first);
    return first;
  }

  private growPresence(): void {
    const { presence, slab } = this;
    this.presence = this.sharesPresence
      ? slab!.allOnes(Math.max(1, presence.length * 2))
      : grow(presence, presence.length + 1);
  }

  protected finishPresence(): Uint8Array {
    const { presence, length, slab } = this;
    return this.sharesPresence ? slab!.allOnes(length) : trimToLength(presence, length, slab);
  }
}

/** Builds a column of numbers or booleans (0 and 1). */
export class NumberBuilder extends PresenceBuilder {
  readonly type: "boolean" | "int32" | "double";
  private values: Uint8Array | Int32Array | Float64Array;

  constructor(type: "boolean" | "int32" | "double", rows: number = defaultRowCapacity, slab: Slab | null = null) {
    super(rows, slab);
    this.type = type;
    if (type === "boolean") this.values = slab ? slab.uint8(rows) : new Uint8Array(rows);
    else if (type === "int32") this.values = slab ? slab.int32(rows) : new Int32Array(rows);
    else this.values = slab ? slab.float64(rows) : new Float64Array(rows);
  }

  push(value: number): void {
    const row = this.addRow(Presence.value);
    if (row >= this.values.length) this.values = grow(this.values, row + 1);
    this.values[row] = value;
  }

  pushNull(presence: number = Presence.null): void {
    this.addNullRow(presence);
  }

  /** Adds rows, without a slab; the values of null rows are 0. */
  pushAll(presence: Uint8Array, values: Uint8Array | Int32Array | Float64Array): void {
    const first = this.addRows(presence);
    if (this.length > this.values.length) this.values = grow(this.values, this.length);
    this.values.set(values, first);
  }

  finish(): Column {
    if (this.values.length < this.length) this.values = grow(this.values, this.length);
    const values = trimToLength<Uint8Array | Int32Array | Float64Array>(this.values, this.length, this.slab);
    return { type: this.type, presence: this.finishPresence(), values } as Column;
  }
}

/** Builds an int64 column. */
export class BigintBuilder extends PresenceBuilder {
  readonly type = "int64";
  private values: BigInt64Array;

  constructor(rows: number = defaultRowCapacity, slab: Slab | null = null) {
    super(rows, slab);
    this.values = slab ? slab.bigint64(rows) : new BigInt64Array(rows);
  }

  push(value: bigint): void {
    const row = this.addRow(Presence.value);
    if (row >= this.values.length) this.values = grow(this.values, row + 1);
    this.values[row] = value;
  }

  pushNull(presence: number = Presence.null): void {
    this.addNullRow(presence);
  }

  /** Adds rows, without a slab; the values of null rows are 0. */
  pushAll(presence: Uint8Array, values: BigInt64Array): void {
    const first = this.addRows(presence);
    if (this.length > this.values.length) this.values = grow(this.values, this.length);
    this.values.set(values, first);
  }

  finish(): Column {
    if (this.values.length < this.length) this.values = grow(this.values, this.length);
    return {
      type: "int64",
      presence: this.finishPresence(),
      values: trimToLength(this.values, this.length, this.slab),
    };
  }
}

/** Builds a column of text (UTF-8) or bytes. */
export class BytesBuilder extends PresenceBuilder {
  readonly type: BytesType;
  private offsets: Uint32Array;
  /** Empty until the first byte of text. */
  private buffer: Buffer = emptyBuffer;
  private end = 0;

  constructor(
    type: BytesType,
    private readonly rowCapacity: number = defaultRowCapacity,
    slab: Slab | null = null,
  ) {
    super(rowCapacity, slab);
    this.type = type;
    this.offsets = slab ? slab.uint32(rowCapacity + 1) : new Uint32Array(rowCapacity + 1);
  }

  private reserve(size: number): void {
    if (this.end + size <= this.buffer.length) return;
    const { slab } = this;
    const least = Math.max(this.end + size, this.buffer.length * 2);
    const grown = slab
      ? slab.buffer(least)
      : Buffer.allocUnsafeSlow(Math.max(least, initialTextBytesPerRow * this.rowCapacity));
    if (this.end > 0) grown.set(this.buffer.subarray(0, this.end));
    this.buffer = grown;
  }

  private endRow(row: number): void {
    if (row + 1 >= this.offsets.length) this.offsets = grow(this.offsets, row + 2);
    this.offsets[row + 1] = this.end;
  }

  push(text: string): void {
    this.reserve(text.length * 3);
    this.end += this.buffer.write(text, this.end, "utf8");
    this.endRow(this.addRow(Presence.value));
  }

  /** Adds `source[from … to]`, which is UTF-8 already unless the column is binary. */
  pushBytes(source: Uint8Array, from: number, to: number): void {
    const size = to - from;
    this.reserve(size);
    const { buffer, end } = this;
    // For few bytes, a loop is faster than `Uint8Array.set`.
    if (size < 24) for (let i = 0; i < size; i++) buffer[end + i] = source[from + i]!;
    else buffer.set(source.subarray(from, to), end);
    this.end += size;
    this.endRow(this.addRow(Presence.value));
  }

  pushNull(presence: number = Presence.null): void {
    this.endRow(this.addNullRow(presence));
  }

  /** Adds rows, without a slab: row n is `source[from + offsets[n] … from + offsets[n + 1]]`, and the first offset is 0. */
  pushAll(presence: Uint8Array, offsets: Uint32Array, source: Uint8Array, from: number): void {
    const first = this.addRows(presence);
    const rows = presence.length;
    const { end } = this;
    this.reserve(offsets[rows]!);
    this.buffer.set(source.subarray(from, from + offsets[rows]!), end);
    if (this.length >= this.offsets.length) this.offsets = grow(this.offsets, this.length + 1);
    const into = this.offsets;
    for (let n = 1; n <= rows; n++) into[first + n] = end + offsets[n]!;
    this.end += offsets[rows]!;
  }

  finish(): Column {
    return {
      type: this.type,
      presence: this.finishPresence(),
      offsets: trimToLength(this.offsets, this.length + 1, this.slab),
      bytes: this.finishBytes(),
    };
  }

  private finishBytes(): Uint8Array {
    const { buffer, end, slab } = this;
    if (slab) return end === 0 ? slab.allOnes(0) : trimToLength<Uint8Array>(buffer, end, slab);
    return end === 0 ? new Uint8Array() : new Uint8Array(buffer.buffer.slice(0, end));
  }
}

export type ColumnBuilder = NumberBuilder | BigintBuilder | BytesBuilder;

/**
 * @param rows initial capacity
 * @param slab shared memory for its arrays; by default each has its own memory
 */
export function columnBuilder(
  type: FieldType,
  rows: number = defaultRowCapacity,
  slab: Slab | null = null,
): ColumnBuilder {
  switch (type) {
    case "boolean":
    case "int32":
    case "double":
      return new NumberBuilder(type, rows, slab);
    case "int64":
      return new BigintBuilder(rows, slab);
    default:
      return new BytesBuilder(type, rows, slab);
  }
}

/** Adds a JavaScript value of the column's type; null and undefined become null and absent. */
export function pushValue(builder: ColumnBuilder, value: Value | undefined): void {
  if (value === null || value === undefined) {
    builder.pushNull(value === null ? Presence.null : Presence.absent);
  } else if (builder instanceof NumberBuilder) {
    builder.push(Number(value));
  } else if (builder instanceof BigintBuilder) {
    builder.push(BigInt(value as bigint | number | string));
  } else if (value instanceof Uint8Array) {
    builder.pushBytes(value, 0, value.length);
  } else {
    builder.push(String(value));
  }
}

function takeValues<A extends Uint8Array | Int32Array | BigInt64Array | Float64Array>(values: A, rows: Uint32Array): A {
  const taken = new (values.constructor as new (length: number) => A)(rows.length);
  for (let i = 0; i < rows.length; i++) taken[i] = values[rows[i]!]!;
  return taken;
}

/** The rows `rows` of the column, in that order. */
export function takeColumn(column: Column, rows: Uint32Array): Column {
  const presence = takeValues(column.presence, rows);
  if (!isBytesColumn(column)) {
    return { ...column, presence, values: takeValues(column.values, rows) } as Column;
  }
  const offsets = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) {
    offsets[i + 1] = offsets[i]! + column.offsets[rows[i]! + 1]! - column.offsets[rows[i]!]!;
  }
  const bytes = new Uint8Array(offsets[rows.length]!);
  for (let i = 0; i < rows.length; i++) {
    bytes.set(column.bytes.subarray(column.offsets[rows[i]!]!, column.offsets[rows[i]! + 1]!), offsets[i]!);
  }
  return { type: column.type, presence, offsets, bytes };
}

/** A column of the type in which every row is absent. */
export function absentColumn(type: FieldType, length: number): Column {
  const builder = columnBuilder(type, length);
  for (let i = 0; i < length; i++) builder.pushNull(Presence.absent);
  return builder.finish();
}

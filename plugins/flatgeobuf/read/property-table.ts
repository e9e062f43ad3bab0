/** Reads the properties of features (feature.fbs, Feature.properties): pairs of a column number and a value. */
import {
  BytesBuilder,
  type BytesColumn,
  type BytesType,
  type Column,
  isLittleEndian,
  Presence,
  temporalTypeAt,
} from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { parseLooseDate, parseLooseDatetime, parseLooseTime } from "../../shared/text/loose-temporal.js";
import { checkJsonColumn, checkTextColumn } from "../../shared/text/text-columns.js";
import { FlatDamage } from "../header/flat-reader.js";
import { ColumnType } from "../header/header.js";
import type { ColumnPlan } from "./plan.js";

/** Bytes of a value by ColumnType; 0: its length comes first. */
export const valueBytes = Uint8Array.of(1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 0, 0, 0);

type Report = Pick<ReadContext, "reportLoss" | "reportNotice">;

/** Below so many bytes, a loop is faster than `Uint8Array.set`. */
const minBulkCopyBytes = 24;

/** The places of all values of a batch, from which columns are made one by one. */
export class PropertyTable {
  /** Where the value of row r and column c is, at `r * columns + c`; 0 if there is none. */
  private places: Uint32Array;
  private readonly sizes: Uint8Array;

  constructor(
    private readonly columns: readonly ColumnPlan[],
    rows: number,
    private readonly context: Report,
  ) {
    this.places = new Uint32Array(columns.length * rows);
    this.sizes = Uint8Array.from(columns, ({ type }) => valueBytes[type]!);
  }

  /** Finds the values of a row in `view[at … end]`. @throws FlatDamage */
  add(row: number, view: DataView, at: number, end: number): void {
    const { places, sizes } = this;
    const width = sizes.length;
    const first = row * width;
    places.fill(0, first, first + width);
    // Some writers leave one byte more.
    while (at + 1 < end) {
      const column = view.getUint16(at, true);
      if (column >= width) throw new FlatDamage(`a property is of column ${column + 1} of ${width}`);
      at += 2;
      if (places[first + column] !== 0) throw new FlatDamage(`it has two values of column ${column + 1}`);
      places[first + column] = at;
      const size = sizes[column]!;
      if (size > 0) at += size;
      else {
        if (at + 4 > end) throw new FlatDamage("its properties end within the length of a value");
        at += 4 + view.getUint32(at, true);
      }
      if (at > end) throw new FlatDamage("its properties end within a value");
    }
  }

  /** Column `c` of the first `rows` rows. */
  column(c: number, rows: number, bytes: Uint8Array, view: DataView): Column {
    const { type, field } = this.columns[c]!;
    const width = this.columns.length;
    const at = new Uint32Array(rows);
    const presence = new Uint8Array(rows);
    for (let row = 0, place = c; row < rows; row++, place += width) {
      at[row] = this.places[place]!;
      if (at[row] !== 0) presence[row] = Presence.value;
    }
    switch (field.type) {
      case "boolean":
        return { type: field.type, presence, values: at.length === 0 ? new Uint8Array() : booleans(at, bytes) };
      case "int32":
        return { type: field.type, presence, values: int32s(type, at, view) };
      case "double":
        return { type: field.type, presence, values: doubles(type, at, view) };
      case "int64":
        return { type: field.type, presence, values: this.int64s(type, at, presence, view, field.name) };
      default:
        return type === ColumnType.ulong ? unsignedTexts(at, view) : this.texts(c, at, presence, bytes, view);
    }
  }

  private int64s(
    type: number,
    at: Uint32Array,
    presence: Uint8Array,
    view: DataView,
    name: string,
  ): BigInt64Array<ArrayBuffer> {
    const values = new BigInt64Array(at.length);
    const halves = new Int32Array(values.buffer);
    const [low, high] = isLittleEndian ? [0, 1] : [1, 0];
    let tooLarge = 0;
    let example = 0n;
    for (let row = 0; row < at.length; row++) {
      const place = at[row]!;
      if (place === 0) continue;
      halves[2 * row + low] = view.getInt32(place, true);
      if (type === ColumnType.uint) continue;
      const upper = view.getInt32(place + 4, true);
      if (type === ColumnType.ulong && upper < 0) {
        example = view.getBigUint64(place, true);
        halves[2 * row + low] = 0;
        presence[row] = Presence.null;
        tooLarge++;
      } else halves[2 * row + high] = upper;
    }
    if (tooLarge > 0) {
      const reason = `${example} does not fit a 64-bit integer and became null; --in unsigned=text keeps such numbers`;
      this.context.reportLoss("number-too-large", name, reason, tooLarge);
    }
    return values;
  }

  private texts(c: number, at: Uint32Array, presence: Uint8Array, bytes: Uint8Array, view: DataView): Column {
    const { field } = this.columns[c]!;
    const offsets = new Uint32Array(at.length + 1);
    let size = 0;
    for (let row = 0; row < at.length; row++) {
      if (at[row] !== 0) size += view.getUint32(at[row]!, true);
      offsets[row + 1] = size;
    }
    const into = new Uint8Array(size);
    for (let row = 0; row < at.length; row++) {
      const start = offsets[row]!;
      const length = offsets[row + 1]! - start;
      if (length === 0) continue;
      const from = at[row]! + 4;
      if (length < minBulkCopyBytes) for (let i = 0; i < length; i++) into[start + i] = bytes[from + i]!;
      else into.set(bytes.subarray(from, from + length), start);
    }
    const column: BytesColumn = { type: field.type as BytesType, presence, offsets, bytes: into };
    switch (column.type) {
      case "binary":
        return column;
      case "text":
        return checkTextColumn(column, field.name, this.context);
      case "json":
        return checkJsonColumn(column, field.name, this.context);
      default:
        return this.checkTemporal(column, field.name);
    }
  }

  /** Brings dates and times into the form of ISO 8601 that the model has; what is none becomes null. */
  private checkTemporal(column: BytesColumn, name: string): Column {
    const { type, presence, offsets, bytes } = column;
    const isCanonical = (row: number) =>
      presence[row] !== Presence.value || temporalTypeAt(bytes, offsets[row]!, offsets[row + 1]!) === type;
    if (presence.every((_, row) => isCanonical(row))) return column;
    const parse = type === "date" ? parseLooseDate : type === "time" ? parseLooseTime : parseLooseDatetime;
    const builder = new BytesBuilder(type, presence.length);
    for (let row = 0; row < presence.length; row++) {
      if (presence[row] !== Presence.value) builder.pushNull();
      else if (isCanonical(row)) builder.pushBytes(bytes, offsets[row]!, offsets[row + 1]!);
      else {
        const text = Buffer.from(bytes.subarray(offsets[row]!, offsets[row + 1]!)).toString("utf8");
        const value = parse(text.trim());
        if (value === null) {
          const example = `${JSON.stringify(text.slice(0, 60))} is no ${type}, and became null`;
          this.context.reportLoss("value-unreadable", name, example);
          builder.pushNull();
        } else builder.push(value);
      }
    }
    return builder.finish();
  }
}

function booleans(at: Uint32Array, bytes: Uint8Array): Uint8Array {
  const values = new Uint8Array(at.length);
  for (let row = 0; row < at.length; row++) if (at[row] !== 0 && bytes[at[row]!] !== 0) values[row] = 1;
  return values;
}

function int32s(type: number, at: Uint32Array, view: DataView): Int32Array {
  const values = new Int32Array(at.length);
  const get = int32Getters[type]!;
  if (type === ColumnType.int) {
    for (let row = 0; row < at.length; row++) if (at[row] !== 0) values[row] = view.getInt32(at[row]!, true);
  } else for (let row = 0; row < at.length; row++) if (at[row] !== 0) values[row] = get(view, at[row]!);
  return values;
}

const int32Getters: Readonly<Record<number, (view: DataView, at: number) => number>> = {
  [ColumnType.byte]: (view, at) => view.getInt8(at),
  [ColumnType.ubyte]: (view, at) => view.getUint8(at),
  [ColumnType.short]: (view, at) => view.getInt16(at, true),
  [ColumnType.ushort]: (view, at) => view.getUint16(at, true),
};

function doubles(type: number, at: Uint32Array, view: DataView): Float64Array {
  const values = new Float64Array(at.length);
  const isFloat = type === ColumnType.float;
  for (let row = 0; row < at.length; row++) {
    const place = at[row]!;
    if (place !== 0) values[row] = isFloat ? view.getFloat32(place, true) : view.getFloat64(place, true);
  }
  return values;
}

function unsignedTexts(at: Uint32Array, view: DataView): Column {
  const builder = new BytesBuilder("text", at.length);
  for (const place of at) {
    if (place === 0) builder.pushNull();
    else builder.push(String(view.getBigUint64(place, true)));
  }
  return builder.finish();
}

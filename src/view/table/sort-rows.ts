/**
 * Sorts features by a field: numbers by size, texts by their UTF-8 bytes as in docs/where.md, false before true. Features
 * without a value come last in both directions.
 */
import {
  type BytesColumn,
  type Column,
  columnBuilder,
  isBytesColumn,
  Presence,
  pushValue,
  valueAt,
} from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import { radixSort } from "../index/radix-sort.js";
import { forEachBatch, type LayerData, yieldThread } from "../layer-data.js";

export interface SortOrder {
  /** Index of the field; -1 sorts by id. */
  readonly field: number;
  readonly descending: boolean;
}

/** Keys of 64 bits by row, and where each row's text is, if the field has texts. */
interface SortKeys {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly hasValue: Uint8Array;
  readonly texts: (TextRange | undefined)[];
}

interface TextRange {
  readonly column: BytesColumn;
  readonly row: number;
}

/** @param rows the features to sort, in order; null: all */
export async function sortRows(data: LayerData, rows: Uint32Array | null, order: SortOrder): Promise<Uint32Array> {
  const keys = await readKeys(data, order.field);
  const all = rows ?? Uint32Array.from({ length: data.rows }, (_, row) => row);
  const valued = all.filter((row) => keys.hasValue[row] === 1);
  const others = all.filter((row) => keys.hasValue[row] === 0);
  const sorted = radixSort(valued, [keys.low, keys.high]);
  await yieldThread();
  if (keys.texts.length > 0) sortLongTexts(sorted, keys);
  if (order.descending) sorted.reverse();
  const result = new Uint32Array(all.length);
  result.set(sorted);
  result.set(others, sorted.length);
  return result;
}

async function readKeys(data: LayerData, field: number): Promise<SortKeys> {
  const keys: SortKeys = {
    high: new Uint32Array(data.rows),
    low: new Uint32Array(data.rows),
    hasValue: new Uint8Array(data.rows),
    texts: [],
  };
  await forEachBatch(data, (batch, firstRow, rows) => {
    const found = field < 0 ? data.ids(batch) : data.column(batch, field);
    if (!found) return;
    const column = field < 0 ? found : columnAs(found, data.fields[field]!.type);
    for (let row = 0; row < rows; row++) {
      if (column.presence[row] !== Presence.value) continue;
      keys.hasValue[firstRow + row] = 1;
      addKey(keys, column, row, firstRow + row);
    }
  });
  return keys;
}

function addKey(keys: SortKeys, column: Column, row: number, at: number): void {
  if (isBytesColumn(column)) {
    const { offsets, bytes } = column;
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    keys.high[at] = prefixOf(bytes, from, to);
    keys.low[at] = prefixOf(bytes, from + 4, to);
    keys.texts[at] = { column, row };
  } else if (column.type === "int64") {
    const value = BigInt.asUintN(64, column.values[row]! ^ signBit);
    keys.high[at] = Number(value >> 32n);
    keys.low[at] = Number(value & 0xffff_ffffn);
  } else {
    // The bits of doubles in order: negative ones are complemented, the sign of others is set (Herf 2001).
    number[0] = column.values[row]! + 0;
    const [low, high] = [words[0]!, words[1]!];
    const isNegative = high >>> 31 === 1;
    keys.high[at] = isNegative ? ~high : high | 0x8000_0000;
    keys.low[at] = isNegative ? ~low : low;
  }
}

/** A column with the type that its field has over all batches. */
function columnAs(column: Column, type: FieldType): Column {
  if (column.type === type) return column;
  const builder = columnBuilder(type, column.presence.length);
  for (let row = 0; row < column.presence.length; row++) pushValue(builder, valueAt(column, row));
  return builder.finish();
}

const signBit = -(2n ** 63n);
const number = new Float64Array(1);
const words = new Uint32Array(number.buffer);

/** The next four bytes as a number; zeros follow the end. */
function prefixOf(bytes: Uint8Array, from: number, to: number): number {
  let prefix = 0;
  for (let k = from; k < from + 4; k++) prefix = (prefix << 8) | (k < to ? bytes[k]! : 0);
  return prefix >>> 0;
}

/** Sorts each run of texts that begin with the same eight bytes. */
function sortLongTexts(sorted: Uint32Array, { high, low, texts }: SortKeys): void {
  const isSame = (a: number, b: number) => high[a] === high[b] && low[a] === low[b];
  for (let from = 0; from < sorted.length; ) {
    let to = from + 1;
    while (to < sorted.length && isSame(sorted[from]!, sorted[to]!)) to++;
    if (to - from > 1) {
      const run = Array.from(sorted.subarray(from, to));
      run.sort((a, b) => compareTexts(texts[a]!, texts[b]!) || a - b);
      sorted.set(run, from);
    }
    from = to;
  }
}

function compareTexts(a: TextRange, b: TextRange): number {
  const [from, to] = [a.column.offsets[a.row]!, a.column.offsets[a.row + 1]!];
  const [other, otherTo] = [b.column.offsets[b.row]!, b.column.offsets[b.row + 1]!];
  const length = Math.min(to - from, otherTo - other);
  for (let k = 0; k < length; k++) {
    const difference = a.column.bytes[from + k]! - b.column.bytes[other + k]!;
    if (difference !== 0) return difference;
  }
  return to - from - (otherTo - other);
}

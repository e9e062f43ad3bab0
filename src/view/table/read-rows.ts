/** Reads rows of the table as they are shown. */
import { type Column, decodeUtf8, isBytesColumn, Presence, valueAt } from "../../model/column.js";
import { geometryTypes } from "../../model/geometry.js";
import { batchOf, type LayerData } from "../layer-data.js";

/** A number, a truth value, a text, or null. Texts of 64-bit integers, json, and the beginning of long texts. */
export type Cell = number | boolean | string | null;

export interface TableRow {
  readonly row: number;
  readonly id: Cell;
  readonly geometry: string | null;
  /** One for each field; null also stands for a value that the feature does not have. */
  readonly cells: readonly Cell[];
}

/** Characters of a cell in the table; the panel of a feature shows more. */
const maxCellCharacters = 160;

/** Characters of a value in the panel of a feature. */
export const maxValueCharacters = 20_000;

/** @param fields indices of the fields to read */
export function readRows(
  data: LayerData,
  rows: ArrayLike<number>,
  fields: readonly number[],
  maxCharacters = maxCellCharacters,
): TableRow[] {
  return Array.from(rows, (row) => {
    const batch = batchOf(data, row);
    const at = row - data.firstRows[batch]!;
    const read = (column: Column | null) => (column ? cellAt(column, at, maxCharacters) : null);
    return {
      row,
      id: read(data.ids(batch)),
      geometry: geometryTypes[data.kinds[row]!] ?? null,
      cells: fields.map((field) => read(data.column(batch, field))),
    };
  });
}

/** The value of a row; null if it has none. */
export function cellAt(column: Column, row: number, maxCharacters: number): Cell {
  if (column.presence[row] !== Presence.value) return null;
  if (!isBytesColumn(column)) {
    const value = valueAt(column, row) as number | bigint | boolean;
    if (typeof value === "boolean") return value;
    // JSON has neither integers beyond 2^53 nor numbers that are not finite.
    const isExact = typeof value === "bigint" ? Number.isSafeInteger(Number(value)) : Number.isFinite(value);
    return isExact ? Number(value) : String(value);
  }
  const [from, to] = [column.offsets[row]!, column.offsets[row + 1]!];
  if (column.type === "binary") return `${to - from} bytes`;
  // A character has at most four bytes.
  const text = decodeUtf8(column.bytes, from, Math.min(to, from + 4 * maxCharacters));
  return text.length <= maxCharacters ? text : `${cut(text, maxCharacters)}…`;
}

/** Does not divide a surrogate pair. */
const cut = (text: string, characters: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text[characters - 1]!) ? characters - 1 : characters);

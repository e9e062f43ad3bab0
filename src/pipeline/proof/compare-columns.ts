/**
 * Compares columns as they were written with those that were read back. Values that are equal in one of the usual forms are
 * found here; all others are compared in their canonical form, which decides.
 */
import { ByteWriter } from "../../canonical/byte-writer.js";
import {
  type BytesColumn,
  type Column,
  type DoubleColumn,
  type Int32Column,
  isBytesColumn,
  Presence,
} from "../../model/column.js";
import { hasEqualBits, hasEqualLengths } from "./equal-ranges.js";
import { parsePlainNumber } from "./parse-plain-number.js";
import { writeCell } from "./proof-cell.js";
import type { ProofColumn } from "./proof-columns.js";
import type { ProofRules } from "./proof-rules.js";

/** Consecutive rows of a written batch, and those of a batch that was read back. */
export interface RowRange {
  readonly from: number;
  readonly readFrom: number;
  readonly count: number;
}

/** Marks rows of a range, from 0. */
export type Differences = Uint8Array;

type CellRules = Pick<ProofRules, "types" | "absentIsNull">;
type IsEqual = (row: number, other: number) => boolean;

const writers = [new ByteWriter(), new ByteWriter()] as const;

/** Whether two cells have the same canonical form. */
function isSameCell(one: ProofColumn, row: number, other: ProofColumn, otherRow: number, rules: CellRules): boolean {
  const [first, second] = writers;
  first.reset();
  second.reset();
  const hasFirst = writeCell(first, one.column, row, one.writtenType, rules);
  const hasSecond = writeCell(second, other.column, otherRow, other.writtenType, rules);
  return hasFirst === hasSecond && (!hasFirst || first.written.equals(second.written));
}

const isNumeric = (column: Column): column is Int32Column | DoubleColumn =>
  column.type === "int32" || column.type === "double";
const textTypes = new Set(["text", "date", "time", "datetime"]);
const isText = (column: Column): column is BytesColumn => textTypes.has(column.type);

function sameBytes(one: BytesColumn, other: BytesColumn): IsEqual {
  return (row, otherRow) => {
    const [from, start] = [one.offsets[row]!, other.offsets[otherRow]!];
    const size = one.offsets[row + 1]! - from;
    if (other.offsets[otherRow + 1]! - start !== size) return false;
    for (let at = 0; at < size; at++) if (one.bytes[from + at] !== other.bytes[start + at]) return false;
    return true;
  };
}

function sameHalves(one: BigInt64Array, other: BigInt64Array): IsEqual {
  const [halves, others] = [one, other].map(
    ({ buffer, byteOffset, length }) => new Int32Array(buffer, byteOffset, 2 * length),
  ) as [Int32Array, Int32Array];
  return (row, at) => halves[2 * row] === others[2 * at] && halves[2 * row + 1] === others[2 * at + 1];
}

/** Finds values of two rows that are equal for sure; it may miss others. Null if it would find none. */
export function findQuickComparison(one: Column, other: Column, rules: Pick<ProofRules, "types">): IsEqual | null {
  if (isNumeric(one)) {
    const { values } = one;
    if (isNumeric(other)) {
      const { values: others } = other;
      return (row, at) => values[row] === others[at];
    }
    if (rules.types === "none" && isText(other))
      return (row, at) => values[row] === parsePlainNumber(other.bytes, other.offsets[at]!, other.offsets[at + 1]!);
    return null;
  }
  if (isBytesColumn(one) && isBytesColumn(other) && (one.type === other.type || (isText(one) && isText(other))))
    return sameBytes(one, other);
  if (one.type === "boolean" && other.type === "boolean") return (row, at) => one.values[row] === other.values[at];
  if (one.type === "int64" && other.type === "int64") return sameHalves(one.values, other.values);
  return null;
}

/** Whether all rows have the same bits, which mean the same. */
function hasEqualRows(one: Column, other: Column, { from, readFrom, count }: RowRange): boolean {
  if (!hasEqualBits(one.presence, from, other.presence, readFrom, count)) return false;
  if (isBytesColumn(one) && isBytesColumn(other)) {
    if (one.type !== other.type && !(isText(one) && isText(other))) return false;
    if (!hasEqualLengths(one.offsets, from, other.offsets, readFrom, count)) return false;
    const [start, end] = [one.offsets[from]!, one.offsets[from + count]!];
    return hasEqualBits(one.bytes, start, other.bytes, other.offsets[readFrom]!, end - start);
  }
  if (isBytesColumn(one) || isBytesColumn(other) || one.type !== other.type) return false;
  return hasEqualBits(one.values, from, other.values, readFrom, count);
}

/** Marks the rows whose cells differ. A side that lacks the field has no value in any row. */
export function compareColumns(
  written: ProofColumn | null,
  read: ProofColumn | null,
  range: RowRange,
  rules: CellRules,
  differences: Differences,
): void {
  const { from, readFrom, count } = range;
  if (written === null || read === null) {
    const only = written ?? read;
    if (only === null) return;
    const start = only === written ? from : readFrom;
    for (let n = 0; n < count; n++) {
      writers[0].reset();
      if (writeCell(writers[0], only.column, start + n, only.writtenType, rules)) differences[n] = 1;
    }
    return;
  }
  const [one, other] = [written.column, read.column];
  if (hasEqualRows(one, other, range)) return;
  const isEqual = findQuickComparison(one, other, rules);
  for (let n = 0; n < count; n++) {
    const [presence, otherPresence] = [one.presence[from + n], other.presence[readFrom + n]];
    if (presence === Presence.value && otherPresence === Presence.value) {
      if (isEqual?.(from + n, readFrom + n)) continue;
    } else if (presence === otherPresence) continue;
    if (!isSameCell(written, from + n, read, readFrom + n, rules)) differences[n] = 1;
  }
}

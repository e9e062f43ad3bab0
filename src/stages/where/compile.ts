import type { Batch } from "../../model/batch.js";
import { type BytesColumn, type Column, decodeUtf8, isBytesColumn, Presence, type Value } from "../../model/column.js";
import { geometryTypes } from "../../model/geometry.js";
import { canonicalTemporal } from "../fields/cast-value.js";
import { compareNumbers, compareValues, likeText, Order, scalarAt, TruthValue, toTruthValue } from "./compare.js";
import type { Comparison, Expression, Operand } from "./expression.js";
import { likeMatcher } from "./like.js";

/** The truth of a condition in a row of the batch it is bound to. */
export type CompiledCondition = (row: number) => number;
type ReadValue = (row: number) => Value;

/** The orders in which a comparison holds. */
const ordersMatching: Readonly<Record<Comparison, number>> = {
  "=": Order.equal,
  "<>": Order.less | Order.greater,
  "<": Order.less,
  "<=": Order.less | Order.equal,
  ">": Order.greater,
  ">=": Order.greater | Order.equal,
};
const mirroredComparison: Readonly<Record<Comparison, Comparison>> = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

const truthOfOrder = (found: number, wanted: number): number =>
  found === Order.none ? TruthValue.unknown : (found & wanted) !== 0 ? TruthValue.true : TruthValue.false;

/** The column of an operand; null for a field that the batch does not have, undefined if it is not a field. */
function findColumn(operand: Operand, batch: Batch): Column | null | undefined {
  if (operand.kind === "special") return operand.name === "$id" ? batch.ids : undefined;
  if (operand.kind !== "field") return undefined;
  const at = batch.fields.findIndex((field) => field.name === operand.name);
  return at < 0 ? null : batch.columns[at]!;
}

function compileOperand(operand: Operand, batch: Batch): ReadValue {
  if (operand.kind === "literal") return () => operand.value;
  const column = findColumn(operand, batch);
  if (column === undefined) return (row) => geometryTypes[batch.geometry.kinds[row]!] ?? null;
  return column === null ? () => null : (row) => scalarAt(column, row);
}

/** A date written with slashes, or a date and time with a blank between, as the column has them. */
function toColumnForm(column: BytesColumn, literal: string): string {
  return column.type === "text" ? literal : (canonicalTemporal(literal.trim())?.text ?? literal);
}

function compareBytes(column: BytesColumn, row: number, literal: Uint8Array): number {
  const { bytes } = column;
  const from = column.offsets[row]!;
  const size = column.offsets[row + 1]! - from;
  const length = Math.min(size, literal.length);
  for (let i = 0; i < length; i++) {
    const a = bytes[from + i]!;
    const b = literal[i]!;
    if (a !== b) return a < b ? Order.less : Order.greater;
  }
  return size === literal.length ? Order.equal : size < literal.length ? Order.less : Order.greater;
}

/** Compares a column with a literal without creating a value for each row; null if the types do not allow it. */
function compileLiteralComparison(column: Column, literal: Value, wanted: number): CompiledCondition | null {
  const { presence } = column;
  if (isBytesColumn(column)) {
    if (typeof literal !== "string" || column.type === "json" || column.type === "binary") return null;
    const bytes = Buffer.from(toColumnForm(column, literal));
    return (row) =>
      presence[row] === Presence.value ? truthOfOrder(compareBytes(column, row, bytes), wanted) : TruthValue.unknown;
  }
  if ((typeof literal !== "number" && typeof literal !== "bigint") || column.type === "boolean") return null;
  const { values } = column;
  return (row) =>
    presence[row] === Presence.value ? truthOfOrder(compareNumbers(values[row]!, literal), wanted) : TruthValue.unknown;
}

function compileComparison(comparison: Comparison, left: Operand, right: Operand, batch: Batch): CompiledCondition {
  if (left.kind === "literal" && right.kind !== "literal") {
    return compileComparison(mirroredComparison[comparison], right, left, batch);
  }
  const wanted = ordersMatching[comparison];
  const column = findColumn(left, batch);
  const short = column && right.kind === "literal" ? compileLiteralComparison(column, right.value, wanted) : null;
  if (short) return short;
  const a = compileOperand(left, batch);
  const b = compileOperand(right, batch);
  return (row) => truthOfOrder(compareValues(a(row), b(row)), wanted);
}

function compileIn(operand: Operand, list: readonly Operand[], batch: Batch): CompiledCondition {
  const column = findColumn(operand, batch);
  const texts = list.map((item) => (item.kind === "literal" && typeof item.value === "string" ? item.value : null));
  if (column && isBytesColumn(column) && column.type === "text" && texts.every((text) => text !== null)) {
    const known = new Set(texts);
    return (row) =>
      column.presence[row] !== Presence.value
        ? TruthValue.unknown
        : Number(known.has(decodeUtf8(column.bytes, column.offsets[row]!, column.offsets[row + 1]!)));
  }
  return compileOr(list.map((item) => compileComparison("=", operand, item, batch)));
}

function compileAnd(tests: readonly CompiledCondition[]): CompiledCondition {
  return (row) => {
    let truth: number = TruthValue.true;
    for (const test of tests) {
      const found = test(row);
      if (found === TruthValue.false) return TruthValue.false;
      if (found === TruthValue.unknown) truth = TruthValue.unknown;
    }
    return truth;
  };
}

function compileOr(tests: readonly CompiledCondition[]): CompiledCondition {
  return (row) => {
    let truth: number = TruthValue.false;
    for (const test of tests) {
      const found = test(row);
      if (found === TruthValue.true) return TruthValue.true;
      if (found === TruthValue.unknown) truth = TruthValue.unknown;
    }
    return truth;
  };
}

/** The expression over the columns of a batch. Fields that the batch does not have are null. */
export function compile(expression: Expression, batch: Batch): CompiledCondition {
  switch (expression.kind) {
    case "and":
      return compileAnd(expression.operands.map((operand) => compile(operand, batch)));
    case "or":
      return compileOr(expression.operands.map((operand) => compile(operand, batch)));
    case "not": {
      const test = compile(expression.operand, batch);
      return (row) => {
        const truth = test(row);
        return truth === TruthValue.unknown ? truth : 1 - truth;
      };
    }
    case "compare":
      return compileComparison(expression.comparison, expression.left, expression.right, batch);
    case "in":
      return compileIn(expression.operand, expression.list, batch);
    case "like": {
      const read = compileOperand(expression.operand, batch);
      const matches = likeMatcher(expression.pattern, expression.escapeCharacter, expression.ignoreCase);
      return (row) => {
        const text = likeText(read(row));
        return text === null ? TruthValue.unknown : Number(matches(text));
      };
    }
    case "is-null": {
      const read = compileOperand(expression.operand, batch);
      return (row) => (read(row) === null ? TruthValue.true : TruthValue.false);
    }
    default: {
      const read = compileOperand(expression, batch);
      return (row) => toTruthValue(read(row));
    }
  }
}

import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { type BytesColumn, type Column, decodeUtf8, isBytesColumn, Presence, type Value } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
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

type Literal = Exclude<Value, Uint8Array>;

/** A date, a time or both, or the beginning of one: `2020`, `2020-06`, `2020-06-01T12`. */
const isoPrefixes: Readonly<Partial<Record<FieldType, RegExp>>> = {
  date: /^\d{4}(-\d\d(-\d\d(T.*)?)?)?$/,
  datetime: /^\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d.*)?)?)?)?)?$/,
  time: /^\d\d(:\d\d(:\d\d.*)?)?$/,
};

/**
 * A date written with slashes, or a date and time with a blank between, as the column has them.
 * @throws usage for a literal that is no date or time, with which a comparison would be meaningless
 */
function toColumnForm({ type }: Column, literal: Literal, field: string): Literal {
  const pattern = isoPrefixes[type];
  if (!pattern || literal === null) return literal;
  const text = typeof literal === "string" ? literal.trim() : String(literal);
  const canonical = canonicalTemporal(text)?.text ?? text.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, "$1T");
  if (typeof literal === "string" && pattern.test(canonical)) return canonical;
  const example = type === "time" ? "'12:30:00'" : type === "date" ? "'2020-12-31'" : "'2020-12-31T12:30:00'";
  const reason = `--where compares the field ${field}, which is a ${type}, with ${text}; write it as in ${example}`;
  throw createError("usage", { reason });
}

/** The literal of a comparison in the form of the column that it is compared with. */
function adaptLiteral(literal: Operand, field: Operand, column: Column | null | undefined): Operand {
  if (literal.kind !== "literal" || field.kind !== "field" || !column) return literal;
  return { ...literal, value: toColumnForm(column, literal.value, field.name) };
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
    const bytes = Buffer.from(literal);
    return (row) =>
      presence[row] === Presence.value ? truthOfOrder(compareBytes(column, row, bytes), wanted) : TruthValue.unknown;
  }
  if ((typeof literal !== "number" && typeof literal !== "bigint") || column.type === "boolean") return null;
  const { values } = column;
  return (row) =>
    presence[row] === Presence.value ? truthOfOrder(compareNumbers(values[row]!, literal), wanted) : TruthValue.unknown;
}

function compileComparison(comparison: Comparison, left: Operand, given: Operand, batch: Batch): CompiledCondition {
  if (left.kind === "literal" && given.kind !== "literal") {
    return compileComparison(mirroredComparison[comparison], given, left, batch);
  }
  const wanted = ordersMatching[comparison];
  const column = findColumn(left, batch);
  const right = adaptLiteral(given, left, column);
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

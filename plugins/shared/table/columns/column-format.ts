/** Infers how the cells of a column are written, if it differs from the file's dialect. */
import type { FieldType } from "../../../../src/model/field.js";
import { commaByte, pointByte } from "../records/signs.js";
import { CellTypeFlag, classifyCell, inferFieldType } from "./classify-cell.js";
import { type GroupSign, maxNumberLength, type NumberFormat, parseNumberShape } from "./number-format.js";
import { parseOtherTemporal } from "./other-temporal.js";

/** Bits that extend `CellTypeFlag`: cells that have a meaning in another notation. */
export const NotationFlag = {
  /** A decimal with three digits after the sign, which may be a thousands separator: `1.234`. */
  three: 1 << 10,
  /** Decimals after the other sign: `1,5` where the dialect has a point. */
  otherDecimal: 1 << 11,
  /** The other sign and three digits: `1,234` if the dialect has a point. */
  otherThree: 1 << 12,
  /** Unambiguously grouped by the other sign: `1,234,567`, `1,234.5`. */
  otherGroups: 1 << 13,
  /** Unambiguously grouped by the dialect's decimal sign: `1.234.567`, `1.234,5`. */
  ownGroups: 1 << 14,
  spaces: 1 << 15,
  apostrophes: 1 << 16,
  /** A date or datetime with the day first, with the month first, or ambiguous. */
  dayFirst: 1 << 17,
  monthFirst: 1 << 18,
  eitherOrder: 1 << 19,
  /** A date or datetime that is not in ISO 8601 form. */
  otherTemporal: 1 << 20,
} as const;

const groupFlags = NotationFlag.otherGroups | NotationFlag.ownGroups | NotationFlag.spaces | NotationFlag.apostrophes;
const numberFlags = NotationFlag.three | NotationFlag.otherDecimal | NotationFlag.otherThree | groupFlags;
const dateOrderFlags = NotationFlag.dayFirst | NotationFlag.monthFirst | NotationFlag.eitherOrder;
const temporalFlags = dateOrderFlags | NotationFlag.otherTemporal;
const integerFlags = CellTypeFlag.int32 | CellTypeFlag.int64 | CellTypeFlag.wide;

/** Options that apply to all columns. */
export interface FormatRules {
  /** The decimal sign of the dialect. */
  readonly decimal: number;
  /** Whether an option sets the decimal sign, so that no column can have another one. */
  readonly isDecimalGiven: boolean;
  /** The thousands separator; null: none, undefined: inferred by column. */
  readonly thousands: GroupSign | null | undefined;
  /** Undefined: inferred by column. */
  readonly monthFirst: boolean | undefined;
  /** Whether dates among datetimes are midnights, as in spreadsheets. */
  readonly datesAreMidnights?: boolean;
}

/** The format of the cells of a column, as plain data. */
export interface ColumnFormat {
  readonly type: FieldType;
  /** Null if the numbers follow the dialect. */
  readonly numbers: NumberFormat | null;
  readonly monthFirst: boolean;
  /** Why the column stays text, or which ambiguous reading was chosen. */
  readonly doubt: "date-ambiguous" | "number-ambiguous" | "number-mixed" | "number-three" | "number-grouped" | null;
}

/** Whether a decimal has three digits after its sign and no leading zero. */
export function hasThreeDecimals(bytes: Uint8Array, from: number, to: number, decimal: number): boolean {
  let [start, end] = [from, to];
  while (start < end && bytes[start] === 32) start++;
  while (end > start && bytes[end - 1] === 32) end--;
  if (bytes[start] === 45) start++;
  const before = end - 4 - start;
  return (
    before >= 1 && before <= 3 && bytes[end - 4] === decimal && bytes[start] !== 48 && (bytes[end - 2]! | 32) !== 101
  );
}

/** The flags of a cell that `classifyCell` classifies as text. */
export function classifyNotation(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  let start = from;
  while (start < to && bytes[start] === 32) start++;
  const first = bytes[start]! - 48;
  if (to - from > maxNumberLength || (!(first >= 0 && first <= 9) && bytes[start] !== 45)) return CellTypeFlag.text;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, to - start)
    .toString("utf8")
    .trimEnd();
  const date = parseOtherTemporal(text);
  if (date) {
    const order = [0, NotationFlag.dayFirst, NotationFlag.monthFirst, NotationFlag.eitherOrder][date.order]!;
    return (date.hasTime ? CellTypeFlag.datetime : CellTypeFlag.date) | NotationFlag.otherTemporal | order;
  }
  return classifyNumberNotation(text, decimal);
}

/** Four one-byte numbers separated by points. */
const isInternetAddress = (text: string) =>
  /^\d+(\.\d+){3}$/.test(text) && text.split(".").every((part) => Number(part) < 256);

function classifyNumberNotation(text: string, decimal: number): number {
  const shape = parseNumberShape(text);
  if (!shape || shape.digits > 15 || isInternetAddress(text)) return CellTypeFlag.text;
  const own = decimal === commaByte ? "," : ".";
  if (shape.isOpen) return shape.group === own ? NotationFlag.three : NotationFlag.otherThree;
  const value =
    shape.decimal === null
      ? shape.digits < 10
        ? CellTypeFlag.int32
        : CellTypeFlag.int64
      : shape.decimal === decimal
        ? CellTypeFlag.double
        : NotationFlag.otherDecimal;
  if (shape.group === null) return value;
  if (shape.group === "space") return value | NotationFlag.spaces;
  if (shape.group === "apostrophe") return value | NotationFlag.apostrophes;
  return value | (shape.group === own ? NotationFlag.ownGroups : NotationFlag.otherGroups);
}

const otherDecimalSign = (decimal: number) => (decimal === commaByte ? pointByte : commaByte);
const groupSignOf = (byte: number): GroupSign => (byte === commaByte ? "," : ".");

/** The group separator, if all groups use the same one. */
function commonGroupSign(sorts: number, decimal: number): GroupSign | null | undefined {
  const signs: GroupSign[] = [];
  if (sorts & NotationFlag.otherGroups) signs.push(groupSignOf(otherDecimalSign(decimal)));
  if (sorts & NotationFlag.ownGroups) signs.push(groupSignOf(decimal));
  if (sorts & NotationFlag.spaces) signs.push("space");
  if (sorts & NotationFlag.apostrophes) signs.push("apostrophe");
  return signs.length > 1 ? undefined : (signs[0] ?? null);
}

/**
 * The number format of a column: null if it follows the dialect, undefined if its cells contradict each other or are
 * ambiguous.
 */
export function inferNumberFormat(sorts: number, rules: FormatRules): NumberFormat | null | undefined {
  const { decimal, isDecimalGiven, thousands } = rules;
  if ((sorts & (numberFlags & ~NotationFlag.three)) === 0 && thousands !== groupSignOf(decimal)) return null;
  if (thousands === null && (sorts & groupFlags) !== 0) return undefined;
  const found = commonGroupSign(sorts, decimal);
  if (found === undefined || (thousands && found && thousands !== found)) return undefined;
  const group = thousands ?? found;
  const isOther = group === groupSignOf(decimal) || (sorts & NotationFlag.otherDecimal) !== 0;
  const isOwn = group === groupSignOf(otherDecimalSign(decimal)) || (sorts & CellTypeFlag.double) !== 0;
  if ((isOther && isOwn) || (isOther && isDecimalGiven)) return undefined;
  // A single sign before three digits separates decimals or thousands; other cells of the column must decide.
  if ((sorts & NotationFlag.otherThree) !== 0 && !isOther && group !== groupSignOf(otherDecimalSign(decimal))) {
    if (!isDecimalGiven || thousands === null) return undefined;
    return { decimal, group: groupSignOf(otherDecimalSign(decimal)) };
  }
  if ((sorts & NotationFlag.three) !== 0 && isOther && group !== groupSignOf(decimal)) return undefined;
  return { decimal: isOther ? otherDecimalSign(decimal) : decimal, group };
}

/** Whether no option reads all cells: some have a decimal point and others a decimal comma, or they are grouped differently. */
function isContradictory(sorts: number, { decimal }: FormatRules): boolean {
  const hasBothSigns = (sorts & NotationFlag.otherDecimal) !== 0 && (sorts & CellTypeFlag.double) !== 0;
  return hasBothSigns || commonGroupSign(sorts, decimal) === undefined;
}

function numberColumnFormat(sorts: number, rules: FormatRules): ColumnFormat | null {
  if (
    (sorts & ~(integerFlags | CellTypeFlag.double | CellTypeFlag.nonFinite | numberFlags)) !== 0 ||
    (sorts & numberFlags) === 0
  )
    return null;
  const form = inferNumberFormat(sorts, rules);
  const text: ColumnFormat = { type: "text", numbers: null, monthFirst: false, doubt: null };
  if (form === undefined)
    return { ...text, doubt: isContradictory(sorts, rules) ? "number-mixed" : "number-ambiguous" };
  const hasWide = (sorts & CellTypeFlag.wide) !== 0;
  const isGroupedThree = (sign: number) => form?.group === groupSignOf(sign);
  const { decimal } = rules;
  const hasDecimals =
    (sorts & (CellTypeFlag.double | NotationFlag.otherDecimal)) !== 0 ||
    ((sorts & NotationFlag.three) !== 0 && !isGroupedThree(decimal)) ||
    ((sorts & NotationFlag.otherThree) !== 0 && !isGroupedThree(otherDecimalSign(decimal)));
  // Telephone numbers and codes, too, consist of digits and blanks.
  const isDigits = !hasDecimals && (sorts & NotationFlag.spaces) !== 0 && rules.thousands !== "space";
  if (isDigits || (hasDecimals && hasWide)) return text;
  const type = hasDecimals ? "double" : (sorts & CellTypeFlag.int64) !== 0 ? "int64" : "int32";
  const onlyThrees = form === null && (sorts & (NotationFlag.three | CellTypeFlag.double)) === NotationFlag.three;
  return {
    type,
    numbers: form,
    monthFirst: false,
    doubt: onlyThrees && rules.thousands === undefined ? "number-three" : null,
  };
}

function temporalColumnFormat(sorts: number, rules: FormatRules): ColumnFormat | null {
  if ((sorts & temporalFlags) === 0) return null;
  const kinds = sorts & ~temporalFlags;
  if (kinds !== CellTypeFlag.date && kinds !== CellTypeFlag.datetime) return null;
  const text: ColumnFormat = { type: "text", numbers: null, monthFirst: false, doubt: "date-ambiguous" };
  const [day, month] = [(sorts & NotationFlag.dayFirst) !== 0, (sorts & NotationFlag.monthFirst) !== 0];
  if (day && month) return text;
  if (rules.monthFirst === undefined && !day && !month && (sorts & NotationFlag.eitherOrder) !== 0) return text;
  const monthFirst = rules.monthFirst ?? month;
  // Ignores an option that no cell can follow.
  if (monthFirst ? day : month) return text;
  return { type: kinds === CellTypeFlag.date ? "date" : "datetime", numbers: null, monthFirst, doubt: null };
}

/** A column of text. */
export const textColumnFormat: ColumnFormat = { type: "text", numbers: null, monthFirst: false, doubt: null };

/** Infers the format of a column from the flags of all its cells. */
export function inferColumnFormat(sorts: number, rules: FormatRules): ColumnFormat {
  const isMoment = rules.datesAreMidnights === true && sorts === (CellTypeFlag.date | CellTypeFlag.datetime);
  const type = isMoment ? "datetime" : inferFieldType(sorts);
  const plain: ColumnFormat = { type, numbers: null, monthFirst: false, doubt: null };
  if ((sorts & (numberFlags | temporalFlags)) === 0 || (sorts & CellTypeFlag.text) !== 0) return plain;
  return numberColumnFormat(sorts, rules) ?? temporalColumnFormat(sorts, rules) ?? { ...plain, type: "text" };
}

/**
 * The format of a column of whole numbers and of numbers with a point and three digits, where other columns have decimal
 * commas: the point separates thousands. Null if the column has other cells.
 */
export function groupedByPoints(sorts: number, { decimal }: FormatRules): ColumnFormat | null {
  const flag = decimal === pointByte ? NotationFlag.three : NotationFlag.otherThree;
  if ((sorts & flag) === 0 || (sorts & ~(flag | CellTypeFlag.int32)) !== 0) return null;
  return { type: "int32", numbers: { decimal: commaByte, group: "." }, monthFirst: false, doubt: "number-grouped" };
}

/** The flags of one cell. */
export function cellFlags(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  const sort = classifyCell(bytes, from, to, decimal);
  if (sort === CellTypeFlag.text) return classifyNotation(bytes, from, to, decimal);
  return sort === CellTypeFlag.double && hasThreeDecimals(bytes, from, to, decimal) ? NotationFlag.three : sort;
}

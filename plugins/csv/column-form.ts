/** What the cells of a column are together, where not all of them are written as the file's dialect has it. */
import type { FieldType } from "../../src/model/field.js";
import { classify, Sort, typeOf } from "./classify.js";
import { type GroupSign, longestNumber, type NumberForm, shapeOf } from "./number-form.js";
import { otherTemporal } from "./other-temporal.js";
import { comma, point } from "./signs.js";

/** Bits beside those of `Sort`: cells that mean something in another spelling. */
export const Form = {
  /** A decimal of one sign and three digits behind it, which may be a sign of thousands: `1.234`. */
  three: 1 << 10,
  /** Decimals behind the other sign: `1,5` where the dialect has a point. */
  otherDecimal: 1 << 11,
  /** The other sign and three digits: `1,234` where the dialect has a point. */
  otherThree: 1 << 12,
  /** Surely in groups by the other sign: `1,234,567`, `1,234.5`. */
  otherGroups: 1 << 13,
  /** Surely in groups by the dialect's decimal sign: `1.234.567`, `1.234,5`. */
  ownGroups: 1 << 14,
  spaces: 1 << 15,
  apostrophes: 1 << 16,
  /** A date or datetime whose day comes first, its month, or either. */
  dayFirst: 1 << 17,
  monthFirst: 1 << 18,
  eitherOrder: 1 << 19,
  /** A date or datetime that is not ISO 8601 as it stands. */
  otherTemporal: 1 << 20,
} as const;

const groupForms = Form.otherGroups | Form.ownGroups | Form.spaces | Form.apostrophes;
const numberForms = Form.three | Form.otherDecimal | Form.otherThree | groupForms;
const orderForms = Form.dayFirst | Form.monthFirst | Form.eitherOrder;
const temporalForms = orderForms | Form.otherTemporal;
const integers = Sort.int32 | Sort.int64 | Sort.wide;

/** What options say of all columns. */
export interface FormRules {
  /** The decimal sign of the dialect. */
  readonly decimal: number;
  /** Whether an option says it, so that no column has another one. */
  readonly isDecimalGiven: boolean;
  /** The sign between thousands; null: none, undefined: by the column. */
  readonly thousands: GroupSign | null | undefined;
  /** Undefined: by the column. */
  readonly monthFirst: boolean | undefined;
}

/** How the cells of a column are read, as plain data. */
export interface ColumnForm {
  readonly type: FieldType;
  /** Null where numbers are as in the dialect. */
  readonly numbers: NumberForm | null;
  readonly monthFirst: boolean;
  /** Why it stays text, or what it was taken for although it may be something else. */
  readonly doubt: "date-ambiguous" | "number-ambiguous" | "number-three" | null;
}

/** Whether a decimal has three digits behind its sign and no leading zero. */
export function isThree(bytes: Uint8Array, from: number, to: number, decimal: number): boolean {
  let [start, end] = [from, to];
  while (start < end && bytes[start] === 32) start++;
  while (end > start && bytes[end - 1] === 32) end--;
  if (bytes[start] === 45) start++;
  const before = end - 4 - start;
  return (
    before >= 1 && before <= 3 && bytes[end - 4] === decimal && bytes[start] !== 48 && (bytes[end - 2]! | 32) !== 101
  );
}

/** The bits of a cell that `classify` finds to be text. */
export function otherSort(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  let start = from;
  while (start < to && bytes[start] === 32) start++;
  const first = bytes[start]! - 48;
  if (to - from > longestNumber || (!(first >= 0 && first <= 9) && bytes[start] !== 45)) return Sort.text;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, to - start)
    .toString("utf8")
    .trimEnd();
  const date = otherTemporal(text);
  if (date) {
    const order = [0, Form.dayFirst, Form.monthFirst, Form.eitherOrder][date.order]!;
    return (date.hasTime ? Sort.datetime : Sort.date) | Form.otherTemporal | order;
  }
  return otherNumberSort(text, decimal);
}

/** Four numbers of one byte each, apart by points. */
const isInternetAddress = (text: string) =>
  /^\d+(\.\d+){3}$/.test(text) && text.split(".").every((part) => Number(part) < 256);

function otherNumberSort(text: string, decimal: number): number {
  const shape = shapeOf(text);
  if (!shape || shape.digits > 15 || isInternetAddress(text)) return Sort.text;
  const own = decimal === comma ? "," : ".";
  if (shape.isOpen) return shape.group === own ? Form.three : Form.otherThree;
  const value =
    shape.decimal === null
      ? shape.digits < 10
        ? Sort.int32
        : Sort.int64
      : shape.decimal === decimal
        ? Sort.double
        : Form.otherDecimal;
  if (shape.group === null) return value;
  if (shape.group === "space") return value | Form.spaces;
  if (shape.group === "apostrophe") return value | Form.apostrophes;
  return value | (shape.group === own ? Form.ownGroups : Form.otherGroups);
}

const other = (decimal: number) => (decimal === comma ? point : comma);
const signOf = (byte: number): GroupSign => (byte === comma ? "," : ".");

/** The sign between groups, where all groups have one. */
function groupOf(sorts: number, decimal: number): GroupSign | null | undefined {
  const signs: GroupSign[] = [];
  if (sorts & Form.otherGroups) signs.push(signOf(other(decimal)));
  if (sorts & Form.ownGroups) signs.push(signOf(decimal));
  if (sorts & Form.spaces) signs.push("space");
  if (sorts & Form.apostrophes) signs.push("apostrophe");
  return signs.length > 1 ? undefined : (signs[0] ?? null);
}

/**
 * How a column of numbers is written: null as in the dialect, undefined where its cells contradict each other or leave
 * open what they are.
 */
export function numberFormOf(sorts: number, rules: FormRules): NumberForm | null | undefined {
  const { decimal, isDecimalGiven, thousands } = rules;
  if ((sorts & (numberForms & ~Form.three)) === 0 && thousands !== signOf(decimal)) return null;
  if (thousands === null && (sorts & groupForms) !== 0) return undefined;
  const found = groupOf(sorts, decimal);
  if (found === undefined || (thousands && found && thousands !== found)) return undefined;
  const group = thousands ?? found;
  const isOther = group === signOf(decimal) || (sorts & Form.otherDecimal) !== 0;
  const isOwn = group === signOf(other(decimal)) || (sorts & Sort.double) !== 0;
  if ((isOther && isOwn) || (isOther && isDecimalGiven)) return undefined;
  // A single sign before three digits is decimals or thousands: what else stands in the column has to say.
  if ((sorts & Form.otherThree) !== 0 && !isOther && group !== signOf(other(decimal))) {
    if (!isDecimalGiven || thousands === null) return undefined;
    return { decimal, group: signOf(other(decimal)) };
  }
  if ((sorts & Form.three) !== 0 && isOther && group !== signOf(decimal)) return undefined;
  return { decimal: isOther ? other(decimal) : decimal, group };
}

function numberColumn(sorts: number, rules: FormRules): ColumnForm | null {
  if ((sorts & ~(integers | Sort.double | Sort.nonFinite | numberForms)) !== 0 || (sorts & numberForms) === 0)
    return null;
  const form = numberFormOf(sorts, rules);
  const text: ColumnForm = { type: "text", numbers: null, monthFirst: false, doubt: null };
  if (form === undefined) return { ...text, doubt: "number-ambiguous" };
  const hasWide = (sorts & Sort.wide) !== 0;
  const isGroupedThree = (sign: number) => form?.group === signOf(sign);
  const { decimal } = rules;
  const hasDecimals =
    (sorts & (Sort.double | Form.otherDecimal)) !== 0 ||
    ((sorts & Form.three) !== 0 && !isGroupedThree(decimal)) ||
    ((sorts & Form.otherThree) !== 0 && !isGroupedThree(other(decimal)));
  // Blanks between digits alone are also those of telephone numbers and codes.
  const isDigits = !hasDecimals && (sorts & Form.spaces) !== 0 && rules.thousands !== "space";
  if (isDigits || (hasDecimals && hasWide)) return text;
  const type = hasDecimals ? "double" : (sorts & Sort.int64) !== 0 ? "int64" : "int32";
  const onlyThrees = form === null && (sorts & (Form.three | Sort.double)) === Form.three;
  return {
    type,
    numbers: form,
    monthFirst: false,
    doubt: onlyThrees && rules.thousands === undefined ? "number-three" : null,
  };
}

function temporalColumn(sorts: number, rules: FormRules): ColumnForm | null {
  if ((sorts & temporalForms) === 0) return null;
  const kinds = sorts & ~temporalForms;
  if (kinds !== Sort.date && kinds !== Sort.datetime) return null;
  const text: ColumnForm = { type: "text", numbers: null, monthFirst: false, doubt: "date-ambiguous" };
  const [day, month] = [(sorts & Form.dayFirst) !== 0, (sorts & Form.monthFirst) !== 0];
  if (day && month) return text;
  if (rules.monthFirst === undefined && !day && !month && (sorts & Form.eitherOrder) !== 0) return text;
  const monthFirst = rules.monthFirst ?? month;
  // An option that no cell can follow is none.
  if (monthFirst ? day : month) return text;
  return { type: kinds === Sort.date ? "date" : "datetime", numbers: null, monthFirst, doubt: null };
}

/** A column of text. */
export const plainText: ColumnForm = { type: "text", numbers: null, monthFirst: false, doubt: null };

/** What a column is, by the bits of all its cells. */
export function columnForm(sorts: number, rules: FormRules): ColumnForm {
  const plain: ColumnForm = { type: typeOf(sorts), numbers: null, monthFirst: false, doubt: null };
  if ((sorts & (numberForms | temporalForms)) === 0 || (sorts & Sort.text) !== 0) return plain;
  return numberColumn(sorts, rules) ?? temporalColumn(sorts, rules) ?? { ...plain, type: "text" };
}

/** The bits of one cell. */
export function formOfCell(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  const sort = classify(bytes, from, to, decimal);
  if (sort === Sort.text) return otherSort(bytes, from, to, decimal);
  return sort === Sort.double && isThree(bytes, from, to, decimal) ? Form.three : sort;
}

/** How the numbers of a column are written: which sign stands before the decimals, and which between the thousands. */
import { commaByte, pointByte } from "../records/signs.js";

export interface NumberFormat {
  /** The byte of the decimal sign. */
  readonly decimal: number;
  /** What stands between groups of three digits; null where nothing does. */
  readonly group: GroupSign | null;
}

export type GroupSign = "." | "," | "space" | "apostrophe";

const groupPatterns: Readonly<Record<GroupSign, string>> = {
  ".": "\\.",
  ",": ",",
  space: "[ \\u00a0\\u2009\\u202f]",
  apostrophe: "['\\u2019]",
};

/** The longest number with groups that is looked at, in bytes. */
export const maxNumberLength = 48;

const patternOf = (group: GroupSign, decimal: string) =>
  new RegExp(
    `^([+-]?)([1-9]\\d{0,2}(?:${groupPatterns[group]}\\d{3})+)(?:${decimal === "," ? "," : "\\."}(\\d+))?$`,
    "u",
  );
const patterns = new Map<string, RegExp>();

/** The number that a text of this form with groups is; NaN for anything else, also for one without groups. */
function parseGroupedNumber(text: string, group: GroupSign, decimal: number): number {
  const sign = decimal === commaByte ? "," : ".";
  const key = group + sign;
  const pattern = patterns.get(key) ?? patternOf(group, sign);
  patterns.set(key, pattern);
  const match = pattern.exec(text);
  if (!match) return Number.NaN;
  const [, minus, whole, decimals = ""] = match;
  const digits = whole!.replace(/\D/g, "");
  return Number(`${minus}${digits}${decimals === "" ? "" : `.${decimals}`}`);
}

/** What a text that is no plain number in the dialect may be as one with another decimal sign, or with groups. */
export interface NumberShape {
  readonly group: GroupSign | null;
  /** More than one group, or groups and decimals: the sign between them is surely that of thousands. */
  readonly isSurelyGrouped: boolean;
  /** The sign before decimals; null without any. */
  readonly decimal: number | null;
  /** One sign and three digits behind it: decimals or thousands. */
  readonly isOpen: boolean;
  /** Digits before the decimals. */
  readonly digits: number;
}

const numberShapePattern =
  /^-?(?:([1-9]\d{0,2})((?:([.,' \u00a0\u2009\u202f\u2019])\d{3})(?:\3\d{3})*)|(\d+))(?:([.,])(\d+))?$/u;

/** Reads the shape of a text; null where it is no number, or one of digits alone. */
export function parseNumberShape(text: string): NumberShape | null {
  const match = numberShapePattern.exec(text);
  if (!match) return null;
  const [, first, groups, sign, digits, decimal] = match;
  const decimalByte = decimal === undefined ? null : decimal === "," ? commaByte : pointByte;
  if (sign === undefined) {
    // A leading zero says that it is a label.
    if (decimalByte === null || (digits!.length > 1 && digits!.startsWith("0"))) return null;
    return { group: null, isSurelyGrouped: false, decimal: decimalByte, isOpen: false, digits: digits!.length };
  }
  if (sign === decimal) return null;
  const group = sign === "." || sign === "," ? sign : sign === "'" || sign === "\u2019" ? "apostrophe" : "space";
  const count = groups!.length / 4;
  const isSign = group === "." || group === ",";
  return {
    group,
    isSurelyGrouped: count > 1 || decimalByte !== null || !isSign,
    decimal: decimalByte,
    isOpen: isSign && count === 1 && decimalByte === null,
    digits: first!.length + 3 * count,
  };
}

/** The number that a text is in this form; NaN for anything else. */
export function parseFormattedNumber(text: string, { decimal, group }: NumberFormat): number {
  // A minus sign of typography is one, too.
  const plain = text.trim().replace(/^\u2212/, "-");
  const sign = decimal === commaByte ? plain.replace(",", ".") : plain;
  const hasOther = decimal === commaByte && plain.includes(".");
  if (!hasOther && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(sign)) return Number(sign);
  return group === null ? Number.NaN : parseGroupedNumber(plain, group, decimal);
}

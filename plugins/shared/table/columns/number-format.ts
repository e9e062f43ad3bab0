/** The notation of the numbers of a column: decimal sign and thousands separator. */
import { commaByte, pointByte } from "../records/signs.js";

export interface NumberFormat {
  /** The byte of the decimal sign. */
  readonly decimal: number;
  /** Separator of groups of three digits; null if there is none. */
  readonly group: GroupSign | null;
}

export type GroupSign = "." | "," | "space" | "apostrophe";

const groupPatterns: Readonly<Record<GroupSign, string>> = {
  ".": "\\.",
  ",": ",",
  space: "[ \\u00a0\\u2009\\u202f]",
  apostrophe: "['\\u2019]",
};

/** The longest number with groups that is parsed, in bytes. */
export const maxNumberLength = 48;

const patternOf = (group: GroupSign, decimal: string) =>
  new RegExp(
    `^([+-]?)([1-9]\\d{0,2}(?:${groupPatterns[group]}\\d{3})+)(?:${decimal === "," ? "," : "\\."}(\\d+))?$`,
    "u",
  );
const patterns = new Map<string, RegExp>();

/** Parses text with groups in this notation; NaN for any other text, including numbers without groups. */
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

/** The shape of a text that is not a plain number in the dialect but may have another decimal sign or groups. */
export interface NumberShape {
  readonly group: GroupSign | null;
  /** More than one group, or groups and decimals: the sign between groups is unambiguous. */
  readonly isSurelyGrouped: boolean;
  /** The decimal sign; null if there are no decimals. */
  readonly decimal: number | null;
  /** One sign followed by three digits: decimals or thousands. */
  readonly isOpen: boolean;
  /** Digits before the decimals. */
  readonly digits: number;
}

const numberShapePattern =
  /^-?(?:([1-9]\d{0,2})((?:([.,' \u00a0\u2009\u202f\u2019])\d{3})(?:\3\d{3})*)|(\d+))(?:([.,])(\d+))?$/u;

/** Parses the shape of a text; null if it is not a number, or consists of digits only. */
export function parseNumberShape(text: string): NumberShape | null {
  const match = numberShapePattern.exec(text);
  if (!match) return null;
  const [, first, groups, sign, digits, decimal] = match;
  const decimalByte = decimal === undefined ? null : decimal === "," ? commaByte : pointByte;
  if (sign === undefined) {
    // A leading zero marks a label.
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

/** Parses text in this format; NaN if it does not match. */
export function parseFormattedNumber(text: string, { decimal, group }: NumberFormat): number {
  // Accepts the typographic minus sign, too.
  const plain = text.trim().replace(/^\u2212/, "-");
  const sign = decimal === commaByte ? plain.replace(",", ".") : plain;
  const hasOther = decimal === commaByte && plain.includes(".");
  if (!hasOther && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(sign)) return Number(sign);
  return group === null ? Number.NaN : parseGroupedNumber(plain, group, decimal);
}

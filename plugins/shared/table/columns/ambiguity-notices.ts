/** Notices about columns whose cells are ambiguous. */

import { findNumberLikeName } from "../../text/number-like-names.js";
import type { Notices } from "../header/first-record.js";
import { commaByte } from "../records/signs.js";
import type { ColumnFormat } from "./column-format.js";
import type { ColumnSamples } from "./samples.js";

/** Number of columns that a notice names. */
export const maxListedNames = 5;

/** The messages; `own` is the decimal sign of the dialect, `other` the other one. */
const ambiguityMessages: Readonly<Record<NonNullable<ColumnFormat["doubt"]>, (own: string, other: string) => string>> =
  {
    "date-ambiguous": () =>
      "the dates leave open which number is the day, so they stay text; --in dates=dmy or --in dates=mdy says it",
    "number-ambiguous": (_, other) =>
      `the numbers leave open whether a sign stands before decimals or between thousands, so they stay text; --in decimal=${other} or --in thousands=${other} says it`,
    "number-mixed": () =>
      "the numbers have different decimal signs or group separators, so they stay text; no option reads them all: write them all the same way in the file",
    "number-three": (own) =>
      `all have three digits after the sign, which was taken for that of decimals; where it stands between thousands, --in thousands=${own} says so`,
    "number-grouped": () =>
      "all have three digits after the point, which was taken for that of thousands, since other columns have decimal commas; where it stands before decimals, --in decimal=. says so",
  };

/** Formats the first few items and the number of the rest. */
export function summarizeList<T>(all: readonly T[], say: (one: T) => string): string {
  const first = all.slice(0, maxListedNames).map(say).join(", ");
  return all.length > maxListedNames ? `${first} and ${all.length - maxListedNames} more` : first;
}

export const summarizeNames = (names: readonly string[]): string => summarizeList(names, (name) => `"${name}"`);

/** One notice per kind of ambiguity. `isDecimalSure`: other numbers of the file show which decimal sign it uses. */
export function ambiguityNotices(
  names: readonly string[],
  forms: readonly ColumnFormat[],
  isKept: (column: number) => boolean,
  isDecimalSure: boolean,
  decimal: number,
): Notices {
  const [own, other] = decimal === commaByte ? ([",", "."] as const) : ([".", ","] as const);
  const found = new Map<NonNullable<ColumnFormat["doubt"]>, string[]>();
  for (let c = 0; c < forms.length; c++) {
    const { doubt } = forms[c]!;
    if (doubt === null || !isKept(c) || (doubt === "number-three" && isDecimalSure)) continue;
    const columns = found.get(doubt);
    if (columns) columns.push(names[c]!);
    else found.set(doubt, [names[c]!]);
  }
  return [...found].map(([doubt, columns]) => {
    const code = doubt === "date-ambiguous" ? doubt : "number-ambiguous";
    return [code, undefined, `${summarizeNames(columns)}: ${ambiguityMessages[doubt](own, other)}`] as const;
  });
}

/** `31.12.99`, with or without a time after it. */
const twoDigitYear = /^\d{1,2}([./-])\d{1,2}\1\d\d(?:[ T]\d{1,2}:\d\d.*)?$/;

const isDayAndMonth = (text: string): boolean => {
  const [a = 0, b = 0] = text.split(/[./-]/).map(Number);
  return Math.min(a, b) >= 1 && Math.min(a, b) <= 12 && Math.max(a, b) <= 31;
};

/** Columns of text whose first cells are dates without a century. */
export function twoDigitYearNotices(
  names: readonly string[],
  forms: readonly ColumnFormat[],
  samples: ColumnSamples,
  isKept: (column: number) => boolean,
): Notices {
  const found = names.filter((_, c) => {
    if (forms[c]!.type !== "text" || !isKept(c)) return false;
    const cells = samples.of(c);
    return cells.length > 0 && cells.every((cell) => twoDigitYear.test(cell) && isDayAndMonth(cell));
  });
  const sentence = "the years of the dates have two digits, which leave the century open, so they stay text";
  return found.length === 0 ? [] : [["date-ambiguous", undefined, `${summarizeNames(found)}: ${sentence}`]];
}

/** Of tables with more columns, the samples are not read. */
const maxCheckedColumns = 1000;

/** Columns of numbers that may be names, such as versions and part numbers: as numbers, different ones become equal. */
export function numberLikeNameNotices(
  names: readonly string[],
  forms: readonly ColumnFormat[],
  samples: ColumnSamples,
  isKept: (column: number) => boolean,
  decimal: number,
): Notices {
  if (names.length > maxCheckedColumns) return [];
  const found = names.flatMap((name, c) => {
    const { type, numbers } = forms[c]!;
    const sign = (numbers?.decimal ?? decimal) === commaByte ? "," : ".";
    const example =
      (type === "double" || type === "int32" || type === "int64") && isKept(c)
        ? findNumberLikeName(samples.of(c), sign)
        : null;
    return example === null ? [] : [`"${name}": ${example}`];
  });
  if (found.length === 0) return [];
  const example = `${summarizeList(found, (one) => one)}; if these are no numbers, --in types=text reads them as text`;
  return [["number-ambiguous", undefined, example]];
}

/** The message for records with an undoubled quote inside a cell. */
export const strayQuoteMessage = (where: string): string =>
  `${where}, quotes within quoted cells are not doubled; such cells are kept as they stand, with all their quotes`;

/** Infers the types of columns from the scan of the rows, and what to report about them. */

import { quoteForShell } from "../../../../src/errors/shell-quote.js";
import { quoteIdentifier, quoteLiteral } from "../../sql-identifiers.js";
import {
  ambiguityNotices,
  numberLikeNameNotices,
  strayQuoteMessage,
  twoDigitYearNotices,
} from "../columns/ambiguity-notices.js";
import { type ColumnFormat, textColumnFormat } from "../columns/column-format.js";
import type { CsvtColumnType } from "../columns/csvt.js";
import { outlierNotices } from "../columns/text-outliers.js";
import type { TableStart } from "../geometry/choose-geometry.js";
import { findFooter, maxFooterText } from "../geometry/geometry-scan.js";
import type { Notices } from "../header/first-record.js";
import type { TableOptions } from "../options.js";
import { commaByte } from "../records/signs.js";
import type { ColumnPlan } from "./plan.js";
import type { TableScan } from "./table-scan.js";

type IsKept = (column: number) => boolean;

/** `isComplete` is whether the whole file was scanned. */
export function inferColumns(
  { names, declared, samples, dialect: { delimiter, decimal } }: TableStart,
  scan: TableScan,
  isComplete: boolean,
  isKept: IsKept,
  options: TableOptions,
  notices: Notices,
): ColumnPlan[] {
  const infersTypes = options.types !== "text";
  const formats = names.map((_, c) => columnFormat(c, declared[c] ?? null, scan, infersTypes));
  const hasTypedCells = options.cells === "typed";
  if (!hasTypedCells) notices.push(...numberLikeNameNotices(names, formats, samples, isKept, decimal));
  const isDecimalSure = delimiter === commaByte || scan.hasSureDecimals(isKept);
  notices.push(...ambiguityNotices(names, formats, isKept, isDecimalSure, decimal));
  if (infersTypes && !hasTypedCells) notices.push(...twoDigitYearNotices(names, formats, samples, isKept));
  // If only some rows were scanned, the others are unknown.
  if (isComplete && infersTypes) {
    const outliers = names.flatMap((name, c) => (isKept(c) && !declared[c] ? (scan.outlierOf(c, name) ?? []) : []));
    notices.push(...outlierNotices(outliers));
    notices.push(
      ...names
        .flatMap((name, c) => (isKept(c) && !declared[c] ? [scan.mixtureOf(c, name)] : []))
        .filter((one) => one !== null),
    );
  }
  return names.map((name, c) => {
    const { type, numbers, monthFirst } = formats[c]!;
    return { name, type, kept: isKept(c), numbers, monthFirst };
  });
}

function columnFormat(c: number, declared: CsvtColumnType | null, scan: TableScan, infersTypes: boolean): ColumnFormat {
  if (declared && declared !== "x" && declared !== "y" && declared !== "z" && declared !== "wkt") {
    const found = scan.formOf(c);
    return { ...found, type: declared === "int32" && found.type === "int64" ? "int64" : declared, doubt: null };
  }
  return infersTypes ? scan.formOf(c) : textColumnFormat;
}

/** Undoubled quotes inside cells; `linesBefore` is the number of lines before the first record. */
export function strayQuoteNotices({ strays }: TableScan, linesBefore: number): Notices {
  if (strays.count === 0) return [];
  return [["quote-stray", undefined, strayQuoteMessage(`from line ${linesBefore + strays.line} on`), strays.count]];
}

/** The last rows, if only these have no coordinates. */
export function footerNotices({ geometry }: TableScan, columns: readonly ColumnPlan[]): Notices {
  const footer = geometry && findFooter(geometry.state);
  if (!footer) return [];
  const { rows, column, text } = footer;
  const quoted = JSON.stringify(text);
  const subject =
    rows === 1
      ? `the last row, ${quoted}, has no coordinates and is a feature without geometry`
      : `the last ${rows} rows, from ${quoted} on, have no coordinates and are features without geometry`;
  const { name, type, kept } = columns[column]!;
  const field = quoteIdentifier(name);
  const condition = `${field} IS NULL OR ${field} <> ${quoteLiteral(text)}`;
  const isTested = rows === 1 && kept && type === "text" && text.length < maxFooterText;
  const leave = isTested ? `, or leave it out with --where ${quoteForShell(condition)}` : "";
  const remedy = `if ${rows === 1 ? "it is no feature" : "they are no features"}, delete ${rows === 1 ? "it" : "them"} in the file${leave}`;
  return [["footer-row", undefined, `${subject}, although all other rows have them; ${remedy}`, rows]];
}

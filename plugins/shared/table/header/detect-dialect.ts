/** Detects how a table is written from the beginning of its file, and reads the names of its columns. */
import { delimiterByte, type TableOptions } from "../options.js";
import type { RecordScanner } from "../records/record-scanner.js";
import { commaByte, pointByte } from "../records/signs.js";
import { type DelimiterGuess, findUnguessedDelimiter, guessDecimal, guessDelimiter } from "./dialect.js";
import { findHeader, type HeaderLocation } from "./find-header.js";
import { type Notices, nameColumns, padRecord, readFirstRecord } from "./first-record.js";
import { dropHeadBytes, dropHeadLines, type Head } from "./head.js";

export interface DetectedDialect {
  readonly delimiter: number;
  /** Whether an option or a line `sep=;` sets the delimiter. */
  readonly isDelimiterGiven: boolean;
  readonly decimal: number;
  /** The header below titles or comments; null if the first record is the header or data. */
  readonly foundHeader: HeaderLocation | null;
  readonly headAfterSkippedLines: Head;
  /** Begins with the header, or with the first row if there is none. */
  readonly headWithNames: Head;
  /** Begins with the last row that is not data: the header, or a row of units, which is skipped like the header. */
  readonly head: Head;
}

/** @throws option-invalid */
export function detectDialect(whole: Head, options: TableOptions): DetectedDialect {
  const headAfterSkippedLines = dropHeadLines(whole, options.skipLines ?? 0);
  const { bytes, whole: isWhole, delimiter: sepDelimiter } = headAfterSkippedLines;
  const givenDelimiter = options.delimiter === "auto" ? sepDelimiter : delimiterByte(options.delimiter);
  const guess: DelimiterGuess =
    givenDelimiter === null
      ? guessDelimiter(bytes, isWhole)
      : { delimiter: givenDelimiter, columns: 0, share: 0, records: 0 };
  const isDelimiterGiven = givenDelimiter !== null;
  const isSearched = options.header === "auto" && options.skipLines === undefined;
  const foundHeader = isSearched
    ? findHeader(headAfterSkippedLines, guess, isDelimiterGiven, options.cells === "typed")
    : null;
  const delimiter = foundHeader?.delimiter ?? guess.delimiter;
  const head = dropHeadBytes(headAfterSkippedLines, foundHeader?.last ?? 0);
  return {
    delimiter,
    isDelimiterGiven,
    decimal: decimalByte(options.decimal, head, delimiter),
    foundHeader,
    headAfterSkippedLines,
    headWithNames: dropHeadBytes(headAfterSkippedLines, foundHeader?.from ?? 0),
    head,
  };
}

function decimalByte(option: TableOptions["decimal"], head: Head, delimiter: number): number {
  if (option === "auto") return guessDecimal(head.bytes, delimiter, head.whole);
  return option === "," ? commaByte : pointByte;
}

/** Reads the names of the columns; without a header they are numbered. */
export function readColumnNames(
  { headWithNames, foundHeader, isDelimiterGiven, decimal }: DetectedDialect,
  scanner: RecordScanner,
  options: TableOptions,
  notices: Notices,
): { readonly names: readonly string[]; readonly hasHeader: boolean } {
  const first = readFirstRecord(headWithNames, scanner, decimal, foundHeader ? { ...options, header: "yes" } : options);
  if (foundHeader) notices.push(...foundHeader.notices);
  const { usedColumns } = options;
  const isUsed = (c: number) => !usedColumns || usedColumns[c] === true;
  const names = first ? nameColumns(padRecord(first, usedColumns?.length ?? 0), notices, isUsed) : [];
  const hasHeader = first?.isHeader ?? false;
  if (!isDelimiterGiven && names.length === 1) {
    const unguessed = findUnguessedDelimiter(headWithNames.bytes, headWithNames.whole, hasHeader);
    if (unguessed) {
      const { plural, cells, option } = unguessed;
      const example = `each row is one cell, and ${plural} divide it into ${cells}: --in delimiter=${option} reads them as columns`;
      notices.push(["one-column", undefined, example]);
    }
  }
  return { names, hasHeader };
}

import { CellTypeFlag, classifyCell } from "../columns/classify-cell.js";
import { CellMark, RecordScanner } from "../records/record-scanner.js";
import { commaByte, pointByte } from "../records/signs.js";

/** In order of precedence. The comma is last: it is most often a decimal sign or part of a text. */
export const delimiters = [9, 59, 124, 44] as const;

/** Number of records sampled. */
const maxSampleRecords = 200;

export interface DelimiterGuess {
  readonly delimiter: number;
  /** Columns of the first record. */
  readonly columns: number;
  /** Share of records with as many cells as the first. */
  readonly share: number;
  readonly records: number;
}

function rateDelimiter(bytes: Uint8Array, delimiter: number, whole: boolean): DelimiterGuess {
  const scanner = new RecordScanner(delimiter);
  let columns = 0;
  let records = 0;
  let same = 0;
  for (let at = 0; at < bytes.length && records < maxSampleRecords; at = scanner.next) {
    if (scanner.scan(bytes, at, bytes.length, whole) !== "record") break;
    if (scanner.isBlank(bytes)) continue;
    records++;
    if (records === 1) columns = scanner.cells;
    if (scanner.cells === columns && !isMisread(bytes, scanner)) same++;
  }
  return { delimiter, columns, records, share: records === 0 ? 0 : same / records };
}

/**
 * Whether the quotes of the record scanned last indicate another delimiter: a quote opens after that delimiter in the
 * middle of a cell, or text follows a closing quote.
 */
function isMisread(bytes: Uint8Array, scanner: RecordScanner): boolean {
  for (let c = 0; c < scanner.cells; c++) {
    const mark = scanner.marks[c]!;
    if ((mark & CellMark.stray) !== 0) return true;
    if (mark !== CellMark.plain) continue;
    for (let i = scanner.starts[c]! + 1; i < scanner.ends[c]!; i++) {
      if (bytes[i] === 34 && (delimiters as readonly number[]).includes(bytes[i - 1]!)) return true;
    }
  }
  return false;
}

/** The delimiter that gives the records the most uniform number of cells; the comma for a file of one column. */
export function guessDelimiter(bytes: Uint8Array, whole: boolean): DelimiterGuess {
  const guesses = delimiters.map((delimiter) => rateDelimiter(bytes, delimiter, whole));
  const several = guesses.filter((guess) => guess.columns > 1);
  if (several.length === 0)
    return guesses.toReversed().reduce((best, guess) => (guess.share > best.share ? guess : best));
  const best = Math.max(...several.map((guess) => guess.share));
  return several.find((guess) => guess.share >= 0.9 * best)!;
}

/** Delimiters that are never guessed, since texts, times and file names contain them. */
const unguessedDelimiters = [
  { option: "space", plural: "spaces" },
  { option: ":", plural: "colons" },
  { option: "^", plural: "carets" },
  { option: "~", plural: "tildes" },
] as const;

export interface UnguessedDelimiter {
  /** The value of the option `delimiter`. */
  readonly option: string;
  readonly plural: string;
  /** The number of cells of each record. */
  readonly cells: number;
}

/**
 * A delimiter that is never guessed but divides all records into the same number of cells, at least three. Colons count
 * only below a header, since a column of times has them.
 */
export function findUnguessedDelimiter(
  bytes: Uint8Array,
  whole: boolean,
  hasHeader: boolean,
): UnguessedDelimiter | null {
  for (const { option, plural } of unguessedDelimiters) {
    if (option === ":" && !hasHeader) continue;
    const byte = option === "space" ? 32 : option.charCodeAt(0);
    const { columns, share, records } = rateDelimiter(bytes, byte, whole);
    if (records > 1 && columns > 2 && share >= 0.9) return { option, plural, cells: columns };
  }
  return null;
}

/**
 * Whether numbers have a decimal comma: some cells require it and none has a point. Three digits after the comma may be
 * thousands and do not count. If the comma is the delimiter, only quoted cells could show it, and those are thousands
 * as often as decimals, so only the option sets it.
 */
export function guessDecimal(bytes: Uint8Array, delimiter: number, whole: boolean): number {
  if (delimiter === commaByte) return pointByte;
  const scanner = new RecordScanner(delimiter);
  const seen = { comma: 0, point: 0 };
  const quoted = { comma: 0, point: 0 };
  let records = 0;
  for (let at = 0; at < bytes.length && records < 10 * maxSampleRecords; at = scanner.next) {
    if (scanner.scan(bytes, at, bytes.length, whole) !== "record") break;
    records++;
    for (let c = 0; c < scanner.cells; c++) {
      const tally = scanner.marks[c] === CellMark.plain ? seen : quoted;
      const [from, to] = [scanner.starts[c]!, scanner.ends[c]!];
      if (to - from > 40) continue;
      if (classifyCell(bytes, from, to, pointByte) === CellTypeFlag.double) {
        if (bytes.subarray(from, to).includes(pointByte)) tally.point++;
      } else if (classifyCell(bytes, from, to, commaByte) === CellTypeFlag.double && bytes[to - 4] !== commaByte)
        tally.comma++;
    }
  }
  const decisive = seen.comma + seen.point > 0 ? seen : quoted;
  return decisive.comma > 0 && decisive.point === 0 ? commaByte : pointByte;
}

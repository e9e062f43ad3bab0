import { summarizeList, summarizeNames } from "../columns/ambiguity-notices.js";
import type { TableOptions } from "../options.js";
import { readCellText } from "../records/cell-text.js";
import { CellMark, type RecordScanner } from "../records/record-scanner.js";
import { guessHeader } from "./guess-header.js";
import type { Head } from "./head.js";

export interface FirstRecord {
  /** Their text; surrounding spaces belong to it only inside quotes. */
  readonly cells: readonly string[];
  readonly isHeader: boolean;
  /** Whether the guess is uncertain. */
  readonly isUncertain: boolean;
}

/** The record with the empty cells that records of its table leave out at their end. */
export function padRecord(first: FirstRecord, columns: number): FirstRecord {
  if (first.cells.length >= columns) return first;
  return { ...first, cells: [...first.cells, ...new Array<string>(columns - first.cells.length).fill("")] };
}

export function readFirstRecord(
  head: Head,
  scanner: RecordScanner,
  decimal: number,
  options: TableOptions,
): FirstRecord | null {
  let at = 0;
  while (at < head.bytes.length) {
    const found = scanner.scan(head.bytes, at, head.bytes.length, true);
    if (found === "unterminated" && scanner.recovery > at) {
      at = scanner.recovery;
      continue;
    }
    if (!scanner.isBlank(head.bytes)) {
      const cells = [...new Array(scanner.cells).keys()].map((c) => {
        const text = readCellText(head.bytes, scanner, c);
        return scanner.marks[c] === CellMark.plain ? text.trim() : text;
      });
      if (options.header !== "auto") return { cells, isHeader: options.header === "yes", isUncertain: false };
      const { isHeader, isUncertain } = guessHeader(head.bytes, scanner, decimal);
      return { cells, isHeader, isUncertain: isUncertain || (isHeader && isLastRecord(head, scanner)) };
    }
    at = scanner.next;
  }
  return null;
}

/** Whether only blank records follow the one scanned last: if it is the header, the table has no rows. */
function isLastRecord({ bytes, whole }: Head, scanner: RecordScanner): boolean {
  if (!whole) return false;
  for (let at = scanner.next; at < bytes.length; at = scanner.next)
    if (scanner.scan(bytes, at, bytes.length, true) !== "record" || !scanner.isBlank(bytes)) return false;
  return true;
}

/** Notices to report when the plan is complete. */
export type Notices = (readonly [code: string, field: string | undefined, example: string, count?: number])[];

/** Column names: trimmed, `field_3` if missing, made unique. */
export function nameColumns(first: FirstRecord, notices: Notices, isUsed: (column: number) => boolean): string[] {
  const taken = new UniqueNames();
  const numbered: { readonly wanted: string; readonly name: string }[] = [];
  const unnamed: string[] = [];
  if (first.isUncertain)
    notices.push([first.isHeader ? "header-assumed" : "header-missing", undefined, headerMessage(first)]);
  const names = first.cells.map((cell, c) => {
    const wanted = first.isHeader && cell.trim() !== "" ? cell : "";
    const name = taken.take(wanted === "" ? `field_${c + 1}` : wanted);
    if (wanted !== "" && name !== wanted) numbered.push({ wanted, name });
    else if (wanted === "" && first.isHeader && isUsed(c)) unnamed.push(name);
    return name;
  });
  if (numbered.length > 0) {
    const examples = summarizeList(numbered, ({ wanted, name }) => `a further "${wanted}" became "${name}"`);
    const field = numbered.length === 1 ? numbered[0]!.name : undefined;
    notices.push(["name-duplicate", field, examples, numbered.length]);
  }
  if (unnamed.length > 0) {
    const field = unnamed.length === 1 ? unnamed[0] : undefined;
    notices.push(["name-missing", field, `columns without a name became ${summarizeNames(unnamed)}`, unnamed.length]);
  }
  return names;
}

function headerMessage({ cells, isHeader }: FirstRecord): string {
  const row = summarizeNames(cells.map((cell) => cell.slice(0, 40)));
  return isHeader
    ? `the first row, ${row}, was taken for the names of the columns; --in header=no takes it for data`
    : `the first row, ${row}, was taken for data; --in header=yes takes it for the names of the columns`;
}

/** Makes names unique: `name_1`, `name_2` … for a name that exists. */
class UniqueNames {
  /** The existing names, each with the last number tried. */
  private readonly taken = new Map<string, number>();

  take(wanted: string): string {
    let name = wanted;
    let n = this.taken.get(wanted) ?? 0;
    while (this.taken.has(name)) name = `${wanted}_${++n}`;
    this.taken.set(wanted, n);
    if (!this.taken.has(name)) this.taken.set(name, 0);
    return name;
  }
}

/** Number of rows sampled. */
const maxSampleRows = 200;

/** Returns the cells of a column in the first rows, including blank ones. */
export function createColumnSampler(
  head: Head,
  scanner: RecordScanner,
  isHeader: boolean,
): (column: number) => readonly string[] {
  const known = new Map<number, string[]>();
  return (column) => {
    let cells = known.get(column);
    if (cells) return cells;
    cells = [];
    known.set(column, cells);
    for (let at = 0, row = isHeader ? -1 : 0; at < head.bytes.length && row < maxSampleRows; at = scanner.next) {
      if (scanner.scan(head.bytes, at, head.bytes.length, head.whole) !== "record") break;
      if (scanner.isBlank(head.bytes)) continue;
      if (row++ >= 0) cells.push(column < scanner.cells ? readCellText(head.bytes, scanner, column).trim() : "");
    }
    return cells;
  };
}

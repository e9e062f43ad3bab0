import { isAscii, isUtf8 } from "node:buffer";
import { createError } from "../../../../src/errors.js";
import { CellSizes, type CellSizesState } from "../columns/cell-sizes.js";
import {
  CellTypeFlag,
  classifyCell,
  classifyTextCell,
  resolveTemporalTexts,
  temporalOfText,
} from "../columns/classify-cell.js";
import {
  type ColumnFormat,
  classifyNotation,
  type FormatRules,
  groupedByPoints,
  hasThreeDecimals,
  inferColumnFormat,
  NotationFlag,
  textColumnFormat,
} from "../columns/column-format.js";
import { describeCell, MixedTypes, type MixedTypesState } from "../columns/mixed-types.js";
import { type OutlierColumn, TextOutliers, type TextOutliersState } from "../columns/text-outliers.js";
import type { GeometryScan, GeometryScanState } from "../geometry/geometry-scan.js";
import type { Notices } from "../header/first-record.js";
import { suitsKernels } from "../records/cell-marks.js";
import { lastRecordEnd } from "../records/last-record-end.js";
import {
  type BlockEnd,
  type BlockVisitor,
  forEachRecord,
  type RecordPasser,
  type ScanRange,
  splitRecordBlocks,
} from "../records/record-blocks.js";
import { CellMark, RecordScanner } from "../records/record-scanner.js";
import { pointByte } from "../records/signs.js";
import { looksSingleByte, type TextBlock, type TextBlockReader } from "../records/text-blocks.js";
import { type ColumnScan, type ColumnStates, KnownRecords } from "./known-records.js";
import type { Dialect, TableSplit } from "./plan.js";

/** Cells whose canonical text may be longer than their own. */
const resizedFlags = CellTypeFlag.datetime | NotationFlag.otherTemporal;

/** Thrown inside a scan if the file is not in the assumed encoding. */
export class WrongEncoding extends Error {}

/** Statistics of the rows of a part of a file, as plain data. */
export interface TableScanState {
  readonly flags: Uint32Array;
  readonly unquoted: Uint8Array;
  readonly sizes: CellSizesState;
  readonly rows: number;
  readonly lines: number;
  readonly plainNames: boolean;
  readonly isUtf8: boolean;
  readonly geometry: GeometryScanState | null;
  readonly strays: StrayQuotes;
  readonly outliers: TextOutliersState;
  readonly mixed: MixedTypesState;
}

/** Records with a quote inside a cell that is neither doubled nor at its end. */
export interface StrayQuotes {
  count: number;
  /** The line of the first one among the scanned records, from 1. */
  line: number;
}

/** Collects statistics of all rows. */
export class TableScan implements ColumnScan {
  /** The flags found in each column, as bits. */
  readonly flags: Uint32Array;
  /** Whether a column has an unquoted value. */
  private readonly unquoted: Uint8Array;
  /** Columns whose type is not final. */
  private active: number[];
  /** Text columns, for which only the sizes are measured. */
  private settled: number[] = [];
  readonly sizes: CellSizes;
  private readonly outliers: TextOutliers;
  private readonly mixed: MixedTypes;
  /** Rows, without those that have too many cells. */
  rows = 0;
  /** Lines read after those before the first record. */
  private lines = 0;
  headerPassed: boolean;
  /** Whether the requested number of rows was reached. */
  hasStopped = false;
  /** Whether names are quoted only if they need it. */
  private plainNames = false;
  /** Whether text beyond ASCII was found to be UTF-8. */
  private isUtf8 = false;
  /** Whether there are bytes that are not UTF-8; the reader replaces them with longer text. */
  isDamaged = false;
  /** The geometry scan, if there is one. */
  geometry: GeometryScan | null = null;
  readonly strays: StrayQuotes = { count: 0, line: 0 };
  private readonly forms = new Map<number, ColumnFormat>();
  /** Whether a column other than text has unquoted values; null until computed. */
  private plainNumbers: boolean | null = null;
  /** Null until computed. */
  private decimalCommas: boolean | null = null;

  constructor(
    private readonly source: string,
    private readonly dialect: Dialect,
    private readonly columns: number,
    private readonly skipErrors: boolean,
    /** Number of rows to scan; Infinity for all. */
    private readonly rowsWanted: number,
  ) {
    this.flags = new Uint32Array(columns);
    this.unquoted = new Uint8Array(columns);
    this.sizes = new CellSizes(columns);
    this.outliers = new TextOutliers(columns);
    this.mixed = new MixedTypes(columns);
    this.active = [...new Array(columns).keys()];
    this.headerPassed = !dialect.header;
  }

  get state(): TableScanState {
    const { flags, unquoted, sizes, rows, lines, plainNames, isUtf8, geometry, strays } = this;
    const found = { flags, unquoted, sizes: sizes.state, rows, lines, plainNames, isUtf8, strays };
    return { ...found, outliers: this.outliers.state, mixed: this.mixed.state, geometry: geometry?.state ?? null };
  }

  /** Merges the state of another scan of the records that follow. */
  add(next: TableScanState): void {
    const own = { flags: this.flags, values: this.outliers.values };
    this.mixed.merge(next.mixed, own, { flags: next.flags, values: next.outliers.values }, this.lines);
    for (let c = 0; c < this.columns; c++) {
      this.flags[c]! |= next.flags[c]!;
      this.unquoted[c]! |= next.unquoted[c]!;
    }
    this.sizes.add(next.sizes);
    this.rows += next.rows;
    if (next.strays.count > 0) this.stray(next.strays.count, next.strays.line);
    this.outliers.add(next.outliers, this.lines);
    this.lines += next.lines;
    this.headerPassed = true;
    this.plainNames ||= next.plainNames;
    this.isUtf8 ||= next.isUtf8;
    if (next.geometry) this.geometry?.add(next.geometry);
    this.settle();
  }

  /** Excludes a column from type inference, because its type is known. */
  ignore(column: number, sized: boolean): void {
    this.active = this.active.filter((c) => c !== column);
    if (sized) this.settled.push(column);
  }

  /**
   * Scans a range that begins with a record; returns its splits and the end of its last whole record.
   * @throws input-corrupt, WrongEncoding
   */
  async run(
    blocks: TextBlockReader,
    range: ScanRange,
    verify: boolean,
  ): Promise<{ splits: TableSplit[]; end: number }> {
    const splits: TableSplit[] = [];
    this.outliers.beginPart();
    const visitor = this.visitor(this.dialect.delimiter, verify);
    for await (const split of splitRecordBlocks(blocks, this.source, range, visitor)) {
      splits.push(split);
      if (this.hasStopped) break;
    }
    return { splits, end: splits.at(-1)?.to ?? range.from };
  }

  /** Scans block after block; with `verify`, text that is not UTF-8 throws WrongEncoding. */
  visitor(delimiter: number, verify: boolean): BlockVisitor {
    const scanner = new RecordScanner(delimiter);
    const passer = this.createPasser(delimiter);
    return (block: TextBlock, position: number, blockEnd: BlockEnd) => {
      const unterminated = (from: number, line: number) => {
        if (!this.skipErrors) throw this.unclosedQuote(block, position, from, line + scanner.openLine);
      };
      const record = (_from: number, line: number) => this.record(block.bytes, scanner, line);
      const passed = forEachRecord(block.bytes, blockEnd, scanner, record, unterminated, passer);
      this.lines += passed.lines;
      this.verify(block, position, passed.end, verify);
      return passed.end;
    };
  }

  /** Passes over records that tell nothing new; null for a table that it is not for. */
  private createPasser(delimiter: number): RecordPasser | null {
    const { columns, dialect, rowsWanted } = this;
    if (dialect.hasTypedCells || rowsWanted !== Number.POSITIVE_INFINITY) return null;
    return suitsKernels(delimiter, columns) ? new KnownRecords(delimiter, this) : null;
  }

  describeColumns(states: ColumnStates): boolean {
    const filled = this.geometry ? this.geometry.filledColumns : [];
    if (!this.headerPassed || filled === null) return false;
    const { flags, unquoted, sizes, mixed } = this;
    states.clear(this.columns);
    for (const c of this.active) {
      // Values of columns of several types are counted one by one.
      const known = mixed.isMixed[c] === 0 ? flags[c]! : 0;
      states.set(c, known, Math.min(sizes.texts[c]!, sizes.typed[c]!));
      if (unquoted[c] === 0) states.refuseUnquoted(c);
      if (sizes.empties[c] === 0) states.refuseEmptyText(c);
    }
    for (const c of this.settled) {
      states.set(c, null, sizes.texts[c]!);
      if (sizes.empties[c] === 0) states.refuseEmptyText(c);
    }
    for (const c of filled) states.requireValues(c);
    const prefix = this.geometry?.prefix;
    if (prefix) for (const c of filled) states.requireGeometry(c, prefix);
    return true;
  }

  pass(records: number, states: ColumnStates): void {
    this.rows += records;
    this.geometry?.pass(records);
    for (const c of this.active) this.outliers.values[c]! += states.valuesOf(c);
  }

  get decimal(): number {
    return this.dialect.decimal;
  }

  get columnCount(): number {
    return this.columns;
  }

  /** Finds only record ends and damage: by line ends and quotes, or by `visitor` in a block where that is not sure. */
  quickVisitor(delimiter: number): BlockVisitor {
    const visit = this.visitor(delimiter, false);
    return (block, position, blockEnd) => {
      const end = blockEnd === "limit" ? 0 : lastRecordEnd(block.bytes, delimiter, blockEnd === "file");
      if (end === 0) return visit(block, position, blockEnd);
      this.verify(block, position, end, false);
      return end;
    };
  }

  /** @param line in the block, from 1 */
  private unclosedQuote(block: TextBlock, position: number, from: number, line: number): Error {
    return createError("input-corrupt", {
      source: this.source,
      place: { line: this.dialect.lines + this.lines + line, ...(block.direct ? { byte: position + from } : {}) },
      reason: "a quote is opened here and never closed; correct it, or read past it with --skip-errors",
    });
  }

  private verify(block: TextBlock, position: number, end: number, verify: boolean): void {
    const whole = end === block.bytes.length ? block.bytes : block.bytes.subarray(0, end);
    if (block.isTrusted) return;
    if (block.direct) this.verifyUtf8(whole, verify);
    const nul = this.skipErrors ? -1 : whole.indexOf(0);
    if (nul < 0) return;
    throw createError("input-corrupt", {
      source: this.source,
      place: block.direct ? { byte: position + nul } : {},
      reason: "a NUL byte: this is not text, or not in the encoding assumed (option encoding)",
    });
  }

  /** In a file that is otherwise UTF-8, invalid bytes are damage rather than another encoding. */
  private verifyUtf8(bytes: Buffer, guessed: boolean): void {
    if (isAscii(bytes)) return;
    if (isUtf8(bytes)) this.isUtf8 = true;
    else if (guessed && !this.isUtf8 && looksSingleByte(bytes)) throw new WrongEncoding();
    else this.isDamaged = true;
  }

  private stray(count: number, line: number): void {
    if (this.strays.count === 0) this.strays.line = this.lines + line;
    this.strays.count += count;
  }

  /** @param line in the block, from 1 */
  private record(bytes: Uint8Array, scanner: RecordScanner, line: number): void {
    const { starts, ends, marks } = scanner;
    if (!this.headerPassed) {
      if (scanner.hasStray) this.stray(1, line);
      this.headerPassed = true;
      this.plainNames = hasOnlyNeededQuotes(bytes, scanner);
      return;
    }
    if (this.hasStopped || this.columns === 0) return;
    if (scanner.cells > this.columns && hasExtraCells(bytes, scanner, this.columns)) return;
    if (scanner.hasStray) this.stray(1, line);
    this.rows++;
    if (this.rows >= this.rowsWanted) this.hasStopped = true;
    this.geometry?.look(bytes, scanner);
    const { active, settled, flags, unquoted, sizes, outliers, mixed } = this;
    const { isMixed } = mixed;
    const { values } = outliers;
    const { texts, typed } = sizes;
    const { decimal, hasTypedCells } = this.dialect;
    // Cells with other marks are text.
    const maxMark = hasTypedCells ? CellMark.plain : CellMark.quoted;
    let found = false;
    for (let k = 0; k < active.length; k++) {
      const c = active[k]!;
      if (c >= scanner.cells) break;
      const from = starts[c]!;
      const to = ends[c]!;
      const mark = marks[c]!;
      if (from === to) {
        if (mark !== CellMark.plain) sizes.addEmpty(c);
        continue;
      }
      let flag: number = CellTypeFlag.text;
      if (mark <= maxMark) {
        flag = classifyCell(bytes, from, to, decimal);
        if (flag === CellTypeFlag.text) flag = classifyNotation(bytes, from, to, decimal);
        else if (
          flag === CellTypeFlag.double &&
          bytes[to - 4] === decimal &&
          hasThreeDecimals(bytes, from, to, decimal)
        )
          flag = NotationFlag.three;
      } else if (hasTypedCells && mark === CellMark.quoted) {
        const found = classifyTextCell(bytes, from, to);
        if (found !== CellTypeFlag.text) {
          // The column is text or not, depending on its other cells.
          flags[c]! |= found;
          values[c]!++;
          if (to - from > texts[c]!) sizes.addText(c, bytes, from, to, mark);
          sizes.addTyped(c, temporalOfText(found), bytes, from, to);
          continue;
        }
      }
      if (mark === CellMark.plain && flag !== CellTypeFlag.blank) unquoted[c] = 1;
      const known = flags[c]!;
      flags[c] = known | flag;
      if (((flag & ~known) !== 0 || isMixed[c] === 1) && flag !== CellTypeFlag.text) {
        const at = this.lines + line;
        mixed.add(c, known, flag, values[c]!, () => ({ line: at, text: describeCell(bytes, from, to) }));
      }
      if (flag !== CellTypeFlag.blank) values[c]!++;
      if (to - from > texts[c]!) sizes.addText(c, bytes, from, to, mark);
      if (flag === CellTypeFlag.text) {
        outliers.addText(c, bytes, from, to, this.lines + line);
        if (outliers.isClosed(c)) found = true;
      } else if (to - from > typed[c]! || (flag & resizedFlags) !== 0 || flag === CellTypeFlag.blank)
        sizes.addTyped(c, flag, bytes, from, to);
    }
    for (let k = 0; k < settled.length; k++) {
      const c = settled[k]!;
      if (c >= scanner.cells) continue;
      const size = ends[c]! - starts[c]!;
      if (size > texts[c]!) sizes.addText(c, bytes, starts[c]!, ends[c]!, marks[c]!);
      else if (size === 0 && marks[c] !== CellMark.plain) sizes.addEmpty(c);
    }
    if (found) this.settle();
  }

  /** Moves columns that are now known to be text to those of which only the sizes are measured. */
  private settle(): void {
    const isText = (c: number) => (this.flags[c]! & CellTypeFlag.text) !== 0 && this.outliers.isClosed(c);
    this.settled.push(...this.active.filter(isText));
    this.active = this.active.filter((c) => !isText(c));
  }

  /**
   * The type of a column. Quotes distinguish text from numbers if the file uses them for that: all values of the column
   * are quoted, while names or another column's numbers are not. R, Python's QUOTE_NONNUMERIC and this plugin's writer
   * do that.
   */
  formOf(column: number): ColumnFormat {
    const { delimiter, decimal, rules, hasTypedCells } = this.dialect;
    const flags = resolveTemporalTexts(this.flags[column]!);
    const grouped = this.hasOnlyDecimalCommas ? groupedByPoints(flags, rules) : null;
    const form = grouped ?? this.plainFormOf(flags, rules);
    if (hasTypedCells) return form;
    // Numbers that contain the delimiter must be quoted, so their quotes carry no information.
    const isQuotedByNeed =
      delimiter === (form.numbers?.decimal ?? decimal) || containsDelimiter(form.numbers, delimiter);
    if (this.unquoted[column] === 1 || isQuotedByNeed) return form;
    if (form.type === "text" && form.doubt === null) return form;
    return this.quotesText ? textColumnFormat : form;
  }

  /** A column that is text only because of a few cells; null for other columns. */
  outlierOf(column: number, name: string): OutlierColumn | null {
    const found = this.outliers.of(column);
    const isQuoted = !this.dialect.hasTypedCells && this.unquoted[column] === 0 && this.quotesText;
    if (!found || isQuoted) return null;
    const flags = resolveTemporalTexts(this.flags[column]!) & ~CellTypeFlag.text;
    const { decimal, lines, rules } = this.dialect;
    const { type, numbers } = this.plainFormOf(flags, rules);
    if (type === "text") return null;
    const isCastable =
      numbers === null && (flags & NotationFlag.otherTemporal) === 0 && (type !== "double" || decimal === pointByte);
    const first = { ...found.first, line: lines + found.first.line };
    return { ...found, name, type, isCastable, first };
  }

  /** The notice about a column that is text since its values, none of them text, are of several types. */
  mixtureOf(column: number, name: string): Notices[number] | null {
    const { type, doubt } = this.formOf(column);
    const isQuoted = !this.dialect.hasTypedCells && this.unquoted[column] === 0 && this.quotesText;
    const hasText = (resolveTemporalTexts(this.flags[column]!) & CellTypeFlag.text) !== 0;
    if (type !== "text" || doubt !== null || hasText || isQuoted) return null;
    return this.mixed.noticeOf(column, name, this.dialect.lines);
  }

  /** By the flags alone; cached for columns with the same flags. */
  private plainFormOf(flags: number, rules: FormatRules): ColumnFormat {
    let form = this.forms.get(flags);
    if (!form) {
      form = inferColumnFormat(flags, rules);
      this.forms.set(flags, form);
    }
    return form;
  }

  /** Whether names or numbers are unquoted, so that quotes mark text. */
  private get quotesText(): boolean {
    this.plainNumbers ??= this.flags.some(
      (flags, c) => this.unquoted[c] === 1 && inferColumnFormat(flags, this.dialect.rules).type !== "text",
    );
    return this.plainNames || this.plainNumbers;
  }

  /** Whether numbers of the file have decimal commas, none has a decimal point, and no option says otherwise. */
  private get hasOnlyDecimalCommas(): boolean {
    const { decimal, rules } = this.dialect;
    if (rules.isDecimalGiven || rules.thousands !== undefined) return false;
    this.decimalCommas ??= this.findDecimalCommas(decimal);
    return this.decimalCommas;
  }

  private findDecimalCommas(decimal: number): boolean {
    const numeric = this.flags.filter((flags) => (flags & CellTypeFlag.text) === 0);
    const hasFlag = (flag: number) => numeric.some((flags) => (flags & flag) !== 0);
    const [comma, point] =
      decimal === pointByte
        ? [NotationFlag.otherDecimal, CellTypeFlag.double]
        : [CellTypeFlag.double, NotationFlag.otherDecimal];
    return hasFlag(comma) && !hasFlag(point);
  }

  /**
   * Whether the decimal sign of the file is certain: a column among `isKept` shows it, and no column shows the other one.
   * Coordinates do not count: tables with decimal commas may have them with points.
   */
  hasSureDecimals(isKept: (column: number) => boolean): boolean {
    const numeric = (flags: number) => (flags & CellTypeFlag.text) === 0;
    return (
      this.flags.some((flags, c) => isKept(c) && numeric(flags) && (flags & CellTypeFlag.double) !== 0) &&
      !this.flags.some((flags) => numeric(flags) && (flags & NotationFlag.otherDecimal) !== 0)
    );
  }

  /** Whether every value of the column is a finite number or missing. */
  isNumeric(column: number): boolean {
    const plain =
      CellTypeFlag.int32 | CellTypeFlag.int64 | CellTypeFlag.wide | CellTypeFlag.double | NotationFlag.three;
    return (this.flags[column]! & ~plain) === 0;
  }
}

/** Whether a cell of the record is unquoted, or all quoted cells need their quotes. */
function hasOnlyNeededQuotes(bytes: Uint8Array, scanner: RecordScanner): boolean {
  let needless = 0;
  for (let c = 0; c < scanner.cells; c++) {
    if (scanner.marks[c] === CellMark.plain) return true;
    const [from, to] = [scanner.starts[c]!, scanner.ends[c]!];
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
    if (
      !/[",;|\t\r\n]/.test(text) &&
      text === text.trim() &&
      classifyCell(bytes, from, to, pointByte) === CellTypeFlag.text
    )
      needless++;
  }
  return needless === 0;
}

/** Whether numbers in this format have the delimiter between their groups. */
const containsDelimiter = (form: ColumnFormat["numbers"], delimiter: number): boolean =>
  form?.group === "space" ? delimiter === 32 : form?.group?.charCodeAt(0) === delimiter;

/** Whether a cell contains only blanks of any kind, including no-break spaces. */
const isBlankText = (bytes: Uint8Array, from: number, to: number): boolean =>
  to - from <= 64 &&
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from)
    .toString("utf8")
    .trim() === "";

/** Whether the record has more cells than there are columns, and any of the extra cells is filled. */
export function hasExtraCells(bytes: Uint8Array, scanner: RecordScanner, columns: number): boolean {
  for (let c = columns; c < scanner.cells; c++) {
    for (let i = scanner.starts[c]!; i < scanner.ends[c]!; i++) {
      if (bytes[i]! <= 32) continue;
      if (!isBlankText(bytes, scanner.starts[c]!, scanner.ends[c]!)) return true;
      break;
    }
  }
  return false;
}

import { createError } from "../../../src/errors.js";
import type { Source } from "../../../src/plugin/format.js";
import { ScratchFile } from "../../shared/scratch-file.js";
import { spooledCharacters } from "../../shared/table/records/record-scanner.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { checkExpansion } from "../../shared/zip/zip-reader.js";
import { maxColumns, maxRows } from "../limits.js";

const [comma, lineFeed, quote, space] = [44, 10, 34, 32];
const flushBytes = 1 << 20;

/** Bytes of text that need an escape between quotes. */
const specialBytes = new Uint8Array(256);
for (const byte of [0, 10, 13, quote]) specialBytes[byte] = 1;
/** Bytes of text that need quotes although quotes do not mark text. */
const quotedBytes = Uint8Array.from(specialBytes);
quotedBytes[comma] = 1;

/** Cells of one kind: their number, and the place and text of the first. */
export interface CellTally {
  count: number;
  readonly column: number;
  readonly example: string;
}

/**
 * Writes the rows of a sheet as records, line n for row n, to a temporary file that the survey of tables reads: numbers,
 * dates and booleans without quotes, text in quotes.
 */
export class RowSpool {
  private readonly file: ScratchFile;
  private readonly out = new TextBuffer(2 * flushBytes);
  private readonly record = new TextBuffer();
  private position = 0;
  /** Line ends written. */
  private lines = 0;
  private row = 0;
  private cells = 0;
  private hasLost = false;
  /** Rows without a value between others. */
  blankRows = 0;
  /** Whether any row has a value in a column. */
  readonly used: boolean[] = [];
  /** Cells whose value was not kept, by column and reason. */
  readonly lost = new Map<string, CellTally>();

  /** @param marksText whether all text is in quotes */
  constructor(
    private readonly source: Source,
    readonly path: string,
    private readonly marksText: boolean,
  ) {
    this.file = new ScratchFile(source.name, path);
  }

  /** Whether a row has a value. */
  get isEmpty(): boolean {
    return this.used.length === 0;
  }

  /** @param row counted from 1 @throws input-corrupt */
  beginRow(row: number): void {
    this.row = row;
    this.cells = 0;
    this.hasLost = false;
    this.record.length = 0;
  }

  private column(column: number): TextBuffer {
    const { record, row } = this;
    if (column >= maxColumns || row > maxRows) {
      const limit = row > maxRows ? `${maxRows} rows` : `${maxColumns} columns`;
      throw this.corrupt(`a cell is beyond the ${limit} that a sheet can have`);
    }
    if (column < this.cells) throw this.corrupt(`the cells of row ${row} are not in order`);
    record.fill(comma, this.cells === 0 ? column : column - this.cells + 1);
    this.cells = column + 1;
    this.used[column] = true;
    return record;
  }

  private corrupt(reason: string): Error {
    return createError("input-corrupt", { source: this.source.name, reason });
  }

  /** A number, a date, a time or a boolean, as ASCII without commas and quotes. */
  plain(column: number, text: string): void {
    this.column(column).ascii(text);
  }

  plainBytes(column: number, bytes: Uint8Array, from: number, to: number): void {
    this.column(column).bytes(bytes, from, to);
  }

  /** Text in UTF-8. */
  text(column: number, bytes: Uint8Array, from: number, to: number): void {
    const out = this.column(column);
    const needs = this.marksText ? specialBytes : quotedBytes;
    let special = 0;
    for (let i = from; i < to; i++) special |= needs[bytes[i]!]!;
    const isPlain = !this.marksText && special === 0 && to > from && bytes[from] !== space && bytes[to - 1] !== space;
    if (isPlain) {
      out.bytes(bytes, from, to);
      return;
    }
    out.byte(quote);
    if (special === 0) out.bytes(bytes, from, to);
    else {
      let start = from;
      for (let i = from; i < to; i++) {
        const byte = bytes[i]!;
        if (specialBytes[byte] === 0) continue;
        out.bytes(bytes, start, i);
        out.byte(quote);
        out.byte(quote);
        const escaped = spooledCharacters[byte];
        if (escaped !== undefined) out.byte(escaped);
        start = i + 1;
      }
      out.bytes(bytes, start, to);
    }
    out.byte(quote);
  }

  /** Counts a cell without a value that can be kept. */
  lose(code: string, column: number, example: string): void {
    const key = `${code} ${column}`;
    const known = this.lost.get(key);
    if (known) known.count++;
    else this.lost.set(key, { count: 1, column, example });
    // The row and the column exist, with a null.
    this.used[column] = true;
    this.hasLost = true;
  }

  /** @param repeat how often the row occurs, from the row of `beginRow` on @throws input-corrupt */
  endRow(repeat = 1): void {
    if (this.cells === 0 && !this.hasLost) return;
    // A line without a cell would be no record.
    if (this.cells === 0) this.record.byte(comma);
    const bytes = this.record.written();
    if (this.out.length + this.position > 0) this.blankRows += this.row - this.lines - 2;
    if (this.row + repeat - 1 > maxRows) throw this.corrupt(`it has more than ${maxRows} rows`);
    for (let row = this.row; row < this.row + repeat; row++) {
      this.out.fill(lineFeed, row - 1 - this.lines);
      this.lines = row - 1;
      this.out.bytes(bytes, 0, bytes.length);
      if (this.out.length >= flushBytes) this.flush();
    }
  }

  private flush(): void {
    const { out } = this;
    checkExpansion(this.position + out.length, this.source);
    const bytes = out.written();
    this.file.write(bytes, this.position);
    this.position += bytes.length;
    out.length = 0;
  }

  /** Ends the file. @returns its size in bytes */
  finish(): number {
    if (!this.isEmpty) this.out.byte(lineFeed);
    this.flush();
    this.file.close();
    return this.position;
  }

  abort(): void {
    this.file.close();
  }
}

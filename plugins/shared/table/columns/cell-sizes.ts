import { CellMark, CellUnquoter } from "../records/record-scanner.js";
import { CellTypeFlag } from "./classify-cell.js";
import { NotationFlag } from "./column-format.js";
import { parseOtherTemporal } from "./other-temporal.js";
import { canonicalDatetimeLength } from "./temporal.js";

function canonicalByteLength(sort: number, bytes: Uint8Array, from: number, to: number): number {
  if ((sort & NotationFlag.otherTemporal) !== 0) {
    const other = parseOtherTemporal(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1"));
    // "1999-12-31" is longer than "1.1.1999"; one letter separates the time.
    return 10 + (other?.hasTime ? 1 + other.time.length : 0);
  }
  return sort === CellTypeFlag.datetime ? canonicalDatetimeLength(bytes, from, to) : to - from;
}

/** The measurements, as plain data. */
export type CellSizesState = Pick<CellSizes, "texts" | "typed" | "empties" | "blanks">;

/** The longest values of each column, in bytes: as text, and in the canonical form of their type. */
export class CellSizes {
  /** As text; the caller calls `addText` only for a cell longer than this. */
  readonly texts: Uint32Array;
  /**
   * Without surrounding spaces, dates and times in canonical form; the caller calls `addTyped` only for a cell that is
   * longer than this, blank, or a datetime.
   */
  readonly typed: Uint32Array;
  /** Whether a column has a cell of two quotes with nothing between them. */
  readonly empties: Uint8Array;
  /** Whether a column has a cell of spaces only. */
  readonly blanks: Uint8Array;
  private readonly scratch = new CellUnquoter();

  constructor(columns: number) {
    this.texts = new Uint32Array(columns);
    this.typed = new Uint32Array(columns);
    this.empties = new Uint8Array(columns);
    this.blanks = new Uint8Array(columns);
  }

  /** Merges measurements of another scan. */
  add(other: CellSizesState): void {
    for (let c = 0; c < this.texts.length; c++) {
      this.texts[c] = Math.max(this.texts[c]!, other.texts[c]!);
      this.typed[c] = Math.max(this.typed[c]!, other.typed[c]!);
      this.empties[c]! |= other.empties[c]!;
      this.blanks[c]! |= other.blanks[c]!;
    }
  }

  get state(): CellSizesState {
    const { texts, typed, empties, blanks } = this;
    return { texts, typed, empties, blanks };
  }

  addEmpty(column: number): void {
    this.empties[column] = 1;
  }

  addText(column: number, bytes: Uint8Array, from: number, to: number, mark: number): void {
    let size = to - from;
    if (mark > CellMark.quoted) {
      this.scratch.unquote(bytes, from, to, mark);
      size = this.scratch.length;
      // The text between doubled quotes can be empty.
      if (size === 0) this.empties[column] = 1;
    }
    if (size > this.texts[column]!) this.texts[column] = size;
  }

  addTyped(column: number, sort: number, bytes: Uint8Array, from: number, to: number): void {
    if (sort === CellTypeFlag.blank) this.blanks[column] = 1;
    let start = from;
    let end = to;
    while (start < end && bytes[start] === 32) start++;
    while (end > start && bytes[end - 1] === 32) end--;
    const size = canonicalByteLength(sort, bytes, start, end);
    if (size > this.typed[column]!) this.typed[column] = size;
  }
}

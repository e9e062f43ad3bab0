import { firstMarkedByte, highBits, lowBits } from "../../text/byte-words.js";
import { DataViewCache } from "../../text/data-view.js";
import { CellMarks, Ending, endingMask, Notation, offsetShift } from "./cell-marks.js";

/** The notation of a cell in the file, as bits. */
export const CellMark = {
  plain: 0,
  /** Between quotes, which `starts` and `ends` exclude. */
  quoted: 1,
  /** Between quotes, with doubled quotes inside. */
  doubled: 2,
  /**
   * Quoted text with more text after the closing quote: kept unchanged, with its quotes, and `starts` and `ends`
   * include all of it.
   */
  stray: 4,
} as const;

/** Whether the text of a cell is more than `bytes[start … end]`: a `CellUnquoter` returns it. */
export const needsUnquoting = (mark: number): boolean => (mark & (CellMark.doubled | CellMark.stray)) !== 0;

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;

/** Beyond this many bytes, a native search is cheaper than a loop over bytes. */
const maxLoopBytes = 24;

/** Blocks of fewer bytes are not worth a kernel. */
export const minMarkedBytes = 1 << 18;
const maxUnclearInRow = 64;

/** Finds line ends and quotes by native search: long cells are most of a file of geometries. */
class LineBreakFinder {
  private bytes: Uint8Array = new Uint8Array();
  private buffer: Buffer = Buffer.alloc(0);
  /** The range in which the next LF and CR are known. */
  private from = 0;
  private nextFeed = 0;
  private nextReturn = 0;

  private look(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.from = 0;
    this.nextFeed = this.next(lineFeed, 0);
    this.nextReturn = this.next(carriageReturn, 0);
  }

  private next(byte: number, from: number): number {
    const found = this.buffer.indexOf(byte, from);
    return found < 0 ? this.buffer.length : found;
  }

  /** The next quote after `from`, or `to`. */
  quoteBehind(bytes: Uint8Array, from: number, to: number): number {
    if (bytes !== this.bytes) this.look(bytes);
    const found = this.buffer.indexOf(quote, from);
    return found < 0 || found > to ? to : found;
  }

  /** Line ends in `bytes[from … to]`: LF, and CR not followed by LF. */
  count(bytes: Uint8Array, from: number, to: number): number {
    if (to - from <= maxLoopBytes) {
      let lines = 0;
      for (let i = from; i < to; i++) {
        const byte = bytes[i]!;
        if (byte === lineFeed || (byte === carriageReturn && bytes[i + 1] !== lineFeed)) lines++;
      }
      return lines;
    }
    if (bytes !== this.bytes || from < this.from) this.look(bytes);
    this.from = from;
    let lines = 0;
    if (this.nextFeed < from) this.nextFeed = this.next(lineFeed, from);
    for (; this.nextFeed < to; this.nextFeed = this.next(lineFeed, this.nextFeed + 1)) lines++;
    if (this.nextReturn < from) this.nextReturn = this.next(carriageReturn, from);
    for (; this.nextReturn < to; this.nextReturn = this.next(carriageReturn, this.nextReturn + 1)) {
      if (bytes[this.nextReturn + 1] !== lineFeed) lines++;
    }
    return lines;
  }
}

export type RecordStatus = "record" | "incomplete" | "unterminated";

/**
 * Finds records and cells in bytes (RFC 4180, 2), in UTF-8 or any other superset of ASCII. A record ends at LF, CR LF
 * or CR outside quotes. A quote opens a quoted cell only at its beginning, after optional spaces; elsewhere it is an
 * ordinary character.
 */
export class RecordScanner {
  /** Cell c of the last record is `bytes[starts[c] … ends[c]]`; `marks[c]` holds its `CellMark` bits. */
  starts = new Uint32Array(64);
  ends = new Uint32Array(64);
  marks = new Uint8Array(64);
  cells = 0;
  /** The offset of the next record. */
  next = 0;
  /** Line ends in the record, including its own. */
  lines = 0;
  /** Line ends within the record before the unclosed quote. */
  openLine = 0;
  /** The offset of the line after that quote. */
  recovery = 0;
  /** Whether a cell of the record is marked as stray. */
  hasStray = false;
  private readonly delimiter: number;
  /** Line ends in quoted cells. */
  private readonly breaks = new LineBreakFinder();
  /** 1 for bytes that end an unquoted cell. */
  private readonly ending = new Uint8Array(256);
  /** The delimiter, repeated four times. */
  private readonly delimiters: number;
  private readonly views = new DataViewCache();
  private cellMarks: CellMarks | null = null;
  /** Consecutive records that marks do not explain, and the last block that seems to have no others. */
  private unclearInRow = 0;
  private unclearBlock: Uint8Array | null = null;

  constructor(delimiter: number) {
    this.delimiter = delimiter;
    this.delimiters = Math.imul(delimiter, lowBits);
    this.ending[delimiter] = 1;
    this.ending[lineFeed] = 1;
    this.ending[carriageReturn] = 1;
  }

  private grow(): void {
    const size = this.starts.length * 2;
    const [starts, ends, marks] = [new Uint32Array(size), new Uint32Array(size), new Uint8Array(size)];
    starts.set(this.starts);
    ends.set(this.ends);
    marks.set(this.marks);
    [this.starts, this.ends, this.marks] = [starts, ends, marks];
  }

  /**
   * Scans the record that begins at `from`. `to` is the end of the bytes; `final` means that the file, or the range to
   * scan, ends there, too. Incomplete: more bytes are needed. Unterminated: a quote is never closed.
   */
  scan(bytes: Uint8Array, from: number, to: number, final: boolean): RecordStatus {
    if (bytes.length >= minMarkedBytes && this.scanMarks(bytes, from, to)) return "record";
    return this.scanCells(bytes, from, to, final);
  }

  /** Scans a record that ends with a line feed, and whose quotes enclose whole cells, by marks; returns false for any other. */
  private scanMarks(bytes: Uint8Array, from: number, to: number): boolean {
    if (bytes === this.unclearBlock) return false;
    this.cellMarks ??= CellMarks.of(this.delimiter);
    const { cellMarks } = this;
    const { marks } = cellMarks;
    let mark = cellMarks.ofRecord(bytes, from);
    if (mark < 0) return this.countUnclear(bytes);
    const base = cellMarks.from;
    let lines = 1;
    for (let cells = 0, start = from; ; mark++) {
      const found = marks[mark]!;
      if (cells === this.starts.length) this.grow();
      const next = base + (found >>> offsetShift);
      const quotes = (found & Notation.quoted) === 0 ? 0 : 1;
      this.starts[cells] = start + quotes;
      this.ends[cells] = next - ((found & Notation.returned) === 0 ? 1 : 2) - quotes;
      this.marks[cells] = quotes * CellMark.quoted + ((found & Notation.doubled) === 0 ? 0 : CellMark.doubled);
      if ((found & Notation.broken) !== 0) lines += this.breaks.count(bytes, start, this.ends[cells]!);
      cells++;
      start = next;
      if ((found & endingMask) === Ending.cell) continue;
      if (start > to) return false;
      this.cells = cells;
      this.next = start;
      this.lines = lines;
      this.hasStray = false;
      this.unclearInRow = 0;
      return true;
    }
  }

  /** Gives up marks for a block that seems to have no records that they explain. */
  private countUnclear(bytes: Uint8Array): false {
    if (++this.unclearInRow === maxUnclearInRow) {
      this.unclearBlock = bytes;
      this.unclearInRow = 0;
    }
    return false;
  }

  private scanCells(bytes: Uint8Array, from: number, to: number, final: boolean): RecordStatus {
    const { ending, delimiter } = this;
    const view = this.views.of(bytes);
    let i = from;
    let cells = 0;
    let lines = 0;
    this.hasStray = false;
    for (;;) {
      if (cells === this.starts.length) this.grow();
      let start = i;
      let end: number;
      let mark: number = CellMark.plain;
      let open = i;
      if (delimiter !== space) while (open < to && bytes[open] === space) open++;
      if (open < to && bytes[open] === quote) {
        mark = CellMark.quoted;
        start = open + 1;
        const openedAt = lines;
        let j = start;
        for (;;) {
          const from = j;
          const near = Math.min(to, j + maxLoopBytes);
          while (j < near && bytes[j] !== quote) j++;
          if (j === near && j < to) j = this.breaks.quoteBehind(bytes, j, to);
          lines += this.breaks.count(bytes, from, j);
          if (j >= to) return this.unclosed(bytes, open, to, final, openedAt);
          if (j + 1 < to && bytes[j + 1] === quote) {
            mark |= CellMark.doubled;
            j += 2;
          } else break;
        }
        // The bytes may end between the two quotes of a pair.
        if (j + 1 === to && !final) return "incomplete";
        end = j;
        i = j + 1;
        if (delimiter !== space) while (i < to && bytes[i] === space) i++;
        if (i < to && ending[bytes[i]!] === 0) {
          while (i < to && ending[bytes[i]!] === 0) i++;
          mark |= CellMark.stray;
          this.hasStray = true;
          start = open;
          end = i;
        }
      } else {
        i = this.plainEnd(view, bytes, i, to);
        end = i;
      }
      this.starts[cells] = start;
      this.ends[cells] = end;
      this.marks[cells] = mark;
      cells++;
      if (i < to && bytes[i] === delimiter) {
        i++;
        continue;
      }
      if (i >= to) {
        if (!final) return "incomplete";
      } else {
        // A CR at the end of the bytes may be half of a line end.
        if (bytes[i] === carriageReturn && i + 1 >= to && !final) return "incomplete";
        i += bytes[i] === carriageReturn && bytes[i + 1] === lineFeed && i + 1 < to ? 2 : 1;
        lines++;
      }
      this.cells = cells;
      this.next = i;
      this.lines = lines;
      return "record";
    }
  }

  /**
   * The end of an unquoted cell that continues at `from`, four bytes at a time. In `found`, the highest bit is set for
   * zero bytes of `x` and for bytes of `word` below 14, and possibly for a byte above one of them because of the
   * borrow, so only the lowest is used (H. S. Warren, Hacker's Delight, 6-1).
   */
  private plainEnd(view: DataView, bytes: Uint8Array, from: number, to: number): number {
    const { ending, delimiters } = this;
    let i = from;
    while (i <= to - 4) {
      const word = view.getInt32(i, true);
      const x = word ^ delimiters;
      const found = (((x - lowBits) & ~x) | ((word - 14 * lowBits) & ~word)) & highBits;
      if (found === 0) i += 4;
      else {
        i += firstMarkedByte(found);
        if (ending[bytes[i]!] === 1) return i;
        i++;
      }
    }
    while (i < to && ending[bytes[i]!] === 0) i++;
    return i;
  }

  private unclosed(bytes: Uint8Array, open: number, to: number, final: boolean, openedAt: number): RecordStatus {
    if (!final) return "incomplete";
    this.openLine = openedAt;
    let i = open;
    while (i < to && bytes[i] !== lineFeed && bytes[i] !== carriageReturn) i++;
    this.recovery = Math.min(to, i + (bytes[i] === carriageReturn && bytes[i + 1] === lineFeed ? 2 : 1));
    return "unterminated";
  }

  /** Whether the record is an empty line or consists of spaces. */
  isBlank(bytes: Uint8Array): boolean {
    if (this.cells !== 1 || this.marks[0] !== CellMark.plain) return false;
    for (let i = this.starts[0]!; i < this.ends[0]!; i++) if (bytes[i] !== space) return false;
    return true;
  }
}

/**
 * Characters that would end a record or the text of a file, as readers of spreadsheets write them after two quotes: these
 * bytes never occur in UTF-8.
 */
export const spooledCharacters: Readonly<Record<number, number>> = {
  0: 0xfd,
  [carriageReturn]: 0xfe,
  [lineFeed]: 0xff,
};
const minSpooledByte = 0xfd;
const characterOfSpooledByte = [0, carriageReturn, lineFeed];

/** Unquotes a cell into a buffer that the next call may reuse. */
export class CellUnquoter {
  bytes: Uint8Array = new Uint8Array(1024);
  length = 0;

  /** Removes the quotes that belong to the notation rather than to the text. */
  unquote(source: Uint8Array, from: number, to: number, mark: number): void {
    if (this.bytes.length < to - from) this.bytes = new Uint8Array(2 * (to - from));
    const { bytes } = this;
    // RFC 4180 does not define such quotes, so all are kept.
    if ((mark & CellMark.stray) !== 0) {
      bytes.set(source.subarray(from, to));
      this.length = to - from;
      return;
    }
    let at = 0;
    for (let i = from; i < to; i++) {
      let byte = source[i]!;
      if (byte === quote && i + 1 < to && source[i + 1] === quote) {
        i++;
        if (i + 1 < to && source[i + 1]! >= minSpooledByte)
          byte = characterOfSpooledByte[source[++i]! - minSpooledByte]!;
      }
      bytes[at++] = byte;
    }
    this.length = at;
  }
}

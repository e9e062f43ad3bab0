/** How a cell stands in the file; bits. */
export const Mark = {
  plain: 0,
  /** Between quotes, which `starts` and `ends` leave out. */
  quoted: 1,
  /** Between quotes, with doubled quotes inside. */
  doubled: 2,
  /** Quoted text with more text behind the closing quote; `starts` and `ends` take in all of it. */
  stray: 4,
} as const;

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;

export type Found = "record" | "incomplete" | "unterminated";

/**
 * Finds records and cells in bytes (RFC 4180, 2): UTF-8, or anything else in which ASCII is ASCII. A record ends at LF,
 * CR LF or CR outside of quotes, whichever comes. A quote opens a quoted cell at its beginning only, spaces before it
 * left aside; elsewhere it is a character like others.
 */
export class Scanner {
  /** Cell c of the record found last is `bytes[starts[c] … ends[c]]`, as `marks[c]` says. */
  starts = new Uint32Array(64);
  ends = new Uint32Array(64);
  marks = new Uint8Array(64);
  cells = 0;
  /** Where the next record begins. */
  next = 0;
  /** Line ends that the record took, its own included. */
  lines = 0;
  /** Line ends before the quote that was not closed, within the record. */
  openLine = 0;
  /** Where the line after that quote begins. */
  recovery = 0;
  private readonly delimiter: number;
  /** 1 for bytes that end a plain cell. */
  private readonly ending = new Uint8Array(256);

  constructor(delimiter: number) {
    this.delimiter = delimiter;
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
   * Scans the record that begins at `from`; `to` is where the bytes end, and `final` says that the file, or the part
   * of it that counts, ends there too. Incomplete: more bytes are needed. Unterminated: a quote is never closed.
   */
  scan(bytes: Uint8Array, from: number, to: number, final: boolean): Found {
    const { ending, delimiter } = this;
    let i = from;
    let cells = 0;
    let lines = 0;
    for (;;) {
      if (cells === this.starts.length) this.grow();
      let start = i;
      let end: number;
      let mark: number = Mark.plain;
      let open = i;
      if (delimiter !== space) while (open < to && bytes[open] === space) open++;
      if (open < to && bytes[open] === quote) {
        mark = Mark.quoted;
        start = open + 1;
        const openedAt = lines;
        let j = start;
        for (;;) {
          for (; j < to; j++) {
            const byte = bytes[j]!;
            if (byte === quote) break;
            if (byte === lineFeed || (byte === carriageReturn && bytes[j + 1] !== lineFeed)) lines++;
          }
          if (j >= to) return this.unclosed(bytes, open, to, final, openedAt);
          if (j + 1 < to && bytes[j + 1] === quote) {
            mark |= Mark.doubled;
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
          mark |= Mark.stray;
          start = open;
          end = i;
        }
      } else {
        while (i < to && ending[bytes[i]!] === 0) i++;
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

  private unclosed(bytes: Uint8Array, open: number, to: number, final: boolean, openedAt: number): Found {
    if (!final) return "incomplete";
    this.openLine = openedAt;
    let i = open;
    while (i < to && bytes[i] !== lineFeed && bytes[i] !== carriageReturn) i++;
    this.recovery = Math.min(to, i + (bytes[i] === carriageReturn && bytes[i + 1] === lineFeed ? 2 : 1));
    return "unterminated";
  }

  /** Whether the record is a blank line, or one of spaces. */
  isBlank(bytes: Uint8Array): boolean {
    if (this.cells !== 1 || this.marks[0] !== Mark.plain) return false;
    for (let i = this.starts[0]!; i < this.ends[0]!; i++) if (bytes[i] !== space) return false;
    return true;
  }
}

/** Text of a cell without its quotes, in a buffer that the next call may reuse. */
export class CellText {
  bytes: Uint8Array = new Uint8Array(1024);
  length = 0;

  /** Takes away the quotes that belong to the file and not to the text. */
  unquote(source: Uint8Array, from: number, to: number, mark: number): void {
    if (this.bytes.length < to - from) this.bytes = new Uint8Array(2 * (to - from));
    const { bytes } = this;
    let at = 0;
    // In a stray cell, the opening quote is still there, and what follows the closing one is as it stands.
    let quoted = true;
    let i = (mark & Mark.stray) !== 0 ? from + 1 : from;
    for (; i < to; i++) {
      const byte = source[i]!;
      if (quoted && byte === quote) {
        if (i + 1 < to && source[i + 1] === quote) i++;
        else {
          quoted = false;
          continue;
        }
      }
      bytes[at++] = byte;
    }
    this.length = at;
  }
}

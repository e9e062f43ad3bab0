import type { WriteContext } from "../../../src/plugin/format.js";
import { CellTypeFlag, classifyCell } from "../../shared/table/columns/classify-cell.js";
import { classifyNotation } from "../../shared/table/columns/column-format.js";
import { commaByte, pointByte } from "../../shared/table/records/signs.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import type { WriterOptions } from "../options.js";

const quote = 34;

/** Characters that start a formula in a spreadsheet: = + - @ TAB CR LF (OWASP, CSV injection). */
const formulaPrefixes = new Set([61, 43, 45, 64, 9, 13, 10]);
/** The last bytes of the full-width = + - @ (U+FF1D, U+FF0B, U+FF0D, U+FF20), which begin with EF BC. */
const fullWidthPrefixTails = new Set([0x9d, 0x8b, 0x8d, 0xa0]);

/** Whether a spreadsheet may run a text as a formula; a telephone number such as +49 is not one. */
export function isFormula(bytes: Uint8Array, from: number, to: number): boolean {
  if (from >= to) return false;
  const isWide =
    bytes[from] === 0xef && to - from > 2 && bytes[from + 1] === 0xbc && fullWidthPrefixTails.has(bytes[from + 2]!);
  return isWide || (formulaPrefixes.has(bytes[from]!) && !isSignedNumber(bytes, from, to));
}

/** Writes text cells (RFC 4180, 2.5 to 2.7). */
export class TextCellWriter {
  /** 1 for bytes that require quotes. */
  private readonly special = new Uint8Array(256);
  private readonly all: boolean;

  constructor(
    private readonly out: TextBuffer,
    private readonly delimiter: number,
    private readonly options: WriterOptions,
    private readonly context: WriteContext,
  ) {
    for (const byte of [delimiter, quote, 10, 13, 0]) this.special[byte] = 1;
    this.all = options.quote === "all";
  }

  /**
   * Writes text, quoted if a reader would take it for a number, a date, a boolean or a missing value: this plugin's
   * reader, R and Python recognize text by its quotes.
   */
  text(bytes: Uint8Array, from: number, to: number, field: string): void {
    const { options, context, delimiter } = this;
    const looksTyped =
      classifyCell(bytes, from, to, pointByte) !== CellTypeFlag.text ||
      (delimiter !== commaByte && classifyCell(bytes, from, to, commaByte) !== CellTypeFlag.text) ||
      classifyNotation(bytes, from, to, pointByte) !== CellTypeFlag.text;
    if (looksTyped && this.all && from < to && !options.csvt) {
      const example = `"${Buffer.from(bytes.subarray(from, to)).toString("utf8").slice(0, 40)}" may be read as another type; csvt=yes declares it`;
      context.reportLoss("type-undeclared", field, example);
    }
    if (options.escapeFormulas && !looksTyped && isFormula(bytes, from, to)) {
      context.reportLoss("formula-escaped", field, `an apostrophe was put before "${sample(bytes, from, to)}"`);
      this.put(bytes, from, to, true, true, field);
    } else this.put(bytes, from, to, looksTyped, false, field);
  }

  /** Text that needs quotes only because of its characters: dates, names. */
  plain(bytes: Uint8Array, from: number, to: number, field: string): void {
    this.put(bytes, from, to, false, false, field);
  }

  private put(bytes: Uint8Array, from: number, to: number, quoted: boolean, escaped: boolean, field: string): void {
    const { out, special } = this;
    let specials = 0;
    for (let i = from; i < to; i++) specials += special[bytes[i]!]!;
    if (specials === 0 && !quoted && !this.all && !startsWithMark(bytes, from, to)) {
      out.bytes(bytes, from, to);
      return;
    }
    out.byte(quote);
    if (escaped) out.byte(39);
    if (specials === 0) out.bytes(bytes, from, to);
    else this.doubled(bytes, from, to, field);
    out.byte(quote);
  }

  private doubled(bytes: Uint8Array, from: number, to: number, field: string): void {
    const { out } = this;
    let start = from;
    let dropped = false;
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!;
      if (byte !== quote && byte !== 0) continue;
      out.bytes(bytes, start, i);
      start = i + 1;
      if (byte === quote) {
        out.byte(quote);
        out.byte(quote);
      } else dropped = true;
    }
    if (dropped) this.context.reportLoss("character-dropped", field, "U+0000, which a text file cannot hold");
    out.bytes(bytes, start, to);
  }
}

/** Readers would remove a byte order mark at the start of a cell if it begins the file. */
const startsWithMark = (bytes: Uint8Array, from: number, to: number) =>
  to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;

const sample = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.subarray(from, Math.min(to, from + 40))).toString("utf8");

const isSignedNumber = (bytes: Uint8Array, from: number, to: number) =>
  bytes[from] === 43 &&
  to - from > 1 &&
  classifyCell(bytes, from + 1, to, pointByte) <= CellTypeFlag.double &&
  bytes[from + 1] !== 43;

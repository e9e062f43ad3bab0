import type { WriteContext } from "../../../src/plugin/format.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import type { CellWriter, TemporalType } from "../write/cell-writer.js";
import { reportZone, splitMoment } from "../write/moments.js";
import { cellStyle } from "./parts.js";

const references: Readonly<Record<number, string>> = { 38: "&amp;", 60: "&lt;", 62: "&gt;", 34: "&quot;" };
const attributeReferences: Readonly<Record<number, string>> = { ...references, 9: "&#9;", 10: "&#10;", 13: "&#13;" };

/** 1 for bytes that are not written as they are between two other characters. */
const special = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 32 || byte === 38 || byte === 60 || byte === 62 || byte === 0xef ? 1 : 0,
);

/** Writes cells of a table (ODF 1.3, 9.1.4). */
export class OdsCells implements CellWriter {
  private readonly out = new TextBuffer();
  /** Columns written in the row. */
  private written = 0;

  constructor(private readonly context: Pick<WriteContext, "reportLoss">) {}

  beginRow(): void {
    this.written = 0;
    this.out.ascii("<table:table-row>");
  }

  endRow(): void {
    // A row has a cell at least.
    if (this.written === 0) this.out.ascii("<table:table-cell/>");
    this.out.ascii("</table:table-row>\n");
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.out.finish();
  }

  private begin(column: number, attributes: string): void {
    const { out } = this;
    const empty = column - this.written;
    if (empty > 1) out.ascii(`<table:table-cell table:number-columns-repeated="${empty}"/>`);
    else if (empty === 1) out.ascii("<table:table-cell/>");
    out.ascii("<table:table-cell ");
    out.ascii(attributes);
    this.written = column + 1;
  }

  number(column: number, values: Float64Array, at: number, isDouble: boolean): void {
    this.begin(column, 'office:value-type="float" office:value="');
    if (isDouble) this.out.doubleAt(values, at);
    else this.out.numberAt(values, at);
    this.out.ascii('"/>');
  }

  integer(column: number, value: number): void {
    this.begin(column, 'office:value-type="float" office:value="');
    this.out.int(value);
    this.out.ascii('"/>');
  }

  boolean(column: number, value: boolean): void {
    this.begin(column, `office:value-type="boolean" office:boolean-value="${value}"/>`);
  }

  text(column: number, bytes: Uint8Array, from: number, to: number, field: string): void {
    this.styledText(column, bytes, from, to, field, "");
  }

  /** @param style the attribute, with a blank after it */
  styledText(column: number, bytes: Uint8Array, from: number, to: number, field: string, style: string): void {
    const { out } = this;
    this.begin(column, `${style}office:value-type="string"`);
    // A paragraph has no place for a carriage return.
    if (bytes.subarray(from, to).includes(13)) {
      out.ascii(' office:string-value="');
      this.attribute(bytes, from, to);
      out.byte(34);
    }
    out.ascii("><text:p>");
    const dropped = this.paragraphs(bytes, from, to);
    out.ascii("</text:p></table:table-cell>");
    if (dropped) this.context.reportLoss("character-dropped", field, "control characters, which XML cannot hold");
  }

  private attribute(bytes: Uint8Array, from: number, to: number): void {
    const { out } = this;
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!;
      const reference = attributeReferences[byte];
      if (reference !== undefined) out.ascii(reference);
      else if (byte >= 32 && !isNoncharacter(bytes, i)) out.byte(byte);
      else if (byte >= 32) i += 2;
    }
  }

  /** Blanks are elements where white space would be collapsed (ODF 1.3, 6.1.2). @returns whether characters were left out */
  private paragraphs(bytes: Uint8Array, from: number, to: number): boolean {
    const { out } = this;
    let dropped = false;
    let start = from;
    for (let i = from; i < to; i++) {
      if (special[bytes[i]!] === 0) continue;
      const byte = bytes[i]!;
      if (byte === 0xef && !isNoncharacter(bytes, i)) continue;
      out.bytes(bytes, start, i);
      if (byte === 32) {
        const isBetween = i > from && i + 1 < to && bytes[i - 1]! > 32 && bytes[i + 1]! > 32;
        if (isBetween) out.byte(32);
        else {
          let end = i;
          while (end < to && bytes[end] === 32) end++;
          out.ascii(end - i === 1 ? "<text:s/>" : `<text:s text:c="${end - i}"/>`);
          i = end - 1;
        }
      } else if (byte === 9) out.ascii("<text:tab/>");
      else if (byte === 10) out.ascii("</text:p><text:p>");
      else if (byte === 0xef) {
        dropped = true;
        i += 2;
      } else if (byte < 32) {
        // A carriage return is in the attribute.
        if (byte !== 13) dropped = true;
      } else out.ascii(references[byte]!);
      start = i + 1;
    }
    out.bytes(bytes, start, to);
    return dropped;
  }

  temporal(column: number, type: TemporalType, bytes: Uint8Array, from: number, to: number, field: string): void {
    const moment = splitMoment(bytes, from, to, type);
    if (moment === null) {
      const example = `a spreadsheet has no date ${Buffer.from(bytes.subarray(from, to)).toString("utf8")}; it is text`;
      this.context.reportLoss("date-as-text", field, example);
      this.text(column, bytes, from, to, field);
      return;
    }
    if (moment.hasZone) reportZone(this.context, field);
    if (moment.isRounded)
      this.context.reportLoss("time-rounded", field, "fractions of a second beyond milliseconds were dropped");
    const text = canonicalText(moment.day, moment.ms, type);
    const value = type === "time" ? "time" : "date";
    this.begin(
      column,
      `table:style-name="${cellStyle[type]}" office:value-type="${value}" office:${value}-value="${text}"/>`,
    );
  }
}

/** U+FFFE and U+FFFF, which XML does not allow. */
const isNoncharacter = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe;

/** A date, a datetime, or a duration since midnight (ODF 1.3, 18.2). */
function canonicalText(day: number | null, ms: number, type: TemporalType): string {
  const date = day === null ? "" : new Date(day * 86_400_000).toISOString().slice(0, 10);
  if (type === "date") return date;
  const [, hours, minutes, seconds] = /T(\d\d):(\d\d):([\d.]+)Z$/.exec(new Date(ms).toISOString())!;
  const short = seconds!
    .replace(/\.?0+$/, (zeros) => (zeros.startsWith(".") ? "" : zeros))
    .replace(/(\.\d*[1-9])0+$/, "$1");
  return type === "time" ? `PT${hours}H${minutes}M${short}S` : `${date}T${hours}:${minutes}:${short}`;
}

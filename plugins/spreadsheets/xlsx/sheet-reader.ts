import { createError } from "../../../src/errors.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { ZipEntryFile } from "../../shared/zip/zip-reader.js";
import { formatNumber, numberText, withLeadingZeros } from "../read/numbers.js";
import type { RowSpool } from "../read/row-spool.js";
import { errorCell, type SheetExtras, uncalculatedCell, uncalculatedExample } from "../read/sheet.js";
import { walkXml } from "../read/walk-xml.js";
import { NumberKind } from "./number-formats.js";
import { formatSerial } from "./serial-dates.js";
import type { SharedStrings } from "./shared-strings.js";
import { mayHaveEscape, resolveEscapes } from "./string-escapes.js";

const name = {
  sheetData: 1,
  row: 2,
  c: 3,
  v: 4,
  is: 5,
  t: 6,
  f: 7,
  r: 8,
  s: 9,
  rPh: 10,
  hidden: 11,
  mergeCell: 12,
  hyperlink: 13,
  drawing: 14,
  legacyDrawing: 15,
  col: 16,
  min: 17,
  max: 18,
} as const;

const isTrue = (text: string | null) => text === "1" || text === "true";

/** What the cells of all sheets share. */
export interface CellContext {
  readonly strings: SharedStrings;
  /** The `NumberKind` of each cell format. */
  readonly kinds: Uint8Array;
  readonly is1904: boolean;
  readonly source: string;
}

/** The column of a reference: 0 for `A1`; −1 if there are no letters. */
function columnOf(bytes: Buffer, from: number, to: number): number {
  let column = 0;
  for (let i = from; i < to; i++) {
    const letter = (bytes[i]! | 32) - 96;
    if (letter < 1 || letter > 26 || bytes[i]! < 65) break;
    column = column * 26 + letter;
    if (column > 1e6) break;
  }
  return column - 1;
}

/** Reads the cells of a worksheet (ECMA-376-1, 18.3.1) into records. Names are compared without their namespace. */
export class SheetReader {
  private row = 0;
  private column = -1;
  private type = "n";
  private kind: number = NumberKind.number;
  private hasFormula = false;
  private hasValue = false;
  private collects = false;
  private inPhonetic = false;
  private isInCell = false;

  constructor(
    private readonly rows: RowSpool,
    private readonly extras: SheetExtras,
    private readonly around: CellContext,
  ) {}

  /** @throws input-corrupt, input-truncated */
  read(file: ZipEntryFile, context: ReadContext): Promise<void> {
    return walkXml(file, name, context, this);
  }

  open(reader: XmlReader): void {
    const { attributes } = reader;
    switch (reader.name.code) {
      case name.c:
        this.openCell(reader);
        return;
      case name.v:
      case name.t:
        if (!this.isInCell || this.inPhonetic) return;
        this.collects = true;
        this.hasValue = true;
        reader.keepsSpace = true;
        return;
      case name.f:
        this.hasFormula = true;
        return;
      case name.rPh:
        this.inPhonetic = true;
        return;
      case name.row: {
        const at = attributes.indexOf(name.r);
        const row = at < 0 ? this.row + 1 : attributes.number(at);
        if (!Number.isInteger(row) || row <= this.row) throw this.corrupt(`row ${row} follows row ${this.row}`);
        this.row = row;
        this.column = -1;
        const hidden = attributes.indexOf(name.hidden);
        if (hidden >= 0 && isTrue(attributes.value(hidden))) this.extras.hiddenRows++;
        this.rows.beginRow(row);
        return;
      }
      case name.col:
        if (isTrue(attributes.get("hidden")))
          this.extras.hiddenColumns.push({
            from: Number(attributes.get("min")) - 1,
            to: Number(attributes.get("max")),
          });
        return;
      case name.mergeCell:
        this.extras.merged++;
        return;
      case name.hyperlink:
        this.extras.links++;
        return;
      case name.drawing:
        this.extras.drawings++;
        return;
      case name.legacyDrawing:
        this.extras.comments++;
    }
  }

  private openCell(reader: XmlReader): void {
    const { attributes, bytes } = reader;
    const ref = attributes.indexOf(name.r);
    const column = ref < 0 ? this.column + 1 : columnOf(bytes, attributes.fromOf(ref), attributes.toOf(ref));
    if (column <= this.column) throw this.corrupt(`the cells of row ${this.row} are not in order`);
    this.column = column;
    const type = attributes.indexOf(name.t);
    this.type = type < 0 ? "n" : attributes.keyword(type);
    const style = attributes.indexOf(name.s);
    this.kind = style < 0 ? NumberKind.number : (this.around.kinds[attributes.number(style)] ?? NumberKind.number);
    this.isInCell = true;
    this.hasFormula = this.hasValue = false;
    reader.content.clear();
  }

  text(reader: XmlReader): void {
    if (this.collects) reader.collect();
  }

  close(reader: XmlReader): void {
    switch (reader.name.code) {
      case name.c:
        this.isInCell = false;
        this.closeCell(reader);
        return;
      case name.v:
      case name.t:
        this.collects = false;
        reader.keepsSpace = false;
        return;
      case name.rPh:
        this.inPhonetic = false;
        return;
      case name.row:
        this.rows.endRow();
    }
  }

  private closeCell({ content }: XmlReader): void {
    const { rows, column, type } = this;
    const { bytes, length } = content;
    // Libraries write formulas with an empty value; the empty text that a formula gives has the type `str`.
    const hasResult = this.hasValue && (length > 0 || type === "str" || !this.hasFormula);
    if (this.hasFormula && !hasResult) {
      rows.lose(uncalculatedCell, column, uncalculatedExample);
      return;
    }
    if (!this.hasValue) return;
    switch (type) {
      case "s":
        this.shared(bytes, length);
        return;
      case "inlineStr":
      case "str":
        this.string(bytes, length);
        return;
      case "b":
        rows.plain(column, /^\s*(1|true)\s*$/i.test(bytes.toString("latin1", 0, length)) ? "true" : "false");
        return;
      case "e":
        rows.lose(errorCell, column, bytes.toString("utf8", 0, Math.min(length, 40)));
        return;
      case "d":
        this.isoDate(bytes, length);
        return;
      default:
        this.number(bytes, length);
    }
  }

  private shared(bytes: Buffer, length: number): void {
    const text = bytes.toString("latin1", 0, Math.min(length, 20)).trim();
    const { strings } = this.around;
    strings.find(/^\d+$/.test(text) ? Number(text) : -1);
    this.rows.text(this.column, strings.found, strings.from, strings.to);
  }

  private string(bytes: Buffer, length: number): void {
    if (!mayHaveEscape(bytes, 0, length)) this.rows.text(this.column, bytes, 0, length);
    else {
      const text = Buffer.from(resolveEscapes(bytes.toString("utf8", 0, length)));
      this.rows.text(this.column, text, 0, text.length);
    }
  }

  /** ISO 8601, as strict files may have it. */
  private isoDate(bytes: Buffer, length: number): void {
    const text = bytes.toString("latin1", 0, Math.min(length, 64)).trim();
    const moment = /^(\d{4}-\d\d-\d\d)?(T?)(\d\d:\d\d:\d\d)?(?:\.(\d+))?Z?$/.exec(text);
    if (!moment || (moment[1] === undefined && moment[3] === undefined)) {
      this.string(bytes, length);
      return;
    }
    const [, date, , time, fraction = ""] = moment;
    const digits = fraction.replace(/0+$/, "");
    const clock = time === undefined ? "" : `${time}${digits === "" ? "" : `.${digits}`}`;
    const isMidnight = this.kind === NumberKind.date && clock === "00:00:00";
    this.rows.plain(this.column, date === undefined ? clock : clock === "" || isMidnight ? date : `${date}T${clock}`);
  }

  private number(bytes: Buffer, length: number): void {
    const { rows, column, kind } = this;
    const text = numberText(bytes, 0, length);
    if (text === null) {
      if (bytes.toString("latin1", 0, Math.min(length, 40)).trim() !== "")
        rows.lose(errorCell, column, `"${bytes.toString("utf8", 0, Math.min(length, 40))}" is no number`);
      return;
    }
    if (kind === NumberKind.number) {
      if (text === undefined) rows.plainBytes(column, bytes, 0, length);
      else rows.plain(column, text);
      return;
    }
    const value = Number(text ?? bytes.toString("latin1", 0, length));
    if (kind >= NumberKind.zeros) {
      rows.plain(column, withLeadingZeros(value, kind - NumberKind.zeros) ?? text ?? String(value));
      return;
    }
    const moment = formatSerial(value, kind, this.around.is1904);
    if (moment === null) {
      const day = value < 1 ? "1900-01-00" : "1900-02-29";
      rows.lose(errorCell, column, `${day}, a day that Excel has and the calendar has not`);
    } else rows.plain(column, moment ?? formatNumber(value));
  }

  private corrupt(reason: string): Error {
    return createError("input-corrupt", { source: this.around.source, reason });
  }
}

import { createError } from "../../../src/errors.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { ZipEntryFile } from "../../shared/zip/zip-reader.js";
import { maxColumns } from "../limits.js";
import { numberText, withLeadingZeros } from "../read/numbers.js";
import type { RowSpool } from "../read/row-spool.js";
import {
  errorCell,
  noExtras,
  type SheetExtras,
  type SpooledSheet,
  type SpoolSettings,
  uncalculatedCell,
  uncalculatedExample,
} from "../read/sheet.js";
import { walkXml } from "../read/walk-xml.js";
import { type CellStyles, styleName } from "./cell-styles.js";
import { canonicalMoment, parseDuration } from "./temporal-values.js";

const name = {
  ...styleName,
  spreadsheet: 10,
  table: 11,
  "table-row": 12,
  "table-cell": 13,
  "covered-table-cell": 14,
  p: 15,
  s: 16,
  tab: 17,
  "line-break": 18,
  annotation: 19,
  a: 20,
  "table-column": 21,
  shapes: 22,
  frame: 23,
  "number-columns-repeated": 30,
  "number-rows-repeated": 31,
  "value-type": 32,
  value: 33,
  "date-value": 34,
  "time-value": 35,
  "boolean-value": 36,
  "string-value": 37,
  "style-name": 38,
  formula: 39,
  visibility: 40,
  "number-columns-spanned": 41,
  "number-rows-spanned": 42,
  c: 43,
  "default-cell-style-name": 44,
  ruby: 45,
} as const;

const space = Buffer.from(" ");
const tab = Buffer.from("\t");
const lineFeed = Buffer.from("\n");
const errorPattern = /^(#[A-Z]+[A-Z/0]*[!?]?|Err:\d+)$/;

/** Reads the tables of a content.xml (ODF 1.3, 9). */
export class ContentReader {
  private readonly sheets: Omit<SpooledSheet, "crs">[] = [];
  private rows: RowSpool | null = null;
  private extras: SheetExtras = noExtras();
  private pending: { readonly name: string; readonly isHidden: boolean } | null = null;
  private isInSpreadsheet = false;
  /** Depth of the table, so that tables inside cells are left out. */
  private tableDepth = 0;
  private skippedDepth = 0;
  private row = 0;
  private rowRepeat = 1;
  private column = 0;
  private columnRepeat = 1;
  private cellDepth = 0;
  private paragraphs = 0;
  private inParagraph = false;
  /** Whether white space at this point of a paragraph is dropped. */
  private afterSpace = true;
  private type = "";
  private style: string | null = null;
  private value: string | null = null;
  private hasFormula = false;
  private readonly columnStyles: { readonly to: number; readonly style: string | null }[] = [];

  constructor(
    private readonly source: string,
    private readonly settings: SpoolSettings,
    private readonly styles: CellStyles,
  ) {}

  /** @throws input-corrupt, input-truncated */
  async read(file: ZipEntryFile, context: ReadContext): Promise<Omit<SpooledSheet, "crs">[]> {
    try {
      await walkXml(file, name, context, {
        open: (reader) => this.open(reader),
        text: (reader) => this.text(reader),
        close: (reader) => this.close(reader),
      });
    } finally {
      this.rows?.abort();
    }
    return this.sheets;
  }

  private open(reader: XmlReader): void {
    if (this.skippedDepth > 0) return;
    const { attributes, depth } = reader;
    const { code } = reader.name;
    if (this.tableDepth === 0) {
      if (code === name.spreadsheet) this.isInSpreadsheet = true;
      else if (code === name.table && this.isInSpreadsheet && depth <= 4) this.openTable(reader);
      else this.styles.open(reader);
      return;
    }
    if (this.cellDepth > 0) {
      this.openInCell(reader);
      return;
    }
    switch (code) {
      case name["table-column"]:
        this.addColumn(reader);
        return;
      case name["table-row"]: {
        this.rowRepeat = this.count(reader, name["number-rows-repeated"]);
        this.column = 0;
        const shown = attributes.indexOf(name.visibility);
        if (shown >= 0 && attributes.value(shown) !== "visible") this.extras.hiddenRows += this.rowRepeat;
        this.rows!.beginRow(this.row + 1);
        return;
      }
      case name["table-cell"]:
      case name["covered-table-cell"]:
        this.openCell(reader);
        return;
      case name.shapes:
        this.extras.drawings++;
        this.skippedDepth = depth;
        return;
      case name.table:
        this.skippedDepth = depth;
    }
  }

  private count(reader: XmlReader, code: number): number {
    const at = reader.attributes.indexOf(code);
    if (at < 0) return 1;
    const count = reader.attributes.number(at);
    if (Number.isInteger(count) && count >= 1) return count;
    const reason = `${JSON.stringify(reader.attributes.value(at).slice(0, 40))} is not how often something is repeated`;
    throw createError("input-corrupt", { source: this.source, reason });
  }

  private openTable(reader: XmlReader): void {
    const { attributes, depth } = reader;
    const isHidden = this.styles.isHiddenTable(attributes.get("style-name"));
    if (isHidden && !this.settings.readsHidden) {
      this.skippedDepth = depth;
      return;
    }
    this.tableDepth = depth;
    this.pending = { name: attributes.get("name") ?? `Sheet${this.sheets.length + 1}`, isHidden };
    this.extras = noExtras();
    this.rows = this.settings.createRows();
    this.row = 0;
    this.columnStyles.length = 0;
  }

  private addColumn(reader: XmlReader): void {
    const at = reader.attributes.indexOf(name["default-cell-style-name"]);
    const from = this.columnStyles.at(-1)?.to ?? 0;
    const to = from + this.count(reader, name["number-columns-repeated"]);
    const shown = reader.attributes.indexOf(name.visibility);
    if (shown >= 0 && reader.attributes.value(shown) !== "visible") this.extras.hiddenColumns.push({ from, to });
    if (this.columnStyles.length < maxColumns)
      this.columnStyles.push({ to, style: at < 0 ? null : reader.attributes.value(at) });
  }

  private openCell(reader: XmlReader): void {
    const { attributes, content } = reader;
    this.cellDepth = reader.depth;
    this.columnRepeat = this.count(reader, name["number-columns-repeated"]);
    this.type = "";
    this.value = null;
    this.style = null;
    this.hasFormula = false;
    this.paragraphs = 0;
    this.inParagraph = false;
    content.clear();
    for (let a = 0; a < attributes.count; a++) {
      switch (attributes.names[a]!.code) {
        case name["value-type"]:
          // calcext:value-type tells errors from text.
          if (this.type !== "error") this.type = attributes.keyword(a);
          break;
        case name.value:
        case name["date-value"]:
        case name["time-value"]:
        case name["boolean-value"]:
        case name["string-value"]:
          this.value = attributes.value(a);
          break;
        case name["style-name"]:
          this.style = attributes.keyword(a);
          break;
        case name.formula:
          this.hasFormula = true;
          break;
        case name["number-columns-spanned"]:
        case name["number-rows-spanned"]:
          if (attributes.value(a) !== "1") this.extras.merged += 0.5;
      }
    }
  }

  private openInCell(reader: XmlReader): void {
    const { content } = reader;
    switch (reader.name.code) {
      case name.p:
        if (this.paragraphs++ > 0) content.add(lineFeed, 0, 1, true, this.source);
        this.inParagraph = true;
        this.afterSpace = true;
        reader.keepsSpace = true;
        return;
      case name.s: {
        const count = Math.min(this.count(reader, name.c), 1 << 16);
        for (let i = 0; i < count; i++) content.add(space, 0, 1, true, this.source);
        this.afterSpace = false;
        return;
      }
      case name.tab:
        content.add(tab, 0, 1, true, this.source);
        return;
      case name["line-break"]:
        content.add(lineFeed, 0, 1, true, this.source);
        return;
      case name.a:
        this.extras.links++;
        return;
      case name.annotation:
        this.extras.comments++;
        this.skippedDepth = reader.depth;
        return;
      case name.frame:
      case name.table:
        this.extras.drawings++;
        this.skippedDepth = reader.depth;
    }
  }

  private text(reader: XmlReader): void {
    if (this.skippedDepth > 0 || !this.inParagraph) return;
    const { content } = reader;
    const from = content.length;
    reader.collect();
    this.collapse(content, from);
  }

  /** White space is one blank, and none at the beginning of a paragraph (ODF 1.3, 6.1.2). */
  private collapse(content: XmlReader["content"], from: number): void {
    const { bytes } = content;
    let to = from;
    for (let i = from; i < content.length; i++) {
      const byte = bytes[i]!;
      const isSpace = byte === 32 || byte === 9 || byte === 10 || byte === 13;
      if (isSpace && this.afterSpace) continue;
      bytes[to++] = isSpace ? 32 : byte;
      this.afterSpace = isSpace;
    }
    content.length = to;
  }

  private close(reader: XmlReader): void {
    const { depth } = reader;
    // After a close, the element is no longer counted.
    const closed = depth + 1;
    if (this.skippedDepth > 0) {
      if (closed === this.skippedDepth) this.skippedDepth = 0;
      return;
    }
    if (this.tableDepth === 0) return;
    if (this.cellDepth > 0) {
      if (reader.name.code === name.p) {
        this.inParagraph = false;
        reader.keepsSpace = false;
      }
      if (closed === this.cellDepth) this.closeCell(reader);
      return;
    }
    if (reader.name.code === name["table-row"]) {
      this.rows!.endRow(this.rowRepeat);
      this.row += this.rowRepeat;
    } else if (closed === this.tableDepth) this.closeTable();
  }

  private closeTable(): void {
    const { name: sheet, isHidden } = this.pending!;
    const rows = this.rows!;
    this.extras.merged = Math.ceil(this.extras.merged);
    this.sheets.push({ name: sheet, isHidden, rows, bytes: rows.finish(), extras: this.extras });
    this.tableDepth = 0;
    this.rows = null;
  }

  private closeCell({ content }: XmlReader): void {
    this.cellDepth = 0;
    const { type, columnRepeat: repeat } = this;
    const isEmpty = type === "" && this.paragraphs === 0;
    if (isEmpty && !this.hasFormula) {
      this.column += repeat;
      return;
    }
    for (let n = 0; n < repeat; n++) this.put(content, this.column++);
  }

  private put({ bytes, length }: XmlReader["content"], column: number): void {
    const rows = this.rows!;
    const { type, value } = this;
    const shown = () => bytes.toString("utf8", 0, Math.min(length, 60));
    if (type === "error" || (this.hasFormula && errorPattern.test(shown()))) {
      rows.lose(errorCell, column, shown());
      return;
    }
    // Text is in the paragraphs of the cell; values of other types are in an attribute.
    const hasResult = value !== null || type === "string" || (type === "" && this.paragraphs > 0);
    if (this.hasFormula && !hasResult) {
      rows.lose(uncalculatedCell, column, uncalculatedExample);
      return;
    }
    switch (type) {
      case "float":
      case "percentage":
      case "currency":
        this.number(column, value);
        return;
      case "boolean":
        rows.plain(column, value === "true" ? "true" : "false");
        return;
      case "date": {
        const moment = canonicalMoment(value ?? "");
        if (moment !== null) rows.plain(column, moment);
        else this.string(column, value ?? shown());
        return;
      }
      case "time": {
        const isDuration = this.styles.isDuration(this.style ?? this.columnStyle(column));
        const time = parseDuration(value ?? "", isDuration);
        if (time !== null) rows.plain(column, time);
        else this.string(column, value ?? shown());
        return;
      }
      default:
        if (value !== null) this.string(column, value);
        else rows.text(column, bytes, 0, length);
    }
  }

  private columnStyle(column: number): string | null {
    return this.columnStyles.find(({ to }) => column < to)?.style ?? null;
  }

  private string(column: number, text: string): void {
    const bytes = Buffer.from(text);
    this.rows!.text(column, bytes, 0, bytes.length);
  }

  private number(column: number, value: string | null): void {
    const digits = this.styles.digitsOf(this.style ?? this.columnStyle(column));
    const padded = digits > 0 && value !== null && value !== "" ? withLeadingZeros(Number(value), digits) : null;
    if (padded !== null) {
      this.rows!.plain(column, padded);
      return;
    }
    const bytes = Buffer.from(value ?? "");
    const text = numberText(bytes, 0, bytes.length);
    if (text === null) this.rows!.lose(errorCell, column, `"${(value ?? "").slice(0, 40)}" is no number`);
    else if (text === undefined) this.rows!.plainBytes(column, bytes, 0, bytes.length);
    else this.rows!.plain(column, text);
  }
}

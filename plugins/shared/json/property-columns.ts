import { isUtf8 } from "node:buffer";
import { type Column, createSlab, type Field } from "../../../src/model/index.js";
import { type JsonCursor, JsonToken } from "./cursor.js";
import { RawColumn, type ReportIssue } from "./raw-column.js";
import { JsonStringDecoder } from "./text.js";

/** Limit of the names kept: a file with data values as names would fill the memory. */
const maxNames = 4096;
/** With more names than this, most columns of a file have few values. */
const maxCommonNames = 256;
/** Limit of the bytes kept before a value: its name and the text around it. */
const maxLeadBytes = 256;

/** Limits of a batch in features, columns, and features times columns. */
export const maxBatchRows = 1000;
export const maxBatchColumns = 2048;
const maxBatchCells = 1 << 18;

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** The properties of the features of one batch, as columns in the order of their first appearance. */
export class PropertyColumns {
  private readonly byKey = new Map<string, RawColumn>();
  private readonly byName = new Map<string, RawColumn>();
  private readonly first = new RawColumn("", new Uint8Array(0));
  private active: RawColumn[] = [];
  /** Names repeated in the last object, one entry per repetition. */
  readonly repeated: string[] = [];

  forgetRepeated(): void {
    // Setting the length is slow even if it does not change.
    if (this.repeated.length > 0) this.repeated.length = 0;
  }

  /** Number of columns of the current batch. */
  get count(): number {
    return this.active.length;
  }

  /** Whether a batch of so many rows should end here. */
  isFull(rows: number): boolean {
    return rows >= maxBatchRows || this.count > maxBatchColumns || rows * this.count >= maxBatchCells;
  }

  /** Whether there were more names or notations than the limits. */
  get isCrowded(): boolean {
    return this.byName.size > maxNames || this.byKey.size > maxNames;
  }

  /** A column of the current batch, in the order of first appearance. */
  columnAt(index: number): RawColumn {
    return this.active[index]!;
  }

  /** Reads the object at the cursor as the properties of `row`; the last of duplicate names counts. */
  read(cursor: JsonCursor, row: number): void {
    const { bytes } = cursor;
    let previous = this.first;
    cursor.at++;
    for (;;) {
      let column = previous.next;
      const lead = column && (previous === this.first ? column.opening : column.lead);
      if (!lead || !cursor.pass(lead)) column = this.name(cursor, previous);
      if (!column) return;
      if (!column.active) this.activate(column);
      if (bytes[cursor.at]! <= 32) cursor.space();
      const start = cursor.at;
      const token = cursor.plainString() ? JsonToken.text : cursor.value();
      if (column.has(row)) this.repeated.push(column.name);
      column.set(row, token, start, cursor.at);
      previous = column;
    }
  }

  /**
   * Moves from the opening brace, or from the value of `previous`, to the next value and returns its column; at the end
   * of the object moves past it and returns null.
   */
  private name(cursor: JsonCursor, previous: RawColumn): RawColumn | null {
    const from = cursor.at;
    let byte = cursor.space();
    if (byte === 125) {
      cursor.at++;
      return null;
    }
    const opens = previous === this.first;
    if (!opens) {
      if (byte !== 44) cursor.fail("',' or '}'");
      cursor.at++;
      byte = cursor.space();
      if (byte === 125) {
        cursor.surplusCommas++;
        cursor.at++;
        return null;
      }
    }
    if (byte !== 34) cursor.fail("a name in quotes");
    const column = this.column(cursor, previous);
    cursor.colon();
    if (cursor.at - from <= maxLeadBytes && column.key) {
      const lead = cursor.run(from, cursor.at);
      if (opens) column.opening = lead;
      else column.lead = lead;
    }
    return column;
  }

  /** The column of the name at the cursor; tries first the column that followed `previous` before. */
  private column(cursor: JsonCursor, previous: RawColumn): RawColumn {
    const guess = previous.next;
    if (guess && this.matches(cursor, guess.key)) {
      cursor.at += guess.key.length + 2;
      return guess;
    }
    cursor.string();
    const column = this.find(cursor);
    previous.next = column;
    return column;
  }

  private matches(cursor: JsonCursor, key: Uint8Array | null): key is Uint8Array {
    if (!key) return false;
    const { bytes } = cursor;
    const start = cursor.at + 1;
    if (bytes[start + key.length] !== 34) return false;
    for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return false;
    return true;
  }

  private find(cursor: JsonCursor): RawColumn {
    const { bytes, from, to } = cursor;
    const key = bytes.toString("latin1", from, to);
    const isPlain = !cursor.encoded && isAscii(key);
    const known = isPlain ? this.byName.get(key) : this.byKey.get(key);
    if (known) return known;
    const decoder = new JsonStringDecoder();
    const name = isPlain ? key : cursor.encoded ? decoder.text(bytes, from, to) : bytes.toString("utf8", from, to);
    let column = this.byName.get(name);
    if (!column) {
      column = this.newColumn(name, bytes, from, to);
      this.byName.set(name, column);
    }
    if (!isPlain) {
      this.byKey.set(key, column);
      if (!isUtf8(bytes.subarray(from, to))) column.nameFlaw = "invalid-utf8";
      else if (decoder.loneSurrogate) column.nameFlaw = "lone-surrogate";
    }
    return column;
  }

  /** The next batch does not reuse columns beyond the limit, so their lookup data is omitted. */
  private newColumn(name: string, bytes: Buffer, from: number, to: number): RawColumn {
    const { size } = this.byName;
    const key = size < maxNames ? Uint8Array.prototype.slice.call(bytes, from, to) : null;
    return new RawColumn(name, key, size >= maxCommonNames);
  }

  /** The columns of the current batch, in the order of first appearance. */
  get current(): readonly RawColumn[] {
    return this.active;
  }

  /** Makes a column one of the current batch. */
  activate(column: RawColumn): void {
    if (column.active) return;
    column.active = true;
    this.active.push(column);
  }

  /** Forgets all rows. */
  discard(): void {
    for (const column of this.active) column.discard();
    this.active = [];
  }

  /** Removes the values of `row`. */
  clear(row: number): void {
    for (const column of this.active) column.clear(row);
  }

  /** The columns of the first `rows` rows; resets this object for the next batch. */
  finish(
    rows: number,
    bytes: Buffer,
    valid: boolean,
    remark: (field: string, ...what: Parameters<ReportIssue>) => void,
  ): { fields: Field[]; columns: Column[] } {
    const fields: Field[] = [];
    const columns: Column[] = [];
    const slab = createSlab(this.active.length);
    let name = "";
    const remarkOnColumn: ReportIssue = (code, count) => remark(name, code, count);
    for (const raw of this.active) {
      const { nameFlaw } = raw;
      name = raw.name;
      if (nameFlaw) remark(name, nameFlaw, raw.valuesIn(rows));
      const column = raw.finish(rows, bytes, valid, remarkOnColumn, slab);
      if (!column) continue;
      fields.push({ name, type: column.type });
      columns.push(column);
    }
    this.active = [];
    if (this.isCrowded) {
      this.byKey.clear();
      this.byName.clear();
      this.first.next = null;
    }
    return { fields, columns };
  }
}

/** Whether a token can be a feature's id (RFC 7946, section 3.2). */
export function isIdToken(token: number): boolean {
  return (
    token === JsonToken.integer || token === JsonToken.double || token === JsonToken.text || token === JsonToken.encoded
  );
}

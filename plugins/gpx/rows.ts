import {
  BigintBuilder,
  BytesBuilder,
  type Column,
  type ColumnBuilder,
  columnBuilder,
  type Field,
  type FieldType,
  type NumberBuilder,
  Presence,
} from "../../src/model/index.js";
import { parseNumber, TextBuffer } from "../shared/numbers.js";
import type { XmlContent } from "../shared/xml.js";
import { writeString } from "./point-values.js";
import type { GpxField } from "./survey.js";

/** Where the values of one field in the feature at hand stand in its text. */
interface Cell {
  readonly field: GpxField;
  builder: ColumnBuilder;
  /** The row that has a value, and where the value stands. */
  row: number;
  from: number;
  to: number;
  /** It is JSON for sure. */
  made: boolean;
  /** Values of the same row before the last one. */
  readonly others: (readonly [number, number])[];
}

/** The columns of a batch, a feature after the other; texts stay in `content` until their feature ends. */
export class Rows {
  readonly fields: readonly Field[];
  private readonly cells: Cell[];
  private readonly byName: Map<string, number>;
  private readonly json = new TextBuffer(4096);
  /** Rows so far. */
  length = 0;

  constructor(
    fields: readonly GpxField[],
    private readonly content: XmlContent,
    /** Told of a value that is not of its field's type, or that its field has no room for. */
    private readonly flawed: (code: "value-repeated" | "value-invalid", field: string, example: string) => void,
  ) {
    this.fields = fields.map(({ name, type }) => ({ name, type }));
    this.cells = fields.map((field) => ({
      field,
      builder: columnBuilder(field.type),
      row: -1,
      from: 0,
      to: 0,
      made: false,
      others: [],
    }));
    this.byName = new Map(fields.map((field, index) => [field.name, index]));
  }

  /** The index of a field, −1 where there is none. */
  find(name: string): number {
    return this.byName.get(name) ?? -1;
  }

  /** Whether our writer declares the field. */
  declares(index: number): boolean {
    return this.cells[index]?.field.declared ?? false;
  }

  /** Keeps the text begun last as the value of a field in the row at hand. */
  keep(index: number): void {
    const { content } = this;
    const { start, end } = content;
    this.keepRange(index, start, end);
    content.begin();
  }

  /** Keeps a text. */
  keepText(index: number, text: string): void {
    const { content } = this;
    content.begin();
    content.addText(text, "");
    this.keepRange(index, content.from, content.length);
    content.begin();
  }

  /** Keeps bytes that are right for the field's type as they are. */
  keepBytes(index: number, bytes: Uint8Array): void {
    const { content } = this;
    content.begin();
    content.add(asBuffer(bytes), 0, bytes.length, true, "");
    this.keepRange(index, content.from, content.length);
    content.begin();
    const cell = this.cells[index];
    if (cell) cell.made = true;
  }

  private keepRange(index: number, from: number, to: number): void {
    const cell = this.cells[index];
    if (!cell) return;
    if (cell.row === this.length) {
      if (!cell.field.repeated) {
        this.flawed(
          "value-repeated",
          cell.field.name,
          this.content.bytes.toString("utf8", from, Math.min(to, from + 60)),
        );
        return;
      }
      cell.others.push([cell.from, cell.to]);
    } else if (cell.others.length > 0) cell.others.length = 0;
    cell.row = this.length;
    cell.made = false;
    cell.from = from;
    cell.to = to;
  }

  /** Ends the row: fields without a value are absent in it, but null where our writer declares that all features have them. */
  end(): void {
    const { cells, length } = this;
    for (let c = 0; c < cells.length; c++) {
      const cell = cells[c]!;
      if (cell.row !== length) cell.builder.pushNull(cell.field.declared ? Presence.null : Presence.absent);
      else this.push(cell);
    }
    this.length++;
  }

  /** Forgets the row at hand. */
  cancel(): void {
    for (const cell of this.cells) cell.row = -1;
  }

  private push(cell: Cell): void {
    const { builder, from, to } = cell;
    if (cell.field.repeated) this.pushList(cell);
    else if (builder instanceof BytesBuilder) this.pushBytes(builder, cell);
    else if (from === to) builder.pushNull();
    else if (builder instanceof BigintBuilder) builder.push(BigInt(this.text(from, to).replace(/\.0$/, "")));
    else this.pushNumber(builder, cell);
  }

  private text(from: number, to: number): string {
    return this.content.bytes.toString("utf8", from, to);
  }

  private pushNumber(builder: NumberBuilder, { from, to }: Cell): void {
    const { bytes } = this.content;
    if (builder.type === "boolean") builder.push(bytes[from] === 116 ? 1 : 0);
    else {
      const value = parseNumber(bytes, from, to);
      builder.push(Number.isNaN(value) ? nonFinite(this.text(from, to)) : value);
    }
  }

  private pushBytes(builder: BytesBuilder, { field, from, to, made }: Cell): void {
    const { bytes } = this.content;
    if (made) {
      builder.pushBytes(bytes, from, to);
      return;
    }
    switch (field.type) {
      case "binary": {
        const binary = Buffer.from(this.text(from, to), "base64");
        builder.pushBytes(binary, 0, binary.length);
        break;
      }
      case "json":
        this.pushJson(builder, field.name, from, to);
        break;
      case "text":
        if (from === to && !field.declared) builder.pushNull();
        else builder.pushBytes(bytes, from, to);
        break;
      default:
        if (from === to) builder.pushNull();
        else builder.pushBytes(bytes, from, to);
    }
  }

  private pushJson(builder: BytesBuilder, name: string, from: number, to: number): void {
    const text = this.text(from, to);
    try {
      JSON.parse(text);
      builder.push(text);
    } catch {
      builder.pushNull();
      this.flawed("value-invalid", name, text.slice(0, 60));
    }
  }

  private pushList(cell: Cell): void {
    const { json } = this;
    json.byte(91);
    for (const [from, to] of cell.others) {
      writeString(json, this.content.bytes, from, to);
      json.byte(44);
    }
    writeString(json, this.content.bytes, cell.from, cell.to);
    json.byte(93);
    const bytes = json.finish();
    (cell.builder as BytesBuilder).pushBytes(bytes, 0, bytes.length);
  }

  /** The columns so far; the next batch begins. */
  finish(): Column[] {
    const columns = this.cells.map((cell) => cell.builder.finish());
    for (const cell of this.cells) {
      cell.builder = columnBuilder(cell.field.type as FieldType);
      cell.row = -1;
    }
    this.length = 0;
    return columns;
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The numbers that XML Schema has words for (XML Schema 2, 3.2.5). */
function nonFinite(word: string): number {
  return word === "INF" ? Number.POSITIVE_INFINITY : word === "-INF" ? Number.NEGATIVE_INFINITY : Number.NaN;
}

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
} from "../../../src/model/index.js";
import { writeJsonString } from "../text/json-string.js";
import { parseNumber } from "../text/parse-number.js";
import { TextBuffer } from "../text/text-buffer.js";
import type { XmlContentBuffer } from "./content-buffer.js";

/** A field whose values are the texts of elements. */
export interface ElementField extends Field {
  /** Whether geoferry's writer declared it: an element without text then is an empty text, not a missing value. */
  readonly declared: boolean;
  /** Whether a feature has the element more than once: values are then arrays. */
  readonly repeated: boolean;
}

/** Returns the field of the layer. */
export const toLayerField = ({ name, type, element }: ElementField): Field => ({
  name,
  type,
  ...(element ? { element } : {}),
});

/** The position of the values of one field of the current feature. */
interface FieldCell {
  readonly field: ElementField;
  builder: ColumnBuilder;
  /** The row that has a value, and the value's range; `bytes` is null for the content buffer. */
  row: number;
  bytes: Buffer | null;
  from: number;
  to: number;
  /** Whether it is valid for the type of the field, and is not parsed. */
  isFinal: boolean;
  /** Earlier values of the same row. */
  readonly others: (readonly [Buffer | null, number, number])[];
}

/** Builds the columns of a batch, feature by feature. Texts are not copied until their feature ends. */
export class BatchColumns {
  readonly fields: readonly Field[];
  private readonly cells: FieldCell[];
  private readonly byName: Map<string, number>;
  private readonly json = new TextBuffer(4096);
  /** The number of rows. */
  length = 0;

  constructor(
    fields: readonly ElementField[],
    private readonly content: XmlContentBuffer,
    /** Called for a value that does not fit its field's type, or that is repeated. */
    private readonly flawed: (code: "value-repeated" | "value-invalid", field: string, example: string) => void,
  ) {
    this.fields = fields.map(toLayerField);
    this.cells = fields.map((field) => ({
      field,
      builder: columnBuilder(field.type),
      row: -1,
      bytes: null,
      from: 0,
      to: 0,
      isFinal: false,
      others: [],
    }));
    this.byName = new Map(fields.map((field, index) => [field.name, index]));
  }

  /** Returns the index of a field, −1 for none. */
  find(name: string): number {
    return this.byName.get(name) ?? -1;
  }

  /** Whether geoferry's writer declared the field. */
  declares(index: number): boolean {
    return this.cells[index]?.field.declared ?? false;
  }

  /** Keeps `bytes[from … to]` as a field's value in the current row. In the content buffer, it has to be the last text. */
  keep(index: number, bytes: Buffer, from: number, to: number): void {
    const { content } = this;
    const isOfContent = bytes === content.bytes;
    this.keepRange(index, isOfContent ? null : bytes, from, to);
    if (isOfContent) content.begin();
  }

  /** Keeps a text as a field's value. */
  keepText(index: number, text: string): void {
    const { content } = this;
    content.begin();
    content.addText(text, "");
    this.keepRange(index, null, content.from, content.length);
    content.begin();
  }

  /** Keeps a copy of bytes that are valid for the field's type. */
  keepBytes(index: number, bytes: Uint8Array): void {
    const { content } = this;
    content.begin();
    content.add(asBuffer(bytes), 0, bytes.length, true, "");
    this.keepRange(index, null, content.from, content.length);
    content.begin();
    this.markFinal(index);
  }

  /** Keeps bytes that are valid for the field's type and do not change. */
  keepFinal(index: number, bytes: Buffer): void {
    this.keepRange(index, bytes, 0, bytes.length);
    this.markFinal(index);
  }

  private markFinal(index: number): void {
    const cell = this.cells[index];
    if (cell) cell.isFinal = true;
  }

  private keepRange(index: number, bytes: Buffer | null, from: number, to: number): void {
    const cell = this.cells[index];
    if (!cell) return;
    if (cell.row === this.length) {
      if (!cell.field.repeated) {
        const example = (bytes ?? this.content.bytes).toString("utf8", from, Math.min(to, from + 60));
        this.flawed("value-repeated", cell.field.name, example);
        return;
      }
      cell.others.push([cell.bytes, cell.from, cell.to]);
    } else if (cell.others.length > 0) cell.others.length = 0;
    cell.row = this.length;
    cell.isFinal = false;
    cell.bytes = bytes;
    cell.from = from;
    cell.to = to;
  }

  /** Ends the row. Fields without a value are absent, or null where geoferry's writer declared the field. */
  end(): void {
    const { cells, length } = this;
    for (let c = 0; c < cells.length; c++) {
      const cell = cells[c]!;
      if (cell.row !== length) cell.builder.pushNull(cell.field.declared ? Presence.null : Presence.absent);
      else this.push(cell);
    }
    this.length++;
  }

  /** Discards the current row. */
  cancel(): void {
    for (const cell of this.cells) cell.row = -1;
  }

  private push(cell: FieldCell): void {
    const { builder, from, to } = cell;
    if (cell.field.repeated) this.pushList(cell);
    else if (builder instanceof BytesBuilder) this.pushBytes(builder, cell);
    else if (from === to) builder.pushNull();
    else if (builder instanceof BigintBuilder) builder.push(BigInt(this.textOf(cell).replace(/\.0$/, "")));
    else this.pushNumber(builder, cell);
  }

  private textOf(cell: FieldCell): string {
    return this.bytesOf(cell.bytes).toString("utf8", cell.from, cell.to);
  }

  private bytesOf(bytes: Buffer | null): Buffer {
    return bytes ?? this.content.bytes;
  }

  private pushNumber(builder: NumberBuilder, cell: FieldCell): void {
    const { from, to } = cell;
    const bytes = this.bytesOf(cell.bytes);
    if (builder.type === "boolean") builder.push(bytes[from] === 116 ? 1 : 0);
    else {
      const value = parseNumber(bytes, from, to);
      builder.push(Number.isNaN(value) ? parseNonFinite(this.textOf(cell)) : value);
    }
  }

  private pushBytes(builder: BytesBuilder, cell: FieldCell): void {
    const { field, from, to, isFinal } = cell;
    const bytes = this.bytesOf(cell.bytes);
    if (isFinal) {
      builder.pushBytes(bytes, from, to);
      return;
    }
    switch (field.type) {
      case "binary": {
        const binary = Buffer.from(this.textOf(cell), "base64");
        builder.pushBytes(binary, 0, binary.length);
        break;
      }
      case "json":
        this.pushJson(builder, field.name, this.textOf(cell));
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

  private pushJson(builder: BytesBuilder, name: string, text: string): void {
    try {
      JSON.parse(text);
      builder.push(text);
    } catch {
      builder.pushNull();
      this.flawed("value-invalid", name, text.slice(0, 60));
    }
  }

  private pushList(cell: FieldCell): void {
    const { json } = this;
    json.byte(91);
    for (const [bytes, from, to] of cell.others) {
      writeJsonString(json, this.bytesOf(bytes), from, to);
      json.byte(44);
    }
    writeJsonString(json, this.bytesOf(cell.bytes), cell.from, cell.to);
    json.byte(93);
    const bytes = json.finish();
    (cell.builder as BytesBuilder).pushBytes(bytes, 0, bytes.length);
  }

  /** Returns the columns, and begins the next batch. */
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

/** Parses the words of XML Schema for numbers (XML Schema 2, 3.2.5). */
function parseNonFinite(word: string): number {
  return word === "INF" ? Number.POSITIVE_INFINITY : word === "-INF" ? Number.NEGATIVE_INFINITY : Number.NaN;
}

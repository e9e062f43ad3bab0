import {
  BigintBuilder,
  BytesBuilder,
  type Column,
  type ColumnBuilder,
  columnBuilder,
  type FieldType,
  NumberBuilder,
  Presence,
  type Slab,
} from "../../../src/model/index.js";
import { parseNumber } from "../../shared/text/parse-number.js";
import { type FeatureRecord, ValueForm } from "./feature-record.js";
import { specialNumbers } from "./field-types.js";

const noBytes = new Uint8Array();

/** Builds the column of one field, feature by feature. */
export class FieldColumnBuilder {
  private readonly builder: ColumnBuilder;
  /** The index of the value in the current record, −1 for none. */
  private at = -1;
  private source = -1;
  /** The text added last, and its bytes: many rows repeat a text. */
  private lastText = "";
  private lastBytes: Uint8Array = noBytes;
  /** The presence of a row without a value. */
  otherwise: number = Presence.absent;

  constructor(
    readonly type: FieldType,
    rows: number,
    slab: Slab | null,
  ) {
    this.builder = columnBuilder(type, rows, slab);
  }

  /** Uses the record's value at `at`, unless there is one from a source with precedence. @returns the index of the other value, −1 for none */
  offer(at: number, source: number): number {
    const before = this.at;
    if (source >= this.source) {
      this.at = at;
      this.source = source;
    }
    return before;
  }

  /** Ends the row. @returns false where the value does not fit the column's type */
  endRow(record: FeatureRecord): boolean {
    const { at } = this;
    this.at = -1;
    this.source = -1;
    if (at < 0) {
      this.builder.pushNull(this.otherwise);
      return true;
    }
    const form = record.forms[at]!;
    const { builder } = this;
    if (builder instanceof BytesBuilder) {
      if (form === ValueForm.bytes && this.type !== "binary")
        builder.pushBytes(record.bytes, record.from[at]!, record.to[at]!);
      else this.pushText(builder, record.textAt(at));
      return true;
    }
    if (form === ValueForm.number || form === ValueForm.boolean) return this.pushNumber(record.numbers[at]!);
    if (form === ValueForm.bytes && builder instanceof NumberBuilder && this.type !== "boolean") {
      const value = parseNumber(record.bytes, record.from[at]!, record.to[at]!);
      if (!Number.isNaN(value)) return this.pushNumber(value);
    }
    return this.pushWord(record.textAt(at).trim());
  }

  private pushText(builder: BytesBuilder, text: string): void {
    if (this.type !== "binary") {
      if (text !== this.lastText) {
        this.lastText = text;
        this.lastBytes = Buffer.from(text);
      }
      builder.pushBytes(this.lastBytes, 0, this.lastBytes.length);
    } else {
      const bytes = Buffer.from(text, "base64");
      builder.pushBytes(bytes, 0, bytes.length);
    }
  }

  private pushNumber(value: number): boolean {
    const { builder, type } = this;
    const fits = type === "double" || (Number.isInteger(value) && (type !== "int32" || value === (value | 0)));
    if (!fits) builder.pushNull();
    else if (builder instanceof BigintBuilder) builder.push(BigInt(value));
    else (builder as NumberBuilder).push(value);
    return fits;
  }

  private pushWord(text: string): boolean {
    const { builder } = this;
    const word = text.toLowerCase();
    if (word === "") {
      builder.pushNull();
      return true;
    }
    if (this.type === "boolean") (builder as NumberBuilder).push(word === "1" || word === "true" ? 1 : 0);
    else if (builder instanceof BigintBuilder && /^[-+]?\d+$/.test(text)) builder.push(BigInt(text.replace("+", "")));
    else if (this.type === "double" && Object.hasOwn(specialNumbers, word)) {
      (builder as NumberBuilder).push(specialNumbers[word]!);
    } else {
      const value = text === "" ? Number.NaN : Number(text);
      if (Number.isNaN(value)) {
        builder.pushNull();
        return false;
      }
      return this.pushNumber(value);
    }
    return true;
  }

  /** Adds rows without a value, up to `rows`. */
  fillUp(rows: number): void {
    const { builder } = this;
    for (let row = builder.length; row < rows; row++) builder.pushNull(Presence.absent);
  }

  /** Whether the current row has a value. */
  get isOffered(): boolean {
    return this.at >= 0;
  }

  finish(): Column {
    return this.builder.finish();
  }
}

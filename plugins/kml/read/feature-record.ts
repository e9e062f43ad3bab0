import { FeatureGeometry } from "./feature-geometry.js";
import type { StyleProperties } from "./style-reader.js";

/** The source of a value. A later source takes precedence: data over styles. */
export const ValueSource = { style: 0, element: 1, data: 2 } as const;
/** The form in which a value is stored. */
export const ValueForm = { bytes: 0, text: 1, number: 2, boolean: 3, list: 4 } as const;

/** The values of one feature, in arrays that are reused for the next. */
export class FeatureRecord {
  readonly shapes = new FeatureGeometry();
  id: string | null = null;
  /** The number of values; their fields, sources and forms are at the same index. */
  count = 0;
  readonly names: string[] = [];
  readonly sources: number[] = [];
  readonly forms: number[] = [];
  readonly numbers: number[] = [];
  readonly texts: string[] = [];
  readonly from: number[] = [];
  readonly to: number[] = [];
  /** The Schema of a value; empty for none. */
  readonly schemas: string[] = [];
  schema = "";
  /** The Schemas of the feature's data. */
  readonly usedSchemas: string[] = [];
  /** The UTF-8 text of values in bytes: the record's own buffer, or the reader's window. */
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  private own = this.bytes;
  private length = 0;

  reset(id: string | null): void {
    this.id = id;
    this.count = 0;
    this.schema = "";
    while (this.usedSchemas.length > 0) this.usedSchemas.pop();
    this.length = 0;
    this.bytes = this.own;
    this.shapes.reset();
  }

  private entry(source: number, name: string, form: number): number {
    const at = this.count++;
    this.names[at] = name;
    this.sources[at] = source;
    this.forms[at] = form;
    this.schemas[at] = source === ValueSource.data ? this.schema : "";
    return at;
  }

  useSchema(id: string): void {
    this.schema = id;
    if (!this.usedSchemas.includes(id)) this.usedSchemas.push(id);
  }

  /** Adds a value of data, UTF-8. */
  data(name: string, bytes: Buffer, from: number, to: number): void {
    this.range(this.entry(ValueSource.data, name, ValueForm.bytes), bytes, from, to);
  }

  /** Adds the value of an element, UTF-8. */
  element(name: string, bytes: Buffer, from: number, to: number): void {
    this.range(this.entry(ValueSource.element, name, ValueForm.bytes), bytes, from, to);
  }

  elementText(name: string, text: string): void {
    this.text(ValueSource.element, name, text);
  }

  elementFlag(name: string, value: boolean): void {
    this.boolean(ValueSource.element, name, value);
  }

  styleText(name: string, text: string): void {
    this.text(ValueSource.style, name, text);
  }

  /** Sets the text of a value: the range itself where it is in the bytes in use, else a copy. */
  private range(at: number, bytes: Buffer, from: number, to: number): void {
    if (bytes === this.bytes) {
      this.from[at] = from;
      this.to[at] = to;
      return;
    }
    const size = to - from;
    if (this.length + size > this.bytes.length) this.grow(size);
    this.from[at] = this.length;
    if (size < 32) {
      for (let i = 0; i < size; i++) this.bytes[this.length + i] = bytes[from + i]!;
    } else bytes.copy(this.bytes, this.length, from, to);
    this.length += size;
    this.to[at] = this.length;
  }

  private grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.length + length, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = this.own = grown;
  }

  /** Values in `bytes` are not copied: the caller keeps them until the record is used. */
  useBytes(bytes: Buffer): void {
    this.bytes = bytes;
  }

  text(source: number, name: string, text: string): void {
    this.texts[this.entry(source, name, ValueForm.text)] = text;
  }

  /** Adds an array, as JSON. */
  list(name: string, json: string): void {
    this.texts[this.entry(ValueSource.data, name, ValueForm.list)] = json;
  }

  number(source: number, name: string, value: number): void {
    this.numbers[this.entry(source, name, ValueForm.number)] = value;
  }

  boolean(source: number, name: string, value: boolean): void {
    this.numbers[this.entry(source, name, ValueForm.boolean)] = value ? 1 : 0;
  }

  style(properties: StyleProperties): void {
    for (const name in properties) {
      if (name === "outline") continue;
      const value = properties[name as keyof StyleProperties]!;
      if (typeof value === "number") this.number(ValueSource.style, name, value);
      else this.text(ValueSource.style, name, value);
    }
  }

  /** Returns the value at `at` as text. */
  textAt(at: number): string {
    const form = this.forms[at]!;
    if (form === ValueForm.bytes) return this.bytes.toString("utf8", this.from[at]!, this.to[at]!);
    if (form === ValueForm.text || form === ValueForm.list) return this.texts[at]!;
    return form === ValueForm.number ? String(this.numbers[at]!) : this.numbers[at] === 1 ? "true" : "false";
  }
}

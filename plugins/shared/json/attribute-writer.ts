/** Writes the ids and properties of features as JSON. */
import { type Batch, type BytesColumn, type Column, Presence } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import { indexPresentCells, presentColumns } from "../present-cells.js";
import { EncodedText } from "../text/literal.js";
import type { TextBuffer } from "../text/text-buffer.js";

export interface AttributeSettings {
  /** Whether the ids of features are written. */
  readonly ids: boolean;
  /** The field that is written as the id, instead of as a property. */
  readonly idField: string | undefined;
}

const idMember = new EncodedText(',"id":');
const jsonLiterals = { null: new EncodedText("null"), true: new EncodedText("true"), false: new EncodedText("false") };

/** The bytes before the value of a property. */
class PropertyPrefix {
  private made: EncodedText | null = null;
  /** With the comma that the first property lacks. */
  readonly further: EncodedText;

  constructor(private readonly text: string) {
    this.further = new EncodedText(`,${text}`);
  }

  /** Without the comma, for the first property. */
  get first(): EncodedText {
    this.made ??= new EncodedText(this.text);
    return this.made;
  }
}

/** Limit of the names kept in encoded form. */
const maxPrefixes = 4096;

const minSafeInteger = BigInt(Number.MIN_SAFE_INTEGER);
const maxSafeInteger = BigInt(Number.MAX_SAFE_INTEGER);

/** The escape of each byte that a JSON string cannot contain as such (RFC 8259, section 7). */
const jsonEscapes = Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 32 && byte !== 34 && byte !== 92) return null;
  return Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1));
});
const mustEscape = Uint8Array.from(jsonEscapes, (written) => (written ? 1 : 0));

/** Writes the members of the features of a batch, row by row. */
export class AttributeWriter {
  private readonly names = new Map<string, PropertyPrefix>();
  private ids: Column | null = null;
  private columns: readonly Column[] = [];
  private columnNames: readonly string[] = [];
  private prefixes: readonly PropertyPrefix[] | null = null;
  private present: ReturnType<typeof indexPresentCells> = null;

  constructor(
    private readonly out: TextBuffer,
    private readonly settings: AttributeSettings,
    private readonly context: Pick<WriteContext, "reportLoss">,
  ) {}

  /** Begins a batch, and reports its values that JSON cannot hold. */
  begin(batch: Batch): void {
    const { idField } = this.settings;
    const idIndex = idField === undefined ? -1 : batch.fields.findIndex(({ name }) => name === idField);
    this.ids = idIndex >= 0 ? batch.columns[idIndex]! : this.settings.ids ? batch.ids : null;
    const written = presentColumns(batch.columns).filter((f) => f !== idIndex);
    this.columns = written.map((f) => batch.columns[f]!);
    const names = written.map((f) => batch.fields[f]!.name);
    this.columnNames = names;
    // For very many names, encoding each once takes less memory than keeping them encoded.
    this.prefixes = written.length > maxPrefixes ? null : names.map((name) => this.prefix(name));
    this.report(this.columns, names);
    if (this.ids) this.report([this.ids], ["id"]);
    this.present = indexPresentCells(this.columns, batch.length);
  }

  /** Writes the member `id`, with a comma before it, if the feature has an id. */
  id(row: number): void {
    if (this.ids?.presence[row] !== Presence.value) return;
    this.out.literal(idMember);
    this.value(this.ids, row);
  }

  /** Writes the members of the object with the properties, without its braces. */
  properties(row: number): void {
    const { out, columns, prefixes, present } = this;
    let first = true;
    const end = present ? present.starts[row + 1]! : columns.length;
    for (let at = present ? present.starts[row]! : 0; at < end; at++) {
      const c = present ? present.columns[at]! : at;
      const column = columns[c]!;
      if (column.presence[row] === Presence.absent) continue;
      const prefix = prefixes?.[c];
      if (prefix) out.literal(first ? prefix.first : prefix.further);
      else out.utf8(`${first ? "" : ","}${JSON.stringify(this.columnNames[c]!)}:`);
      first = false;
      this.value(column, row);
    }
  }

  private prefix(name: string): PropertyPrefix {
    const known = this.names.get(name);
    if (known) return known;
    const made = new PropertyPrefix(`${JSON.stringify(name)}:`);
    if (this.names.size > maxPrefixes) this.names.clear();
    this.names.set(name, made);
    return made;
  }

  /** Reports values that JSON numbers cannot hold. */
  private report(columns: readonly Column[], names: readonly string[]): void {
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c]!;
      let count = 0;
      let example = "";
      if (column.type === "double") {
        for (let i = 0; i < column.values.length; i++) {
          const value = column.values[i]!;
          if (column.presence[i] !== Presence.value || Number.isFinite(value)) continue;
          if (count++ === 0) example = `${value} became null`;
        }
        if (count > 0) this.context.reportLoss("non-finite-value", names[c], example, count);
      } else if (column.type === "int64") {
        for (let i = 0; i < column.values.length; i++) {
          const value = column.values[i]!;
          if (column.presence[i] !== Presence.value || (value >= minSafeInteger && value <= maxSafeInteger)) continue;
          if (count++ === 0) example = `${value} became text, being beyond what JSON numbers hold exactly`;
        }
        if (count > 0) this.context.reportLoss("int64-as-text", names[c], example, count);
      }
    }
  }

  private value(column: Column, row: number): void {
    const { out } = this;
    if (column.presence[row] !== Presence.value) {
      out.literal(jsonLiterals.null);
      return;
    }
    switch (column.type) {
      case "boolean":
        out.literal(column.values[row] === 1 ? jsonLiterals.true : jsonLiterals.false);
        break;
      case "int32":
        out.int(column.values[row]!);
        break;
      case "int64":
        this.long(column.values[row]!);
        break;
      case "double":
        if (Number.isFinite(column.values[row]!)) out.doubleAt(column.values, row);
        else out.literal(jsonLiterals.null);
        break;
      case "json":
        this.json(column, row);
        break;
      case "binary":
        out.ascii(
          `"${Buffer.from(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!)).toString("base64")}"`,
        );
        break;
      default:
        this.string(column.bytes, column.offsets[row]!, column.offsets[row + 1]!);
    }
  }

  private long(value: bigint): void {
    if (value >= minSafeInteger && value <= maxSafeInteger) this.out.int(Number(value));
    else this.out.ascii(`"${value}"`);
  }

  private string(bytes: Uint8Array, from: number, to: number): void {
    const { out } = this;
    out.byte(34);
    let start = from;
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!;
      if (mustEscape[byte] === 0) continue;
      if (i > start) out.bytes(bytes, start, i);
      const written = jsonEscapes[byte]!;
      out.bytes(written, 0, written.length);
      start = i + 1;
    }
    if (to > start) out.bytes(bytes, start, to);
    out.byte(34);
  }

  /** Writes JSON unchanged except for line ends: JSON strings contain none, so they are white space. */
  private json(column: BytesColumn, row: number): void {
    const { bytes } = column;
    const to = column.offsets[row + 1]!;
    let start = column.offsets[row]!;
    for (let i = start; i < to; i++) {
      if (bytes[i] !== 10 && bytes[i] !== 13) continue;
      this.out.bytes(bytes, start, i);
      this.out.byte(32);
      start = i + 1;
    }
    this.out.bytes(bytes, start, to);
  }
}

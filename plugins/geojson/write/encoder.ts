import { type Batch, type BytesColumn, type Column, Kind, Presence } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import { indexPresentCells, presentColumns } from "../../shared/present-cells.js";
import { reportCollapsedGeometries } from "../../shared/rounding-collapse.js";
import { EncodedText } from "../../shared/text/literal.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { splitAtAntimeridian } from "./antimeridian.js";
import { Bounds, GeoJsonGeometryWriter, type GeometrySettings } from "./geometry-writer.js";

/** The encoded features of a batch. */
export interface FeatureChunk {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Minimum and maximum x, y, z, if the options require them. */
  readonly least: readonly number[] | null;
  readonly most: readonly number[] | null;
}

export interface EncoderSettings extends GeometrySettings {
  /** Text before and after each feature. */
  readonly before: string;
  readonly after: string;
  readonly cut: boolean;
  readonly fileBounds: boolean;
  readonly featureBounds: boolean;
  readonly ids: boolean;
  readonly idField: string | undefined;
}

const idMember = new EncodedText(',"id":');
const propertiesMember = new EncodedText(',"properties":{');
const geometryMember = new EncodedText('},"geometry":');
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

/** Writes batches as features, one after another. */
export class FeatureEncoder {
  private readonly out = new TextBuffer(1 << 14);
  private readonly text: GeoJsonGeometryWriter;
  private readonly before: EncodedText;
  private readonly after: EncodedText;
  private readonly names = new Map<string, PropertyPrefix>();

  constructor(
    private readonly settings: EncoderSettings,
    private readonly context: WriteContext,
  ) {
    this.text = new GeoJsonGeometryWriter(this.out, settings);
    this.before = new EncodedText(`${settings.before}{"type":"Feature"`);
    this.after = new EncodedText(`}${settings.after}`);
  }

  encode(batch: Batch): FeatureChunk {
    const { out, settings } = this;
    const shapes = settings.cut
      ? splitAtAntimeridian(batch.geometry, (uncut) => this.reportUncut(uncut))
      : batch.geometry;
    const { idField } = settings;
    const idIndex = idField === undefined ? -1 : batch.fields.findIndex(({ name }) => name === idField);
    const ids = idIndex >= 0 ? batch.columns[idIndex]! : settings.ids ? batch.ids : null;
    const written = presentColumns(batch.columns).filter((f) => f !== idIndex);
    const columns = written.map((f) => batch.columns[f]!);
    const names = written.map((f) => batch.fields[f]!.name);
    // For very many names, encoding each once takes less memory than keeping them encoded.
    const prefixes = written.length > maxPrefixes ? null : names.map((name) => this.prefix(name));
    this.report(columns, names);
    if (ids) this.report([ids], ["id"]);
    const present = indexPresentCells(columns, batch.length);
    const bounds = new Bounds();
    let infinite = 0;
    for (let row = 0; row < batch.length; row++) {
      out.literal(this.before);
      if (ids && ids.presence[row] === Presence.value) {
        out.literal(idMember);
        this.value(ids, row);
      }
      if (settings.fileBounds && shapes.kinds[row] !== Kind.none) bounds.addGeometry(shapes, row);
      if (settings.featureBounds) {
        const box = new Bounds();
        box.addGeometry(shapes, row);
        box.write(out, settings);
      }
      out.literal(propertiesMember);
      let first = true;
      const end = present ? present.starts[row + 1]! : columns.length;
      for (let at = present ? present.starts[row]! : 0; at < end; at++) {
        const c = present ? present.columns[at]! : at;
        const column = columns[c]!;
        if (column.presence[row] === Presence.absent) continue;
        const prefix = prefixes?.[c];
        if (prefix) out.literal(first ? prefix.first : prefix.further);
        else out.utf8(`${first ? "" : ","}${JSON.stringify(names[c]!)}:`);
        first = false;
        this.value(column, row);
      }
      out.literal(geometryMember);
      if (!this.text.write(shapes, row)) infinite++;
      out.literal(this.after);
    }
    if (infinite > 0) {
      this.context.reportLoss(
        "non-finite-value",
        undefined,
        "a geometry with a coordinate that is not a number became null",
        infinite,
      );
    }
    reportCollapsedGeometries(shapes, settings.precision, this.context);
    const { least: low, most: high } = bounds;
    const wanted = settings.fileBounds;
    return { bytes: out.finish(), count: batch.length, least: wanted ? low : null, most: wanted ? high : null };
  }

  private prefix(name: string): PropertyPrefix {
    const known = this.names.get(name);
    if (known) return known;
    const made = new PropertyPrefix(`${JSON.stringify(name)}:`);
    if (this.names.size > maxPrefixes) this.names.clear();
    this.names.set(name, made);
    return made;
  }

  private reportUncut(count: number): void {
    const example = "a line or polygon goes more than a hundred times around the world, and was not cut";
    this.context.reportLoss("antimeridian-not-cut", undefined, example, count);
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

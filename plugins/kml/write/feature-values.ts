import { BytesBuilder } from "../../../src/model/column.js";
import {
  type Batch,
  type BytesColumn,
  type Column,
  type Field,
  type Value,
  valueAt,
} from "../../../src/model/index.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { writeXmlText } from "../../shared/xml/escape.js";
import { type ElementField, elementFields, isElementField } from "../element-fields.js";

/** Fields that are looked up for every feature: common ones, and those written into folders and geometries. */
const alwaysReadFields = new Set<ElementField>([
  "name",
  "description",
  "folder",
  "extrude",
  "tessellate",
  "altitudeMode",
  "coordinateProperties",
]);

const geometryModeFields = ["extrude", "tessellate", "altitudeMode"] as const satisfies ElementField[];

/** A few names, mostly none or one: a linear search is cheaper than a set for every feature. */
class SmallNameSet {
  private readonly names: string[] = [];
  private count = 0;

  has(name: string): boolean {
    for (let i = 0; i < this.count; i++) if (this.names[i] === name) return true;
    return false;
  }

  add(name: string): void {
    if (!this.has(name)) this.names[this.count++] = name;
  }

  delete(name: string): void {
    const at = this.names.indexOf(name);
    if (at >= 0 && at < this.count) this.names[at] = this.names[--this.count]!;
  }

  clear(): void {
    this.count = 0;
  }
}

/** Returns the indexes of the fields whose type an element can hold. */
function findHeldFields(fields: readonly Field[]): number[] {
  const held: number[] = [];
  for (let f = 0; f < fields.length; f++) {
    const { name, type } = fields[f]!;
    if (isElementField(name) && (elementFields[name] as readonly string[]).includes(type)) held.push(f);
  }
  return held;
}

/** The values of the feature being written, and the fields that an element holds already. */
export class FeatureValues {
  batch!: Batch;
  row = 0;
  /** Fields whose values are written as elements. */
  readonly carried = new SmallNameSet();
  /** By field, the number of values that lost characters, and of features that gain the field when read. */
  readonly removed = new Map<string | undefined, number>();
  readonly added = new Map<string, number>();
  private readonly columns = new Map<ElementField, Column>();
  /** The fields of the last batch, and the indexes of those that an element can hold. */
  private fields: readonly Field[] = [];
  private held: readonly number[] = [];
  /** Whether there are fields with an element of their own, which is rare. */
  hasRareFields = false;
  /** Whether there are fields that are written in geometries. */
  hasModes = false;

  begin(batch: Batch): void {
    this.batch = batch;
    if (batch.fields !== this.fields) {
      this.fields = batch.fields;
      this.held = findHeldFields(batch.fields);
    }
    this.columns.clear();
    for (const f of this.held) this.columns.set(batch.fields[f]!.name as ElementField, batch.columns[f]!);
    this.hasModes = geometryModeFields.some((name) => this.columns.has(name));
    this.hasRareFields = [...this.columns.keys()].some((name) => !alwaysReadFields.has(name));
  }

  next(row: number): void {
    this.row = row;
    this.carried.clear();
  }

  /** Returns the column of a field with an element, where the element can hold its type. */
  columnOf(field: ElementField): Column | undefined {
    return this.columns.get(field);
  }

  /** Returns the column of a field. */
  columnNamed(name: string): Column | undefined {
    const { fields, columns } = this.batch;
    for (let f = 0; f < fields.length; f++) if (fields[f]!.name === name) return columns[f];
    return undefined;
  }

  valueOf(field: ElementField): Value | undefined {
    const column = this.columns.get(field);
    return column && valueAt(column, this.row);
  }

  removes(field: string | undefined): void {
    this.removed.set(field, (this.removed.get(field) ?? 0) + 1);
  }

  adds(field: string): void {
    this.added.set(field, (this.added.get(field) ?? 0) + 1);
  }
}

/**
 * Writes a value as the content of an element, by the lexical forms of XML Schema.
 * @returns the number of characters that were left out because XML does not allow them
 */
export function writeValue(out: TextBuffer, column: Column, row: number): number {
  switch (column.type) {
    case "boolean":
      out.byte(column.values[row] === 1 ? 49 : 48);
      break;
    case "int32":
      out.int(column.values[row]!);
      break;
    case "int64":
      out.ascii(String(column.values[row]!));
      break;
    case "double":
      writeDouble(out, column.values, row);
      break;
    case "binary":
      out.ascii(Buffer.from(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!)).toString("base64"));
      break;
    default:
      return writeXmlText(out, column.bytes, column.offsets[row]!, column.offsets[row + 1]!);
  }
  return 0;
}

function writeDouble(out: TextBuffer, values: Float64Array, at: number): void {
  const value = values[at]!;
  if (Number.isFinite(value)) {
    if (Object.is(value, -0)) out.ascii("-0");
    else out.numberAt(values, at);
  } else out.ascii(Number.isNaN(value) ? "NaN" : value > 0 ? "INF" : "-INF");
}

/** A column of texts and numbers as texts. */
export function toTexts(column: BytesColumn): Column {
  const texts = new BytesBuilder("text", column.presence.length);
  for (let row = 0; row < column.presence.length; row++) {
    const value = valueAt(column, row);
    if (value === null) texts.pushNull();
    else {
      const parsed: unknown = JSON.parse(String(value));
      texts.push(typeof parsed === "string" ? parsed : String(value));
    }
  }
  return texts.finish();
}

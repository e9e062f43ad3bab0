import { type Batch, type Column, type Field, Presence, type Value, valueAt } from "../../src/model/index.js";
import type { Encoder, WriteContext } from "../../src/plugin/format.js";
import { TextBuffer } from "../shared/numbers.js";
import { altitudeModes, type ElementField, elementFields, isElementField } from "./element-fields.js";
import { isFolderPath } from "./folder-path.js";
import {
  factsOf,
  GeometryElements,
  type GeometryFacts,
  type GeometryModes,
  noModes,
  type Precision,
} from "./geometry-element.js";
import type { LayerSchema } from "./schema-element.js";
import { styleFields, styleOf } from "./style-element.js";
import { isKmlTime, timespanOf } from "./times.js";
import { timesOf, writeTracks } from "./track-element.js";
import { allowed, attributeText, elementText, writeText } from "./xml-text.js";

/** What a writer gets from a batch. */
export interface PlacemarkChunk {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Where features of another folder than those before them begin, in bytes; the path of the folder, or null. */
  readonly folders: readonly { readonly at: number; readonly path: string | null }[];
  /** Where the attributes with the features' ids stand, from and to in turn. */
  readonly ids: Uint32Array;
}

export interface PlacemarkSettings {
  readonly schema: LayerSchema;
  readonly precision: Precision;
  /** Fields that are the name and the description beside those called so. */
  readonly nameField: string | undefined;
  readonly descriptionField: string | undefined;
  /** The mode of heights without one; empty for none. */
  readonly altitudeMode: string;
  readonly styles: boolean;
  readonly folders: boolean;
  readonly tracks: boolean;
}

/** A field of a batch that is data. */
interface DataField {
  readonly column: Column;
  readonly name: string;
  readonly opening: Buffer;
}

const closing = Buffer.from("</SimpleData>");
/** Names of XML without colons, as far as ASCII goes: what xs:ID takes for sure. */
const ncName = /^[A-Za-z_][\w.-]*$/;

/** Writes batches as placemarks. */
export class PlacemarkEncoder implements Encoder<PlacemarkChunk> {
  private readonly out = new TextBuffer(1 << 18);
  private readonly geometry: GeometryElements;
  private readonly openings = new Map<string, Buffer>();
  private readonly dataOpening: Buffer;
  private batch!: Batch;
  private row = 0;
  private elements = new Map<ElementField, Column>();
  private data: DataField[] = [];
  /** Of each field whether an element has said its value already. */
  private carried = new Set<string>();
  private removed = new Map<string | undefined, number>();
  private added = new Map<string, number>();

  constructor(
    private readonly settings: PlacemarkSettings,
    private readonly context: WriteContext,
  ) {
    this.geometry = new GeometryElements(this.out, settings.precision);
    this.dataOpening = Buffer.from(`<ExtendedData><SchemaData schemaUrl="#${settings.schema.id}">`);
  }

  encode(batch: Batch): PlacemarkChunk {
    const { out, settings } = this;
    this.begin(batch);
    const folders: { at: number; path: string | null }[] = [];
    const ids: number[] = [];
    let unfaithful = 0;
    let infinite = 0;
    let folder: string | null | undefined;
    for (let row = 0; row < batch.length; row++) {
      this.row = row;
      this.carried.clear();
      const path = settings.folders ? this.folder() : null;
      if (path !== folder) folders.push({ at: out.length, path });
      folder = path;
      const facts = factsOf(batch.geometry, row, 0.5 * 10 ** -settings.precision.z);
      out.ascii("<Placemark");
      this.id(ids);
      out.byte(62);
      const modes = this.modes(facts);
      const times = this.times(facts);
      this.describe();
      this.writeData();
      if (!facts.finite) infinite++;
      else if (times) writeTracks(out, this.geometry, batch.geometry, row, times, modes.altitudeMode);
      else if (batch.geometry.kinds[row] !== 0 && !this.geometry.write(batch.geometry, row, modes)) unfaithful++;
      out.ascii("</Placemark>\n");
    }
    this.report(unfaithful, infinite);
    return { bytes: out.finish(), count: batch.length, folders, ids: Uint32Array.from(ids) };
  }

  private begin(batch: Batch): void {
    this.batch = batch;
    this.elements = new Map();
    this.data = batch.fields.map(({ name }, f) => ({
      column: batch.columns[f]!,
      name,
      opening: this.opening(name),
    }));
    batch.fields.forEach(({ name, type }, f) => {
      if (isElementField(name) && (elementFields[name] as readonly string[]).includes(type)) {
        this.elements.set(name, batch.columns[f]!);
      }
    });
  }

  private opening(name: string): Buffer {
    const known = this.openings.get(name);
    if (known) return known;
    const made = Buffer.from(`<SimpleData name="${attributeText(name)}">`);
    this.openings.set(name, made);
    return made;
  }

  private valueOf(name: ElementField): Value | undefined {
    const column = this.elements.get(name);
    return column && valueAt(column, this.row);
  }

  /** The id of an element is a name and unique; other ids are data, in a field that the document names. */
  private id(ids: number[]): void {
    const { out, batch, row } = this;
    const id = batch.ids && valueAt(batch.ids, row);
    if (typeof id !== "string" || !ncName.test(id)) return;
    ids.push(out.length);
    out.ascii(` id="${id}"`);
    ids.push(out.length);
    this.carried.add(idKey);
  }

  private folder(): string | null {
    const path = this.valueOf("folder");
    if (typeof path !== "string" || !isFolderPath(path) || allowed(path) !== path) return null;
    this.carried.add("folder");
    return path;
  }

  /** Everything that stands before the data, in the order of the schema (OGC 07-147r2, 9.1.2). */
  private describe(): void {
    const { settings } = this;
    this.nameLike("name", settings.nameField);
    this.flag("visibility");
    this.flag("open");
    this.text("author", "<atom:author><atom:name>", "</atom:name></atom:author>");
    this.link();
    this.text("address", "<address>", "</address>");
    this.text("phoneNumber", "<phoneNumber>", "</phoneNumber>");
    this.text("snippet", "<snippet>", "</snippet>");
    this.nameLike("description", settings.descriptionField);
    this.timePrimitive();
    this.styleUrl();
    if (settings.styles) this.style();
  }

  /** The name or description: the field called so, else one that is shown as it and stays data. */
  private nameLike(element: "name" | "description", field: string | undefined): void {
    if (field === undefined) {
      this.text(element, `<${element}>`, `</${element}>`);
      return;
    }
    const column = this.data.find(({ name }) => name === field)?.column;
    if (column?.presence[this.row] !== Presence.value) return;
    const { out } = this;
    const mark = out.length;
    out.ascii(`<${element}>`);
    const before = out.length;
    this.value(column, undefined);
    if (out.length === before) out.length = mark;
    else {
      out.ascii(`</${element}>`);
      if (field !== element) this.count(this.added, element);
    }
  }

  private text(field: ElementField, opening: string, end: string): void {
    const column = this.elements.get(field);
    if (column?.presence[this.row] !== Presence.value || !("offsets" in column)) return;
    const from = column.offsets[this.row]!;
    const to = column.offsets[this.row + 1]!;
    if (from === to) return;
    const { out } = this;
    const mark = out.length;
    out.ascii(opening);
    const before = out.length;
    const removed = writeText(out, column.bytes, from, to);
    // Nothing left is nothing said: an element without text is read as none.
    if (out.length === before) {
      out.length = mark;
      return;
    }
    out.ascii(end);
    if (removed > 0) this.count(this.removed, field);
    this.carried.add(field);
  }

  private flag(field: "visibility" | "open"): void {
    const value = this.valueOf(field);
    if (typeof value !== "boolean") return;
    this.out.ascii(`<${field}>${value ? 1 : 0}</${field}>`);
    this.carried.add(field);
  }

  private link(): void {
    const link = this.valueOf("link");
    if (typeof link !== "string" || link.trim() === "" || allowed(link) !== link) return;
    this.out.utf8(`<atom:link href="${attributeText(link)}"/>`);
    this.carried.add("link");
  }

  private timePrimitive(): void {
    const { out } = this;
    const time = this.valueOf("timestamp");
    if (typeof time === "string" && isKmlTime(time)) {
      out.ascii(`<TimeStamp><when>${time}</when></TimeStamp>`);
      this.carried.add("timestamp");
      return;
    }
    const json = this.valueOf("timespan");
    const span = typeof json === "string" ? timespanOf(json) : null;
    if (!span) return;
    out.ascii("<TimeSpan>");
    if (span.begin !== undefined) out.ascii(`<begin>${span.begin}</begin>`);
    if (span.end !== undefined) out.ascii(`<end>${span.end}</end>`);
    out.ascii("</TimeSpan>");
    this.carried.add("timespan");
  }

  /** Styles of other documents only: those of the source's own are not in this one, but for what they say. */
  private styleUrl(): void {
    const url = this.valueOf("styleUrl");
    if (typeof url !== "string" || !/^[^\s#<>"{}|\\^`\x7f-\uffff]+#[\w.-]+$/.test(url)) return;
    this.out.ascii(`<styleUrl>${elementText(url)}</styleUrl>`);
    this.carried.add("styleUrl");
  }

  private style(): void {
    if (!styleFields.some((field) => this.elements.has(field))) return;
    const style = styleOf((field) => this.valueOf(field as ElementField));
    if (!style) return;
    this.out.utf8(style.xml);
    for (const field of style.carried) this.carried.add(field);
    for (const field of style.added) this.count(this.added, field);
  }

  /** What stands in every geometry of the feature. */
  private modes(facts: GeometryFacts): GeometryModes {
    const located = facts.finite && (facts.points || facts.others);
    if (!located) return noModes;
    const extrude = this.valueOf("extrude");
    const tessellate = facts.others ? this.valueOf("tessellate") : undefined;
    if (typeof extrude === "boolean") this.carried.add("extrude");
    if (typeof tessellate === "boolean") this.carried.add("tessellate");
    const altitudeMode = this.altitudeMode(facts.elevated);
    if (altitudeMode === "" && typeof extrude !== "boolean" && typeof tessellate !== "boolean") return noModes;
    const flag = (name: string, value: unknown) =>
      typeof value === "boolean" ? `<${name}>${value ? 1 : 0}</${name}>` : "";
    return { extrude: flag("extrude", extrude), tessellate: flag("tessellate", tessellate), altitudeMode };
  }

  /** Heights are absolute where nothing else is said, and read so; so this says itself only where it is the field's. */
  private altitudeMode(elevated: boolean): string {
    const said = this.valueOf("altitudeMode");
    const known = typeof said === "string" && altitudeModes.includes(said);
    if (known && !(elevated && said === "absolute")) this.carried.add("altitudeMode");
    const mode = known ? said : elevated ? this.settings.altitudeMode : "";
    if (mode === "") return "";
    if (!known && mode !== "absolute") this.count(this.added, "altitudeMode");
    const prefix = mode.endsWith("SeaFloor") ? "gx:" : "";
    return `<${prefix}altitudeMode>${mode}</${prefix}altitudeMode>`;
  }

  private times(facts: GeometryFacts) {
    const json = this.settings.tracks && facts.finite ? this.valueOf("coordinateProperties") : undefined;
    const times = typeof json === "string" ? timesOf(json, this.batch.geometry, this.row) : null;
    if (!times) return null;
    this.carried.add("coordinateProperties");
    // Tracks have neither.
    this.carried.delete("extrude");
    this.carried.delete("tessellate");
    return times;
  }

  private writeData(): void {
    const { out, batch, row, carried } = this;
    const { fields, idField } = this.settings.schema;
    if (fields.length === 0 && !idField) return;
    out.bytes(this.dataOpening, 0, this.dataOpening.length);
    for (const { column, name, opening } of this.data) {
      if (column.presence[row] !== Presence.value || (carried.size > 0 && carried.has(name))) continue;
      out.bytes(opening, 0, opening.length);
      this.value(column, name);
      out.bytes(closing, 0, closing.length);
    }
    if (idField && batch.ids?.presence[row] === Presence.value && !carried.has(idKey)) {
      const opening = this.opening(idField.name);
      out.bytes(opening, 0, opening.length);
      this.value(batch.ids, undefined);
      out.bytes(closing, 0, closing.length);
    }
    out.ascii("</SchemaData></ExtendedData>");
  }

  /** A value as the content of an element, by the lexical forms of XML Schema. */
  private value(column: Column, field: string | undefined): void {
    const { out, row } = this;
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
        this.double(column.values[row]!);
        break;
      case "binary":
        out.ascii(
          Buffer.from(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!)).toString("base64"),
        );
        break;
      default:
        if (writeText(out, column.bytes, column.offsets[row]!, column.offsets[row + 1]!) > 0) {
          this.count(this.removed, field);
        }
    }
  }

  private double(value: number): void {
    if (Number.isFinite(value)) {
      if (Object.is(value, -0)) this.out.ascii("-0");
      else this.out.number(value);
    } else this.out.ascii(Number.isNaN(value) ? "NaN" : value > 0 ? "INF" : "-INF");
  }

  private count<K>(tally: Map<K, number>, key: K): void {
    tally.set(key, (tally.get(key) ?? 0) + 1);
  }

  private report(unfaithful: number, infinite: number): void {
    const { context } = this;
    for (const [field, count] of this.removed) {
      context.lose("control-character", field, "characters that XML 1.0 cannot hold were left out", count);
    }
    for (const [field, count] of this.added) {
      context.notice(
        "field-added",
        field,
        `the element that says it gives features a field "${field}" when read`,
        count,
      );
    }
    if (unfaithful > 0) {
      const example =
        "KML tells the type of a MultiGeometry by its members: a collection of one type, or an empty one, comes back as another type";
      context.lose("geometry-type-changed", undefined, example, unfaithful);
    }
    if (infinite > 0) {
      context.lose("non-finite", undefined, "a geometry with a coordinate that is no number was left out", infinite);
    }
    this.removed = new Map();
    this.added = new Map();
  }
}

/** Stands among the names of fields for the feature's id: no name has a NUL. */
const idKey = "\0id";

/** The field shown as an element's text, where none is called like it; undefined where there is one, or none that fits. */
export function shownField(
  fields: readonly Field[],
  chosen: string | undefined,
  element: "name" | "description",
  others: readonly string[],
): string | undefined {
  if (chosen !== undefined) return chosen === element && isTextField(fields, element) ? undefined : chosen;
  if (fields.some(({ name }) => name === element)) return isTextField(fields, element) ? undefined : element;
  const fits = (wanted: string) => fields.find(({ name }) => name.toLowerCase() === wanted)?.name;
  return others.map(fits).find((name) => name !== undefined);
}

const isTextField = (fields: readonly Field[], name: string): boolean =>
  fields.some((field) => field.name === name && field.type === "text");

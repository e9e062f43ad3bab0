import { type Batch, type Column, Presence, valueAt } from "../../../src/model/index.js";
import type { Encoder, WriteContext } from "../../../src/plugin/format.js";
import { indexPresentCells, presentColumns } from "../../shared/present-cells.js";
import { EncodedText } from "../../shared/text/literal.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { escapeAttribute, removeForbidden } from "../../shared/xml/escape.js";
import { altitudeModes, isElementField } from "../element-fields.js";
import { isFolderPath } from "../folder-path.js";
import { type FeatureElementSettings, FeatureElementWriter } from "./feature-elements.js";
import { FeatureValues, toTexts, writeValue } from "./feature-values.js";
import {
  type CoordinatePrecision,
  GeometryElementWriter,
  GeometryInspection,
  type GeometryModes,
  noModes,
} from "./geometry-element.js";
import type { LayerSchema } from "./schema-element.js";
import { parseLineTimes, writeTracks } from "./track-element.js";

/** An encoded batch. */
export interface PlacemarkChunk {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** The byte positions where another folder begins, with its path; null outside folders. */
  readonly folders: readonly { readonly at: number; readonly path: string | null }[];
  /** The byte ranges of the id attributes: starts and ends alternate. */
  readonly ids: Uint32Array;
}

export interface PlacemarkSettings extends FeatureElementSettings {
  readonly schema: LayerSchema;
  readonly precision: CoordinatePrecision;
  /** The altitude mode of features without one; empty for none. */
  readonly altitudeMode: string;
  readonly folders: boolean;
  readonly tracks: boolean;
}

/** A field of a batch that is written as data. */
interface DataField {
  readonly column: Column;
  readonly name: string;
  readonly opening: EncodedText;
  /** Whether an element can hold its value. */
  readonly isElement: boolean;
}

const placemarkTags = { open: new EncodedText("<Placemark"), close: new EncodedText("</Placemark>\n") };
const simpleDataEnd = new EncodedText("</SimpleData>");
const schemaDataEnd = new EncodedText("</SchemaData></ExtendedData>");
const simpleDataStart = (name: string): string => `<SimpleData name="${escapeAttribute(name)}">`;
/** The maximum number of start tags that are kept encoded. */
const maxOpenings = 4096;
/** For a batch with very many fields: the fields that each feature has. */
function indexWideBatch({ columns, length }: Batch) {
  const within = presentColumns(columns);
  const own = within.map((f) => columns[f]!);
  return { within, columns: own, cells: indexPresentCells(own, length) };
}

/** ASCII names without colons, which xs:ID allows. */
const ncName = /^[A-Za-z_][\w.-]*$/;

/** Writes batches as placemarks. */
export class PlacemarkEncoder implements Encoder<PlacemarkChunk> {
  private readonly out = new TextBuffer(1 << 14);
  private readonly geometry: GeometryElementWriter;
  private readonly facts: GeometryInspection;
  private readonly openings = new Map<string, EncodedText>();
  private readonly dataOpening: EncodedText;
  private readonly said = new FeatureValues();
  private readonly elements: FeatureElementWriter;
  /** Null for too many fields. */
  private data: DataField[] | null = [];
  private wide: ReturnType<typeof indexWideBatch> | null = null;
  /** The last value of the field "folder", and whether folders can represent it. */
  private lastPath = "";
  /** The number of ids in this batch that are written as data. */
  private idsAsData = 0;
  private isLastFolder = false;

  constructor(
    private readonly settings: PlacemarkSettings,
    private readonly context: WriteContext,
  ) {
    this.geometry = new GeometryElementWriter(this.out, settings.precision);
    this.facts = new GeometryInspection(0.5 * 10 ** -settings.precision.z);
    this.elements = new FeatureElementWriter(this.out, this.said, settings);
    this.dataOpening = new EncodedText(`<ExtendedData><SchemaData schemaUrl="#${settings.schema.id}">`);
  }

  encode(given: Batch): PlacemarkChunk {
    const batch = given.ids?.type === "json" ? given.with({ ids: toTexts(given.ids) }) : given;
    const { out, settings, said, facts } = this;
    said.begin(batch);
    const isWide = batch.fields.length > maxOpenings;
    this.wide = isWide ? indexWideBatch(batch) : null;
    this.data = isWide
      ? null
      : batch.fields.map(({ name }, f) => {
          return { column: batch.columns[f]!, name, opening: this.opening(name), isElement: isElementField(name) };
        });
    const folders: { at: number; path: string | null }[] = [];
    const ids: number[] = [];
    let unfaithful = 0;
    let infinite = 0;
    let folder: string | null | undefined;
    for (let row = 0; row < batch.length; row++) {
      said.next(row);
      const path = settings.folders ? this.folder() : null;
      if (path !== folder) folders.push({ at: out.length, path });
      folder = path;
      facts.look(batch.geometry, row);
      out.literal(placemarkTags.open);
      this.id(ids);
      out.byte(62);
      const modes = this.modes(facts);
      const times = this.times(facts);
      this.elements.write();
      this.writeData();
      if (!facts.finite) infinite++;
      else if (times) writeTracks(out, this.geometry, batch.geometry, row, times, modes.altitudeMode);
      else if (batch.geometry.kinds[row] !== 0 && !this.geometry.write(batch.geometry, row, modes)) unfaithful++;
      out.literal(placemarkTags.close);
    }
    this.report(unfaithful, infinite);
    return { bytes: out.finish(), count: batch.length, folders, ids: Uint32Array.from(ids) };
  }

  private opening(name: string): EncodedText {
    const known = this.openings.get(name);
    if (known) return known;
    const made = new EncodedText(simpleDataStart(name));
    this.openings.set(name, made);
    return made;
  }

  /** Writes the id. The id of an element is a unique name; other ids are data, in a field that the document declares. */
  private id(ids: number[]): void {
    const { out } = this;
    const { batch, row, carried } = this.said;
    const id = batch.ids && valueAt(batch.ids, row);
    if (typeof id !== "string" || !ncName.test(id)) return;
    ids.push(out.length);
    out.ascii(` id="${id}"`);
    ids.push(out.length);
    carried.add(idKey);
  }

  private folder(): string | null {
    const path = this.said.valueOf("folder");
    if (typeof path !== "string") return null;
    // Most features are in the same folder as the one before.
    if (path !== this.lastPath) this.isLastFolder = isFolderPath(path) && removeForbidden(path) === path;
    this.lastPath = path;
    if (!this.isLastFolder) return null;
    this.said.carried.add("folder");
    return path;
  }

  /** Returns the elements to write in each geometry of the feature. */
  private modes(facts: GeometryInspection): GeometryModes {
    const located = facts.finite && (facts.points || facts.others);
    if (!located || !(facts.elevated || this.said.hasModes)) return noModes;
    const extrude = this.said.valueOf("extrude");
    const tessellate = facts.others ? this.said.valueOf("tessellate") : undefined;
    if (typeof extrude === "boolean") this.said.carried.add("extrude");
    if (typeof tessellate === "boolean") this.said.carried.add("tessellate");
    const altitudeMode = this.altitudeMode(facts.elevated);
    if (altitudeMode === "" && typeof extrude !== "boolean" && typeof tessellate !== "boolean") return noModes;
    const flag = (name: string, value: unknown) =>
      typeof value === "boolean" ? `<${name}>${value ? 1 : 0}</${name}>` : "";
    return { extrude: flag("extrude", extrude), tessellate: flag("tessellate", tessellate), altitudeMode };
  }

  /** Returns the altitude mode. "absolute" is the default of the reader, and counts as a value only if the field has it. */
  private altitudeMode(elevated: boolean): string {
    const said = this.said.valueOf("altitudeMode");
    const known = typeof said === "string" && altitudeModes.includes(said);
    if (known && !(elevated && said === "absolute")) this.said.carried.add("altitudeMode");
    const mode = known ? said : elevated ? this.settings.altitudeMode : "";
    // KML defines heights without a mode as clamped to the ground, and the reader reads them so.
    if (elevated && !known && mode !== "absolute") this.said.adds("altitudeMode");
    if (mode === "") return "";
    const prefix = mode.endsWith("SeaFloor") ? "gx:" : "";
    return `<${prefix}altitudeMode>${mode}</${prefix}altitudeMode>`;
  }

  private times(facts: GeometryInspection) {
    const json = this.settings.tracks && facts.finite ? this.said.valueOf("coordinateProperties") : undefined;
    const times = typeof json === "string" ? parseLineTimes(json, this.said.batch.geometry, this.said.row) : null;
    if (!times) return null;
    this.said.carried.add("coordinateProperties");
    // Tracks have neither element.
    this.said.carried.delete("extrude");
    this.said.carried.delete("tessellate");
    return times;
  }

  private writeData(): void {
    const { out } = this;
    const { batch, row, carried } = this.said;
    const { fields, idField } = this.settings.schema;
    if (fields.length === 0 && !idField) return;
    out.literal(this.dataOpening);
    if (!this.data) this.writeWide();
    for (const { column, name, opening, isElement } of this.data ?? []) {
      if (column.presence[row] !== Presence.value || (isElement && carried.has(name))) continue;
      out.literal(opening);
      if (writeValue(out, column, row) > 0) this.said.removes(name);
      out.literal(simpleDataEnd);
    }
    if (idField && batch.ids?.presence[row] === Presence.value && !carried.has(idKey)) {
      out.literal(this.opening(idField.name));
      if (writeValue(out, batch.ids, row) > 0) this.said.removes(undefined);
      this.idsAsData++;
      out.literal(simpleDataEnd);
    }
    out.literal(schemaDataEnd);
  }

  /** Writes the data of a feature in a batch with very many fields. */
  private writeWide(): void {
    const { out } = this;
    const { batch, row, carried } = this.said;
    const { fields } = batch;
    const { within, columns, cells } = this.wide!;
    const end = cells ? cells.starts[row + 1]! : columns.length;
    for (let at = cells ? cells.starts[row]! : 0; at < end; at++) {
      const c = cells ? cells.columns[at]! : at;
      const column = columns[c]!;
      if (column.presence[row] !== Presence.value) continue;
      const f = within[c]!;
      const { name } = fields[f]!;
      if (isElementField(name) && carried.has(name)) continue;
      out.utf8(simpleDataStart(name));
      if (writeValue(out, column, row) > 0) this.said.removes(name);
      out.literal(simpleDataEnd);
    }
  }

  private report(unfaithful: number, infinite: number): void {
    const { context } = this;
    for (const [field, count] of this.said.removed) {
      context.reportLoss("control-character", field, "characters that XML 1.0 does not allow were left out", count);
    }
    for (const [field, count] of this.said.added) {
      context.reportNotice(
        "field-added",
        field,
        `its element gives features a field "${field}" when the file is read`,
        count,
      );
    }
    if (this.idsAsData > 0) {
      const field = this.settings.schema.idField!.name;
      const example = `the id of an element has to be a name in KML, and these feature ids are not; they are in the field "${field}"`;
      context.reportNotice("id-as-field", field, example, this.idsAsData);
      this.idsAsData = 0;
    }
    if (unfaithful > 0) {
      const example =
        "in KML, the members determine the type of a MultiGeometry: a collection of one type, or an empty one, is read as another type";
      context.reportLoss("geometry-type-changed", undefined, example, unfaithful);
    }
    if (infinite > 0) {
      context.reportLoss(
        "non-finite-coordinates",
        undefined,
        "a geometry with a coordinate that is not a number was left out",
        infinite,
      );
    }
    this.said.removed.clear();
    this.said.added.clear();
  }
}

/** Represents the feature's id among the names of fields: no name contains NUL. */
const idKey = "\0id";

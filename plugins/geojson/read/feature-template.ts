import { Kind } from "../../../src/model/index.js";
import { ByteRun } from "../../shared/json/byte-run.js";
import { type JsonCursor, JsonSyntaxError, JsonToken } from "../../shared/json/cursor.js";
import { isIdToken, type PropertyColumns } from "../../shared/json/property-columns.js";
import type { RawColumn } from "../../shared/json/raw-column.js";
import { featureType, readName, readType } from "../json/member.js";

/** Values that differ between features. */
const TemplateSlot = { id: 0, properties: 1, type: 2, coordinates: 3, passed: 4 } as const;

/** Each template has the properties, the type and the coordinates. */
const usualSlots = 3;

/** How a program writes its features: the bytes before each value that differs, and those after the last. */
interface FeatureTemplate {
  readonly slots: readonly number[];
  readonly runs: readonly ByteRun[];
}

/** Number of templates kept. */
const maxTemplates = 4;
/** Limit of the constant bytes in a template. */
const maxTemplateBytes = 4096;
/** Maximum number of features read without templates after a failure. */
const maxPause = 256;

/**
 * Reads features with the same structure as earlier ones by comparing bytes for all but a few values. The same bytes
 * around whole values have only one meaning in JSON, so a feature that matches a template gives the same result as the
 * parser.
 */
export class FeatureTemplates {
  private templates: FeatureTemplate[] = [];
  /** Features to read without templates before the next attempt, and the number after the next failure. */
  private rest = 0;
  private nextRest = 1;
  /** The source text of the last type, and its number. */
  private typeRun = new ByteRun(Uint8Array.of(0));
  private typeKind = 0;
  /** Kind of the last feature's geometry, and whether the feature has an id. */
  kind = 0;
  hasId = false;
  /** Whether only its type, properties and coordinates can differ from those of others, and where its coordinates are. */
  isUsual = false;
  positionFrom = 0;
  positionTo = 0;

  constructor(
    private readonly cursor: JsonCursor,
    private readonly properties: PropertyColumns,
    private readonly ids: RawColumn,
    /** Moves past the coordinates at the cursor; returns false if the parser must read the feature. */
    private readonly coordinates: (cursor: JsonCursor) => boolean,
  ) {}

  /**
   * Reads the feature at the cursor into `row` of the properties and ids, and its coordinates. Returns false if no
   * template matches: the caller must then clear the row and reset the cursor.
   */
  read(row: number): boolean {
    if (this.rest > 0) return false;
    const { templates, cursor } = this;
    const { view, at, end } = cursor;
    for (let s = 0; s < templates.length; s++) {
      const build = templates[s]!;
      if (!build.runs[0]!.isAt(view, at, end)) continue;
      if (!this.fill(build, row)) return false;
      if (this.nextRest > 1) this.nextRest >>= 1;
      this.isUsual = build.slots.length === usualSlots;
      return true;
    }
    return false;
  }

  private fill({ slots, runs }: FeatureTemplate, row: number): boolean {
    const { cursor } = this;
    this.hasId = false;
    try {
      for (let s = 0; s < slots.length; s++) {
        if (!cursor.pass(runs[s]!)) return false;
        let byte = cursor.bytes[cursor.at]!;
        if (byte <= 32) byte = cursor.space();
        if (!this.slot(slots[s]!, byte, row)) return false;
      }
      return cursor.pass(runs[slots.length]!);
    } catch (error) {
      if (error instanceof JsonSyntaxError) return false;
      throw error;
    }
  }

  private slot(slot: number, byte: number, row: number): boolean {
    const { cursor } = this;
    switch (slot) {
      case TemplateSlot.properties:
        if (byte === 123) this.properties.read(cursor, row);
        return byte === 123;
      case TemplateSlot.type:
        return this.type();
      case TemplateSlot.coordinates:
        return this.readCoordinates();
      case TemplateSlot.id:
        return this.id(row);
      default:
        cursor.value();
        return true;
    }
  }

  private readCoordinates(): boolean {
    this.positionFrom = this.cursor.at;
    const isRead = this.coordinates(this.cursor);
    this.positionTo = this.cursor.at;
    return isRead;
  }

  private type(): boolean {
    const { cursor } = this;
    const { at } = cursor;
    if (cursor.pass(this.typeRun)) this.kind = this.typeKind;
    else {
      this.kind = readType(cursor);
      if (this.kind < Kind.GeometryCollection) {
        this.typeKind = this.kind;
        this.typeRun = cursor.run(at, cursor.at);
      }
    }
    return this.kind < Kind.GeometryCollection;
  }

  private id(row: number): boolean {
    const { cursor } = this;
    const start = cursor.at;
    const token = cursor.value();
    if (token === JsonToken.null) return true;
    if (!isIdToken(token)) return false;
    this.ids.set(row, token, start, cursor.at);
    this.hasId = true;
    return true;
  }

  /** Adds a template of the feature from `start` to the cursor, which was read without a report. */
  learn(start: number): void {
    if (this.rest > 0) {
      this.rest--;
      return;
    }
    this.rest = this.nextRest - 1;
    this.nextRest = Math.min(2 * this.nextRest, maxPause);
    const { cursor } = this;
    const after = cursor.at;
    cursor.at = start;
    const template = new TemplateBuilder(cursor).build();
    cursor.at = after;
    if (template === null || this.templates.some((known) => isSameTemplate(known, template))) return;
    this.templates = [template, ...this.templates.slice(0, maxTemplates - 1)];
  }
}

const isSameTemplate = (a: FeatureTemplate, b: FeatureTemplate): boolean =>
  a.runs.length === b.runs.length &&
  a.slots.every((slot, s) => slot === b.slots[s]) &&
  a.runs.every((run, r) => run.equals(b.runs[r]!));

/** Splits a feature into its constant and its variable parts. */
class TemplateBuilder {
  private readonly slots: number[] = [];
  private readonly runs: ByteRun[] = [];
  /** The start of the current run. */
  private from: number;
  private size = 0;

  constructor(private readonly cursor: JsonCursor) {
    this.from = cursor.at;
  }

  /** The template of the feature at the cursor, which is valid JSON; null if it has unusual members. */
  build(): FeatureTemplate | null {
    let isFeature = false;
    const usual = this.members((name, byte) => {
      if (name === "type") {
        isFeature = readType(this.cursor) === featureType;
        return isFeature;
      }
      if (name === "id") return this.slot(TemplateSlot.id);
      if (name === "bbox") return this.slot(TemplateSlot.passed);
      if (name === "properties") return byte === 123 && this.slot(TemplateSlot.properties);
      return name === "geometry" && byte === 123 && this.geometry();
    });
    const once = [TemplateSlot.properties, TemplateSlot.type, TemplateSlot.coordinates].every((slot) =>
      this.slots.includes(slot),
    );
    // The parser counts objects without a type.
    if (!usual || !once || !isFeature) return null;
    this.run(this.cursor.at);
    return this.size > maxTemplateBytes ? null : { slots: this.slots, runs: this.runs };
  }

  private geometry(): boolean {
    return this.members((name) => {
      if (name === "coordinates") return this.slot(TemplateSlot.coordinates);
      if (name !== "type") return false;
      const { at } = this.cursor;
      const kind = readType(this.cursor);
      this.cursor.at = at;
      return kind < Kind.GeometryCollection && this.slot(TemplateSlot.type);
    });
  }

  /** Iterates over the members of an object while `each`, which moves past the value, accepts them. */
  private members(each: (name: string, byte: number) => boolean): boolean {
    const { cursor } = this;
    const met = new Set<string>();
    cursor.at++;
    let byte = cursor.space();
    while (byte !== 125) {
      const name = readName(cursor);
      if (met.has(name)) return false;
      met.add(name);
      if (!each(name, cursor.colon())) return false;
      byte = cursor.nextMember();
    }
    cursor.at++;
    return true;
  }

  private slot(slot: number): true {
    const { cursor } = this;
    this.run(cursor.at);
    this.slots.push(slot);
    cursor.value();
    this.from = cursor.at;
    return true;
  }

  private run(to: number): void {
    this.size += to - this.from;
    this.runs.push(this.cursor.run(this.from, Math.min(to, this.from + maxTemplateBytes)));
  }
}

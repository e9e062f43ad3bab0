import { Kind } from "../../../src/model/index.js";
import { ByteRun } from "../json/byte-run.js";
import { type JsonCursor, JsonSyntaxError, JsonToken } from "../json/cursor.js";
import { featureType, readName, readType } from "../json/member.js";
import { isIdToken, type PropertyColumns } from "./property-columns.js";
import type { RawColumn } from "./raw-column.js";

/** Values of a feature that differ from one to the next. */
const TemplateSlot = { id: 0, properties: 1, type: 2, coordinates: 3, passed: 4 } as const;

/** How a program writes its features: the bytes before each of the values that differ, and those behind the last. */
interface FeatureTemplate {
  readonly slots: readonly number[];
  readonly runs: readonly ByteRun[];
}

/** So many ways of writing are remembered. */
const maxTemplates = 4;
/** More bytes that stay the same are not worth to be remembered. */
const maxTemplateBytes = 4096;
/** After so many features at most, stencils are tried again. */
const maxPause = 256;

/**
 * Reads features that are written as earlier ones were: all but a few values is told by comparing bytes. JSON has one
 * meaning for the same bytes around whole values, so that what fits a stencil is what the parser would have made of it.
 */
export class FeatureTemplates {
  private stencils: FeatureTemplate[] = [];
  /** Features that are passed by until stencils are tried again, and how many it will be after the next failure. */
  private rest = 0;
  private nextRest = 1;
  /** The type met last, as it is written, and its number. */
  private typeRun = new ByteRun(Uint8Array.of(0));
  private typeKind = 0;
  /** Of the feature read last: the kind of its geometry, and whether it has an id. */
  kind = 0;
  hasId = false;

  constructor(
    private readonly cursor: JsonCursor,
    private readonly properties: PropertyColumns,
    private readonly ids: RawColumn,
    /** Moves past the coordinates at the cursor; false where the feature is to be read in the general way. */
    private readonly coordinates: (cursor: JsonCursor) => boolean,
  ) {}

  /**
   * Reads the feature at the cursor into `row` of the properties and ids, and its coordinates. False where it fits no
   * stencil: what the row has must be cleared then, and the cursor put back.
   */
  read(row: number): boolean {
    if (this.rest > 0) return false;
    const { stencils, cursor } = this;
    const { view, at, end } = cursor;
    for (let s = 0; s < stencils.length; s++) {
      const stencil = stencils[s]!;
      if (!stencil.runs[0]!.isAt(view, at, end)) continue;
      if (!this.fill(stencil, row)) return false;
      if (this.nextRest > 1) this.nextRest >>= 1;
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
        return this.coordinates(cursor);
      case TemplateSlot.id:
        return this.id(row);
      default:
        cursor.value();
        return true;
    }
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

  /** Remembers how the feature from `start` to the cursor is written, which was read without any remark. */
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
    const stencil = new TemplateBuilder(cursor).stencil();
    cursor.at = after;
    if (stencil === null || this.stencils.some((known) => isSameTemplate(known, stencil))) return;
    this.stencils = [stencil, ...this.stencils.slice(0, maxTemplates - 1)];
  }
}

const isSameTemplate = (a: FeatureTemplate, b: FeatureTemplate): boolean =>
  a.runs.length === b.runs.length &&
  a.slots.every((slot, s) => slot === b.slots[s]) &&
  a.runs.every((run, r) => run.equals(b.runs[r]!));

/** Takes a feature apart into what stays the same and what does not. */
class TemplateBuilder {
  private readonly slots: number[] = [];
  private readonly runs: ByteRun[] = [];
  /** Where the run under way begins. */
  private from: number;
  private size = 0;

  constructor(private readonly cursor: JsonCursor) {
    this.from = cursor.at;
  }

  /** The stencil of the feature at the cursor, sound JSON; null where it has other members than most features have. */
  stencil(): FeatureTemplate | null {
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
    // What lacks its type is counted by who reads it.
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

  /** Walks over the members of an object, as long as `each`, which moves past the value, finds them usual. */
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

import type { Batch } from "./batch.js";
import { isCalendarDate } from "./calendar.js";
import { type BytesColumn, type Column, Presence } from "./column.js";
import { commonType, type Field, type FieldType, fieldDeclarations, isPlainField } from "./field.js";
import { type Extent, type GeometryColumn, type GeometryType, geometryTypes, Kind, positionRange } from "./geometry.js";
import { temporalTypeAt } from "./temporal-type.js";

/** Summary of all values of a field. */
export interface FieldSummary extends Field {
  /** Values that are neither null nor absent. */
  readonly values: number;
  /** Bytes of the longest value as UTF-8 text; for binary, its bytes. */
  readonly maxBytes: number;
}

/** Summary of all geometries of one kind. */
export interface KindSummary {
  count: number;
  hasZ: boolean;
  hasM: boolean;
  /**
   * Least x, least y, greatest x, greatest y; infinity as minimum and −infinity as maximum if there are no positions, or
   * they were not read.
   */
  box: [number, number, number, number];
}

export const emptyKindSummary = (): KindSummary => ({
  count: 0,
  hasZ: false,
  hasM: false,
  box: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
});

function mergeKindSummary(into: KindSummary, other: KindSummary): void {
  into.count += other.count;
  into.hasZ ||= other.hasZ;
  into.hasM ||= other.hasM;
  const [minX, minY, maxX, maxY] = other.box;
  const [x0, y0, x1, y1] = into.box;
  into.box = [Math.min(x0, minX), Math.min(y0, minY), Math.max(x1, maxX), Math.max(y1, maxY)];
}

/** Summary of all features of a layer. */
export interface LayerSummary {
  readonly featureCount: number;
  readonly fields: readonly FieldSummary[];
  /** Summaries by the numbers of `Kind`; index 0 is the null geometries. */
  readonly kinds: readonly KindSummary[];
  readonly hasZ: boolean;
  readonly hasM: boolean;
  /** Null if there are no positions, or they were not read (`SummaryRequest.needsExtent`). */
  readonly extent: Extent | null;
  /** The type of the feature ids, null if no feature has one. */
  readonly idType: FieldType | null;
  /** Bytes of the longest id as UTF-8 text. */
  readonly maxIdBytes: number;
}

/** The geometry types that occur, null geometries left out. */
export function typesIn(summary: LayerSummary): GeometryType[] {
  return geometryTypes.filter((type, kind): type is GeometryType => type !== null && summary.kinds[kind]!.count > 0);
}

/** Restricts the summary to some kinds; the fields still summarize all features. */
export function restrictToKinds(summary: LayerSummary, kinds: readonly number[]): LayerSummary {
  const of = summary.kinds.map((facts, kind) => (kinds.includes(kind) ? facts : emptyKindSummary()));
  return { ...summary, ...totals(of) };
}

function totals(kinds: readonly KindSummary[]): Omit<LayerSummary, "fields" | "idType" | "maxIdBytes"> {
  const all = emptyKindSummary();
  for (const facts of kinds) mergeKindSummary(all, facts);
  const extent = all.box[0] > all.box[2] ? null : all.box;
  return { featureCount: all.count, kinds, hasZ: all.hasZ, hasM: all.hasM, extent };
}

const datePattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const timePattern = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?$/;
const datetimePattern =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;

/** The temporal type that a text has in its canonical ISO 8601 form, else null. */
export function temporalType(text: string): "date" | "time" | "datetime" | null {
  if (text.length < 8) return null;
  const first = text.charCodeAt(0);
  if (first < 48 || first > 57) return null;
  if (timePattern.test(text)) return "time";
  const type = datePattern.test(text) ? "date" : datetimePattern.test(text) ? "datetime" : null;
  return type !== null && hasExistingDay(text) ? type : null;
}

/** Whether the month has the day in `YYYY-MM-DD`. */
function hasExistingDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day <= 28 || isCalendarDate(Number(text.slice(0, 4)), Number(text.slice(5, 7)), day);
}

/** Running summary of a field, as plain data. */
export interface FieldState {
  type: FieldType | null;
  width: number | undefined;
  decimals: number | undefined;
  element?: Field["element"];
  values: number;
  maxBytes: number;
  /** The temporal type that every text so far has; undefined before the first, null when they differ. */
  temporalType: FieldType | null | undefined;
}

export const emptyFieldState = (): FieldState => ({
  type: null,
  width: undefined,
  decimals: undefined,
  values: 0,
  maxBytes: 0,
  temporalType: undefined,
});

/** Without spread syntax, whose objects take twice the memory. */
function initialFieldState({ width, decimals, element }: Field): FieldState {
  const state = { type: null, width, decimals, values: 0, maxBytes: 0, temporalType: undefined };
  return element ? { ...state, element } : state;
}

/** State of a Summarizer, as plain data for transfer between threads. */
export interface SummaryState {
  fields: Map<string, FieldState>;
  kinds: KindSummary[];
  idType: FieldType | null;
  maxIdBytes: number;
}

function maxTextBytes(column: BytesColumn, length: number): number {
  let most = 0;
  for (let i = 0; i < length; i++) {
    const size = column.offsets[i + 1]! - column.offsets[i]!;
    if (size > most) most = size;
  }
  return most;
}

/** Maximum length of the shortest text of a double: sign, 17 digits, point, `e-308`. */
export const maxDoubleTextBytes = 24;
export const maxBooleanTextBytes = 5;

/** Bytes that the longest value takes as decimal text. */
function maxNumberTextBytes(column: Exclude<Column, BytesColumn>, length: number): number {
  if (column.type === "boolean") return maxBooleanTextBytes;
  if (column.type === "double") return maxDoubleTextBytes;
  let least: number | bigint = 0;
  let most: number | bigint = 0;
  for (let i = 0; i < length; i++) {
    if (column.presence[i] !== Presence.value) continue;
    const value = column.values[i]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return Math.max(String(least).length, String(most).length);
}

function countValues({ presence }: Column, length: number): number {
  let values = 0;
  for (let i = 0; i < length; i++) if (presence[i] === Presence.value) values++;
  return values;
}

const maxValueBytes = (column: Column, length: number): number =>
  "offsets" in column ? maxTextBytes(column, length) : maxNumberTextBytes(column, length);

const commonTypeOrNull = (a: FieldType | null, b: FieldType | null): FieldType | null =>
  a === null ? b : b === null ? a : commonType(a, b);
const commonTemporalType = (a: FieldType | null | undefined, b: FieldType | null | undefined) =>
  a === undefined ? b : b === undefined || a === b ? a : null;
const maxOrUndefined = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

const hasNumber = (values: Float64Array, from: number, to: number): boolean => {
  for (let k = from; k < to; k++) if (!Number.isNaN(values[k]!)) return true;
  return false;
};

/** Adds the positions `from … to` of the column to the summary of a kind. */
function addPositions(facts: KindSummary, geometry: GeometryColumn, from: number, to: number): void {
  if (!facts.hasZ && geometry.z) facts.hasZ = hasNumber(geometry.z, from, to);
  if (!facts.hasM && geometry.m) facts.hasM = hasNumber(geometry.m, from, to);
  const { xy } = geometry;
  const { box } = facts;
  // No destructuring, which would allocate each number in the loop.
  let minX = box[0];
  let minY = box[1];
  let maxX = box[2];
  let maxY = box[3];
  for (let k = 2 * from; k < 2 * to; k += 2) {
    const x = xy[k]!;
    const y = xy[k + 1]!;
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  facts.box = [minX, minY, maxX, maxY];
}

function addGeometries(kinds: KindSummary[], geometry: GeometryColumn): void {
  const { length } = geometry;
  for (let i = 0; i < length; ) {
    // Consecutive features of one kind are added at once.
    const kind = geometry.kinds[i]!;
    let end = i + 1;
    while (end < length && geometry.kinds[end] === kind) end++;
    const facts = kinds[kind]!;
    facts.count += end - i;
    addPositions(facts, geometry, positionRange(geometry, i)[0], positionRange(geometry, end - 1)[1]);
    i = end;
  }
  if (geometry.members) {
    const inside = Array.from({ length: 8 }, emptyKindSummary);
    addGeometries(inside, geometry.members);
    for (const facts of inside) mergeKindSummary(kinds[Kind.GeometryCollection]!, { ...facts, count: 0 });
  }
}

/** Batches with fewer columns are not searched for shared ones. */
const minSharedColumns = 256;

/**
 * Summarizes batches. `refinesTypes` is for sources without declared types: text that consists only of ISO dates becomes
 * dates, and a column without values does not determine a type.
 */
export class Summarizer {
  readonly state: SummaryState = {
    fields: new Map(),
    kinds: Array.from({ length: 8 }, emptyKindSummary),
    idType: null,
    maxIdBytes: 0,
  };

  constructor(private readonly refinesTypes: boolean) {}

  add(batch: Batch): void {
    const { state } = this;
    // In wide batches, fields without values may share a column, which is checked once.
    const empty = batch.fields.length < minSharedColumns ? null : new Set<Column>();
    for (let f = 0; f < batch.fields.length; f++) {
      const column = batch.columns[f]!;
      const values = empty?.has(column) ? 0 : countValues(column, batch.length);
      if (values === 0) empty?.add(column);
      this.addColumn(batch.fields[f]!, column, batch.length, values);
    }
    if (batch.ids) {
      state.idType = commonTypeOrNull(state.idType, batch.ids.type);
      state.maxIdBytes = Math.max(state.maxIdBytes, maxValueBytes(batch.ids, batch.length));
    }
    addGeometries(state.kinds, batch.geometry);
  }

  private addColumn(field: Field, column: Column, length: number, values: number): void {
    const { fields } = this.state;
    const decides = values > 0 || !this.refinesTypes;
    const known = fields.get(field.name);
    const state: FieldState = known ?? initialFieldState(field);
    if (!known) fields.set(field.name, state);
    else {
      state.width = maxOrUndefined(state.width, field.width);
      state.decimals = maxOrUndefined(state.decimals, field.decimals);
    }
    if (decides) state.type = commonTypeOrNull(state.type, column.type);
    state.values += values;
    if (values === 0) return;
    state.maxBytes = Math.max(state.maxBytes, maxValueBytes(column, length));
    if (!this.refinesTypes) return;
    state.temporalType =
      column.type === "text"
        ? commonTemporalType(state.temporalType, this.findTemporalType(state, column as BytesColumn, length))
        : null;
  }

  private findTemporalType(state: FieldState, column: BytesColumn, length: number): FieldType | null | undefined {
    const { bytes, offsets, presence } = column;
    let found = state.temporalType;
    for (let i = 0; i < length && found !== null; i++) {
      if (presence[i] !== Presence.value) continue;
      found = commonTemporalType(found, temporalTypeAt(bytes, offsets[i]!, offsets[i + 1]!));
    }
    return found;
  }

  /** Merges the state of another summarizer for later batches. */
  merge(other: SummaryState): void {
    const { state } = this;
    if (state.fields.size === 0) state.fields = other.fields;
    else this.mergeFields(other);
    other.kinds.forEach((facts, kind) => {
      mergeKindSummary(state.kinds[kind]!, facts);
    });
    state.idType = commonTypeOrNull(state.idType, other.idType);
    state.maxIdBytes = Math.max(state.maxIdBytes, other.maxIdBytes);
  }

  private mergeFields(other: SummaryState): void {
    const { state } = this;
    for (const [name, field] of other.fields) {
      const known = state.fields.get(name);
      if (!known) state.fields.set(name, field);
      else {
        known.type = commonTypeOrNull(known.type, field.type);
        known.width = maxOrUndefined(known.width, field.width);
        known.decimals = maxOrUndefined(known.decimals, field.decimals);
        known.values += field.values;
        known.maxBytes = Math.max(known.maxBytes, field.maxBytes);
        known.temporalType = commonTemporalType(known.temporalType, field.temporalType);
      }
    }
  }

  /** The state with recognized dates, for merging with sources that declare their types. */
  resolveState(): SummaryState {
    if (this.refinesTypes) {
      for (const field of this.state.fields.values())
        if (field.type === "text" && field.temporalType) field.type = field.temporalType;
    }
    return this.state;
  }

  private fieldSummary(name: string, field: FieldState): FieldSummary {
    const { values, maxBytes } = field;
    const type = (this.refinesTypes && field.type === "text" && field.temporalType) || (field.type ?? "text");
    // Without spread syntax, whose objects take several times the memory.
    return isPlainField(field)
      ? { name, type, values, maxBytes }
      : { name, type, ...fieldDeclarations(field), values, maxBytes };
  }

  summary(): LayerSummary {
    const { kinds, idType, maxIdBytes } = this.state;
    const fields: FieldSummary[] = [];
    this.state.fields.forEach((field, name) => {
      fields.push(this.fieldSummary(name, field));
    });
    return { ...totals(kinds), fields, idType, maxIdBytes };
  }
}

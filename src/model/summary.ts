import type { Batch } from "./batch.js";
import { type BytesColumn, type Column, Presence } from "./column.js";
import { type Field, type FieldType, unite } from "./field.js";
import { type Extent, type GeometryColumn, type GeometryType, geometryTypes } from "./geometry.js";

/** What all values of a field say together. */
export interface FieldSummary extends Field {
  /** Values that are neither null nor absent. */
  readonly values: number;
  /** Bytes of the longest value as UTF-8 text; for binary, its bytes. */
  readonly maxBytes: number;
}

/** What all features of a layer say together. */
export interface LayerSummary {
  readonly featureCount: number;
  readonly fields: readonly FieldSummary[];
  /** Features of each kind, by the numbers of `Kind`; index 0 counts the null geometries. */
  readonly kinds: readonly number[];
  readonly hasZ: boolean;
  readonly hasM: boolean;
  readonly extent: Extent | null;
  /** The type of the feature ids, null where no feature has one. */
  readonly idType: FieldType | null;
}

/** The geometry types that occur, null geometries left out. */
export function typesIn(summary: LayerSummary): GeometryType[] {
  return geometryTypes.filter((type, kind): type is GeometryType => type !== null && summary.kinds[kind]! > 0);
}

const isDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const isTime = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?$/;
const isDatetime =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/;

/** The temporal type that a text has in its canonical ISO 8601 form, else null. */
export function temporalType(text: string): "date" | "time" | "datetime" | null {
  if (text.length < 8) return null;
  const first = text.charCodeAt(0);
  if (first < 48 || first > 57) return null;
  return isDate.test(text) ? "date" : isDatetime.test(text) ? "datetime" : isTime.test(text) ? "time" : null;
}

interface FieldState {
  type: FieldType | null;
  width: number | undefined;
  decimals: number | undefined;
  values: number;
  maxBytes: number;
  /** The temporal type that every text so far has; undefined before the first, null when they differ. */
  temporal: FieldType | null | undefined;
}

/** What a Summariser has found so far, as plain data that crosses between threads. */
export interface SummaryState {
  featureCount: number;
  fields: Map<string, FieldState>;
  kinds: number[];
  hasZ: boolean;
  hasM: boolean;
  idType: FieldType | null;
  /** Least x, least y, greatest x, greatest y; infinities the wrong way round where there is no position. */
  box: [number, number, number, number];
}

function longest(column: BytesColumn, length: number): number {
  let most = 0;
  for (let i = 0; i < length; i++) {
    const size = column.offsets[i + 1]! - column.offsets[i]!;
    if (size > most) most = size;
  }
  return most;
}

/** The longest that a double's shortest text can be: sign, 17 digits, point, `e-308`. */
const doubleBytes = 24;

/** Bytes that the longest value takes as decimal text. */
function longestNumber(column: Exclude<Column, BytesColumn>, length: number): number {
  if (column.type === "boolean") return 5;
  if (column.type === "double") return doubleBytes;
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

const united = (a: FieldType | null, b: FieldType | null): FieldType | null =>
  a === null ? b : b === null ? a : unite(a, b);
const unitedTemporal = (a: FieldType | null | undefined, b: FieldType | null | undefined) =>
  a === undefined ? b : b === undefined || a === b ? a : null;
const larger = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

/**
 * Sums up batches. `refine` is for sources that declare no types: text that is all ISO dates becomes dates, and a
 * column without a value decides nothing.
 */
export class Summariser {
  readonly state: SummaryState = {
    featureCount: 0,
    fields: new Map(),
    kinds: [0, 0, 0, 0, 0, 0, 0, 0],
    hasZ: false,
    hasM: false,
    idType: null,
    box: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  };

  constructor(private readonly refine: boolean) {}

  add(batch: Batch): void {
    const { state } = this;
    state.featureCount += batch.length;
    for (let f = 0; f < batch.fields.length; f++) this.addColumn(batch.fields[f]!, batch.columns[f]!, batch.length);
    if (batch.ids) state.idType = united(state.idType, batch.ids.type);
    for (let i = 0; i < batch.geometry.length; i++) state.kinds[batch.geometry.kinds[i]!]!++;
    this.addPositions(batch.geometry);
  }

  private addColumn(field: Field, column: Column, length: number): void {
    const { fields } = this.state;
    let values = 0;
    for (let i = 0; i < length; i++) if (column.presence[i] === Presence.value) values++;
    const decides = values > 0 || !this.refine;
    const known = fields.get(field.name);
    const state: FieldState = known ?? {
      type: null,
      width: field.width,
      decimals: field.decimals,
      values: 0,
      maxBytes: 0,
      temporal: undefined,
    };
    if (!known) fields.set(field.name, state);
    else {
      state.width = larger(state.width, field.width);
      state.decimals = larger(state.decimals, field.decimals);
    }
    if (decides) state.type = united(state.type, column.type);
    state.values += values;
    if (values === 0) return;
    state.maxBytes = Math.max(
      state.maxBytes,
      "offsets" in column ? longest(column, length) : longestNumber(column, length),
    );
    if (!this.refine) return;
    state.temporal =
      column.type === "text"
        ? unitedTemporal(state.temporal, this.temporalOf(state, column as BytesColumn, length))
        : null;
  }

  private temporalOf(state: FieldState, column: BytesColumn, length: number): FieldType | null | undefined {
    let found = state.temporal;
    const text = Buffer.from(column.bytes.buffer, column.bytes.byteOffset, column.bytes.byteLength);
    for (let i = 0; i < length && found !== null; i++) {
      if (column.presence[i] !== Presence.value) continue;
      found = unitedTemporal(found, temporalType(text.toString("latin1", column.offsets[i]!, column.offsets[i + 1]!)));
    }
    return found;
  }

  private addPositions(geometry: GeometryColumn): void {
    const { state } = this;
    if (!state.hasZ && geometry.z?.some((z) => !Number.isNaN(z))) state.hasZ = true;
    if (!state.hasM && geometry.m?.some((m) => !Number.isNaN(m))) state.hasM = true;
    const { xy } = geometry;
    let [minX, minY, maxX, maxY] = state.box;
    for (let k = 0; k < xy.length; k += 2) {
      const x = xy[k]!;
      const y = xy[k + 1]!;
      if (x < minX) minX = x;
      if (x > maxX) maxX = x;
      if (y < minY) minY = y;
      if (y > maxY) maxY = y;
    }
    state.box = [minX, minY, maxX, maxY];
    if (geometry.members) this.addPositions(geometry.members);
  }

  /** Adds what another summariser found in later batches. */
  merge(other: SummaryState): void {
    const { state } = this;
    state.featureCount += other.featureCount;
    for (const [name, field] of other.fields) {
      const known = state.fields.get(name);
      if (!known) state.fields.set(name, field);
      else {
        known.type = united(known.type, field.type);
        known.width = larger(known.width, field.width);
        known.decimals = larger(known.decimals, field.decimals);
        known.values += field.values;
        known.maxBytes = Math.max(known.maxBytes, field.maxBytes);
        known.temporal = unitedTemporal(known.temporal, field.temporal);
      }
    }
    other.kinds.forEach((count, kind) => {
      state.kinds[kind]! += count;
    });
    state.hasZ ||= other.hasZ;
    state.hasM ||= other.hasM;
    state.idType = united(state.idType, other.idType);
    const [minX, minY, maxX, maxY] = other.box;
    const [x0, y0, x1, y1] = state.box;
    state.box = [Math.min(x0, minX), Math.min(y0, minY), Math.max(x1, maxX), Math.max(y1, maxY)];
  }

  summary(): LayerSummary {
    const { featureCount, fields, kinds, hasZ, hasM, idType, box } = this.state;
    return {
      featureCount,
      fields: [...fields].map(([name, field]) => ({
        name,
        type: (this.refine && field.type === "text" && field.temporal) || (field.type ?? "text"),
        ...(field.width === undefined ? {} : { width: field.width }),
        ...(field.decimals === undefined ? {} : { decimals: field.decimals }),
        values: field.values,
        maxBytes: field.maxBytes,
      })),
      kinds,
      hasZ,
      hasM,
      extent: box[0] > box[2] ? null : box,
      idType,
    };
  }
}

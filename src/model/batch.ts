import { isAcquired } from "./buffer-pool.js";
import { type Column, isBytesColumn, jsonValueAt, Presence, takeColumn } from "./column.js";
import type { Field } from "./field.js";
import { type Geometry, type GeometryColumn, geometryAt } from "./geometry.js";
import { takeGeometries } from "./geometry-builder.js";

/** An RFC 7946 Feature, in the coordinates of its layer. */
export interface Feature {
  type: "Feature";
  id?: string | number;
  geometry: Geometry | null;
  properties: Record<string, unknown>;
}

/** The plain data of a batch, for transfer between threads. */
export interface BatchData {
  readonly length: number;
  /** The feature ids (FID), or null if the source has none. */
  readonly ids: Column | null;
  readonly fields: readonly Field[];
  /** One column a field, in the order of `fields`. */
  readonly columns: readonly Column[];
  readonly geometry: GeometryColumn;
  /**
   * Record number of each row in the source, counted from 1 and relative to the split; null if row i is record
   * `firstRecord + i`.
   */
  readonly recordNumbers: Uint32Array | null;
  readonly firstRecord: number;
}

/** About a thousand features, stored by columns. Immutable: a stage creates a new batch that shares unchanged columns. */
export class Batch implements BatchData {
  readonly length: number;
  readonly ids: Column | null;
  readonly fields: readonly Field[];
  readonly columns: readonly Column[];
  readonly geometry: GeometryColumn;
  readonly recordNumbers: Uint32Array | null;
  readonly firstRecord: number;

  constructor(data: BatchData) {
    this.length = data.length;
    this.ids = data.ids;
    this.fields = data.fields;
    this.columns = data.columns;
    this.geometry = data.geometry;
    this.recordNumbers = data.recordNumbers;
    this.firstRecord = data.firstRecord;
  }

  /** The same batch with some members replaced. */
  with(changes: Partial<BatchData>): Batch {
    return new Batch({ ...this.toData(), ...changes });
  }

  /** The record of the source that row i is, counted from 1, relative to the split. */
  recordAt(row: number): number {
    return this.recordNumbers ? this.recordNumbers[row]! : this.firstRecord + row;
  }

  /** Returns the batch without `rows`, or itself if `rows` is empty. */
  withoutRows(rows: readonly number[]): Batch {
    if (rows.length === 0) return this;
    const left = new Set(rows);
    return this.take(Uint32Array.from({ length: this.length }, (_, row) => row).filter((row) => !left.has(row)));
  }

  /** The rows `rows`, in that order. */
  take(rows: Uint32Array): Batch {
    return new Batch({
      length: rows.length,
      ids: this.ids && takeColumn(this.ids, rows),
      fields: this.fields,
      columns: this.columns.map((column) => takeColumn(column, rows)),
      geometry: takeGeometries(this.geometry, rows),
      recordNumbers: Uint32Array.from(rows, (row) => this.recordAt(row)),
      firstRecord: 0,
    });
  }

  featureAt(row: number): Feature {
    const properties: Record<string, unknown> = {};
    for (let f = 0; f < this.fields.length; f++) {
      const column = this.columns[f]!;
      if (column.presence[row] === Presence.absent) continue;
      // A property may be named __proto__; plain assignment would set the prototype instead.
      Object.defineProperty(properties, this.fields[f]!.name, {
        value: jsonValueAt(column, row),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    const feature: Feature = { type: "Feature", geometry: geometryAt(this.geometry, row), properties };
    const id = this.ids && jsonValueAt(this.ids, row);
    return id === null
      ? feature
      : { type: "Feature", id: id as string | number, geometry: feature.geometry, properties };
  }

  /** The features one by one, as GeoJSON: for plugins and tests, too slow for a hot path. */
  *features(): Generator<Feature> {
    for (let row = 0; row < this.length; row++) yield this.featureAt(row);
  }

  toData(): BatchData {
    const { length, ids, fields, columns, geometry, recordNumbers, firstRecord } = this;
    return { length, ids, fields, columns, geometry, recordNumbers, firstRecord };
  }
}

/** The buffers of plain data that can be transferred to another thread instead of being copied. */
export function transferableBuffers(data: unknown): ArrayBuffer[] {
  // Small Buffers share one pool, which must not be transferred.
  return collectBuffers(data, (view) => view.byteLength === view.buffer.byteLength || isAcquired(view.buffer));
}

/** The arrays of a batch. */
export function arraysOf({ ids, columns, geometry, recordNumbers }: BatchData): ArrayBufferView[] {
  const arrays: ArrayBufferView[] = [];
  for (const column of ids ? [ids, ...columns] : columns) {
    arrays.push(column.presence);
    if (isBytesColumn(column)) arrays.push(column.offsets, column.bytes);
    else arrays.push(column.values);
  }
  for (let each: GeometryColumn | null = geometry; each !== null; each = each.members) {
    const { kinds, partOffsets, ringOffsets, positionOffsets, xy, z, m, boxes, memberOffsets } = each;
    arrays.push(kinds, partOffsets, ringOffsets, positionOffsets, xy);
    for (const array of [z, m, boxes, memberOffsets]) if (array) arrays.push(array);
  }
  if (recordNumbers) arrays.push(recordNumbers);
  return arrays;
}

/** The buffers of the views in plain data that are `wanted`, each once. */
export function collectBuffers(data: unknown, wanted: (view: ArrayBufferView) => boolean): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  addBuffers(data, wanted, found);
  return [...found];
}

function addBuffers(data: unknown, wanted: (view: ArrayBufferView) => boolean, found: Set<ArrayBuffer>): void {
  if (typeof data !== "object" || data === null) return;
  if (ArrayBuffer.isView(data)) {
    if (data.buffer instanceof ArrayBuffer && wanted(data)) found.add(data.buffer);
    return;
  }
  const values = data instanceof Map || data instanceof Set ? [...data].flat() : Object.values(data);
  for (const value of values) addBuffers(value, wanted, found);
}

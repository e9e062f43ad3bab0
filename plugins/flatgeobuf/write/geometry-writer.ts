/** Writes the table Geometry (feature.fbs of FlatGeobuf 3). */
import { type GeometryColumn, isLittleEndian, Kind } from "../../../src/model/index.js";
import { GeometryMember } from "../read/geometry-reader.js";
import type { FeatureBuffer } from "./feature-buffer.js";

/** Members that a table has, as bits. */
const Has = { ends: 1, xy: 2, z: 4, m: 8, type: 16, parts: 32 } as const;

/** Where the members of a table with the same members are, from the start of the table. */
interface TableShape {
  readonly vtable: Uint8Array;
  readonly bytes: number;
  readonly ends: number;
  readonly xy: number;
  readonly z: number;
  readonly m: number;
  readonly type: number;
  readonly parts: number;
}

const offsetMembers = ["ends", "xy", "z", "m", "parts"] as const;

function shapeOf(has: number): TableShape {
  const places = { ends: 0, xy: 0, z: 0, m: 0, type: 0, parts: 0 };
  let bytes = 4;
  for (const name of offsetMembers) {
    if ((has & Has[name]) === 0) continue;
    places[name] = bytes;
    bytes += 4;
  }
  if (has & Has.type) {
    places.type = bytes;
    bytes += 4;
  }
  const last = Math.max(...Object.entries(places).map(([name, place]) => (place === 0 ? 0 : indexOf(name))));
  const vtable = Buffer.alloc(4 + 2 * (last + 1));
  vtable.writeUInt16LE(vtable.length, 0);
  vtable.writeUInt16LE(bytes, 2);
  for (const [name, place] of Object.entries(places)) if (place > 0) vtable.writeUInt16LE(place, 4 + 2 * indexOf(name));
  return { vtable, bytes, ...places };
}

const indexOf = (name: string): number => GeometryMember[name as keyof typeof GeometryMember];
const shapes = Array.from({ length: 64 }, (_, has) => shapeOf(has));

/** For fewer positions, writing single numbers is faster than a bulk copy. */
const minBulkCopyPositions = 8;

export class GeometryWriter {
  /** Positions whose missing height became 0. */
  missingZ = 0;
  /** Members of collections that were left out since they are empty. */
  emptyMembers = 0;
  /** Where the vtable for each combination of members is in the current feature; 0 if it is not there yet. */
  private readonly vtables = new Uint32Array(64);

  constructor(
    private readonly buffer: FeatureBuffer,
    private readonly design: { readonly kind: number; readonly hasZ: boolean; readonly hasM: boolean },
  ) {}

  /** Writes the geometry of a feature, which is not empty. @returns the position of its table */
  write(column: GeometryColumn, i: number): number {
    this.vtables.fill(0);
    return this.geometry(column, i, this.design.kind === 0);
  }

  private geometry(column: GeometryColumn, i: number, typed: boolean): number {
    const kind = column.kinds[i]!;
    const from = column.partOffsets[i]!;
    if (kind === Kind.MultiPolygon) return this.polygons(column, i, typed);
    if (kind === Kind.GeometryCollection) return this.members(column, i, typed);
    const type = typed ? kind : 0;
    return this.coordinates(column, column.ringOffsets[from]!, column.ringOffsets[from + 1]!, type);
  }

  /** Writes vtable and table. @returns the position of the table, without its members */
  private table(has: number): number {
    const { buffer, vtables } = this;
    const { vtable, bytes } = shapes[has]!;
    buffer.reserve(vtable.length + 4 + bytes);
    if (vtables[has] === 0) {
      vtables[has] = buffer.at;
      for (let i = 0; i < vtable.length; i++) buffer.bytes[buffer.at + i] = vtable[i]!;
      buffer.at += vtable.length;
      buffer.align(4);
    }
    const table = buffer.zeros(bytes);
    buffer.view.setInt32(table, table - vtables[has]!, true);
    return table;
  }

  /** The member at `at` gets the offset to the current position. */
  private pointHere(at: number): void {
    const { buffer } = this;
    buffer.view.setUint32(at, buffer.at - at, true);
  }

  /** A geometry of the rings or lines `first … end`. @param type 0: not written */
  private coordinates(column: GeometryColumn, first: number, end: number, type: number): number {
    const { buffer, design } = this;
    const { positionOffsets } = column;
    const from = positionOffsets[first]!;
    const to = positionOffsets[end]!;
    const isMany = end - first > 1;
    const has =
      Has.xy |
      (isMany ? Has.ends : 0) |
      (design.hasZ ? Has.z : 0) |
      (design.hasM ? Has.m : 0) |
      (type === 0 ? 0 : Has.type);
    const shape = shapes[has]!;
    const table = this.table(has);
    if (type !== 0) buffer.view.setUint8(table + shape.type, type);
    if (isMany) {
      this.pointHere(table + shape.ends);
      const vector = buffer.zeros(4 + 4 * (end - first));
      buffer.view.setUint32(vector, end - first, true);
      for (let r = first; r < end; r++)
        buffer.view.setUint32(vector + 4 + 4 * (r - first), positionOffsets[r + 1]! - from, true);
    }
    this.doubles(table + shape.xy, column.xy, 2 * from, 2 * to);
    if (design.hasZ) this.missingZ += this.ordinates(table + shape.z, column.z, from, to, 0);
    // As in Shapefiles, a position may have no measure where others have one.
    if (design.hasM) this.ordinates(table + shape.m, column.m, from, to, Number.NaN);
    return table;
  }

  private doubles(member: number, values: Float64Array, from: number, to: number): void {
    const { buffer } = this;
    const at = this.doubleVector(member, to - from);
    if (isLittleEndian && to - from >= 2 * minBulkCopyPositions)
      buffer.bytes.set(new Uint8Array(values.buffer, values.byteOffset + 8 * from, 8 * (to - from)), at);
    else for (let k = from, place = at; k < to; k++, place += 8) buffer.view.setFloat64(place, values[k]!, true);
  }

  /** Heights or measures, `otherwise` where a position has none. @returns how many have none */
  private ordinates(member: number, values: Float64Array | null, from: number, to: number, otherwise: number): number {
    const { buffer } = this;
    const at = this.doubleVector(member, to - from);
    let missing = 0;
    for (let k = from, place = at; k < to; k++, place += 8) {
      const value = values ? values[k]! : Number.NaN;
      if (Number.isNaN(value)) missing++;
      buffer.view.setFloat64(place, Number.isNaN(value) ? otherwise : value, true);
    }
    return missing;
  }

  /** Writes the length of a vector of doubles. @returns the position of the first one */
  private doubleVector(member: number, length: number): number {
    const { buffer } = this;
    buffer.align(8, 4);
    this.pointHere(member);
    buffer.reserve(4 + 8 * length);
    buffer.view.setUint32(buffer.at, length, true);
    const at = buffer.at + 4;
    buffer.at = at + 8 * length;
    return at;
  }

  private polygons(column: GeometryColumn, i: number, typed: boolean): number {
    const from = column.partOffsets[i]!;
    const to = column.partOffsets[i + 1]!;
    const { table, vector } = this.partsTable(to - from, typed ? Kind.MultiPolygon : 0);
    for (let p = from; p < to; p++) {
      const part = this.coordinates(column, column.ringOffsets[p]!, column.ringOffsets[p + 1]!, Kind.Polygon);
      this.setPart(vector, p - from, part);
    }
    return table;
  }

  private members(column: GeometryColumn, i: number, typed: boolean): number {
    const { members, memberOffsets } = column;
    const kept: number[] = [];
    for (let k = memberOffsets![i]!; k < memberOffsets![i + 1]!; k++) {
      if (isEmptyGeometry(members!, k)) this.emptyMembers++;
      else kept.push(k);
    }
    const { table, vector } = this.partsTable(kept.length, typed ? Kind.GeometryCollection : 0);
    for (const [n, k] of kept.entries()) this.setPart(vector, n, this.geometry(members!, k, true));
    return table;
  }

  private partsTable(count: number, type: number): { readonly table: number; readonly vector: number } {
    const { buffer } = this;
    const has = Has.parts | (type === 0 ? 0 : Has.type);
    const shape = shapes[has]!;
    const table = this.table(has);
    if (type !== 0) buffer.view.setUint8(table + shape.type, type);
    this.pointHere(table + shape.parts);
    const vector = buffer.zeros(4 + 4 * count);
    buffer.view.setUint32(vector, count, true);
    return { table, vector };
  }

  private setPart(vector: number, n: number, table: number): void {
    const at = vector + 4 + 4 * n;
    this.buffer.view.setUint32(at, table - at, true);
  }
}

/** Whether a geometry has no positions. */
export function isEmptyGeometry(column: GeometryColumn, i: number): boolean {
  if (column.kinds[i] !== Kind.GeometryCollection) return column.partOffsets[i] === column.partOffsets[i + 1];
  const { members, memberOffsets } = column;
  if (!members || !memberOffsets) return true;
  for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) if (!isEmptyGeometry(members, k)) return false;
  return true;
}

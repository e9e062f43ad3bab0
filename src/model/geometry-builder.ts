import { computeBoxes } from "./bounding-boxes.js";
import { isAcquired, releaseBuffer } from "./buffer-pool.js";
import { acquireDoubles, isLittleEndian } from "./doubles.js";
import { type Geometry, type GeometryColumn, Kind, type Position } from "./geometry.js";

/** The first `count` numbers in a pooled buffer, which the host releases; not copied if they fill the array. */
function trimDoubles(values: Float64Array<ArrayBuffer>, count: number): Float64Array<ArrayBuffer> {
  const used = values.subarray(0, count);
  if (isAcquired(values.buffer) && 2 * count > values.length) return used;
  const copy = acquireDoubles(count);
  copy.set(used);
  return copy;
}

/** For fewer positions, a loop is faster than `Float64Array.set`. */
const minBulkCopyPositions = 40;

function growFloats(array: Float64Array<ArrayBuffer>, needed: number): Float64Array<ArrayBuffer> {
  const grown = acquireDoubles(Math.max(needed, array.length * 2));
  grown.set(array);
  releaseBuffer(array.buffer);
  return grown;
}

function growInts(array: Uint32Array<ArrayBuffer>, needed: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(Math.max(needed, array.length * 2));
  grown.set(array);
  return grown;
}

/**
 * Builds a GeometryColumn feature by feature:
 * `begin(Kind.Polygon)`, then `part()`, `ring()`, `position(x, y)` …, then `end()`.
 * For kinds of one part and one ring, `line(kind)` opens all three at once. `none()` adds a null geometry.
 */
export class GeometryBuilder {
  private kinds = new Uint8Array(1024);
  private partOffsets = new Uint32Array(1025);
  private ringOffsets = new Uint32Array(1025);
  private positionOffsets = new Uint32Array(1025);
  private xy = new Float64Array(2048);
  private z: Float64Array<ArrayBuffer> | null = null;
  private m: Float64Array<ArrayBuffer> | null = null;
  private memberBuilder: GeometryBuilder | null = null;
  private memberOffsets = new Uint32Array(0);

  /** Features finished. */
  length = 0;
  /** Positions added, over all features. */
  positionCount = 0;
  /** Whether the last finished column shares the memory of `xy`. */
  private sharesXy = false;
  private partCount = 0;
  private ringCount = 0;

  begin(kind: number): void {
    if (this.length === this.kinds.length) {
      const grown = new Uint8Array(this.length * 2);
      grown.set(this.kinds);
      this.kinds = grown;
    }
    this.kinds[this.length] = kind;
  }

  beginPart(): void {
    this.partCount++;
    if (this.partCount >= this.ringOffsets.length) this.ringOffsets = growInts(this.ringOffsets, this.partCount + 1);
    this.ringOffsets[this.partCount] = this.ringCount;
  }

  beginRing(): void {
    this.ringCount++;
    if (this.ringCount >= this.positionOffsets.length)
      this.positionOffsets = growInts(this.positionOffsets, this.ringCount + 1);
    this.positionOffsets[this.ringCount] = this.positionCount;
    this.ringOffsets[this.partCount] = this.ringCount;
  }

  addPosition(x: number, y: number): void {
    const at = this.positionCount * 2;
    if (at + 2 > this.xy.length) this.xy = growFloats(this.xy, at + 2);
    this.xy[at] = x;
    this.xy[at + 1] = y;
    if (this.z) this.setZ(Number.NaN);
    if (this.m) this.setM(Number.NaN);
    this.positionCount++;
    this.positionOffsets[this.ringCount] = this.positionCount;
  }

  /**
   * Adds `count` positions of x and y from little-endian doubles in `view` at `from`.
   * @returns false if x + y of a position is NaN; the caller must then cancel the feature
   */
  addPositionsFromView(view: DataView, from: number, count: number): boolean {
    const first = this.positionCount * 2;
    const end = first + count * 2;
    if (end > this.xy.length) this.xy = growFloats(this.xy, end);
    const { xy } = this;
    if (count < minBulkCopyPositions || !isLittleEndian) {
      for (let at = first, source = from; at < end; at += 2, source += 16) {
        xy[at] = view.getFloat64(source, true);
        xy[at + 1] = view.getFloat64(source + 8, true);
      }
    } else {
      const size = 16 * count;
      const source = new Uint8Array(view.buffer, view.byteOffset + from, size);
      new Uint8Array(xy.buffer, xy.byteOffset + 8 * first, size).set(source);
    }
    for (let at = first; at < end; at += 2) if (Number.isNaN(xy[at]! + xy[at + 1]!)) return false;
    if (this.z || this.m) this.fillDimensions(end / 2);
    this.positionCount = end / 2;
    this.positionOffsets[this.ringCount] = this.positionCount;
    return true;
  }

  /** The positions `from` … `to` of `xy`, interleaved numbers. */
  addPositionsFromArray(xy: Float64Array, from: number, to: number): void {
    const first = this.positionCount * 2;
    const end = first + 2 * (to - from);
    if (end > this.xy.length) this.xy = growFloats(this.xy, end);
    const into = this.xy;
    if (to - from >= minBulkCopyPositions) into.set(xy.subarray(2 * from, 2 * to), first);
    else for (let at = first, k = 2 * from; at < end; at++, k++) into[at] = xy[k]!;
    if (this.z || this.m) this.fillDimensions(end / 2);
    this.positionCount = end / 2;
    this.positionOffsets[this.ringCount] = this.positionCount;
  }

  /** Fills heights and measures up to position `end` with NaN. */
  private fillDimensions(end: number): void {
    for (; this.positionCount < end; this.positionCount++) {
      if (this.z) this.setZ(Number.NaN);
      if (this.m) this.setM(Number.NaN);
    }
  }

  /** Adds a position with height, measure or both; NaN if it has none. */
  addPositionZM(x: number, y: number, z: number, m: number): void {
    this.addPosition(x, y);
    this.positionCount--;
    if (!Number.isNaN(z)) this.setZ(z);
    if (!Number.isNaN(m)) this.setM(m);
    this.positionCount++;
  }

  private setZ(value: number): void {
    const at = this.positionCount;
    if (!this.z) this.z = new Float64Array(Math.max(1024, this.xy.length / 2)).fill(Number.NaN, 0, at);
    else if (at >= this.z.length) this.z = growFloats(this.z, Math.max(at + 1, this.xy.length / 2));
    this.z[at] = value;
  }

  private setM(value: number): void {
    const at = this.positionCount;
    if (!this.m) this.m = new Float64Array(Math.max(1024, this.xy.length / 2)).fill(Number.NaN, 0, at);
    else if (at >= this.m.length) this.m = growFloats(this.m, Math.max(at + 1, this.xy.length / 2));
    this.m[at] = value;
  }

  /** Opens a feature of one part with one ring: a Point, LineString or MultiPoint. */
  beginSinglePart(kind: number): void {
    this.begin(kind);
    this.beginPart();
    this.beginRing();
  }

  addPoint(x: number, y: number): void {
    this.beginSinglePart(Kind.Point);
    this.addPosition(x, y);
    this.end();
  }

  /** Adds points of the coordinates `xs` and `ys`. */
  addPoints(xs: Float64Array, ys: Float64Array): void {
    for (let n = 0; n < xs.length; n++) this.addPoint(xs[n]!, ys[n]!);
  }

  /** Ends the feature begun last. */
  end(): void {
    this.length++;
    if (this.length >= this.partOffsets.length) this.partOffsets = growInts(this.partOffsets, this.length + 1);
    this.partOffsets[this.length] = this.partCount;
    if (this.memberBuilder) this.closeMembers();
  }

  addNull(): void {
    this.begin(Kind.none);
    this.end();
  }

  /** Returns the builder for the members of the current GeometryCollection; each member is a feature there. */
  beginMembers(): GeometryBuilder {
    if (!this.memberBuilder) {
      this.memberBuilder = new GeometryBuilder();
      this.memberOffsets = new Uint32Array(Math.max(1025, this.length + 2));
    }
    return this.memberBuilder;
  }

  private closeMembers(): void {
    if (this.length >= this.memberOffsets.length) this.memberOffsets = growInts(this.memberOffsets, this.length + 1);
    this.memberOffsets[this.length] = this.memberBuilder!.length;
  }

  /** Removes everything since `begin`, for a feature that turns out to be damaged. */
  cancel(): void {
    this.partCount = this.partOffsets[this.length]!;
    this.ringCount = this.ringOffsets[this.partCount]!;
    this.positionCount = this.positionOffsets[this.ringCount]!;
    if (this.memberBuilder) this.memberBuilder.truncate(this.memberOffsets[this.length]!);
  }

  /**
   * Whether a feature, by default the current one, has parts without positions of NaN. Readers write NaN for an unreadable
   * position; `check-coordinates` then removes its line, polygon, hole or member.
   */
  hasReadablePart(feature = this.length): boolean {
    const isOpen = feature === this.length;
    const kind = this.kinds[feature]!;
    if (kind === Kind.GeometryCollection) {
      const members = this.memberBuilder;
      const to = !members ? 0 : isOpen ? members.length : this.memberOffsets[feature + 1]!;
      for (let k = this.memberOffsets[feature]!; k < to; k++) if (members!.hasReadablePart(k)) return true;
      return false;
    }
    const polygonal = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    const to = isOpen ? this.partCount : this.partOffsets[feature + 1]!;
    for (let p = this.partOffsets[feature]!; p < to; p++) {
      const from = this.ringOffsets[p]!;
      const end = polygonal ? Math.min(from + 1, this.ringOffsets[p + 1]!) : this.ringOffsets[p + 1]!;
      for (let r = from; r < end; r++) if (this.isReadableRing(r, kind === Kind.MultiPoint)) return true;
    }
    return false;
  }

  /** Whether all positions of a ring are numbers; for points, whether one is. */
  private isReadableRing(r: number, one: boolean): boolean {
    const { xy, positionOffsets } = this;
    for (let k = positionOffsets[r]!; k < positionOffsets[r + 1]!; k++) {
      if (Number.isNaN(xy[2 * k]! + xy[2 * k + 1]!) !== one) return one;
    }
    return !one;
  }

  private truncate(length: number): void {
    this.length = length;
    this.cancel();
  }

  /** GeoJSON's geometry object, or null; positions of more than three numbers keep the first three. */
  addGeoJson(geometry: Geometry | null): void {
    if (geometry === null) {
      this.addNull();
      return;
    }
    this.begin(Kind[geometry.type]);
    switch (geometry.type) {
      case "Point":
        if (geometry.coordinates.length > 0) this.addPart([[geometry.coordinates]]);
        break;
      case "LineString":
      case "MultiPoint":
        if (geometry.coordinates.length > 0) this.addPart([geometry.coordinates]);
        break;
      case "Polygon":
      case "MultiLineString":
        if (geometry.coordinates.length > 0) this.addPart(geometry.coordinates);
        break;
      case "MultiPolygon":
        for (const polygon of geometry.coordinates) this.addPart(polygon);
        break;
      case "GeometryCollection": {
        const members = this.beginMembers();
        for (const member of geometry.geometries) members.addGeoJson(member);
        break;
      }
    }
    this.end();
  }

  private addPart(rings: readonly Position[][]): void {
    this.beginPart();
    for (const ring of rings) {
      this.beginRing();
      for (const p of ring) {
        if (p.length > 2) this.addPositionZM(p[0]!, p[1]!, p[2]!, Number.NaN);
        else this.addPosition(p[0]!, p[1]!);
      }
    }
  }

  /** Copies feature `i` of `column`. */
  copy(column: GeometryColumn, i: number): void {
    this.begin(column.kinds[i]!);
    for (let p = column.partOffsets[i]!; p < column.partOffsets[i + 1]!; p++) this.copyPart(column, p);
    if (column.kinds[i] === Kind.GeometryCollection) {
      const members = this.beginMembers();
      if (column.members && column.memberOffsets) {
        for (let k = column.memberOffsets[i]!; k < column.memberOffsets[i + 1]!; k++) members.copy(column.members, k);
      }
    }
    this.end();
  }

  copyPart(column: GeometryColumn, p: number): void {
    this.beginPart();
    for (let r = column.ringOffsets[p]!; r < column.ringOffsets[p + 1]!; r++) this.copyRing(column, r);
  }

  copyRing(column: GeometryColumn, r: number): void {
    this.beginRing();
    this.copyPositions(column, column.positionOffsets[r]!, column.positionOffsets[r + 1]!);
  }

  copyPositions(column: GeometryColumn, from: number, to: number): void {
    const { xy, z, m } = column;
    if (!z && !m) {
      this.addPositionsFromArray(xy, from, to);
      return;
    }
    for (let k = from; k < to; k++)
      this.addPositionZM(xy[2 * k]!, xy[2 * k + 1]!, z ? z[k]! : Number.NaN, m ? m[k]! : Number.NaN);
  }

  /** Empties the builder after `finish` for reuse of its memory. */
  reset(): void {
    this.length = 0;
    this.positionCount = 0;
    this.partCount = 0;
    this.ringCount = 0;
    if (this.sharesXy) this.xy = acquireDoubles(this.xy.length);
    this.sharesXy = false;
    this.z = null;
    this.m = null;
    this.memberBuilder = null;
  }

  /**
   * Returns the column of all features; afterwards only `reset` may be called.
   * @param claimed the boxes that the source declares, which are verified; without it, the column has no boxes
   */
  finish(claimed: Float64Array | null = null): GeometryColumn {
    const { length, partCount, ringCount, positionCount } = this;
    const xy = trimDoubles(this.xy, positionCount * 2);
    this.sharesXy = xy.buffer === this.xy.buffer;
    const partOffsets = this.partOffsets.slice(0, length + 1);
    const ringOffsets = this.ringOffsets.slice(0, partCount + 1);
    const positionOffsets = this.positionOffsets.slice(0, ringCount + 1);
    // All columns are created here, so that they have one hidden class.
    return {
      length,
      kinds: this.kinds.slice(0, length),
      partOffsets,
      ringOffsets,
      positionOffsets,
      xy,
      z: this.z ? this.z.slice(0, positionCount) : null,
      m: this.m ? this.m.slice(0, positionCount) : null,
      boxes: claimed && computeBoxes({ length, partOffsets, ringOffsets, positionOffsets, xy }, claimed),
      members: this.memberBuilder ? this.memberBuilder.finish() : null,
      memberOffsets: this.memberBuilder ? this.memberOffsets.slice(0, length + 1) : null,
    };
  }
}

/** The column with null geometries in these rows. */
export function withoutGeometries(column: GeometryColumn, rows: ReadonlySet<number>): GeometryColumn {
  const builder = new GeometryBuilder();
  for (let row = 0; row < column.length; row++) {
    if (rows.has(row)) builder.addNull();
    else builder.copy(column, row);
  }
  return builder.finish();
}

/** The features `rows` of the column, in that order. */
export function takeGeometries(column: GeometryColumn, rows: Uint32Array): GeometryColumn {
  const builder = new GeometryBuilder();
  for (const row of rows) builder.copy(column, row);
  return builder.finish();
}

import {
  acquireBuffer,
  computeBox,
  type GeometryColumn,
  isLittleEndian,
  Kind,
  type LayerSummary,
} from "../../../src/model/index.js";
import { createError } from "../../../src/plugin/index.js";
import { signedArea } from "../../shared/rings/rings.js";
import { mTypeOffset, noDataMeasure, ShapeType, zTypeOffset } from "./shape-types.js";

/** The shape type of a file, and the dimensions of its records. */
export interface OutputShape {
  readonly type: number;
  readonly plain: number;
  readonly z: boolean;
  /** Whether records end with measures; points with Z always do. */
  readonly m: boolean;
}

/** Chooses the shape type for all geometries of a layer; null shapes if there are none. */
export function chooseOutputShape(layer: string, summary: LayerSummary): OutputShape {
  const { kinds, hasZ, hasM } = summary;
  const has = (...of: number[]) => of.some((kind) => kinds[kind]!.count > 0);
  const found: number[] = [];
  if (has(Kind.Point, Kind.MultiPoint)) found.push(has(Kind.MultiPoint) ? ShapeType.multipoint : ShapeType.point);
  if (has(Kind.LineString, Kind.MultiLineString)) found.push(ShapeType.polyline);
  if (has(Kind.Polygon, Kind.MultiPolygon)) found.push(ShapeType.polygon);
  if (found.length > 1 || has(Kind.GeometryCollection)) {
    const reason = "a Shapefile holds points, lines or polygons, one of them; choose with --geometry-type";
    throw createError("unsupported", { source: layer, reason });
  }
  const plain = found[0] ?? ShapeType.null;
  if (plain === ShapeType.null) return { type: ShapeType.null, plain, z: false, m: false };
  const type = plain + (hasZ ? zTypeOffset : hasM ? mTypeOffset : 0);
  return { type, plain, z: hasZ, m: hasM || (hasZ && plain === ShapeType.point) };
}

/** The records of a batch without their numbers, which depend on the preceding batches. */
export interface ShapeRecords {
  readonly bytes: Uint8Array;
  /** Content bytes of each record, without its 8-byte header. */
  readonly contents: Uint32Array;
  /** Minimum and maximum x, y, z, m; inverted infinities for a dimension without values. */
  readonly ranges: Float64Array;
  /** Positions without a height in a file with heights. */
  readonly missingZ: number;
  /** Geometries with non-finite coordinates, written as null shapes. */
  readonly notFinite: number;
  /** Geometries without a position, written as null shapes. */
  readonly empty: number;
}

/** For fewer positions, writing single numbers is cheaper than a native copy. */
const minBulkCopyPositions = 40;

const recordHeaderBytes = 8;
const nullContentBytes = 4;

const createEmptyRanges = () =>
  Float64Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? 1 : -1) * Number.POSITIVE_INFINITY);

/** The rings or lines of one shape, reused for the next: positions `from … to` of each. */
class ShapePaths {
  count = 0;
  /** Number of positions of the shape. */
  points = 0;
  from = new Uint32Array(16);
  to = new Uint32Array(16);
  /** Whether a ring has the wrong direction and is written in reverse. */
  reversed = new Uint8Array(16);
  /** Whether a ring's first position is repeated at its end. */
  closed = new Uint8Array(16);

  clear(): void {
    this.count = 0;
    this.points = 0;
  }

  add(from: number, to: number, reversed: boolean, close: boolean): void {
    if (this.count === this.from.length) this.grow();
    this.from[this.count] = from;
    this.to[this.count] = to;
    this.reversed[this.count] = reversed ? 1 : 0;
    this.closed[this.count] = close ? 1 : 0;
    this.count++;
    this.points += this.size(this.count - 1);
  }

  /** Number of positions of path `p` in the shape. */
  size(p: number): number {
    return this.to[p]! - this.from[p]! + this.closed[p]!;
  }

  private grow(): void {
    const longer = <A extends Uint32Array | Uint8Array>(old: A, fresh: A): A => {
      fresh.set(old);
      return fresh;
    };
    const room = 2 * this.from.length;
    this.from = longer(this.from, new Uint32Array(room));
    this.to = longer(this.to, new Uint32Array(room));
    this.reversed = longer(this.reversed, new Uint8Array(room));
    this.closed = longer(this.closed, new Uint8Array(room));
  }
}

class ShapeEncoder {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly contents: Uint32Array;
  private readonly ranges = createEmptyRanges();
  /** Four numbers per geometry; not used for points. */
  private readonly boxes: Float64Array;
  private readonly paths = new ShapePaths();
  private missingZ = 0;
  private notFinite = 0;
  private empty = 0;

  constructor(
    private readonly geometry: GeometryColumn,
    private readonly shape: OutputShape,
  ) {
    this.contents = new Uint32Array(geometry.length);
    this.boxes = geometry.boxes ?? new Float64Array(shape.plain === ShapeType.point ? 0 : 4 * geometry.length);
    let size = 0;
    for (let i = 0; i < geometry.length; i++) {
      this.contents[i] = this.contentBytes(i);
      size += recordHeaderBytes + this.contents[i]!;
    }
    this.bytes = acquireBuffer(size);
    this.view = new DataView(this.bytes.buffer, 0, size);
  }

  encode(): ShapeRecords {
    let at = 0;
    for (let i = 0; i < this.geometry.length; i++) {
      const content = this.contents[i]!;
      // Writes every byte, even the number, which the assembler overwrites: the memory is reused.
      this.view.setInt32(at, 0);
      this.view.setInt32(at + 4, content / 2);
      this.view.setInt32(at + recordHeaderBytes, content > nullContentBytes ? this.shape.type : ShapeType.null, true);
      if (content > nullContentBytes) {
        if (this.shape.plain === ShapeType.point) this.point(i, at + recordHeaderBytes);
        else this.many(i, at + recordHeaderBytes);
      }
      at += recordHeaderBytes + content;
    }
    const { contents, ranges, missingZ, notFinite, empty } = this;
    return { bytes: this.bytes, contents, ranges, missingZ, notFinite, empty };
  }

  /** The size of the record's content; a geometry with a non-finite coordinate becomes a null shape. */
  private contentBytes(i: number): number {
    const { shape, geometry } = this;
    const { partOffsets, ringOffsets, positionOffsets } = geometry;
    const firstRing = ringOffsets[partOffsets[i]!]!;
    const endRing = ringOffsets[partOffsets[i + 1]!]!;
    const from = positionOffsets[firstRing]!;
    const to = positionOffsets[endRing]!;
    if (from === to) {
      if (geometry.kinds[i] !== Kind.none) this.empty++;
      return nullContentBytes;
    }
    if (!this.isFinite(i, from, to)) {
      this.notFinite++;
      return nullContentBytes;
    }
    const perPosition = 16 + (shape.z ? 8 : 0) + (shape.m ? 8 : 0);
    if (shape.plain === ShapeType.point) return 4 + perPosition;
    const ranges = (shape.z ? 16 : 0) + (shape.m ? 16 : 0);
    if (shape.plain === ShapeType.multipoint) return 40 + ranges + perPosition * (to - from);
    let parts = 0;
    let added = 0;
    for (let r = firstRing; r < endRing; r++) {
      const start = positionOffsets[r]!;
      const end = positionOffsets[r + 1]!;
      if (start === end) continue;
      parts++;
      if (shape.plain === ShapeType.polygon && !this.isClosed(start, end)) added++;
    }
    return 44 + 4 * parts + ranges + perPosition * (to - from + added);
  }

  /** Whether all coordinates of feature i are finite; computes its box. */
  private isFinite(i: number, from: number, to: number): boolean {
    const { boxes, xy } = this.geometry;
    if (boxes) return true;
    if (this.shape.plain === ShapeType.point)
      return Number.isFinite(xy[2 * from]!) && Number.isFinite(xy[2 * from + 1]!);
    return computeBox(xy, from, to, this.boxes, 4 * i);
  }

  private isClosed(from: number, to: number): boolean {
    const { xy } = this.geometry;
    return xy[2 * from] === xy[2 * to - 2] && xy[2 * from + 1] === xy[2 * to - 1];
  }

  private widen(dimension: number, value: number): void {
    const { ranges } = this;
    if (value < ranges[2 * dimension]!) ranges[2 * dimension] = value;
    if (value > ranges[2 * dimension + 1]!) ranges[2 * dimension + 1] = value;
  }

  private heightAt(k: number): number {
    const height = this.geometry.z ? this.geometry.z[k]! : Number.NaN;
    if (Number.isFinite(height)) return height;
    this.missingZ++;
    return 0;
  }

  private measureAt(k: number): number {
    const measure = this.geometry.m ? this.geometry.m[k]! : Number.NaN;
    return Number.isFinite(measure) ? measure : noDataMeasure;
  }

  private point(i: number, at: number): void {
    const { view, shape, geometry } = this;
    const k = geometry.positionOffsets[geometry.ringOffsets[geometry.partOffsets[i]!]!]!;
    const x = geometry.xy[2 * k]!;
    const y = geometry.xy[2 * k + 1]!;
    view.setFloat64(at + 4, x, true);
    view.setFloat64(at + 12, y, true);
    this.widen(0, x);
    this.widen(1, y);
    let end = at + 20;
    if (shape.z) {
      const z = this.heightAt(k);
      view.setFloat64(end, z, true);
      this.widen(2, z);
      end += 8;
    }
    if (!shape.m) return;
    const m = this.measureAt(k);
    view.setFloat64(end, m, true);
    if (m !== noDataMeasure) this.widen(3, m);
  }

  private many(i: number, at: number): void {
    const { view, shape, paths } = this;
    this.collectPaths(i);
    const { points, count } = paths;
    let end = at + 40;
    if (shape.plain === ShapeType.multipoint) view.setInt32(at + 36, points, true);
    else {
      view.setInt32(at + 36, count, true);
      view.setInt32(at + 40, points, true);
      end += 4;
      let start = 0;
      for (let p = 0; p < count; p++) {
        view.setInt32(end, start, true);
        start += paths.size(p);
        end += 4;
      }
    }
    this.writeBox(i, at + 4);
    this.writePositions(end);
    end += 16 * points;
    if (shape.z) end = this.writeDimension(end, 2, (k) => this.heightAt(k));
    if (shape.m) this.writeDimension(end, 3, (k) => this.measureAt(k));
  }

  /** Collects the rings or lines of feature i that have positions; the first ring of a part is its shell. */
  private collectPaths(i: number): void {
    const { paths } = this;
    const { partOffsets, ringOffsets, positionOffsets, xy } = this.geometry;
    const polygon = this.shape.plain === ShapeType.polygon;
    paths.clear();
    for (let part = partOffsets[i]!; part < partOffsets[i + 1]!; part++) {
      const shell = ringOffsets[part]!;
      for (let r = shell; r < ringOffsets[part + 1]!; r++) {
        const from = positionOffsets[r]!;
        const to = positionOffsets[r + 1]!;
        if (from === to) continue;
        const area = polygon ? signedArea(xy, from, to) : 0;
        paths.add(from, to, r === shell ? area > 0 : area < 0, polygon && !this.isClosed(from, to));
      }
    }
  }

  private writeBox(i: number, at: number): void {
    for (let side = 0; side < 4; side++) {
      const value = this.boxes[4 * i + side]!;
      this.view.setFloat64(at + 8 * side, value, true);
      this.widen(side & 1, value);
    }
  }

  private writePositions(at: number): void {
    const { view, paths } = this;
    const { xy } = this.geometry;
    let place = at;
    for (let p = 0; p < paths.count; p++) {
      const from = paths.from[p]!;
      const to = paths.to[p]!;
      const reversed = paths.reversed[p] === 1;
      if (reversed) {
        for (let k = 2 * to - 2; k >= 2 * from; k -= 2) {
          view.setFloat64(place, xy[k]!, true);
          view.setFloat64(place + 8, xy[k + 1]!, true);
          place += 16;
        }
      } else if (to - from < minBulkCopyPositions || !isLittleEndian) {
        for (let k = 2 * from; k < 2 * to; k++) {
          view.setFloat64(place, xy[k]!, true);
          place += 8;
        }
      } else {
        this.bytes.set(new Uint8Array(xy.buffer, xy.byteOffset + 16 * from, 16 * (to - from)), place);
        place += 16 * (to - from);
      }
      if (paths.closed[p] === 0) continue;
      const first = reversed ? to - 1 : from;
      view.setFloat64(place, xy[2 * first]!, true);
      view.setFloat64(place + 8, xy[2 * first + 1]!, true);
      place += 16;
    }
  }

  /** Writes the range and values of one dimension at `at`; returns their end. */
  private writeDimension(at: number, dimension: number, valueAt: (k: number) => number): number {
    const { view, paths } = this;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    let place = at + 16;
    const put = (k: number) => {
      const value = valueAt(k);
      view.setFloat64(place, value, true);
      place += 8;
      if (value === noDataMeasure) return;
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    };
    for (let p = 0; p < paths.count; p++) {
      const from = paths.from[p]!;
      const to = paths.to[p]!;
      const reversed = paths.reversed[p] === 1;
      for (let n = 0; n < to - from; n++) put(reversed ? to - 1 - n : from + n);
      if (paths.closed[p] === 1) put(reversed ? to - 1 : from);
    }
    const known = least <= greatest;
    view.setFloat64(at, known ? least : noDataMeasure, true);
    view.setFloat64(at + 8, known ? greatest : noDataMeasure, true);
    if (known) {
      this.widen(dimension, least);
      this.widen(dimension, greatest);
    }
    return place;
  }
}

/** The geometries of a batch as records of one shape type (Technical Description, "Main File Records"). */
export function encodeShapes(geometry: GeometryColumn, shape: OutputShape): ShapeRecords {
  return new ShapeEncoder(geometry, shape).encode();
}

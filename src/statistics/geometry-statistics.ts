import { geodesicDistance, geodesicRingArea } from "../crs/geodesic.js";
import { type GeometryColumn, Kind, positionRange } from "../model/geometry.js";
import { addWord, endHash, hashed, startHash } from "./hash.js";
import { DigestSample, type DigestSampleState } from "./sketches/digest-sample.js";
import type { ValueCounter } from "./value-counter.js";

/** Converts interleaved positions in place to longitude and latitude in degrees; null if that is not possible. */
export type ToDegrees = ((xy: Float64Array) => void) | null;

/** Running statistics of geometries, as plain data. */
export interface GeometryStatisticsState {
  vertices: number;
  parts: number;
  holes: number;
  empty: number;
  /** Features with lines, and with polygons. */
  withLines: number;
  withPolygons: number;
  /** Metres and square metres, with the parts that rounding lost (A. Neumaier, 1974). */
  length: number;
  lostLength: number;
  area: number;
  lostArea: number;
  /** Features with lines or polygons whose length or area cannot be computed. */
  unmeasured: number;
  digests: DigestSampleState;
}

/** Digests of geometries that are compared exactly. */
const maxDigests = 2 ** 20;
/** As readers allow for rounding. */
const maxLatitude = 90 + 1e-6;

/** Collects the statistics of the geometries of a layer, and merges those of later ones. */
export class GeometryStatistics {
  private readonly digests = new DigestSample(maxDigests, true);
  private readonly state: Omit<GeometryStatisticsState, "digests"> = {
    vertices: 0,
    parts: 0,
    holes: 0,
    empty: 0,
    withLines: 0,
    withPolygons: 0,
    length: 0,
    lostLength: 0,
    area: 0,
    lostArea: 0,
    unmeasured: 0,
  };
  /** Of the current feature. */
  private length = 0;
  private area = 0;
  private hasLines = false;
  private hasPolygons = false;
  private vertices = 0;

  constructor(
    private readonly toDegrees: ToDegrees,
    private readonly counter: ValueCounter,
  ) {}

  add(geometry: GeometryColumn): void {
    if (isPoints(geometry)) this.addPoints(geometry);
    else this.addGeometries(geometry);
  }

  private addPoints({ xy, kinds, length }: GeometryColumn): void {
    this.state.vertices += length;
    this.state.parts += length;
    // The number of the kind is that of present values.
    this.digests.addPresent(this.counter.hashPoints(xy, length), kinds, 0, length);
  }

  private addGeometries(geometry: GeometryColumn): void {
    const { state } = this;
    const degrees = this.toDegrees && hasExtent(geometry) ? inDegrees(geometry, this.toDegrees) : geometry;
    for (let row = 0; row < geometry.length; row++) {
      if (geometry.kinds[row] === Kind.none) continue;
      this.length = 0;
      this.area = 0;
      this.hasLines = false;
      this.hasPolygons = false;
      this.vertices = 0;
      this.measure(degrees, row);
      state.vertices += this.vertices;
      if (this.hasLines) state.withLines++;
      if (this.hasPolygons) state.withPolygons++;
      if (this.hasLines || this.hasPolygons) this.addMeasures();
      if (this.vertices === 0) {
        state.empty++;
        continue;
      }
      startHash(0);
      addToDigest(geometry, row);
      endHash();
      this.digests.add(hashed.low, hashed.high);
    }
  }

  private addMeasures(): void {
    if (this.toDegrees === null || !Number.isFinite(this.length + this.area)) this.state.unmeasured++;
    else this.addTotals(this.length, this.area);
  }

  private addTotals(length: number, area: number): void {
    const { state } = this;
    const lengthSum = state.length + length;
    state.lostLength += state.length >= length ? state.length - lengthSum + length : length - lengthSum + state.length;
    state.length = lengthSum;
    const areaSum = state.area + area;
    state.lostArea += state.area >= area ? state.area - areaSum + area : area - areaSum + state.area;
    state.area = areaSum;
  }

  private measure(column: GeometryColumn, row: number): void {
    const { partOffsets, ringOffsets, positionOffsets } = column;
    const kind = column.kinds[row]!;
    if (kind === Kind.GeometryCollection) {
      const { members, memberOffsets } = column;
      if (!members || !memberOffsets) return;
      for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) this.measure(members, k);
      return;
    }
    const [firstPart, lastPart] = [partOffsets[row]!, partOffsets[row + 1]!];
    const [from, to] = positionRange(column, row);
    this.vertices += to - from;
    if (from === to) return;
    const rings = ringOffsets[lastPart]! - ringOffsets[firstPart]!;
    const isPolygon = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    const isLine = kind === Kind.LineString || kind === Kind.MultiLineString;
    this.state.parts += isPolygon ? lastPart - firstPart : isLine ? rings : to - from;
    if (isPolygon) this.state.holes += rings - (lastPart - firstPart);
    this.hasPolygons ||= isPolygon;
    this.hasLines ||= isLine;
    if (this.toDegrees === null || !(isPolygon || isLine)) return;
    for (let part = firstPart; part < lastPart; part++) {
      for (let ring = ringOffsets[part]!; ring < ringOffsets[part + 1]!; ring++) {
        const [start, end] = [positionOffsets[ring]!, positionOffsets[ring + 1]!];
        if (!isOnEarth(column.xy, start, end)) this.length = Number.NaN;
        else if (isLine) this.length += lineLength(column.xy, start, end);
        else this.area += geodesicRingArea(column.xy, start, end) * (ring === ringOffsets[part] ? 1 : -1);
      }
    }
  }

  /** Merges the statistics of later geometries. */
  merge(other: GeometryStatisticsState): void {
    const { state } = this;
    for (const name of ["vertices", "parts", "holes", "empty", "withLines", "withPolygons", "unmeasured"] as const)
      state[name] += other[name];
    this.addTotals(other.length, other.area);
    state.lostLength += other.lostLength;
    state.lostArea += other.lostArea;
    this.digests.merge(other.digests);
  }

  toState(): GeometryStatisticsState {
    return { ...this.state, digests: this.digests.toState() };
  }

  report(): GeometryStatisticsReport {
    const { vertices, parts, holes, empty, withLines, withPolygons, length, lostLength, area, lostArea, unmeasured } =
      this.state;
    const isMeasured = this.toDegrees !== null;
    return {
      vertices,
      parts,
      holes,
      empty,
      duplicates: { count: this.digests.repetitions, exact: this.digests.isExact },
      length: isMeasured && withLines > 0 ? length + lostLength : null,
      area: isMeasured && withPolygons > 0 ? area + lostArea : null,
      unmeasured,
    };
  }
}

/** Statistics of the geometries of a layer. */
export interface GeometryStatisticsReport {
  /** Positions, the closing ones of rings included. */
  readonly vertices: number;
  /** Points, lines and polygons, also those in multi-geometries and collections. */
  readonly parts: number;
  readonly holes: number;
  /** Features whose geometry has no position. */
  readonly empty: number;
  /** Features whose geometry has the same type and coordinates as an earlier one; from a sample if not exact. */
  readonly duplicates: { readonly count: number; readonly exact: boolean };
  /**
   * Metres of all lines and square metres of all polygons, whose sides are geodesics of the WGS 84 ellipsoid; null without
   * any, or if the reference system is unknown.
   */
  readonly length: number | null;
  readonly area: number | null;
  /** Features with lines or polygons that are not in `length` and `area`. */
  readonly unmeasured: number;
}

/** Whether all rows are points of two coordinates that are not empty. */
function isPoints({ kinds, length, z, m, positionOffsets }: GeometryColumn): boolean {
  if (z !== null || m !== null || positionOffsets[length] !== length) return false;
  for (let row = 0; row < length; row++) if (kinds[row] !== Kind.Point || positionOffsets[row] !== row) return false;
  return true;
}

const hasExtent = ({ kinds }: GeometryColumn): boolean =>
  kinds.some((kind) => kind !== Kind.none && kind !== Kind.Point && kind !== Kind.MultiPoint);

function inDegrees(column: GeometryColumn, toDegrees: NonNullable<ToDegrees>): GeometryColumn {
  const xy = column.xy.slice();
  toDegrees(xy);
  return { ...column, xy, members: column.members && inDegrees(column.members, toDegrees) };
}

function isOnEarth(xy: Float64Array, from: number, to: number): boolean {
  for (let k = from; k < to; k++)
    if (!Number.isFinite(xy[2 * k]!) || !(Math.abs(xy[2 * k + 1]!) <= maxLatitude)) return false;
  return true;
}

function lineLength(xy: Float64Array, from: number, to: number): number {
  let length = 0;
  for (let k = from; k < to - 1; k++)
    length += geodesicDistance(xy[2 * k]!, xy[2 * k + 1]!, xy[2 * k + 2]!, xy[2 * k + 3]!);
  return length;
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

function addDouble(value: number): void {
  // −0 and 0 are equal.
  double[0] = value + 0;
  addWord(words[0]!);
  addWord(words[1]!);
}

/** Adds the type, structure and coordinates of a feature to the current hash. */
function addToDigest(column: GeometryColumn, row: number): void {
  const { kinds, partOffsets, ringOffsets, positionOffsets, xy, z, m, members, memberOffsets } = column;
  addWord(kinds[row]!);
  if (members && memberOffsets && kinds[row] === Kind.GeometryCollection) {
    addWord(memberOffsets[row + 1]! - memberOffsets[row]!);
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) addToDigest(members, k);
    return;
  }
  for (let part = partOffsets[row]!; part < partOffsets[row + 1]!; part++) {
    addWord(ringOffsets[part + 1]! - ringOffsets[part]!);
    for (let ring = ringOffsets[part]!; ring < ringOffsets[part + 1]!; ring++)
      addWord(positionOffsets[ring + 1]! - positionOffsets[ring]!);
  }
  const [from, to] = positionRange(column, row);
  for (let k = 2 * from; k < 2 * to; k++) addDouble(xy[k]!);
  for (const values of [z, m]) {
    if (!values) continue;
    for (let k = from; k < to; k++) if (!Number.isNaN(values[k]!)) addDouble(values[k]!);
  }
}

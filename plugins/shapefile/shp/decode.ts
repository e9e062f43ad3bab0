import {
  acquireDoubles,
  computeBox,
  emptyBoxes,
  type GeometryColumn,
  isBoxOf,
  Kind,
} from "../../../src/model/index.js";
import { assignRings, groupByShell, type RingAssignment, signedArea } from "../../shared/rings/rings.js";
import { type SplitRings, splitTouchingRings } from "../../shared/rings/split-touching-rings.js";
import { VertexTable } from "../../shared/rings/vertex-table.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { maxPatchPositions, unfoldPatch } from "./multipatch.js";
import { partsOffset, ShapeLayout } from "./shape-layout.js";
import { noDataMeasureLimit, ShapeType } from "./shape-types.js";

/**
 * The contents of the shapes of a batch: shape i is `bytes[starts[i] … ends[i]]`; starts[i] is -1 if there is no shape.
 */
export interface ShapeBytes {
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Repairs of shapes, counted for notices, and unreadable shapes, by row. */
export interface ShapeIssues {
  readonly notices: Map<string, number>;
  readonly damaged: Map<number, string>;
}

/**
 * How far positions may lie outside the box in their record, relative to its greatest coordinate: writers round boxes,
 * or compute them before they round the positions.
 */
const boxTolerance = 1e-7;

/** Decodes the shapes of one batch into a geometry column. */
class ShapeDecoder {
  private readonly view: DataView;
  private readonly layout: ShapeLayout;
  private readonly kinds: Uint8Array;
  private readonly partOffsets: Uint32Array;
  private ringOffsets = new Uint32Array(0);
  private positionOffsets = new Uint32Array(0);
  private xy = new Float64Array(0);
  private z: Float64Array | null = null;
  private m: Float64Array | null = null;
  /** Null for points, whose boxes carry no information. */
  private boxes: Float64Array | null = null;
  private parts = 0;
  private rings = 0;
  private positions = 0;
  private ringStarts: number[] = [];
  private ringEnds: number[] = [];
  private measured = false;
  /** Whether positions of the current shape were rearranged. */
  private rearranged = false;
  /** Null until there is a polygon. */
  private vertices: VertexTable | null = null;
  /** Capacity in positions and rings beyond the counts of the shapes. */
  private spare = 0;

  constructor(
    private readonly shapes: ShapeBytes,
    private readonly issues: ShapeIssues,
    private readonly shapeType: number,
  ) {
    const { bytes, starts } = shapes;
    this.view = dataViewOf(bytes);
    this.layout = new ShapeLayout(this.view);
    this.kinds = new Uint8Array(starts.length);
    this.partOffsets = new Uint32Array(starts.length + 1);
  }

  decode(): GeometryColumn {
    this.allocate();
    const { starts, ends } = this.shapes;
    for (let i = 0; i < starts.length; i++) {
      if (starts[i]! >= 0 && !this.issues.damaged.has(i)) this.shape(i, starts[i]!, ends[i]!);
      this.partOffsets[i + 1] = this.parts;
    }
    return {
      length: starts.length,
      kinds: this.kinds,
      partOffsets: this.partOffsets,
      ringOffsets: trimArray(this.ringOffsets, this.parts + 1),
      positionOffsets: trimArray(this.positionOffsets, this.rings + 1),
      xy: trimArray(this.xy, 2 * this.positions),
      z: this.z && trimArray(this.z, this.positions),
      m: this.measured && this.m ? trimArray(this.m, this.positions) : null,
      boxes: this.boxes,
      members: null,
      memberOffsets: null,
    };
  }

  /** Counts before anything is allocated. A shape with counts that its bytes cannot hold is damaged. */
  private allocate(): void {
    const { starts, ends } = this.shapes;
    let rings = 0;
    let positions = 0;
    let hasZ = false;
    let hasM = false;
    let hasBoxes = false;
    for (let i = 0; i < starts.length; i++) {
      if (starts[i]! < 0) continue;
      const damage = this.layout.measure(starts[i]!, ends[i]!);
      if (damage !== null) {
        this.issues.damaged.set(i, damage);
        continue;
      }
      const { plain, parts, points, zAt, mAt, type, used } = this.layout;
      if (used < ends[i]! - starts[i]!) this.note("extra-shapes");
      if (type !== this.shapeType && type !== ShapeType.null) this.note("shape-type");
      if (plain === ShapeType.multipatch) {
        const types = this.readParts(starts[i]!, parts, points);
        const most = maxPatchPositions(types, this.ringStarts, this.ringEnds);
        rings += most.rings;
        positions += Math.max(points, most.positions);
      } else {
        rings += Math.max(1, parts);
        // Each ring of a polygon may have to be closed.
        positions += points + (plain === ShapeType.polygon ? parts : 0);
      }
      hasZ ||= zAt > 0 && points > 0;
      hasM ||= mAt > 0 && points > 0;
      hasBoxes ||= plain !== ShapeType.point && plain !== ShapeType.null;
    }
    this.ringOffsets = new Uint32Array(rings + 1);
    this.positionOffsets = new Uint32Array(rings + 1);
    // Not cleared, because every kept position is written and the rest is trimmed.
    this.xy = acquireDoubles(2 * positions);
    if (hasZ) this.z = acquireDoubles(positions);
    if (hasM) this.m = acquireDoubles(positions);
    if (hasBoxes) this.boxes = emptyBoxes(starts.length);
  }

  /** Fills `ringStarts` and `ringEnds` with the parts that have positions; returns the part types of a MultiPatch. */
  private readParts(from: number, parts: number, points: number): number[] {
    const { view } = this;
    this.ringStarts = [];
    this.ringEnds = [];
    const types: number[] = [];
    const multipatch = this.layout.plain === ShapeType.multipatch;
    for (let p = 0; p < parts; p++) {
      const start = view.getInt32(from + partsOffset + 4 * p, true);
      const end = p + 1 < parts ? view.getInt32(from + partsOffset + 4 * p + 4, true) : points;
      if (start === end) continue;
      this.ringStarts.push(start);
      this.ringEnds.push(end);
      if (multipatch) types.push(view.getInt32(from + partsOffset + 4 * (parts + p), true));
    }
    return types;
  }

  /** The parts of the current shape, as `readParts`; adds a notice if points precede the first part. */
  private partsOf(from: number): number[] {
    const types = this.readParts(from, this.layout.parts, this.layout.points);
    if (this.ringStarts[0] !== 0) this.note("points-outside-parts");
    return types;
  }

  private shape(i: number, from: number, to: number): void {
    this.layout.measure(from, to);
    const { plain, points } = this.layout;
    if (plain === ShapeType.null) return;
    if (points === 0) {
      this.note("empty-shape");
      return;
    }
    const first = this.positions;
    this.copyPositions(first, points);
    const fitsBox = this.useRecordBox(i, from, first, points);
    if (!fitsBox && !this.measureBox(i, first, first + points)) {
      if (plain === ShapeType.point && Number.isNaN(this.xy[2 * first]! + this.xy[2 * first + 1]!)) {
        this.note("non-finite-coordinates");
      } else this.issues.damaged.set(i, "one of its coordinates is not a finite number");
      this.measureBox(i, first, first);
      return;
    }
    if (!fitsBox && this.isOutsideBox(i, from)) this.note("shape-box");
    this.copyDimensions(first, points);
    this.rearranged = false;
    this.divideIntoParts(i, from, first);
    if (this.rearranged || this.positions !== first + points) this.measureBox(i, first, this.positions);
  }

  /** Divides the positions copied from `first` on into the parts of shape i. */
  private divideIntoParts(i: number, from: number, first: number): void {
    const { plain, points } = this.layout;
    switch (plain) {
      case ShapeType.point:
        this.kinds[i] = Kind.Point;
        this.onePart(first, points);
        break;
      case ShapeType.multipoint:
        this.kinds[i] = Kind.MultiPoint;
        this.onePart(first, points);
        break;
      case ShapeType.polyline:
        if (this.isWhole(from)) {
          this.kinds[i] = Kind.LineString;
          this.onePart(first, points);
          break;
        }
        this.partsOf(from);
        this.kinds[i] = this.lines(first);
        break;
      case ShapeType.polygon:
        if (this.isWhole(from) && this.isClosed(first, first + points - 1) && !this.mayTouch(first, first + points)) {
          this.kinds[i] = Kind.Polygon;
          this.onePart(first, points);
          break;
        }
        this.partsOf(from);
        this.kinds[i] = this.polygons(i, first);
        break;
      default:
        this.note("multipatch");
        this.kinds[i] = this.patches(first, points, this.partsOf(from));
    }
  }

  /** Whether the shape is one part with all positions, which is the most common case. */
  private isWhole(from: number): boolean {
    return this.layout.parts === 1 && this.view.getInt32(from + partsOffset, true) === 0;
  }

  private note(code: string): void {
    const { notices } = this.issues;
    notices.set(code, (notices.get(code) ?? 0) + 1);
  }

  /** Copies the x and y of the shape's positions to `first` and after. */
  private copyPositions(first: number, points: number): void {
    const { view, xy, layout } = this;
    if (points >= 16) copyDoubles(this.shapes.bytes, layout.xyAt, xy, 2 * first, 2 * points);
    else for (let k = 0; k < 2 * points; k++) xy[2 * first + k] = view.getFloat64(layout.xyAt + 8 * k, true);
  }

  /** Whether the box in the record of shape i is valid, which is the most common case; shape i then uses it. */
  private useRecordBox(i: number, from: number, first: number, points: number): boolean {
    const { boxes } = this;
    if (!boxes || this.layout.plain === ShapeType.point) return false;
    for (let side = 0; side < 4; side++) boxes[4 * i + side] = this.view.getFloat64(from + 4 + 8 * side, true);
    return isBoxOf(this.xy, first, first + points, boxes, 4 * i);
  }

  /** Whether positions of shape i, which was measured, lie outside the box in its record, if that has an extent. */
  private isOutsideBox(i: number, from: number): boolean {
    const { boxes, view } = this;
    if (!boxes || this.layout.plain === ShapeType.point) return false;
    const side = (n: number) => view.getFloat64(from + 4 + 8 * n, true);
    const tolerance = Math.max(...[0, 1, 2, 3].map((n) => Math.abs(side(n)))) * boxTolerance;
    let leaves = false;
    for (const axis of [0, 1]) {
      const [least, greatest] = [side(axis), side(axis + 2)];
      // Vertical and horizontal lines have a box without an extent; a box of zeros or NaN carries no information.
      if (!(greatest >= least) || tolerance === 0) return false;
      leaves ||= boxes[4 * i + axis]! < least - tolerance || boxes[4 * i + axis + 2]! > greatest + tolerance;
    }
    return leaves;
  }

  /** Computes the box of shape i, if boxes are kept; returns false if a coordinate is not finite. */
  private measureBox(i: number, from: number, to: number): boolean {
    if (this.boxes) return computeBox(this.xy, from, to, this.boxes, 4 * i);
    let sum = 0;
    for (let k = 2 * from; k < 2 * to; k++) sum += this.xy[k]! - this.xy[k]!;
    return sum === 0;
  }

  private copyDimensions(first: number, points: number): void {
    const { view, z, m, layout } = this;
    if (z) {
      for (let k = 0; k < points; k++) {
        const height = layout.zAt > 0 ? view.getFloat64(layout.zAt + 8 * k, true) : Number.NaN;
        z[first + k] = Number.isFinite(height) ? height : Number.NaN;
      }
    }
    if (m) {
      for (let k = 0; k < points; k++) {
        const measure = layout.mAt > 0 ? view.getFloat64(layout.mAt + 8 * k, true) : Number.NaN;
        const known = measure > noDataMeasureLimit && measure < Number.POSITIVE_INFINITY;
        m[first + k] = known ? measure : Number.NaN;
        if (known) this.measured = true;
      }
    }
  }

  private openPart(): void {
    this.ringOffsets[++this.parts] = this.rings;
  }

  /** Ends a ring at the position `end`. */
  private closeRing(end: number): void {
    this.positionOffsets[++this.rings] = end;
    this.ringOffsets[this.parts] = this.rings;
    this.positions = end;
  }

  private onePart(first: number, points: number): void {
    this.openPart();
    this.closeRing(first + points);
  }

  private lines(first: number): number {
    const { ringStarts, ringEnds } = this;
    if (ringStarts.length === 0) {
      this.note("empty-shape");
      return Kind.none;
    }
    this.openPart();
    if (ringStarts[0] === 0) for (const end of ringEnds) this.closeRing(first + end);
    else {
      const kept = this.copyPositionsFrom(first, ringEnds.at(-1)!);
      ringStarts.forEach((start, r) => {
        this.closeRing(this.placePositions(kept, start, ringEnds[r]!));
      });
    }
    return ringStarts.length === 1 ? Kind.LineString : Kind.MultiLineString;
  }

  private polygons(i: number, first: number): number {
    const { ringStarts, ringEnds, xy } = this;
    const count = ringStarts.length;
    const before = this.parts;
    if (count === 0) {
      this.note("empty-shape");
      return Kind.none;
    }
    const touching = ringStarts.map((start, r) => this.mayTouch(first + start, first + ringEnds[r]!));
    const touches = touching.includes(true);
    if (ringStarts[0] === 0 && !touches && this.isShellWithHoles(i, first)) {
      this.openPart();
      for (let r = 0; r < count; r++) this.closeRing(first + ringEnds[r]!);
      return Kind.Polygon;
    }
    const starts = ringStarts.map((start) => first + start);
    const ends = ringEnds.map((end) => first + end);
    const assignment = assignRings({ xy, starts, ends });
    if (assignment.turned > 0) this.note("ring-direction");
    const closed = starts.every((start, r) => this.isClosed(start, ends[r]! - 1));
    if (!closed) this.note("ring-closed");
    const cut = touches ? splitTouchingRings({ xy, starts, ends }, assignment.owners, touching) : null;
    if (cut) {
      this.note("ring-split");
      this.placeLoops(first, cut);
      return this.parts - before === 1 ? Kind.Polygon : Kind.MultiPolygon;
    }
    if (closed && ringStarts[0] === 0 && isInOrder(assignment)) {
      for (let r = 0; r < count; r++) {
        if (assignment.owners[r] === r) this.openPart();
        this.closeRing(ends[r]!);
      }
    } else this.reorder(first, assignment);
    return this.parts - before === 1 ? Kind.Polygon : Kind.MultiPolygon;
  }

  /**
   * Whether one shell comes first, as wide as the whole shape, and all other rings have the opposite direction. They
   * must be its holes, so no containment test is needed.
   */
  private isShellWithHoles(i: number, first: number): boolean {
    const { xy, ringStarts, ringEnds, boxes } = this;
    for (let r = 0; r < ringStarts.length; r++) {
      const from = first + ringStarts[r]!;
      const to = first + ringEnds[r]!;
      const area = signedArea(xy, from, to);
      if (!this.isClosed(from, to - 1) || (r === 0 ? area >= 0 : area < 0)) return false;
    }
    return boxes !== null && isBoxOf(xy, first, first + ringEnds[0]!, boxes, 4 * i);
  }

  private mayTouch(from: number, to: number): boolean {
    this.vertices ??= new VertexTable(this.xy);
    return this.vertices.mayTouchItself(from, to) && this.isClosed(from, to - 1);
  }

  private isClosed(first: number, last: number): boolean {
    const { xy } = this;
    return xy[2 * first] === xy[2 * last] && xy[2 * first + 1] === xy[2 * last + 1];
  }

  /** Rearranges the rings: each shell followed by its holes, all closed. */
  private reorder(first: number, { owners }: RingAssignment): void {
    const { ringStarts, ringEnds } = this;
    const kept = this.copyPositionsFrom(first, ringEnds.at(-1)!);
    for (const rings of groupByShell(owners)) {
      this.openPart();
      for (const ring of rings) {
        const [start, end] = [ringStarts[ring]!, ringEnds[ring]!];
        let at = this.placePositions(kept, start, end);
        if (!this.isClosed(this.positions, at - 1)) at = this.placePosition(kept, start, at);
        this.closeRing(at);
      }
    }
  }

  /** Writes loops as rings: each shell followed by its holes, all closed. */
  private placeLoops(first: number, { loops, owners }: SplitRings): void {
    const { points, parts } = this.layout;
    const kept = this.copyPositionsFrom(first, points);
    const positions = loops.reduce((sum, loop) => sum + loop.length + 1, 0);
    this.reserve(Math.max(positions - points - parts, loops.length - parts, 0));
    for (const rings of groupByShell(owners)) {
      this.openPart();
      for (const ring of rings) {
        let at = this.positions;
        for (const index of loops[ring]!) at = this.placePosition(kept, index - first, at);
        this.closeRing(this.placePosition(kept, loops[ring]![0]! - first, at));
      }
    }
  }

  /** Reserves capacity for more positions and rings than the counts of the shapes required. */
  private reserve(more: number): void {
    if (more > this.spare) {
      const added = Math.max(more, this.xy.length >> 3);
      this.ringOffsets = growArray(this.ringOffsets, added, (length) => new Uint32Array(length));
      this.positionOffsets = growArray(this.positionOffsets, added, (length) => new Uint32Array(length));
      this.xy = growArray(this.xy, 2 * added, acquireDoubles);
      this.z &&= growArray(this.z, added, acquireDoubles);
      this.m &&= growArray(this.m, added, acquireDoubles);
      this.vertices = null;
      this.spare += added;
    }
    this.spare -= more;
  }

  private patches(first: number, points: number, types: number[]): number {
    const kept = this.copyPositionsFrom(first, points);
    let begun = false;
    let at = first;
    const endRing = () => {
      if (begun) this.closeRing(at);
      begun = true;
    };
    const closed = (a: number, b: number) =>
      kept.xy[2 * a] === kept.xy[2 * b] &&
      kept.xy[2 * a + 1] === kept.xy[2 * b + 1] &&
      (!kept.z || kept.z[a] === kept.z[b] || Number.isNaN(kept.z[a]! + kept.z[b]!));
    unfoldPatch(types, this.ringStarts, this.ringEnds, closed, {
      shell: () => {
        endRing();
        this.openPart();
      },
      hole: endRing,
      position: (index) => {
        at = this.placePosition(kept, index, at);
      },
    });
    if (!begun) return Kind.none;
    this.closeRing(at);
    return Kind.MultiPolygon;
  }

  /** Copies the positions from `first` on, as the source for rearranging them. */
  private copyPositionsFrom(first: number, points: number): PositionCopy {
    this.rearranged = true;
    const { xy, z, m } = this;
    return {
      xy: xy.slice(2 * first, 2 * (first + points)),
      z: z?.slice(first, first + points) ?? null,
      m: m?.slice(first, first + points) ?? null,
    };
  }

  /** Writes kept positions after the last ring; returns their end. */
  private placePositions(kept: PositionCopy, from: number, to: number): number {
    const at = this.positions;
    this.xy.set(kept.xy.subarray(2 * from, 2 * to), 2 * at);
    if (kept.z) this.z!.set(kept.z.subarray(from, to), at);
    if (kept.m) this.m!.set(kept.m.subarray(from, to), at);
    return at + to - from;
  }

  private placePosition(kept: PositionCopy, index: number, at: number): number {
    this.xy[2 * at] = kept.xy[2 * index]!;
    this.xy[2 * at + 1] = kept.xy[2 * index + 1]!;
    if (kept.z) this.z![at] = kept.z[index]!;
    if (kept.m) this.m![at] = kept.m[index]!;
    return at + 1;
  }
}

interface PositionCopy {
  readonly xy: Float64Array;
  readonly z: Float64Array | null;
  readonly m: Float64Array | null;
}

/** Whether every hole follows its shell, with only other holes of that shell in between. */
function isInOrder({ owners }: RingAssignment): boolean {
  let shell = -1;
  for (let r = 0; r < owners.length; r++) {
    if (owners[r] === r) shell = r;
    else if (owners[r] !== shell) return false;
  }
  return true;
}

/**
 * Copies doubles of any alignment into an array. A byte copy suffices, because typed arrays and shapes are both
 * little-endian.
 */
function copyDoubles(bytes: Buffer, from: number, target: Float64Array, at: number, count: number): void {
  const place = new Uint8Array(target.buffer, target.byteOffset + 8 * at, 8 * count);
  place.set(bytes.subarray(from, from + 8 * count));
}

function growArray<A extends Uint32Array | Float64Array>(array: A, added: number, make: (length: number) => A): A {
  const larger = make(array.length + added);
  larger.set(array);
  return larger;
}

function trimArray<A extends Uint32Array | Float64Array>(array: A, length: number): A {
  return array.length === length ? array : (array.subarray(0, length) as A);
}

/**
 * Decodes the geometries of a batch's shapes; damaged ones become null geometries and are listed in `troubles`.
 * @param shapeType the type in the header of the .shp
 */
export function decodeShapes(shapes: ShapeBytes, troubles: ShapeIssues, shapeType: number): GeometryColumn {
  return new ShapeDecoder(shapes, troubles, shapeType).decode();
}

import { GeometryBuilder, Kind } from "../../../src/model/index.js";
import { PositionBuffer } from "./coordinates.js";

/** The kinds of nodes in a feature's geometry. Points, lines and polygons have the numbers of `Kind`. */
export const ShapeKind = { point: 1, line: 2, polygon: 3, multi: 7 } as const;

/** The kind of a multi-geometry whose members have one kind. */
const multiKindOf: Readonly<Record<number, number>> = {
  [ShapeKind.point]: Kind.MultiPoint,
  [ShapeKind.line]: Kind.MultiLineString,
  [ShapeKind.polygon]: Kind.MultiPolygon,
};

interface ShapeNode {
  shape: number;
  /** For points and lines, the first position and the one after the last. */
  from: number;
  to: number;
  /** For polygons, the rings as pairs of positions; once complete, the shell is first. */
  rings: number[];
  shells: number;
  members: ShapeNode[];
}

/** Shared by nodes without rings or members: most are points, which never have any. */
const noRings: number[] = [];
const noMembers: ShapeNode[] = [];

/**
 * Collects the geometries of one feature. The kind of a multi-geometry is known only after its last member. Positions are
 * in one array of numbers; there is an object for each geometry, none for a position.
 */
export class FeatureGeometry {
  readonly positions = new PositionBuffer();
  /** The reason, in words, why a part of the geometry cannot be read; its positions are NaN. Null for none. */
  flaw: string | null = null;
  /** The problem with the geometry as a whole, in words. */
  private fault: string | null = null;
  /** The number of rings that were closed. */
  closed = 0;
  /** The number of lines of one position, which became points. */
  singles = 0;
  private readonly roots: ShapeNode[] = [];
  private readonly open: ShapeNode[] = [];

  reset(): void {
    this.positions.clear();
    this.flaw = null;
    this.fault = null;
    this.closed = 0;
    this.singles = 0;
    // Setting the length of an array, even to its current value, is slower than the rest of this function.
    while (this.roots.length > 0) this.roots.pop();
    while (this.open.length > 0) this.open.pop();
  }

  /** Records that the geometry as a whole cannot be read. */
  fail(reason: string): void {
    this.fault ??= reason;
  }

  /** Replaces the positions since `from`, which cannot be read, by NaN. */
  invalidate(from: number, reason: string): void {
    const { positions } = this;
    this.flaw ??= reason;
    positions.count = from;
    // A line needs two.
    for (let n = 0; n < 2; n++) positions.add(Number.NaN, Number.NaN, Number.NaN);
  }

  /** The reason, in words, why no part of the geometry can be read; null where a part can. */
  get problem(): string | null {
    if (this.fault !== null || this.flaw === null) return this.fault;
    const trial = new GeometryBuilder();
    this.put(trial);
    return trial.hasReadablePart(0) ? null : this.flaw;
  }

  begin(shape: number): void {
    const { count } = this.positions;
    const node: ShapeNode = { shape, from: count, to: count, rings: noRings, shells: 0, members: noMembers };
    const parent = this.open.at(-1);
    if (!parent) this.roots.push(node);
    else if (parent.members === noMembers) parent.members = [node];
    else parent.members.push(node);
    this.open.push(node);
  }

  end(): void {
    const node = this.open.pop();
    if (!node) return;
    node.to = this.positions.count;
    if (node.shape === ShapeKind.line && node.to - node.from === 1) {
      // A line has two positions or more (RFC 7946, 3.1.4; OGC 07-147r2, 10.7).
      node.shape = ShapeKind.point;
      this.singles++;
    }
    if (node.shape !== ShapeKind.polygon || node.shells === 1 || node.rings.length === 0) return;
    const has = node.shells === 0 ? "that has holes and no outer boundary" : "with several outer boundaries";
    this.invalidate(node.from, `a polygon ${has}`);
    node.rings = [node.from, this.positions.count];
    node.to = this.positions.count;
  }

  get isOpen(): boolean {
    return this.open.length > 0;
  }

  /** Makes each position since `from` a point of the open multi-geometry. */
  points(from: number): void {
    const { count } = this.positions;
    const node = this.open.at(-1);
    if (!node) return;
    if (node.members === noMembers) node.members = [];
    for (let at = from; at < count; at++) {
      node.members.push({
        shape: ShapeKind.point,
        from: at,
        to: at + 1,
        rings: noRings,
        shells: 0,
        members: noMembers,
      });
    }
  }

  /** Makes the positions since `from` a ring of the open polygon. */
  ring(from: number, isShell: boolean): void {
    const node = this.open.at(-1);
    if (node?.shape !== ShapeKind.polygon) return;
    const { positions } = this;
    if (positions.count === from) return;
    this.close(from);
    if (isShell) node.shells++;
    if (node.rings === noRings) node.rings = [];
    const at = isShell ? 0 : node.rings.length;
    node.rings.splice(at, 0, from, positions.count);
  }

  private close(from: number): void {
    const { positions } = this;
    const { xy, count } = positions;
    const first = from * 2;
    const last = (count - 1) * 2;
    if (Number.isNaN(xy[first])) return;
    if (xy[first] === xy[last] && xy[first + 1] === xy[last + 1]) return;
    positions.add(xy[first]!, xy[first + 1]!, positions.heightOf(from));
    this.closed++;
  }

  /** Whether a position has a height other than zero. */
  get elevated(): boolean {
    const { z, hasZ, count } = this.positions;
    if (hasZ) for (let k = 0; k < count; k++) if (z[k] !== 0 && !Number.isNaN(z[k]!)) return true;
    return false;
  }

  /** Whether there are polygons, and whether there are lines. */
  get kinds(): { readonly polygons: boolean; readonly lines: boolean } {
    const found = { polygons: false, lines: false };
    const look = ({ shape, members }: ShapeNode): void => {
      if (shape === ShapeKind.polygon) found.polygons = true;
      else if (shape === ShapeKind.line) found.lines = true;
      members.forEach(look);
    };
    this.roots.forEach(look);
    return found;
  }

  /** Adds the feature's geometry to the builder; null for one that cannot be read. */
  write(builder: GeometryBuilder): void {
    if (this.problem === null) this.put(builder);
    else builder.addNull();
  }

  private put(builder: GeometryBuilder): void {
    // Of several geometries, those without a position are left out.
    const roots = this.roots.length > 1 ? this.roots.filter((node) => node.to > node.from) : this.roots;
    const [only] = roots;
    if (!only) builder.addNull();
    else if (roots.length === 1) this.writeNode(only, builder);
    else this.writeMulti(roots, builder);
  }

  private writeNode(node: ShapeNode, builder: GeometryBuilder): void {
    if (node.shape === ShapeKind.multi) {
      this.writeMulti(node.members, builder);
      return;
    }
    builder.begin(
      node.shape === ShapeKind.point ? Kind.Point : node.shape === ShapeKind.line ? Kind.LineString : Kind.Polygon,
    );
    if (node.shape === ShapeKind.polygon) this.polygon(node, builder);
    else if (node.to > node.from) {
      builder.beginPart();
      this.positionsOf(node.from, node.shape === ShapeKind.point ? node.from + 1 : node.to, builder);
    }
    builder.end();
  }

  private polygon({ rings }: ShapeNode, builder: GeometryBuilder): void {
    if (rings.length === 0) return;
    builder.beginPart();
    for (let r = 0; r < rings.length; r += 2) this.positionsOf(rings[r]!, rings[r + 1]!, builder);
  }

  /** Members of one kind make a multi-geometry of that kind, others a collection. */
  private writeMulti(members: readonly ShapeNode[], builder: GeometryBuilder): void {
    const shape = members[0]?.shape ?? ShapeKind.multi;
    const kind = members.every((member) => member.shape === shape) ? multiKindOf[shape] : undefined;
    if (kind === undefined) {
      builder.begin(Kind.GeometryCollection);
      const into = builder.beginMembers();
      for (const member of members) this.writeNode(member, into);
    } else {
      builder.begin(kind);
      if (shape === ShapeKind.polygon) for (const member of members) this.polygon(member, builder);
      else this.lines(members, shape, builder);
    }
    builder.end();
  }

  private lines(members: readonly ShapeNode[], shape: number, builder: GeometryBuilder): void {
    builder.beginPart();
    if (shape === ShapeKind.point) builder.beginRing();
    for (const { from, to } of members) {
      if (shape === ShapeKind.line) builder.beginRing();
      this.addPositions(from, shape === ShapeKind.point ? Math.min(to, from + 1) : to, builder);
    }
  }

  private positionsOf(from: number, to: number, builder: GeometryBuilder): void {
    builder.beginRing();
    this.addPositions(from, to, builder);
  }

  private addPositions(from: number, to: number, builder: GeometryBuilder): void {
    const { xy, z, hasZ } = this.positions;
    if (!hasZ) builder.addPositionsFromArray(xy, from, to);
    else for (let k = from; k < to; k++) builder.addPositionZM(xy[2 * k]!, xy[2 * k + 1]!, z[k]!, Number.NaN);
  }
}

/** Geometries of Esri JSON (ArcGIS REST API, "Geometry objects") as columns. */
import { GeometryBuilder, type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";
import type { CurvePoints } from "../../shared/curves.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { addBezierCurve, addCircularArc, addEllipticArc } from "./curve-segments.js";
import { PolygonRings } from "./polygon-rings.js";

/** The dimensions that the numbers of a position have after x and y; null: not declared, the third is z. */
export interface Dimensions {
  readonly hasZ: boolean | null;
  readonly hasM: boolean | null;
}

const { NaN: none } = Number;

/** An ordinate: a number, or NaN for null and the texts that JSON has in its place. */
function ordinate(value: unknown): number {
  if (typeof value === "number") return value;
  if (value === null || value === undefined || value === "NaN" || value === "") return none;
  const number = typeof value === "string" ? Number(value) : none;
  if (Number.isNaN(number)) throw unreadable(`${JSON.stringify(value).slice(0, 40)} is not a coordinate`);
  return number;
}

const unreadable = (reason: string): GeometryParseError => new GeometryParseError(reason, 0);

const isMissing = (value: unknown): boolean => value === null || value === undefined || value === "NaN" || value === "";

/** Builds the geometry column of a batch. */
export class EsriGeometryParser {
  private builder = new GeometryBuilder();
  private readonly rings = new PolygonRings();
  private curves = 0;
  private emptyParts = 0;
  private extraOrdinates = 0;
  private unreadableParts = 0;
  /** Whether a position of the current geometry has no x or y. */
  private hasGap = false;
  private readonly numbers = [0, 0, none, none];

  /** @param declared what the layer declares for geometries that do not say themselves */
  constructor(private readonly declared: Dimensions) {}

  /** The column, after which the parser is empty; reports repairs. */
  finish(context: Pick<PluginContext, "reportLoss" | "reportNotice">): GeometryColumn {
    const column = this.builder.finish();
    this.builder.reset();
    const { repairs } = this.rings;
    const note = (code: string, count: number, example: string) => {
      if (count > 0) context.reportNotice(code, undefined, example, count);
    };
    note("ring-closed", repairs.closed, "a ring was not closed; its first position was repeated");
    note("ring-direction", repairs.turned, "outer rings are not clockwise; nesting decided which rings are holes");
    note("ring-split", repairs.split, "a ring touched itself at a vertex, and was split there");
    note("empty-part", this.emptyParts, "parts without positions were left out");
    note("part-unreadable", this.unreadableParts, "a position has no x or y");
    if (this.curves > 0)
      context.reportLoss(
        "curve-linearized",
        undefined,
        "curves were linearized with one position every 4 degrees or less",
        this.curves,
      );
    if (this.extraOrdinates > 0)
      context.reportLoss("extra-ordinates", undefined, "positions have more than x, y, z and m", this.extraOrdinates);
    Object.assign(repairs, { closed: 0, turned: 0, split: 0 });
    this.curves = 0;
    this.emptyParts = 0;
    this.extraOrdinates = 0;
    this.unreadableParts = 0;
    return column;
  }

  addNull(): void {
    this.builder.addNull();
  }

  /** Adds a geometry. @throws GeometryParseError, after which nothing of it is in the column */
  add(geometry: unknown): void {
    const { builder } = this;
    if (geometry === null || geometry === undefined) {
      builder.addNull();
      return;
    }
    if (!isObject(geometry)) throw unreadable("the geometry is not an object");
    const { length } = builder;
    try {
      this.addObject(geometry);
    } catch (error) {
      if (error instanceof GeometryParseError && builder.length === length) builder.cancel();
      throw error;
    }
  }

  private addObject(geometry: Json): void {
    const { rings, curveRings, paths, curvePaths, points } = geometry;
    const at = this.dimensionsOf(geometry);
    this.hasGap = false;
    if (Array.isArray(rings) || Array.isArray(curveRings)) this.addPolygon(arrayOf(curveRings ?? rings, "rings"), at);
    else if (Array.isArray(paths) || Array.isArray(curvePaths))
      this.addLines(arrayOf(curvePaths ?? paths, "paths"), at);
    else if (Array.isArray(points)) this.addPoints(points, at);
    else if ("xmin" in geometry) this.addEnvelope(geometry);
    else if ("x" in geometry || "y" in geometry) this.addPoint(geometry);
    else if (Object.keys(geometry).every((name) => name === "spatialReference")) this.builder.addNull();
    else {
      const names = Object.keys(geometry).slice(0, 5).join(", ");
      throw unreadable(`a geometry with the members ${names} is of no type that Esri JSON has`);
    }
  }

  private addPoint({ x, y, z, m }: Json): void {
    const { builder } = this;
    if (isMissing(x) && isMissing(y)) {
      builder.begin(Kind.Point);
      builder.end();
      return;
    }
    const [px, py] = [ordinate(x), ordinate(y)];
    if (Number.isNaN(px + py)) throw unreadable("the point has no x or no y");
    const [pz, pm] = [ordinate(z), ordinate(m)];
    builder.beginSinglePart(Kind.Point);
    builder.addPositionZM(px, py, pz, pm);
    builder.end();
  }

  private addEnvelope({ xmin, ymin, xmax, ymax }: Json): void {
    const { builder } = this;
    const [west, south, east, north] = [xmin, ymin, xmax, ymax].map(ordinate) as [number, number, number, number];
    builder.begin(Kind.Polygon);
    if (!Number.isNaN(west + south + east + north)) {
      builder.beginPart();
      builder.beginRing();
      for (const [x, y] of [
        [west, south],
        [west, north],
        [east, north],
        [east, south],
        [west, south],
      ] as const)
        builder.addPosition(x, y);
    }
    builder.end();
  }

  private addPoints(points: readonly unknown[], at: PositionLayout): void {
    const { builder } = this;
    builder.begin(Kind.MultiPoint);
    if (points.length > 0) {
      builder.beginPart();
      builder.beginRing();
      for (const point of points) {
        const position = this.position(point, at);
        builder.addPositionZM(position[0]!, position[1]!, position[2]!, position[3]!);
      }
    }
    this.endChecked();
  }

  private addLines(paths: readonly unknown[], at: PositionLayout): void {
    const { builder } = this;
    const lines = paths
      .map((path) => this.positions(arrayOf(path, "a path"), at))
      .filter((line) => this.isFilled(line));
    builder.begin(lines.length > 1 ? Kind.MultiLineString : Kind.LineString);
    if (lines.length > 0) builder.beginPart();
    for (const line of lines) {
      builder.beginRing();
      for (let k = 0; k < line.length; k += 4)
        builder.addPositionZM(line[k]!, line[k + 1]!, line[k + 2]!, line[k + 3]!);
    }
    this.endChecked();
  }

  private addPolygon(list: readonly unknown[], at: PositionLayout): void {
    const { rings, builder } = this;
    rings.begin();
    for (const each of list) {
      const ring = this.positions(arrayOf(each, "a ring"), at);
      if (!this.isFilled(ring)) continue;
      if (ring.some((number, k) => k % 4 < 2 && Number.isNaN(number)))
        throw unreadable("a position of a ring has no x or y");
      rings.beginRing();
      for (let k = 0; k < ring.length; k += 4) rings.addPosition(ring[k]!, ring[k + 1]!, ring[k + 2]!, ring[k + 3]!);
      rings.endRing();
    }
    rings.addTo(builder);
  }

  /** Ends a geometry, of which some parts may have positions without x or y; the host then leaves these parts out. */
  private endChecked(): void {
    const { builder } = this;
    if (this.hasGap && !builder.hasReadablePart()) {
      this.hasGap = false;
      throw unreadable("no part of it has only positions with x and y");
    }
    if (this.hasGap) this.unreadableParts++;
    this.hasGap = false;
    builder.end();
  }

  private isFilled(line: CurvePoints): boolean {
    if (line.length > 0) return true;
    this.emptyParts++;
    return false;
  }

  /** The positions of a path or ring, four numbers each, with its curves densified. */
  private positions(items: readonly unknown[], at: PositionLayout): CurvePoints {
    const line: CurvePoints = [];
    for (const item of items) {
      if (isObject(item)) this.addSegment(line, item, at);
      else {
        const position = this.position(item, at);
        line.push(position[0]!, position[1]!, position[2]!, position[3]!);
      }
    }
    return line;
  }

  private addSegment(line: CurvePoints, segment: Json, at: PositionLayout): void {
    if (line.length === 0) throw unreadable("a path begins with a curve segment instead of a position");
    const { a, b, c } = segment;
    const parts = arrayOf(c ?? a ?? b, "a curve segment");
    const end = this.position(parts[0], at);
    const plane = (n: number): readonly [number, number] => {
      const [x, y] = arrayOf(parts[n], "a curve segment").map(ordinate);
      if (x === undefined || y === undefined || Number.isNaN(x + y))
        throw unreadable("a curve segment has a point without x or y");
      return [x, y];
    };
    if (Number.isNaN(end[0]! + end[1]!)) throw unreadable("a curve segment has no end");
    this.curves++;
    if (c !== undefined) addCircularArc(line, end, plane(1));
    else if (b !== undefined) addBezierCurve(line, end, plane(1), plane(2));
    else {
      // Whether the arc is the minor one follows from its direction.
      const [, clockwise, rotation, axis, ratio] = parts.slice(2).map(ordinate);
      if (clockwise === undefined || (axis !== undefined && !(axis > 0 && ratio! > 0)))
        throw unreadable("an elliptic arc lacks some of its numbers");
      const isEllipse = axis !== undefined && Number.isFinite(rotation) && Number.isFinite(ratio);
      addEllipticArc(line, {
        end,
        center: plane(1),
        isClockwise: clockwise === 1,
        rotation: isEllipse ? rotation! : 0,
        semiMajor: isEllipse ? axis : null,
        ratio: isEllipse ? ratio! : 1,
      });
    }
  }

  /** x, y, z and m of a position, in an array that the next call overwrites. */
  private position(value: unknown, { zAt, mAt, length }: PositionLayout): CurvePoints {
    if (!Array.isArray(value) || value.length < 2)
      throw unreadable(`${JSON.stringify(value)?.slice(0, 40)} is not a position`);
    const { numbers } = this;
    numbers[0] = ordinate(value[0]);
    numbers[1] = ordinate(value[1]);
    if (Number.isNaN(numbers[0]! + numbers[1]!)) this.hasGap = true;
    numbers[2] = zAt < value.length ? ordinate(value[zAt]) : none;
    numbers[3] = mAt < value.length ? ordinate(value[mAt]) : none;
    if (value.length > length) this.extraOrdinates++;
    return numbers;
  }

  private dimensionsOf({ hasZ, hasM }: Json): PositionLayout {
    const z = typeof hasZ === "boolean" ? hasZ : this.declared.hasZ;
    const m = typeof hasM === "boolean" ? hasM : this.declared.hasM;
    return layouts[(z === null ? 2 : z ? 1 : 0) * 3 + (m === null ? 2 : m ? 1 : 0)]!;
  }
}

/** Indexes of z and m in a position; beyond any position if it has none. `length`: numbers that are used. */
interface PositionLayout {
  readonly zAt: number;
  readonly mAt: number;
  readonly length: number;
}

const absent = 99;

/** By what is declared of z and m: 0 no, 1 yes, 2 nothing. Undeclared third numbers are z, fourth ones m. */
const layouts: readonly PositionLayout[] = [0, 1, 2].flatMap((z) =>
  [0, 1, 2].map((m) => {
    const zAt = z === 1 || (z === 2 && m !== 1) ? 2 : absent;
    const mAt = m === 1 || (m === 2 && zAt === 2) ? (zAt === 2 ? 3 : 2) : absent;
    return { zAt, mAt, length: 2 + (zAt === 2 ? 1 : 0) + (mAt < absent ? 1 : 0) };
  }),
);

function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable(`${what} is not a list`);
  return value;
}

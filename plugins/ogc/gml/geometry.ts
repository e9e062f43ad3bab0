/**
 * Geometries of GML 2.1 to 3.3 (OGC 02-069, OGC 03-105r1, OGC 07-036r1, clauses 10 and 11), as far as Simple Features have
 * them (OGC 10-100r3): curves become lines, surfaces polygons.
 */
import type { Geometry, Position } from "../../../src/model/index.js";
import { appendCurveSegment, type CurvePoints, closeRing, isArcString, linearizeArcs } from "../../shared/curves.js";
import { addPositions, type CoordinateSettings, isPositions, malformed, settingsWithin } from "./coordinates.js";
import { attributeOf, type GmlElement } from "./element.js";

/** What was changed while a geometry was read. */
export type GeometryNote = "curve-linearized" | "ring-closed" | "solid-as-faces" | "geodesic-as-line";

export interface GeometryNotes {
  add(note: GeometryNote): void;
}

type Rings = readonly CurvePoints[];

/** Elements that are geometries by themselves. */
const geometryNames: ReadonlySet<string> = new Set([
  "Point",
  "LineString",
  "LinearRing",
  "Ring",
  "Curve",
  "CompositeCurve",
  "OrientableCurve",
  "Polygon",
  "Rectangle",
  "Triangle",
  "Surface",
  "CompositeSurface",
  "OrientableSurface",
  "PolyhedralSurface",
  "TriangulatedSurface",
  "Tin",
  "Shell",
  "Solid",
  "CompositeSolid",
  "MultiPoint",
  "MultiLineString",
  "MultiCurve",
  "MultiPolygon",
  "MultiSurface",
  "MultiSolid",
  "MultiGeometry",
  "GeometricComplex",
  "Envelope",
  "EnvelopeWithTimePeriod",
  "Box",
  "Grid",
  "RectifiedGrid",
  "TopoCurve",
  "TopoSurface",
]);

export const isGeometry = ({ local, isGml }: GmlElement): boolean => isGml && geometryNames.has(local);

/** Children of geometries that are not part of the shape. */
const descriptive = new Set([
  "name",
  "description",
  "descriptionReference",
  "identifier",
  "metaDataProperty",
  "boundedBy",
]);
/** Properties of geometries and segments that hold others, and the lists of these. */
const holders = new Set([
  ...["pointMember", "pointMembers", "pointProperty", "pointRep", "lineStringMember", "curveMember", "curveMembers"],
  ...["polygonMember", "surfaceMember", "surfaceMembers", "geometryMember", "geometryMembers", "element"],
  ...["solidMember", "solidMembers", "baseCurve", "baseSurface", "segments", "patches", "polygonPatches"],
  ...["trianglePatches", "exterior", "interior", "outerBoundaryIs", "innerBoundaryIs"],
]);

const unsupported = ({ local }: GmlElement) => malformed(`<${local}> is not supported`);

/** The elements in the properties of an element, with the properties. @throws GeometryParseError */
function* contentsOf(element: GmlElement): Generator<readonly [property: string, child: GmlElement]> {
  for (const property of element.children) {
    if (descriptive.has(property.local)) continue;
    if (!holders.has(property.local)) throw malformed(`<${property.local}> in <${element.local}> is not supported`);
    const href = attributeOf(property, "href");
    if (href !== null && property.children.length === 0)
      throw malformed(`<${property.local}> refers to "${href.slice(0, 80)}" instead of having a geometry`);
    for (const child of property.children) yield [property.local, child];
  }
}

function toPosition(points: CurvePoints, k: number): Position {
  const [x, y, z] = [points[k]!, points[k + 1]!, points[k + 2]!];
  return Number.isNaN(z) ? [x, y] : [x, y, z];
}

function toPositions(points: CurvePoints): Position[] {
  const positions: Position[] = [];
  for (let k = 0; k < points.length; k += 4) positions.push(toPosition(points, k));
  return positions;
}

const toPolygon = (rings: Rings): Position[][] => rings.map(toPositions);

export class GeometryReader {
  constructor(private readonly notes: GeometryNotes) {}

  /** The geometry of an element for which `isGeometry` holds. @throws GeometryParseError */
  read(element: GmlElement, outer: CoordinateSettings): Geometry {
    const settings = settingsWithin(element, outer);
    switch (element.local) {
      case "Point":
        return { type: "Point", coordinates: this.point(element, settings) };
      case "LineString":
      case "LinearRing":
      case "Ring":
      case "Curve":
      case "CompositeCurve":
      case "OrientableCurve":
        return { type: "LineString", coordinates: toPositions(this.curve(element, settings)) };
      case "Polygon":
      case "Rectangle":
      case "Triangle":
      case "Envelope":
      case "EnvelopeWithTimePeriod":
      case "Box":
        return { type: "Polygon", coordinates: toPolygon(this.faces(element, settings)[0]!) };
      case "Surface":
      case "OrientableSurface": {
        const faces = this.faces(element, settings).map(toPolygon);
        return faces.length === 1
          ? { type: "Polygon", coordinates: faces[0]! }
          : { type: "MultiPolygon", coordinates: faces };
      }
      case "CompositeSurface":
      case "PolyhedralSurface":
      case "TriangulatedSurface":
      case "Tin":
      case "Shell":
      case "Solid":
      case "CompositeSolid":
      case "MultiSolid":
      case "MultiPolygon":
      case "MultiSurface":
        return { type: "MultiPolygon", coordinates: this.faces(element, settings).map(toPolygon) };
      case "MultiPoint":
        return { type: "MultiPoint", coordinates: this.points(element, settings) };
      case "MultiLineString":
      case "MultiCurve": {
        const lines: Position[][] = [];
        for (const [, child] of contentsOf(element)) lines.push(toPositions(this.curve(child, settings)));
        return { type: "MultiLineString", coordinates: lines };
      }
      case "MultiGeometry":
      case "GeometricComplex": {
        const geometries: Geometry[] = [];
        for (const [, child] of contentsOf(element)) geometries.push(this.read(child, settings));
        return { type: "GeometryCollection", geometries };
      }
      default:
        throw unsupported(element);
    }
  }

  private point(element: GmlElement, settings: CoordinateSettings): Position {
    const points = this.positions(element, settings);
    if (points.length > 4) throw malformed(`a point has ${points.length / 4} positions`);
    return points.length === 0 ? [] : toPosition(points, 0);
  }

  private points(element: GmlElement, settings: CoordinateSettings): Position[] {
    const found: Position[] = [];
    for (const [, child] of contentsOf(element)) {
      if (child.local !== "Point") throw unsupported(child);
      const position = this.point(child, settingsWithin(child, settings));
      if (position.length > 0) found.push(position);
    }
    return found;
  }

  /** The positions of an element that has them itself, or in points. */
  private positions(element: GmlElement, settings: CoordinateSettings): CurvePoints {
    const points: CurvePoints = [];
    for (const child of element.children) {
      if (isPositions(child)) addPositions(points, child, settings);
      else if (child.local === "pointProperty" || child.local === "pointRep") {
        for (const [, point] of contentsOf({ ...element, children: [child] }))
          for (const number of this.positions(point, settingsWithin(point, settings))) points.push(number);
      } else if (!descriptive.has(child.local))
        throw malformed(`<${child.local}> in <${element.local}> is not supported`);
    }
    return points;
  }

  /** The positions of a curve or of a segment of one. */
  private curve(element: GmlElement, outer: CoordinateSettings): CurvePoints {
    const settings = settingsWithin(element, outer);
    switch (element.local) {
      case "LineString":
      case "LinearRing":
      case "LineStringSegment":
        return this.positions(element, settings);
      case "Geodesic":
      case "GeodesicString":
        this.notes.add("geodesic-as-line");
        return this.positions(element, settings);
      case "Arc":
      case "ArcString":
        return this.arcs(element, settings);
      case "Circle":
        return this.circle(element, settings);
      case "OrientableCurve": {
        const line = this.joined(element, settings);
        return attributeOf(element, "orientation") === "-" ? reversed(line) : line;
      }
      case "Curve":
      case "CompositeCurve":
      case "Ring":
        return this.joined(element, settings);
      default:
        throw unsupported(element);
    }
  }

  /** The segments or members of a curve as one line. */
  private joined(element: GmlElement, settings: CoordinateSettings): CurvePoints {
    const line: CurvePoints = [];
    for (const [, child] of contentsOf(element)) {
      const segment = this.curve(child, settings);
      if (segment.length > 0 && line.length > 0 && isGap(line, segment))
        throw malformed(`the parts of a <${element.local}> do not follow each other`);
      appendCurveSegment(line, segment);
    }
    return line;
  }

  private arcs(element: GmlElement, settings: CoordinateSettings): CurvePoints {
    const points = this.positions(element, settings);
    if (!isArcString(points.length / 4)) throw malformed(`an <${element.local}> has ${points.length / 4} positions`);
    this.notes.add("curve-linearized");
    return linearizeArcs(points);
  }

  /** Through three positions (OGC 07-036r1, 10.4.7.8). */
  private circle(element: GmlElement, settings: CoordinateSettings): CurvePoints {
    const points = this.positions(element, settings);
    if (points.length !== 12) throw malformed(`a <Circle> has ${points.length / 4} positions`);
    this.notes.add("curve-linearized");
    const [x0, y0] = [points[0]!, points[1]!];
    const [ax, ay, bx, by] = [points[4]! - x0, points[5]! - y0, points[8]! - x0, points[9]! - y0];
    const cross = 2 * (ax * by - ay * bx);
    const [a, b] = [ax * ax + ay * ay, bx * bx + by * by];
    const opposite = [x0 + (2 * (by * a - ay * b)) / cross, y0 + (2 * (ax * b - bx * a)) / cross];
    if (!Number.isFinite(opposite[0]! + opposite[1]!)) throw malformed("the positions of a <Circle> are on a line");
    const start = points.slice(0, 4);
    return linearizeArcs([...start, opposite[0]!, opposite[1]!, points[2]!, Number.NaN, ...start]);
  }

  /** The polygons of a surface, of several, or of the boundary of a solid. */
  private faces(element: GmlElement, outer: CoordinateSettings): Rings[] {
    const settings = settingsWithin(element, outer);
    switch (element.local) {
      case "Polygon":
      case "PolygonPatch":
      case "Rectangle":
      case "Triangle":
        return [this.rings(element, settings)];
      case "Envelope":
      case "EnvelopeWithTimePeriod":
      case "Box":
        return [[this.envelope(element, settings)]];
      case "Solid":
      case "CompositeSolid":
      case "MultiSolid":
        this.notes.add("solid-as-faces");
        break;
      case "Surface":
      case "OrientableSurface":
      case "CompositeSurface":
      case "PolyhedralSurface":
      case "TriangulatedSurface":
      case "Tin":
      case "Shell":
      case "MultiPolygon":
      case "MultiSurface":
        break;
      default:
        throw unsupported(element);
    }
    const faces: Rings[] = [];
    for (const [, child] of contentsOf(element)) faces.push(...this.faces(child, settings));
    return faces;
  }

  private rings(element: GmlElement, settings: CoordinateSettings): Rings {
    const rings: CurvePoints[] = [];
    let hasShell = false;
    for (const [property, child] of contentsOf(element)) {
      if (child.local !== "LinearRing" && child.local !== "Ring") throw unsupported(child);
      const ring = this.curve(child, settings);
      const isShell = property === "exterior" || property === "outerBoundaryIs";
      if (isShell && hasShell) throw malformed("a polygon has two exterior rings");
      if (ring.length === 0) continue;
      if (closeRing(ring)) this.notes.add("ring-closed");
      if (isShell) rings.unshift(ring);
      else rings.push(ring);
      hasShell ||= isShell;
    }
    if (rings.length > 0 && !hasShell) throw malformed("a polygon has no exterior ring");
    return rings;
  }

  private envelope(element: GmlElement, settings: CoordinateSettings): CurvePoints {
    const points: CurvePoints = [];
    for (const child of element.children) {
      const isCorner = child.local === "lowerCorner" || child.local === "upperCorner";
      if (isCorner) addPositions(points, { ...child, local: "pos" }, settings);
      else if (isPositions(child)) addPositions(points, child, settings);
      else if (!/^(begin|end|time)Position$/.test(child.local)) throw unsupported(child);
    }
    if (points.length !== 8) throw malformed(`an <${element.local}> has ${points.length / 4} corners`);
    const [x0, y0, x1, y1] = [points[0]!, points[1]!, points[4]!, points[5]!];
    const corner = (x: number, y: number) => [x, y, Number.NaN, Number.NaN];
    return [corner(x0, y0), corner(x1, y0), corner(x1, y1), corner(x0, y1), corner(x0, y0)].flat();
  }
}

function reversed(points: CurvePoints): CurvePoints {
  const found: CurvePoints = [];
  for (let k = points.length - 4; k >= 0; k -= 4) found.push(...points.slice(k, k + 4));
  return found;
}

/** Rounding between the end of a part and the beginning of the next, relative to the coordinates. */
const joinTolerance = 1e-9;

function isGap(line: CurvePoints, next: CurvePoints): boolean {
  const end = line.length - 4;
  const tolerance = (value: number) => joinTolerance * Math.max(1, Math.abs(value)) * 10;
  return (
    Math.abs(line[end]! - next[0]!) > tolerance(next[0]!) || Math.abs(line[end + 1]! - next[1]!) > tolerance(next[1]!)
  );
}

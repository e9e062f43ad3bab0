import type { ReadContext } from "../../../src/plugin/format.js";
import { altitudeModes } from "../element-fields.js";
import { Tag } from "../vocabulary.js";
import type { ArrayValue } from "./array-value.js";
import { CoordinateParser, type CoordinateRepairs, parseTrackPosition } from "./coordinates.js";
import { ShapeKind } from "./feature-geometry.js";
import type { FeatureRecord } from "./feature-record.js";
import { boxRings, type LatLonBox } from "./overlay-box.js";
import { Replay } from "./replay.js";
import { TrackReader } from "./track-reader.js";

const shapeByTag: Readonly<Record<number, number>> = {
  [Tag.Point]: ShapeKind.point,
  [Tag.LineString]: ShapeKind.line,
  [Tag.LinearRing]: ShapeKind.line,
  [Tag.Polygon]: ShapeKind.polygon,
  [Tag.MultiGeometry]: ShapeKind.multi,
  [Tag.MultiPoint]: ShapeKind.multi,
  [Tag.MultiLineString]: ShapeKind.multi,
  [Tag.Track]: ShapeKind.line,
  [Tag.MultiTrack]: ShapeKind.multi,
  [Tag.Model]: ShapeKind.point,
};
const boxSideTags: Readonly<Record<number, keyof LatLonBox>> = {
  [Tag.north]: "north",
  [Tag.south]: "south",
  [Tag.east]: "east",
  [Tag.west]: "west",
  [Tag.rotation]: "rotation",
};
const unsetBox: LatLonBox = {
  north: Number.NaN,
  south: Number.NaN,
  east: Number.NaN,
  west: Number.NaN,
  rotation: Number.NaN,
};
const unsetLocation = { longitude: Number.NaN, latitude: Number.NaN, altitude: Number.NaN };

/** Whether an element has a `coordinates` child in KML. */
const holdsCoordinates = (code: number): boolean =>
  code === Tag.Point || code === Tag.LineString || code === Tag.LinearRing || code === Tag.LatLonQuad;
/** Whether an element has geometries as members. In an unknown element (0), a geometry counts as a member, too. */
const isMulti = (code: number): boolean =>
  code === Tag.MultiGeometry ||
  code === Tag.MultiTrack ||
  code === Tag.MultiPoint ||
  code === Tag.MultiLineString ||
  code === 0;
const isBoundary = (code: number): boolean =>
  code === Tag.outerBoundaryIs || code === Tag.innerBoundaryIs || code === Tag.Polygon;
const isGeometryMode = (code: number): boolean =>
  code === Tag.extrude || code === Tag.tessellate || code === Tag.altitudeMode || code === Tag.interpolate;

/** Whether a geometry consists of elements and coordinates only, like nearly all. */
export const isPlainGeometry = (code: number): boolean =>
  code === Tag.Point ||
  code === Tag.LineString ||
  code === Tag.LinearRing ||
  code === Tag.Polygon ||
  code === Tag.MultiGeometry;

/**
 * Whether an element in a geometry of this kind is left out. In a multi-geometry, elements that KML does not have may
 * contain geometries.
 */
export const isDroppedIn = (code: number, parent: number): boolean =>
  (code === 0 || code === Tag.foreign) && (parent === Tag.Polygon || parent === Tag.Track || holdsCoordinates(parent));

/** Whether a flag is on: KML allows 1 and true. */
export const isTrueFlag = (text: string): boolean => text !== "0" && text.toLowerCase() !== "false";

/** Whether the element is a geometry. */
export const isShape = (code: number): boolean => shapeByTag[code] !== undefined;

/** Whether the element is a geometry, or the extent of an overlay. */
export const isGeometry = (code: number): boolean => isShape(code) || code === Tag.LatLonBox || code === Tag.LatLonQuad;

/**
 * How a template treats the start tag of an element in a geometry: it repeats the elements of plain geometries in the
 * places that KML has for them.
 */
export function replayOf(code: number, parent: number): number {
  if (code === Tag.coordinates) return holdsCoordinates(parent) ? Replay.repeat : Replay.never;
  if (parent === Tag.MultiGeometry) {
    return code !== 0 && (!isGeometry(code) || isPlainGeometry(code)) ? Replay.repeat : Replay.never;
  }
  if (!isGeometry(code)) return Replay.omit;
  return code === Tag.LinearRing && isBoundary(parent) ? Replay.repeat : Replay.never;
}

/** Reads the geometries of a feature, their altitude modes and flags, and the boxes of overlays. */
export class GeometryReader {
  private readonly repairs: CoordinateRepairs = { surplus: 0, separatorRepairs: 0 };
  private readonly coordinates: CoordinateParser;
  private readonly tracks = new TrackReader();
  private ringFrom = 0;
  private lineFrom = 0;
  private box = unsetBox;
  private location = unsetLocation;
  /** Whether the Model of a track is open: it is not a geometry of the feature. */
  private isInTrackModel = false;
  private altitudeMode: string | null = null;
  private extrude: boolean | null = null;
  private tessellate: boolean | null = null;
  /** Whether the text of the element opened last is used. */
  wantsText = false;

  constructor(
    private readonly record: FeatureRecord,
    private readonly context: Pick<ReadContext, "reportNotice" | "reportLoss">,
  ) {
    this.coordinates = new CoordinateParser(record.shapes.positions, this.repairs);
  }

  reset(): void {
    this.tracks.reset();
    this.isInTrackModel = false;
    this.altitudeMode = null;
    this.extrude = null;
    this.tessellate = null;
  }

  /** Begins a geometry of the feature, or a member of a multi-geometry. */
  begin(code: number): void {
    const { shapes } = this.record;
    switch (code) {
      case Tag.LatLonBox:
        this.box = { ...unsetBox };
        return;
      case Tag.LatLonQuad:
        shapes.begin(ShapeKind.polygon);
        return;
      case Tag.Track:
        this.tracks.begin();
        break;
      case Tag.MultiTrack:
        this.tracks.beginMulti();
        break;
      case Tag.Model:
        this.location = { ...unsetLocation };
    }
    shapes.begin(shapeByTag[code]!);
  }

  /** Whether a geometry is open. */
  get isOpen(): boolean {
    return this.record.shapes.isOpen;
  }

  /** Begins an element inside a geometry, and sets `wantsText`. */
  open(code: number, parent: number): void {
    this.wantsText = this.begins(code, parent);
  }

  private begins(code: number, parent: number): boolean {
    if (this.isInTrackModel) return false;
    switch (parent) {
      case Tag.Track:
        this.isInTrackModel = code === Tag.Model;
        if (code === Tag.when || code === Tag.coord || code === Tag.angles) return true;
        break;
      case Tag.LatLonBox:
        return boxSideTags[code] !== undefined;
      case Tag.Location:
        return code === Tag.longitude || code === Tag.latitude || code === Tag.altitude;
    }
    if (code === Tag.coordinates) return this.openCoordinates(parent);
    if (code === Tag.LinearRing && isBoundary(parent)) this.ringFrom = this.record.shapes.positions.count;
    else if (isShape(code) && this.isOpen && !this.isInTrackModel) this.openMember(code, parent);
    return isGeometryMode(code) && shapeByTag[parent] !== undefined;
  }

  private openMember(code: number, parent: number): void {
    if (!isMulti(parent)) this.record.shapes.fail("a geometry inside another that cannot contain it");
    this.begin(code);
  }

  private openCoordinates(parent: number): boolean {
    const { shapes } = this.record;
    this.lineFrom = shapes.positions.count;
    if (holdsCoordinates(parent)) return true;
    if (parent === Tag.MultiLineString) shapes.begin(ShapeKind.line);
    else if (parent !== Tag.MultiPoint && !isBoundary(parent)) {
      if (shapes.isOpen) shapes.fail("coordinates in an element that cannot have them");
      return false;
    }
    return true;
  }

  /** Ends an element whose text is not used. */
  end(code: number, parent: number): void {
    const { shapes } = this.record;
    if (this.isInTrackModel) {
      if (code === Tag.Model) this.endTrackModel();
      return;
    }
    switch (code) {
      case Tag.LatLonBox:
        this.endBox();
        break;
      case Tag.LatLonQuad:
        shapes.ring(this.lineFrom, true);
        shapes.end();
        break;
      case Tag.Track:
        this.endTrack();
        break;
      case Tag.Model:
        this.endModel();
        break;
      case Tag.LinearRing:
        if (isBoundary(parent)) shapes.ring(this.ringFrom, parent !== Tag.innerBoundaryIs);
        else shapes.end();
        break;
      default:
        if (shapeByTag[code] !== undefined) shapes.end();
    }
  }

  /**
   * Adds the coordinates of a geometry, where they are written as the standard has them.
   * @returns false, with none added, where they are not, or where a point has several positions
   */
  plainPositions(parent: number, bytes: Uint8Array, from: number, to: number): boolean {
    const { positions } = this.record.shapes;
    if (!this.coordinates.parsePlain(bytes, from, to)) return false;
    if (parent !== Tag.Point || positions.count - this.lineFrom <= 1) return true;
    positions.count = this.lineFrom;
    return false;
  }

  /** Adds a position of a track. */
  trackPosition(bytes: Buffer, from: number, to: number): void {
    const { shapes } = this.record;
    const found = parseTrackPosition(bytes, from, to, shapes.positions);
    if (typeof found === "string") shapes.invalidate(shapes.positions.count, found);
    this.tracks.position(found === true);
  }

  /** Adds the coordinates of a geometry, repaired where possible. */
  positions(parent: number, bytes: Buffer, from: number, to: number): void {
    const { shapes } = this.record;
    const problem = this.coordinates.parse(bytes, from, to);
    if (problem !== null) shapes.invalidate(this.lineFrom, problem);
    else if (parent === Tag.Point && shapes.positions.count - this.lineFrom > 1) this.repairs.surplus++;
    if (!holdsCoordinates(parent)) this.endCoordinates(parent);
  }

  /** Ends coordinates directly in a multi-geometry or polygon, which occur in files though KML does not allow them. */
  private endCoordinates(parent: number): void {
    const { shapes } = this.record;
    if (parent === Tag.MultiLineString) shapes.end();
    else if (parent === Tag.MultiPoint) shapes.points(this.lineFrom);
    else shapes.ring(this.lineFrom, parent !== Tag.innerBoundaryIs);
  }

  /** Uses the text of another element in a geometry. */
  word(code: number, parent: number, text: string): void {
    const side = boxSideTags[code];
    if (parent === Tag.LatLonBox && side !== undefined) this.box[side] = Number.parseFloat(text);
    else if (parent === Tag.Location) this.takeLocation(code, Number.parseFloat(text));
    else if (code === Tag.when) this.tracks.add("times", text === "" ? null : text);
    else if (code === Tag.angles) this.tracks.add("angles", parseAngles(text));
    else if (text === "") return;
    else if (code === Tag.interpolate) this.record.elementFlag("interpolate", isTrueFlag(text));
    else if (code === Tag.extrude) this.extrude = this.first("extrude", this.extrude, isTrueFlag(text));
    else if (code === Tag.tessellate) this.tessellate = this.first("tessellate", this.tessellate, isTrueFlag(text));
    else if (code === Tag.altitudeMode) this.altitudeMode = this.first("altitudeMode", this.altitudeMode, text);
  }

  /** Returns the first value: a feature has one field for the values of all parts of its geometry. */
  private first<T>(name: string, known: T | null, value: T): T {
    if (known !== null && known !== value) {
      const example = "the parts of a geometry have different values; the first was used";
      this.context.reportLoss("element-left-out", name, example);
    }
    return known ?? value;
  }

  /** Adds a value of a track for its next position (gx:SimpleArrayData). */
  arrayValue(name: string, value: ArrayValue): void {
    this.tracks.add(name, value);
  }

  private takeLocation(code: number, value: number): void {
    const part = code === Tag.longitude ? "longitude" : code === Tag.latitude ? "latitude" : "altitude";
    this.location[part] = value;
  }

  private endTrack(): void {
    const missing = this.tracks.end();
    this.record.shapes.end();
    if (missing > 0) {
      const example = "a track has times or other values without a position; they were left out";
      this.context.reportNotice("position-missing", undefined, example, missing);
    }
  }

  private endModel(): void {
    const { longitude, latitude, altitude } = this.location;
    const { shapes } = this.record;
    if (Number.isFinite(longitude) && Number.isFinite(latitude)) shapes.positions.add(longitude, latitude, altitude);
    shapes.end();
    this.context.reportNotice("model-as-point", undefined, "a three-dimensional model became a point at its location");
  }

  private endTrackModel(): void {
    this.isInTrackModel = false;
    this.context.reportLoss("element-left-out", "Model", "the model that a track shows at its positions was left out");
  }

  private endBox(): void {
    const { shapes } = this.record;
    const rings = boxRings(this.box);
    if (rings === null) shapes.fail("a LatLonBox without all four sides");
    const several = rings !== null && rings.length > 1;
    if (several) shapes.begin(ShapeKind.multi);
    for (const ring of rings ?? []) {
      shapes.begin(ShapeKind.polygon);
      const from = shapes.positions.count;
      for (const [x, y] of ring) shapes.positions.add(x, y, Number.NaN);
      shapes.ring(from, true);
      shapes.end();
    }
    if (several) shapes.end();
  }

  /** Adds to the record what depends on the whole feature. */
  finish(): void {
    const { record } = this;
    const properties = this.tracks.properties();
    if (properties !== null) record.elementText("coordinateProperties", properties);
    if (this.extrude !== null) record.elementFlag("extrude", this.extrude);
    if (this.tessellate !== null) record.elementFlag("tessellate", this.tessellate);
    this.finishAltitudeMode();
    this.report();
  }

  /**
   * Heights count as absolute, as in every other format, so that the field has a value only for other modes. That includes
   * KML's default, which disregards heights. Heights that are all zero have no mode.
   */
  private finishAltitudeMode(): void {
    const { record, altitudeMode } = this;
    const { elevated } = record.shapes;
    const known = altitudeMode !== null && altitudeModes.includes(altitudeMode) ? altitudeMode : null;
    if (altitudeMode !== null && known === null) {
      this.context.reportLoss(
        "element-left-out",
        "altitudeMode",
        `"${altitudeMode.slice(0, 40)}" is not an altitude mode`,
      );
    }
    const mode = elevated ? (known ?? "clampToGround") : known;
    if (mode === null || (elevated && mode === "absolute")) return;
    record.elementText("altitudeMode", mode);
  }

  private report(): void {
    const { repairs, context } = this;
    const { closed, singles, flaw, problem } = this.record.shapes;
    if (flaw !== null && problem === null) context.reportNotice("part-unreadable", undefined, flaw);
    const notice = (code: string, example: string, count: number) => {
      if (count > 0) context.reportNotice(code, undefined, example, count);
    };
    notice("line-of-one-point", "a line or track of a single position became a point", singles);
    notice("ring-closed", "a ring that did not end where it began was closed", closed);
    if (repairs.separatorRepairs + repairs.surplus === 0) return;
    const sloppy = "coordinates with other separators than the commas and blanks of KML were read all the same";
    notice("coordinates-repaired", sloppy, repairs.separatorRepairs);
    const surplus = "a position had more than three numbers, or a point more than one position; the first were used";
    if (repairs.surplus > 0) context.reportLoss("extra-coordinates", undefined, surplus, repairs.surplus);
    repairs.separatorRepairs = 0;
    repairs.surplus = 0;
  }
}

/** Returns heading, tilt and roll of a `<gx:angles>` in degrees; null for none. */
function parseAngles(text: string): number[] | null {
  const numbers = text.split(/[\s,]+/).map(Number);
  return text === "" || numbers.some((number) => Number.isNaN(number)) ? null : numbers;
}

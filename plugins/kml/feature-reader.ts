import type { ReadContext } from "../../src/plugin/format.js";
import type { XmlReader } from "../shared/xml.js";
import { CoordinateParser, type CoordinateRepairs, parseTrackPosition } from "./coordinates.js";
import { altitudeModes } from "./element-fields.js";
import { FeatureRecord, Source } from "./feature-record.js";
import { addBox, type LatLonBox } from "./overlay-box.js";
import { Shape } from "./shapes.js";
import { type StyleProperties, StyleReader } from "./style-reader.js";
import { TrackReader } from "./track-reader.js";
import { Tag, textElements } from "./vocabulary.js";

/** What a feature's reading needs of its document. */
export interface Surroundings {
  /** The properties of the shared style with this id. */
  style(id: string): StyleProperties | undefined;
  /** Whether a typed placemark has a field of this name (KML 2.0 and 2.1). */
  isTypedField(name: string): boolean;
  /** A style that a feature has for itself may have an id, and be shared. */
  ownStyle(id: string | null, style: StyleProperties): void;
}

const isOn = (text: string): boolean => {
  const word = text.trim().toLowerCase();
  return word !== "0" && word !== "false";
};

const newBox = (): LatLonBox => ({
  north: Number.NaN,
  south: Number.NaN,
  east: Number.NaN,
  west: Number.NaN,
  rotation: Number.NaN,
});
const sides: Readonly<Record<number, keyof LatLonBox>> = {
  [Tag.north]: "north",
  [Tag.south]: "south",
  [Tag.east]: "east",
  [Tag.west]: "west",
  [Tag.rotation]: "rotation",
};

const geometryShapes: Readonly<Record<number, number>> = {
  [Tag.Point]: Shape.point,
  [Tag.LineString]: Shape.line,
  [Tag.LinearRing]: Shape.line,
  [Tag.Polygon]: Shape.polygon,
  [Tag.MultiGeometry]: Shape.multi,
  [Tag.Track]: Shape.line,
  [Tag.MultiTrack]: Shape.multi,
  [Tag.Model]: Shape.point,
};

/** Elements inside of which `coordinates` stand. */
const holders = new Set<number>([Tag.Point, Tag.LineString, Tag.LinearRing, Tag.LatLonQuad]);

/**
 * Reads one feature from the tags and texts inside of it into a record. `open` tells whether the element's text is
 * wanted; `close` gets it, without the white space that only indents it.
 */
export class FeatureReader {
  readonly record = new FeatureRecord();
  private readonly repairs: CoordinateRepairs = { surplus: 0, sloppy: 0 };
  private readonly coordinates = new CoordinateParser(this.record.shapes.positions, this.repairs);
  private readonly tracks = new TrackReader();
  private readonly styles = new StyleReader();
  private stack: number[] = [];
  private root = 0;
  /** The depth of the `<Style>` that is read, 0 for none. */
  private styleDepth = 0;
  private styleId: string | null = null;
  private ownStyle: StyleProperties | null = null;
  /** Within StyleMap: the pair at hand is the normal one. */
  private isNormal = false;
  private styleUrl: string | null = null;
  private dataName: string | null = null;
  private displayName: string | null = null;
  private ringFrom = 0;
  private lineFrom = 0;
  private box = newBox();
  private time = { begin: "", end: "" };
  private location = { longitude: Number.NaN, latitude: Number.NaN, altitude: Number.NaN };
  private altitudeMode: string | null = null;
  private extrude: boolean | null = null;
  private tessellate: boolean | null = null;
  private arrayName = "";

  constructor(
    private readonly surroundings: Surroundings,
    private readonly context: Pick<ReadContext, "notice">,
    private readonly withStyles: boolean,
  ) {}

  /** Begins a feature; `code` is that of its element. */
  begin(code: number, id: string | null): void {
    this.record.reset(id);
    this.tracks.reset();
    this.stack = [code];
    this.root = code;
    this.styleDepth = 0;
    this.ownStyle = null;
    this.styleUrl = null;
    this.box = newBox();
    this.altitudeMode = null;
    this.extrude = null;
    this.tessellate = null;
    if (code === Tag.GroundOverlay) this.record.text(Source.element, "@geometry-type", "groundoverlay");
  }

  open(code: number, reader: XmlReader): boolean {
    const { stack } = this;
    const parent = stack.at(-1)!;
    stack.push(code);
    if (this.styleDepth > 0) return this.styles.open(code, reader);
    if (stack.length === 2) return this.openChild(code, reader);
    switch (parent) {
      case Tag.author:
        return code === Tag.name;
      case Tag.TimeStamp:
        return code === Tag.when;
      case Tag.TimeSpan:
        return code === Tag.begin || code === Tag.end;
      case Tag.ExtendedData:
      case Tag.Metadata:
        return this.openData(code, reader);
      case Tag.Data:
        return code === Tag.value || code === Tag.displayName;
      case Tag.SchemaData:
        return this.openSchemaData(code, reader);
      case Tag.SimpleArrayData:
        return code === Tag.value;
      case Tag.StyleMap:
        this.isNormal = true;
        return false;
      case Tag.Pair:
        return this.openPair(code, reader);
      case Tag.Icon:
        return code === Tag.href && stack.length === 3;
      case Tag.LatLonBox:
        return sides[code] !== undefined;
      case Tag.Location:
        return code === Tag.longitude || code === Tag.latitude || code === Tag.altitude;
      default:
        return this.openGeometry(code, parent);
    }
  }

  /** A child of the feature itself. */
  private openChild(code: number, reader: XmlReader): boolean {
    switch (code) {
      case Tag.name:
      case Tag.address:
      case Tag.phoneNumber:
      case Tag.Snippet:
      case Tag.snippet:
      case Tag.description:
      case Tag.visibility:
      case Tag.open:
      case Tag.styleUrl:
        return true;
      case Tag.link: {
        const href = reader.attribute("href");
        if (href) this.record.text(Source.element, "link", href);
        return false;
      }
      case Tag.Style:
        this.beginStyle(reader);
        return false;
      case Tag.TimeSpan:
        this.time = { begin: "", end: "" };
        return false;
      case Tag.LatLonQuad:
        this.record.shapes.begin(Shape.polygon);
        return false;
      case Tag.author:
      case Tag.StyleMap:
      case Tag.TimeStamp:
      case Tag.ExtendedData:
      case Tag.Metadata:
      case Tag.LatLonBox:
        return false;
      case Tag.Icon:
        return false;
      default:
        if (geometryShapes[code] !== undefined) return this.openGeometry(code, this.root);
        if (this.root === Tag.typed && this.surroundings.isTypedField(reader.name.local)) {
          this.dataName = reader.name.local;
          return true;
        }
        this.context.notice(
          "element-left-out",
          reader.name.text,
          "an element that says nothing of the feature's data was left out",
        );
        return false;
    }
  }

  private beginStyle(reader: XmlReader): void {
    this.styleDepth = this.stack.length;
    this.styleId = reader.attribute("id");
    this.styles.begin();
  }

  private openPair(code: number, reader: XmlReader): boolean {
    if (code === Tag.Style && this.isNormal) this.beginStyle(reader);
    return code === Tag.key || (code === Tag.styleUrl && this.isNormal);
  }

  private openData(code: number, reader: XmlReader): boolean {
    if (code === Tag.Data) {
      this.dataName = reader.attribute("name");
      this.displayName = null;
      this.record.schema = "";
    } else if (code === Tag.SchemaData) this.record.useSchema(styleIdOf(reader.attribute("schemaUrl") ?? ""));
    // Elements of other namespaces are data, too (OGC 07-147r2, 9.2.4).
    if (code !== Tag.foreign) return false;
    this.dataName = reader.name.local;
    return true;
  }

  private openSchemaData(code: number, reader: XmlReader): boolean {
    if (code === Tag.SimpleData) this.dataName = reader.attribute("name");
    else if (code === Tag.SimpleArrayData) this.arrayName = reader.attribute("name") ?? "";
    return code === Tag.SimpleData;
  }

  private openGeometry(code: number, parent: number): boolean {
    const { shapes } = this.record;
    const shape = geometryShapes[code];
    if (code === Tag.coordinates) {
      this.lineFrom = shapes.positions.count;
      return holders.has(parent);
    }
    if (parent === Tag.Track) {
      return code === Tag.when || code === Tag.coord || code === Tag.angles || code === Tag.altitudeMode;
    }
    if (code === Tag.LinearRing && isBoundary(parent)) {
      this.ringFrom = shapes.positions.count;
      return false;
    }
    if (shape !== undefined && (parent === this.root || parent === Tag.MultiGeometry || parent === Tag.MultiTrack)) {
      shapes.begin(shape);
      if (code === Tag.Track) this.tracks.begin();
      else if (code === Tag.MultiTrack) this.tracks.beginMulti();
      this.location = { longitude: Number.NaN, latitude: Number.NaN, altitude: Number.NaN };
      return false;
    }
    if (code === Tag.interpolate) return parent === Tag.MultiTrack;
    return code === Tag.extrude || code === Tag.tessellate || code === Tag.altitudeMode;
  }

  /**
   * Ends an element. `content` holds its text where it was wanted, `length` bytes of it.
   * @returns whether it was the feature itself
   */
  close(reader: XmlReader, length: number, wanted: boolean): boolean {
    const code = this.stack.pop()!;
    const parent = this.stack.at(-1);
    if (parent === undefined) return true;
    const depth = this.stack.length + 1;
    if (this.styleDepth > 0) {
      if (depth === this.styleDepth) this.endStyle();
      else this.styles.close(code, wanted ? textOf(reader, length) : "");
      return false;
    }
    if (wanted) this.take(code, parent, reader, length);
    else this.end(code, parent);
    return false;
  }

  private endStyle(): void {
    this.styleDepth = 0;
    const style = this.styles.finish();
    this.surroundings.ownStyle(this.styleId, style);
    this.ownStyle = { ...this.ownStyle, ...style };
  }

  /** The end of an element without a text of its own. */
  private end(code: number, parent: number): void {
    const { shapes } = this.record;
    switch (code) {
      case Tag.TimeSpan:
        if (this.stack.length === 1) this.endTimespan();
        break;
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
        if (geometryShapes[code] !== undefined) shapes.end();
    }
  }

  /** The text of an element. */
  private take(code: number, parent: number, reader: XmlReader, length: number): void {
    const { record } = this;
    const { content } = reader;
    switch (code) {
      case Tag.coordinates:
        record.shapes.problem ??= this.coordinates.parse(content.bytes, 0, length);
        if (parent === Tag.Point && record.shapes.positions.count - this.lineFrom > 1) this.repairs.surplus++;
        return;
      case Tag.coord:
        this.takeTrackPosition(content.bytes, length);
        return;
      case Tag.SimpleData:
        this.data(this.dataName, reader, length);
        return;
      case Tag.value:
        if (parent === Tag.SimpleArrayData) this.tracks.add(this.arrayName, jsonValue(textOf(reader, length)));
        else this.data(this.dataName ?? this.displayName, reader, length);
        return;
      case Tag.displayName:
        this.displayName = textOf(reader, length);
        return;
      case Tag.foreign:
      case 0:
        this.data(this.dataName, reader, length);
        return;
    }
    const field = textElements[code];
    if (field !== undefined && parent === this.root) {
      if (length > 0) record.content(Source.element, field, content, length);
    } else this.takeWord(code, parent, textOf(reader, length));
  }

  /** Elements whose text is a word or a number. */
  private takeWord(code: number, parent: number, text: string): void {
    const { record } = this;
    const side = sides[code];
    if (parent === Tag.LatLonBox && side !== undefined) this.box[side] = Number.parseFloat(text);
    else if (parent === Tag.Location) this.takeLocation(code, text);
    else if (parent === Tag.TimeSpan) this.time[code === Tag.begin ? "begin" : "end"] = text;
    else if (parent === Tag.Pair) this.takePair(code, text);
    else if (parent === Tag.Track && code === Tag.when) this.tracks.add("times", text === "" ? null : text);
    else if (parent === Tag.Track && code === Tag.angles) this.tracks.add("angles", anglesOf(text));
    else if (text === "") return;
    else if (code === Tag.visibility) record.boolean(Source.element, "visibility", isOn(text));
    else if (code === Tag.open) record.boolean(Source.element, "open", isOn(text));
    else if (parent === Tag.author) record.text(Source.element, "author", text);
    else if (parent === Tag.TimeStamp) record.text(Source.element, "timestamp", text);
    else if (parent === Tag.Icon) record.text(Source.style, "icon", text);
    else if (code === Tag.styleUrl) this.styleUrl = text;
    else if (code === Tag.interpolate) record.boolean(Source.element, "interpolate", isOn(text));
    else if (code === Tag.extrude) this.extrude ??= isOn(text);
    else if (code === Tag.tessellate) this.tessellate ??= isOn(text);
    else if (code === Tag.altitudeMode) this.altitudeMode ??= text;
  }

  private takeLocation(code: number, text: string): void {
    const value = Number.parseFloat(text);
    if (code === Tag.longitude) this.location.longitude = value;
    else if (code === Tag.latitude) this.location.latitude = value;
    else this.location.altitude = value;
  }

  private takePair(code: number, text: string): void {
    if (code === Tag.key) this.isNormal = text !== "highlight";
    else if (this.isNormal) this.ownStyle = { ...this.surroundings.style(styleIdOf(text)), ...this.ownStyle };
  }

  private data(name: string | null, reader: XmlReader, length: number): void {
    this.record.content(Source.data, name ?? "", reader.content, length);
  }

  private takeTrackPosition(bytes: Uint8Array, length: number): void {
    const { shapes } = this.record;
    const found = parseTrackPosition(bytes, 0, length, shapes.positions);
    if (typeof found === "string") shapes.problem ??= found;
    this.tracks.position(found === true);
  }

  private endTrack(): void {
    const missing = this.tracks.end();
    this.record.shapes.end();
    if (missing > 0) {
      this.context.notice(
        "position-missing",
        undefined,
        "a track has times without a position; they were left out",
        missing,
      );
    }
  }

  private endModel(): void {
    const { longitude, latitude, altitude } = this.location;
    const { shapes } = this.record;
    if (Number.isFinite(longitude) && Number.isFinite(latitude)) shapes.positions.add(longitude, latitude, altitude);
    shapes.end();
    this.context.notice("model-as-point", undefined, "of a three-dimensional model its place is kept");
  }

  private endTimespan(): void {
    const { begin, end } = this.time;
    const span = { ...(begin === "" ? {} : { begin }), ...(end === "" ? {} : { end }) };
    if (begin !== "" || end !== "") this.record.text(Source.element, "timespan", JSON.stringify(span));
  }

  private endBox(): void {
    const { shapes } = this.record;
    shapes.begin(Shape.polygon);
    const from = shapes.positions.count;
    if (addBox(this.box, shapes.positions)) shapes.ring(from, true);
    else shapes.problem ??= "a LatLonBox that lacks a side";
    shapes.end();
  }

  /** Adds what only the whole feature tells. */
  finish(): void {
    const { record } = this;
    const properties = this.tracks.properties();
    if (properties !== null) record.text(Source.element, "coordinateProperties", properties);
    if (this.extrude !== null) record.boolean(Source.element, "extrude", this.extrude);
    if (this.tessellate !== null) record.boolean(Source.element, "tessellate", this.tessellate);
    this.finishAltitudeMode();
    if (this.styleUrl !== null) this.finishStyleUrl(this.styleUrl);
    if (this.ownStyle && this.withStyles) record.style(this.ownStyle);
    this.report();
  }

  /**
   * A height is taken for absolute, as it is in every other format, so that only something else is said: KML's own
   * default among it, which is to disregard heights. Where all are zero, they say nothing.
   */
  private finishAltitudeMode(): void {
    const { record, altitudeMode } = this;
    const { elevated } = record.shapes;
    const known = altitudeMode !== null && altitudeModes.includes(altitudeMode) ? altitudeMode : null;
    const mode = elevated ? (known ?? "clampToGround") : known;
    if (mode === null || (elevated && mode === "absolute")) return;
    record.text(Source.element, "altitudeMode", mode);
  }

  private finishStyleUrl(url: string): void {
    const { record } = this;
    record.text(Source.element, "styleUrl", url.includes("#") ? url : `#${url}`);
    if (!this.withStyles) return;
    const shared = this.surroundings.style(styleIdOf(url));
    if (shared) record.style(shared);
    else if (styleIdOf(url) === url.replace(/^#/, "")) {
      this.context.notice("style-missing", undefined, `there is no style "${styleIdOf(url)}" in the document`);
    }
  }

  private report(): void {
    const { repairs, context } = this;
    const { closed, singles } = this.record.shapes;
    if (singles > 0)
      context.notice("line-of-one-point", undefined, "a line or track of a single position became a point", singles);
    if (closed > 0)
      context.notice("ring-closed", undefined, "a ring that did not end where it began was closed", closed);
    if (repairs.sloppy > 0) {
      const example = "coordinates were not parted by commas and blanks as KML asks, and read all the same";
      context.notice("coordinates-sloppy", undefined, example, repairs.sloppy);
    }
    if (repairs.surplus > 0) {
      const example = "a position had more than three numbers, or a point more than one position; the first were taken";
      context.notice("coordinates-surplus", undefined, example, repairs.surplus);
    }
    repairs.sloppy = 0;
    repairs.surplus = 0;
  }
}

const isBoundary = (code: number): boolean =>
  code === Tag.outerBoundaryIs || code === Tag.innerBoundaryIs || code === Tag.Polygon;

const textOf = (reader: XmlReader, length: number): string => reader.content.bytes.toString("utf8", 0, length).trim();

/** The id that a styleUrl names in its own document: `#id`, or `id` as older files have it. */
const styleIdOf = (url: string): string => url.replace(/^#/, "");

/** Heading, tilt and roll of a `<gx:angles>`, null where it says none. */
function anglesOf(text: string): number[] | null {
  const numbers = text.split(/[\s,]+/).map(Number);
  return text === "" || numbers.some((number) => Number.isNaN(number)) ? null : numbers;
}

/** A number where the text is one. */
function jsonValue(text: string): string | number | null {
  if (text === "") return null;
  const number = Number(text);
  return Number.isFinite(number) && /^[-+]?(\d|\.\d)/.test(text) && !/^[-+]?0\d/.test(text) ? number : text;
}

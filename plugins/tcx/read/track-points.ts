import type { GeometryBuilder } from "../../../src/model/index.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { LineBuilder } from "../../shared/tracks/line-builder.js";
import { PointValues } from "../../shared/tracks/point-values.js";
import { knownValues, Owner } from "../elements.js";
import type { FeatureReports } from "./feature-reports.js";
import type { ValuePath } from "./value-paths.js";

/** How the values of each known name are kept: once for a point, as number or text. */
const typeByName = new Map(Object.values(knownValues[Owner.trackpoint]!).map(({ name, type }) => [name, type]));

/**
 * Builds the line of a lap or course from its trackpoints, with their values. A trackpoint has its values before and after
 * its position, so that they are kept until it ends. Where no trackpoint has a position, as in a hall, the values of all
 * are kept without a line.
 */
export class TrackPoints {
  private readonly lines: LineBuilder;
  private geometry!: GeometryBuilder;
  /** The values of the open trackpoint: names and ranges of `bytes`. */
  private readonly paths: ValuePath[] = [];
  private readonly ends: number[] = [];
  private bytes = Buffer.allocUnsafeSlow(1024);
  private length = 0;
  /** The next point is the first of its track: with a position, and without. */
  private beginsLine = false;
  private beginsUnplaced = false;
  private hasPlace = false;
  /** The values of trackpoints as long as none has a position. */
  private readonly unplaced = new PointValues();
  private unplacedCount = 0;
  private unplacedTracks = 0;

  constructor(
    shortLines: boolean,
    private readonly reports: FeatureReports,
  ) {
    this.lines = new LineBuilder(shortLines, reports);
  }

  /** Begins a lap or course. */
  begin(geometry: GeometryBuilder): void {
    this.geometry = geometry;
    this.lines.begin(true, geometry);
    this.hasPlace = false;
    this.forgetUnplaced();
    this.beginTrack();
  }

  private forgetUnplaced(): void {
    this.unplaced.clear();
    this.unplacedCount = this.unplacedTracks = 0;
  }

  beginTrack(): void {
    this.beginsLine = this.beginsUnplaced = true;
  }

  beginPoint(): void {
    this.paths.length = this.ends.length = this.length = 0;
  }

  /** Adds a value of the open trackpoint. */
  add(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    const needed = this.length + to - from;
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(needed * 2);
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    bytes.copy(this.bytes, this.length, from, to);
    this.length = needed;
    this.paths.push(path);
    this.ends.push(needed);
  }

  /** Ends a trackpoint. @param height in metres, NaN for none */
  endPoint(longitude: number, latitude: number, height: number): void {
    if (Number.isFinite(longitude) && Number.isFinite(latitude)) {
      if (!this.hasPlace) this.findPlace();
      if (this.beginsLine) this.lines.beginSegment();
      this.beginsLine = false;
      this.lines.addPoint(longitude, latitude, height);
      this.keep(this.lines.values);
    } else if (this.hasPlace) this.reports.loss("point-without-place");
    else {
      if (this.beginsUnplaced) {
        this.unplaced.segment();
        this.unplacedTracks++;
      }
      this.beginsUnplaced = false;
      this.unplacedCount++;
      this.keep(this.unplaced);
    }
  }

  /** The first trackpoint with a position: those before it are left out. */
  private findPlace(): void {
    this.hasPlace = true;
    this.reports.loss("point-without-place", this.unplacedCount);
    this.forgetUnplaced();
  }

  private keep(values: PointValues): void {
    const { paths, ends, bytes } = this;
    let from = 0;
    for (let k = 0; k < paths.length; k++) {
      const { name } = paths[k]!;
      const to = ends[k]!;
      if (!addValue(values, name, bytes, from, to)) this.reports.valueLeftOut(name);
      from = to;
    }
    values.endPoint();
  }

  /** Ends the lap or course: adds its geometry, which is null without any position. */
  end(): void {
    if (this.hasPlace) this.lines.end();
    else {
      this.geometry.cancel();
      this.geometry.addNull();
    }
  }

  /** Whether the feature has values of trackpoints with a position, and of trackpoints without. */
  get hasValues(): boolean {
    return this.hasPlace && !this.lines.values.isEmpty;
  }

  get hasUnplacedValues(): boolean {
    return !this.hasPlace && !this.unplaced.isEmpty;
  }

  /** Writes the values as an object of arrays, with one value for each position, or for each trackpoint without. */
  write(out: TextBuffer): void {
    if (this.hasPlace) this.lines.values.write(out, this.lines.isMultiLine);
    else this.unplaced.write(out, this.unplacedTracks > 1);
  }
}

/** @returns false where the value is left out */
function addValue(values: PointValues, name: string, bytes: Buffer, from: number, to: number): boolean {
  const type = typeByName.get(name);
  if (type === undefined) return values.value(name, bytes, from, to);
  if (type === "text" || type === "datetime") return values.text(name, bytes, from, to);
  return values.number(name, bytes, from, to);
}

import { type GeometryColumn, Kind } from "../../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../../src/model/geometry-builder.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import { GeometryParseError } from "../../wkt/index.js";
import { type NumberFormat, parseFormattedNumber } from "../columns/number-format.js";
import { type LetterOMeaning, parseAngle } from "../geometry/angles.js";
import { stripUnit } from "../geometry/coordinate-text.js";
import { GeometryCellParser, missingWords, namesSrid } from "../geometry/geometry-cell-parser.js";
import { parsePositionText } from "../geometry/geometry-columns.js";
import type { TablePlan } from "../plan/plan.js";
import { readCellText } from "../records/cell-text.js";
import { CellUnquoter, needsUnquoting, type RecordScanner } from "../records/record-scanner.js";
import { CellNumberParser } from "./cell-column.js";

/** Why a row has no valid geometry. */
export interface GeometryFailure {
  readonly code: string;
  readonly reason: string;
}

const blank = Symbol("blank");

/** Builds the geometry of a row from the cells that the plan names. */
export class RowGeometryReader {
  private readonly cells: GeometryCellParser;
  private readonly numbers: CellNumberParser;
  private readonly form: NumberFormat;
  private readonly letterO: LetterOMeaning;
  private readonly unquoter = new CellUnquoter();
  private missing = 0;
  private missingExample = "";
  /** Holds a geometry until it is accepted into the layer. */
  private trial: GeometryBuilder | null = null;
  private readonly position = new Float64Array(2);
  private z = 0;
  /** Whether a missing value was already counted for the row. */
  private rowMisses = false;

  constructor(
    private readonly plan: TablePlan,
    private readonly context: ReadContext,
  ) {
    const { geometry } = plan;
    this.form = geometry.kind === "xy" ? geometry.numbers : { decimal: plan.decimal, group: null };
    this.numbers = new CellNumberParser(this.form);
    this.letterO = geometry.kind === "xy" || geometry.kind === "position" ? geometry.letterO : null;
    // A layer has one CRS: rows that name another are rejected.
    this.cells = new GeometryCellParser((srid) => srid === plan.srid || (srid <= 0 && !this.needsSrid));
  }

  /** Whether geometries name an SRID, which makes the location of a geometry without one unknown. */
  private get needsSrid(): boolean {
    return this.plan.srid !== null && !this.plan.isSridGiven;
  }

  /** Adds the geometry of the record scanned last, or returns the failure and adds nothing. */
  read(bytes: Buffer, scanner: RecordScanner, builder: GeometryBuilder): GeometryFailure | null {
    const { geometry } = this.plan;
    this.rowMisses = false;
    switch (geometry.kind) {
      case "none":
        builder.addNull();
        return null;
      case "xy":
        return this.readPoint(bytes, scanner, builder, geometry.x, geometry.y, geometry.z);
      case "position":
        return this.readPair(bytes, scanner, builder, geometry.column, geometry.latitudeFirst);
      case "text":
        return this.readGeometryText(bytes, scanner, builder, geometry.column);
    }
  }

  finish(): void {
    if (this.missing > 0) this.context.reportNotice("coordinate-missing", undefined, this.missingExample, this.missing);
    const { closedRings, curves, shortened, unreadable, reason } = this.cells;
    if (unreadable > 0) this.context.reportNotice("part-unreadable", undefined, reason, unreadable);
    if (curves > 0) {
      this.context.reportLoss(
        "curve-linearized",
        undefined,
        "arcs became lines of one position each 4 degrees",
        curves,
      );
    }
    if (shortened > 0) {
      const example = "the first position of a geometry says how many numbers the others have";
      this.context.reportLoss("extra-ordinates", undefined, example, shortened);
    }
    if (closedRings > 0) {
      this.context.reportNotice("ring-closed", undefined, "the first position was repeated at the end", closedRings);
    }
  }

  private readPoint(
    bytes: Buffer,
    scanner: RecordScanner,
    builder: GeometryBuilder,
    x: number,
    y: number,
    z: number | null,
  ): GeometryFailure | null {
    const { position } = this;
    if (z === null && this.isPlain(bytes, scanner, x, 0) && this.isPlain(bytes, scanner, y, 1)) {
      builder.addPoint(position[0]!, position[1]!);
      return null;
    }
    const easting = this.readCoordinate(bytes, scanner, x, "lat");
    const northing = this.readCoordinate(bytes, scanner, y, "lon");
    if (typeof easting === "number" && typeof northing === "number") {
      this.z = Number.NaN;
      const failure = z === null ? null : this.readHeight(bytes, scanner, z);
      if (failure) return failure;
      builder.beginSinglePart(Kind.Point);
      if (Number.isNaN(this.z)) builder.addPosition(easting, northing);
      else builder.addPositionZM(easting, northing, this.z, Number.NaN);
      builder.end();
      return null;
    }
    if (typeof easting === "object") return easting;
    if (typeof northing === "object") return northing;
    if (easting !== blank || northing !== blank) {
      this.countMissing(`only one of ${this.plan.columns[x]!.name} and ${this.plan.columns[y]!.name} has a value`);
    }
    builder.addNull();
    return null;
  }

  /** Whether the cell is a plain number; `position` then holds it. */
  private isPlain(bytes: Buffer, scanner: RecordScanner, column: number, axis: number): boolean {
    if (column >= scanner.cells || needsUnquoting(scanner.marks[column]!)) return false;
    return this.numbers.put(bytes, scanner.starts[column]!, scanner.ends[column]!, this.position, axis);
  }

  private readHeight(bytes: Buffer, scanner: RecordScanner, column: number): GeometryFailure | null {
    const height = this.readCoordinate(bytes, scanner, column, null);
    if (typeof height === "object") return height;
    if (typeof height === "number") this.z = height;
    return null;
  }

  private countMissing(example: string): void {
    if (this.rowMisses) return;
    this.rowMisses = true;
    if (this.missing++ === 0) this.missingExample = example;
  }

  /**
   * Parses a coordinate: a number, `blank`, or a failure; `wrongAxis` is the axis that a hemisphere letter must not name.
   */
  private readCoordinate(
    bytes: Buffer,
    scanner: RecordScanner,
    column: number,
    wrongAxis: "lat" | "lon" | null,
  ): number | typeof blank | GeometryFailure {
    if (column >= scanner.cells) return blank;
    const from = scanner.starts[column]!;
    const to = scanner.ends[column]!;
    if (from === to) return blank;
    const value = needsUnquoting(scanner.marks[column]!) ? Number.NaN : this.numbers.parse(bytes, from, to);
    if (Number.isFinite(value)) return value;
    const text = readCellText(bytes, scanner, column).trim();
    if (text === "") return blank;
    const { name } = this.plan.columns[column]!;
    if (missingWords.has(text.toLowerCase())) {
      this.countMissing(`"${text}" in ${name}`);
      return blank;
    }
    const written = parseFormattedNumber(stripUnit(text), this.form);
    if (Number.isFinite(written)) return written;
    const angle = parseAngle(text, this.letterO);
    if (angle && (angle.axis === null || angle.axis !== wrongAxis)) return angle.degrees;
    if (this.letterO === null && !angle && parseAngle(text, "east")) return ambiguousLetterFailure(text, name);
    return { code: "coordinate-invalid", reason: `"${text.slice(0, 40)}" in ${name} is not a coordinate` };
  }

  private readPair(
    bytes: Buffer,
    scanner: RecordScanner,
    builder: GeometryBuilder,
    column: number,
    latitudeFirst: boolean,
  ): GeometryFailure | null {
    const text = column < scanner.cells ? readCellText(bytes, scanner, column).trim() : "";
    const { name } = this.plan.columns[column]!;
    if (text === "" || missingWords.has(text.toLowerCase())) {
      if (text !== "") this.countMissing(`"${text}" in ${name}`);
      builder.addNull();
      return null;
    }
    const position = parsePositionText(text, latitudeFirst, this.letterO);
    if (!position) {
      if (this.letterO === null && parsePositionText(text, latitudeFirst, "east"))
        return ambiguousLetterFailure(text, name);
      const order = latitudeFirst ? "latitude and longitude" : "longitude and latitude";
      return { code: "coordinate-invalid", reason: `"${text.slice(0, 40)}" in ${name} is no ${order}` };
    }
    builder.addPoint(position[0], position[1]);
    return null;
  }

  private readGeometryText(
    bytes: Buffer,
    scanner: RecordScanner,
    builder: GeometryBuilder,
    column: number,
  ): GeometryFailure | null {
    if (column >= scanner.cells) {
      builder.addNull();
      return null;
    }
    let source: Uint8Array = bytes;
    let from = scanner.starts[column]!;
    let to = scanner.ends[column]!;
    const mark = scanner.marks[column]!;
    if (needsUnquoting(mark)) {
      this.unquoter.unquote(bytes, from, to, mark);
      source = this.unquoter.bytes;
      from = 0;
      to = this.unquoter.length;
    }
    while (from < to && source[from]! <= 32) from++;
    if (from === to) {
      builder.addNull();
      return null;
    }
    const { name } = this.plan.columns[column]!;
    try {
      if (this.needsSrid && !namesSrid(source, from, to)) return this.readWithoutSrid(source, from, to, builder);
      this.cells.read(source, from, to, builder);
      return null;
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      const start = Buffer.from(source.buffer, source.byteOffset + from, Math.min(to - from, 40)).toString("utf8");
      return { code: "geometry-malformed", reason: `${name} is not a geometry: ${error.message} (${start})` };
    }
  }

  /** Adds a geometry without an SRID although others have one, if it is empty or GeoJSON in WGS84. */
  private readWithoutSrid(
    bytes: Uint8Array,
    from: number,
    to: number,
    builder: GeometryBuilder,
  ): GeometryFailure | null {
    this.trial ??= new GeometryBuilder();
    this.trial.reset();
    this.cells.read(bytes, from, to, this.trial);
    const { srid } = this.plan;
    const column = this.trial.finish();
    // RFC 7946, 4: GeoJSON is WGS84.
    const isKnown = !hasPositions(column) || (bytes[from] === 123 && srid === 4326);
    if (isKnown) {
      builder.copy(column, 0);
      return null;
    }
    const reason = `the geometry names no SRID, and others name ${srid}; if it is in that system too, --in srid=${srid} says so`;
    return { code: "srid-missing", reason };
  }
}

/** An angle with an O of unknown meaning. */
const ambiguousLetterFailure = (text: string, name: string): GeometryFailure => ({
  code: "coordinate-invalid",
  reason: `"${text.slice(0, 40)}" in ${name}: O may be the east (Ost) or the west (Oeste, Ouest); --in letter-o=east or --in letter-o=west says which`,
});

const hasPositions = ({ xy, members }: GeometryColumn): boolean =>
  xy.length > 0 || (members !== null && hasPositions(members));

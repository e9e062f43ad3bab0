import { Kind } from "../../../../src/model/geometry.js";
import { emptyKindSummary, type KindSummary } from "../../../../src/model/layer-summary.js";
import { isSingleGeometryFamily } from "../../geometry-families.js";
import { readCellText } from "../records/cell-text.js";
import { needsUnquoting, type RecordScanner } from "../records/record-scanner.js";
import { missingWords } from "./geometry-cell-parser.js";
import type { GeometryPlan } from "./geometry-columns.js";

/** Properties that all geometries of a file share. */
export interface GeometrySummary {
  /** Geometries of each kind, by the numbers of `Kind`; includes geometries that later turn out to be damaged. */
  readonly counts: readonly number[];
  readonly hasZ: boolean;
  readonly hasM: boolean;
}

/** Geometry statistics of a part of a file, as plain data. */
export interface GeometryScanState {
  readonly counts: readonly number[];
  /** Dimensions found, as bits. */
  readonly dimensions: number;
  readonly isUnknown: boolean;
  /** The last rows, if they have no coordinates. */
  readonly tail?: TableTail;
}

/** Rows at the end that have no coordinates. */
export interface TableTail {
  readonly rows: number;
  /** The column and text of the first filled cell of the first of them, if no row before has no coordinates. */
  readonly column: number;
  readonly text: string;
}

const noTail: TableTail = { rows: 0, column: -1, text: "" };

/** The beginning of a WKT up to its first number, and how many numbers its first position has. */
export interface GeometryPrefix {
  readonly text: Uint8Array;
  readonly numbers: number;
}

/** Summarizes the geometries of a file without parsing them. */
export interface GeometryScan {
  look(bytes: Uint8Array, scanner: RecordScanner): void;
  /** Columns such that records in which they are filled can be passed over; null if all have to be looked at. */
  readonly filledColumns: readonly number[] | null;
  /** How these cells must begin; null if they may be any. */
  readonly prefix: GeometryPrefix | null;
  /** Counts records that are passed over. */
  pass(records: number): void;
  readonly state: GeometryScanState;
  /** Merges the state of another scan. */
  add(state: GeometryScanState): void;
  /** Null if only parsing can determine the facts. */
  facts(): GeometrySummary | null;
}

const isFilled = (scanner: RecordScanner, column: number) =>
  column < scanner.cells && scanner.starts[column]! < scanner.ends[column]!;

/** Dimensions of a geometry, as bits: x and y only, or more. */
const DimensionFlag = { none: 1, z: 2, m: 4, zm: 8 } as const;

function addCounts(to: number[], counts: readonly number[]): void {
  for (const [kind, count] of counts.entries()) to[kind]! += count;
}

/** Counts rows with both coordinates, in columns that contain only numbers. */
class CoordinateScan implements GeometryScan {
  readonly prefix = null;
  private readonly counts = new Array<number>(8).fill(0);
  private hasZ = false;
  private tail: TableTail = noTail;

  constructor(
    private readonly x: number,
    private readonly y: number,
    private readonly z: number | null,
    /** Whether all filled cells of a column are finite numbers; called at the end. */
    private readonly isNumeric: (column: number) => boolean,
  ) {}

  look(bytes: Uint8Array, scanner: RecordScanner): void {
    const isPoint = isFilled(scanner, this.x) && isFilled(scanner, this.y);
    if (!isPoint) this.addToTail(bytes, scanner);
    else if (this.tail.rows > 0) this.tail = noTail;
    this.counts[isPoint ? Kind.Point : Kind.none]!++;
    if (isPoint && !this.hasZ && this.z !== null) this.hasZ = isFilled(scanner, this.z);
  }

  get filledColumns(): readonly number[] | null {
    return this.z === null || this.hasZ ? [this.x, this.y] : null;
  }

  pass(records: number): void {
    this.tail = noTail;
    this.counts[Kind.Point]! += records;
  }

  private addToTail(bytes: Uint8Array, scanner: RecordScanner): void {
    const { tail } = this;
    if (tail.rows > 0 || this.counts[Kind.none]! > 0) {
      this.tail = { ...tail, rows: tail.rows + 1 };
      return;
    }
    const column = Array.from({ length: scanner.cells }, (_, c) => c).findIndex((c) => isFilled(scanner, c));
    const text =
      column < 0
        ? ""
        : readCellText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), scanner, column).slice(
            0,
            maxFooterText,
          );
    this.tail = { rows: 1, column, text };
  }

  get state(): GeometryScanState {
    const { counts, tail } = this;
    return { counts, dimensions: this.hasZ ? DimensionFlag.z : 0, isUnknown: false, tail };
  }

  add({ counts, dimensions, tail = noTail }: GeometryScanState): void {
    if (counts[Kind.Point]! > 0 || this.tail.rows === 0) this.tail = tail;
    else this.tail = { ...this.tail, rows: this.tail.rows + tail.rows };
    addCounts(this.counts, counts);
    this.hasZ ||= dimensions === DimensionFlag.z;
  }

  facts(): GeometrySummary | null {
    const columns = [this.x, this.y, ...(this.z === null ? [] : [this.z])];
    if (!columns.every(this.isNumeric)) return null;
    return { counts: this.counts, hasZ: this.hasZ, hasM: false };
  }
}

class NoGeometryScan implements GeometryScan {
  readonly filledColumns = [];
  readonly prefix = null;
  private rows = 0;

  look(): void {
    this.rows++;
  }

  pass(records: number): void {
    this.rows += records;
  }

  get state(): GeometryScanState {
    return { counts: [this.rows], dimensions: 0, isUnknown: false };
  }

  add({ counts }: GeometryScanState): void {
    this.rows += counts[0]!;
  }

  facts(): GeometrySummary {
    return { counts: [this.rows, 0, 0, 0, 0, 0, 0, 0], hasZ: false, hasM: false };
  }
}

/** Types that their first word identifies; curves and collections contain further words. */
const kindsByWord: Readonly<Record<string, number>> = {
  POINT: Kind.Point,
  LINESTRING: Kind.LineString,
  POLYGON: Kind.Polygon,
  MULTIPOINT: Kind.MultiPoint,
  MULTILINESTRING: Kind.MultiLineString,
  MULTIPOLYGON: Kind.MultiPolygon,
};

/** The type, its dimensions, and the text before the first number. */
const wktStart =
  /^\s*(?:SRID\s*=\s*-?\d+\s*;\s*)?(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON)\s*(ZM|Z|M)?\s*(EMPTY\s*$|[(\s]+(?=[-+.\d]))/i;

/** Bytes of a cell that identify its type. */
const maxPrefixBytes = 160;

const isNumberEnd = (byte: number) => byte === 44 || byte === 41;
const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);

/**
 * Scans the beginning of each WKT. A cell with the same beginning as the previous cell has the same type, which skips
 * the parsing of its words. Layers of mixed types or mixed dimensions are left to the parser: a damaged cell must not
 * add a layer or a dimension that no other cell has.
 */
class WktScan implements GeometryScan {
  private readonly counts = new Array<number>(8).fill(0);
  /** The beginning of the last cell up to its first number, how many its first position has, and the type it stands for. */
  private readonly start = new Uint8Array(maxPrefixBytes);
  private startBytes = 0;
  private numbers = 0;
  private kind: number = Kind.none;
  private tag = "";
  /** Dimensions found, as bits. */
  private dimensions = 0;
  private isUnknown = false;

  constructor(private readonly column: number) {}

  look(bytes: Uint8Array, scanner: RecordScanner): void {
    const { column } = this;
    if (this.isUnknown) return;
    if (!isFilled(scanner, column)) {
      this.counts[Kind.none]!++;
      return;
    }
    const from = scanner.starts[column]!;
    const to = scanner.ends[column]!;
    if (needsUnquoting(scanner.marks[column]!) || !this.isKnown(bytes, from, to)) this.isUnknown = true;
  }

  get filledColumns(): readonly number[] | null {
    if (this.isUnknown) return [];
    return this.startBytes > 0 ? [this.column] : null;
  }

  get prefix(): GeometryPrefix {
    return { text: this.start.subarray(0, this.startBytes), numbers: this.numbers };
  }

  pass(records: number): void {
    if (!this.isUnknown) this.counts[this.kind]! += records;
  }

  private isKnown(bytes: Uint8Array, from: number, to: number): boolean {
    const { start, startBytes } = this;
    let same = 0;
    while (same < startBytes && start[same] === bytes[from + same]) same++;
    if (same === 0 || same < startBytes || from + same >= to || !isNumberStart(bytes[from + same]!)) {
      return this.lookAtWords(bytes, from, to);
    }
    return this.count(bytes, from + same, to);
  }

  private lookAtWords(bytes: Uint8Array, from: number, to: number): boolean {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, maxPrefixBytes)).toString(
      "latin1",
    );
    const found = wktStart.exec(text);
    if (!found) {
      const word = text.trim().toLowerCase();
      if (word !== "" && !missingWords.has(word)) return false;
      this.counts[Kind.none]!++;
      return to - from <= maxPrefixBytes;
    }
    const [all, type, tag = "", rest] = found;
    this.kind = kindsByWord[type!.toUpperCase()]!;
    this.tag = tag.toUpperCase();
    if (/^E/i.test(rest!)) {
      this.counts[this.kind]!++;
      this.startBytes = 0;
      return to - from <= maxPrefixBytes;
    }
    this.startBytes = all.length;
    this.start.set(bytes.subarray(from, from + all.length));
    return this.count(bytes, from + all.length, to);
  }

  /** Counts the geometry by the number of coordinates of its first position, which begins at `from`. */
  private count(bytes: Uint8Array, from: number, to: number): boolean {
    let numbers = 0;
    let i = from;
    for (;;) {
      const first = i;
      while (i < to && !isNumberEnd(bytes[i]!) && !isSpace(bytes[i]!)) i++;
      // A height of NaN counts as missing.
      if (i === to || (first < i && !isNumberStart(bytes[first]!))) return false;
      if (first < i) numbers++;
      if (isNumberEnd(bytes[i]!)) break;
      i++;
    }
    this.numbers = numbers;
    const { tag } = this;
    const z = tag.includes("Z") || (numbers > 2 && tag !== "M");
    const m = tag.includes("M") || numbers > 3;
    this.dimensions |= z && m ? DimensionFlag.zm : m ? DimensionFlag.m : z ? DimensionFlag.z : DimensionFlag.none;
    this.counts[this.kind]!++;
    return true;
  }

  get state(): GeometryScanState {
    const { counts, dimensions, isUnknown } = this;
    return { counts, dimensions, isUnknown };
  }

  add({ counts, dimensions, isUnknown }: GeometryScanState): void {
    addCounts(this.counts, counts);
    this.dimensions |= dimensions;
    this.isUnknown ||= isUnknown;
  }

  facts(): GeometrySummary | null {
    const { dimensions, counts } = this;
    if (this.isUnknown || !isSingleGeometryFamily(counts) || (dimensions & (dimensions - 1)) !== 0) return null;
    const has = (some: number) => (dimensions & some) !== 0;
    return { counts, hasZ: has(DimensionFlag.z | DimensionFlag.zm), hasM: has(DimensionFlag.m | DimensionFlag.zm) };
  }
}

const isNumberStart = (byte: number) => (byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46;

/** The scan for a plan; null if only parsing can summarize its geometries. */
export function createGeometryScan(plan: GeometryPlan, isNumeric: (column: number) => boolean): GeometryScan | null {
  if (plan.kind === "none") return new NoGeometryScan();
  if (plan.kind === "xy") return new CoordinateScan(plan.x, plan.y, plan.z, isNumeric);
  return plan.kind === "text" ? new WktScan(plan.column) : null;
}

/** Length of the text of a tail; a longer one is cut. */
export const maxFooterText = 40;

/** Limit of the rows at the end, and the least number of rows above them. */
const maxFooterRows = 3;
const minRowsAbove = 3;

/** The last rows if all others have coordinates: often a sum. */
export function findFooter({ counts, tail = noTail }: GeometryScanState): TableTail | null {
  const isFooter = tail.rows > 0 && tail.rows <= maxFooterRows && tail.rows === counts[Kind.none];
  return isFooter && tail.text !== "" && counts[Kind.Point]! >= minRowsAbove ? tail : null;
}

export const toKindSummaries = ({ counts, hasZ, hasM }: GeometrySummary): KindSummary[] =>
  counts.map((count, kind) => ({
    ...emptyKindSummary(),
    count,
    hasZ: kind !== Kind.none && count > 0 && hasZ,
    hasM: kind !== Kind.none && count > 0 && hasM,
  }));

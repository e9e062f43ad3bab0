import { Kind } from "../../src/model/geometry.js";
import { emptyKind, type KindSummary } from "../../src/model/summary.js";
import { isOneFamily } from "../shared/kind-families.js";
import type { GeometryPlan } from "./geometry-columns.js";
import { missingWords } from "./geometry-text.js";
import { Mark, type Scanner } from "./scanner.js";

/** What the geometries of a file have in common. */
export interface GeometryFacts {
  /** Geometries of each kind, by the numbers of `Kind`; those found to be damaged later are among them. */
  readonly counts: readonly number[];
  readonly hasZ: boolean;
  readonly hasM: boolean;
}

/** What was seen of the geometries in a part of a file, as plain data. */
export interface GeometryState {
  readonly counts: readonly number[];
  /** Dimensions that occurred, as bits. */
  readonly dimensions: number;
  readonly isUnknown: boolean;
}

/** Looks at the geometries of a file without reading them. */
export interface GeometrySurvey {
  look(bytes: Uint8Array, scanner: Scanner): void;
  readonly state: GeometryState;
  /** Takes in what was seen elsewhere. */
  add(state: GeometryState): void;
  /** Null where a look is not enough to tell. */
  facts(): GeometryFacts | null;
}

const isFilled = (scanner: Scanner, column: number) =>
  column < scanner.cells && scanner.starts[column]! < scanner.ends[column]!;

/** Of a geometry: x and y alone, or with more. Bits. */
const Dimension = { none: 1, z: 2, m: 4, zm: 8 } as const;

function addCounts(to: number[], counts: readonly number[]): void {
  for (const [kind, count] of counts.entries()) to[kind]! += count;
}

/** Counts rows with both coordinates, in columns that hold nothing but numbers. */
class CoordinateSurvey implements GeometrySurvey {
  private readonly counts = new Array<number>(8).fill(0);
  private hasZ = false;

  constructor(
    private readonly x: number,
    private readonly y: number,
    private readonly z: number | null,
    /** Whether all filled cells of a column are finite numbers; asked at the end. */
    private readonly isNumeric: (column: number) => boolean,
  ) {}

  look(_: Uint8Array, scanner: Scanner): void {
    const isPoint = isFilled(scanner, this.x) && isFilled(scanner, this.y);
    this.counts[isPoint ? Kind.Point : Kind.none]!++;
    if (isPoint && !this.hasZ && this.z !== null) this.hasZ = isFilled(scanner, this.z);
  }

  get state(): GeometryState {
    return { counts: this.counts, dimensions: this.hasZ ? Dimension.z : 0, isUnknown: false };
  }

  add({ counts, dimensions }: GeometryState): void {
    addCounts(this.counts, counts);
    this.hasZ ||= dimensions === Dimension.z;
  }

  facts(): GeometryFacts | null {
    const columns = [this.x, this.y, ...(this.z === null ? [] : [this.z])];
    if (!columns.every(this.isNumeric)) return null;
    return { counts: this.counts, hasZ: this.hasZ, hasM: false };
  }
}

class NoGeometry implements GeometrySurvey {
  private rows = 0;

  look(): void {
    this.rows++;
  }

  get state(): GeometryState {
    return { counts: [this.rows], dimensions: 0, isUnknown: false };
  }

  add({ counts }: GeometryState): void {
    this.rows += counts[0]!;
  }

  facts(): GeometryFacts {
    return { counts: [this.rows, 0, 0, 0, 0, 0, 0, 0], hasZ: false, hasM: false };
  }
}

/** Types that can be told by their first word: curves and collections have words inside. */
const kinds: Readonly<Record<string, number>> = {
  POINT: Kind.Point,
  LINESTRING: Kind.LineString,
  POLYGON: Kind.Polygon,
  MULTIPOINT: Kind.MultiPoint,
  MULTILINESTRING: Kind.MultiLineString,
  MULTIPOLYGON: Kind.MultiPolygon,
};

/** The type, its dimensions, and what stands before the first number. */
const start =
  /^\s*(?:SRID\s*=\s*-?\d+\s*;\s*)?(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON)\s*(ZM|Z|M)?\s*(EMPTY\s*$|[(\s]+(?=[-+.\d]))/i;

/** Bytes of a cell that tell what it is. */
const lookBytes = 160;

const isNumberEnd = (byte: number) => byte === 44 || byte === 41;
const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);

/**
 * Looks at the beginning of each WKT. A cell that begins as the one before is of its type, which spares the look at its
 * words. Layers of several shapes, or where only some have heights, are left to be read: a damaged cell must not
 * make a layer, or a dimension, that nothing else has.
 */
class WktSurvey implements GeometrySurvey {
  private readonly counts = new Array<number>(8).fill(0);
  /** The beginning of the last cell up to its first number, and what it told. */
  private readonly prefix = new Uint8Array(lookBytes);
  private prefixBytes = 0;
  private kind: number = Kind.none;
  private tag = "";
  /** Dimensions that occurred, as bits. */
  private dimensions = 0;
  private isUnknown = false;

  constructor(private readonly column: number) {}

  look(bytes: Uint8Array, scanner: Scanner): void {
    const { column } = this;
    if (this.isUnknown) return;
    if (!isFilled(scanner, column)) {
      this.counts[Kind.none]!++;
      return;
    }
    const from = scanner.starts[column]!;
    const to = scanner.ends[column]!;
    if (scanner.marks[column]! > Mark.quoted || !this.isKnown(bytes, from, to)) this.isUnknown = true;
  }

  private isKnown(bytes: Uint8Array, from: number, to: number): boolean {
    const { prefix, prefixBytes } = this;
    let same = 0;
    while (same < prefixBytes && prefix[same] === bytes[from + same]) same++;
    if (same === 0 || same < prefixBytes || from + same >= to || !isNumberStart(bytes[from + same]!)) {
      return this.lookAtWords(bytes, from, to);
    }
    return this.count(bytes, from + same, to);
  }

  private lookAtWords(bytes: Uint8Array, from: number, to: number): boolean {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, lookBytes)).toString("latin1");
    const found = start.exec(text);
    if (!found) {
      const word = text.trim().toLowerCase();
      if (word !== "" && !missingWords.has(word)) return false;
      this.counts[Kind.none]!++;
      return to - from <= lookBytes;
    }
    const [all, type, tag = "", rest] = found;
    this.kind = kinds[type!.toUpperCase()]!;
    this.tag = tag.toUpperCase();
    if (/^E/i.test(rest!)) {
      this.counts[this.kind]!++;
      this.prefixBytes = 0;
      return to - from <= lookBytes;
    }
    this.prefixBytes = all.length;
    this.prefix.set(bytes.subarray(from, from + all.length));
    return this.count(bytes, from + all.length, to);
  }

  /** Counts the geometry by the numbers of its first position, which begins at `from`. */
  private count(bytes: Uint8Array, from: number, to: number): boolean {
    let numbers = 0;
    let i = from;
    for (;;) {
      const first = i;
      while (i < to && !isNumberEnd(bytes[i]!) && !isSpace(bytes[i]!)) i++;
      // A height may be NaN, which is none.
      if (i === to || (first < i && !isNumberStart(bytes[first]!))) return false;
      if (first < i) numbers++;
      if (isNumberEnd(bytes[i]!)) break;
      i++;
    }
    const { tag } = this;
    const z = tag.includes("Z") || (numbers > 2 && tag !== "M");
    const m = tag.includes("M") || numbers > 3;
    this.dimensions |= z && m ? Dimension.zm : m ? Dimension.m : z ? Dimension.z : Dimension.none;
    this.counts[this.kind]!++;
    return true;
  }

  get state(): GeometryState {
    const { counts, dimensions, isUnknown } = this;
    return { counts, dimensions, isUnknown };
  }

  add({ counts, dimensions, isUnknown }: GeometryState): void {
    addCounts(this.counts, counts);
    this.dimensions |= dimensions;
    this.isUnknown ||= isUnknown;
  }

  facts(): GeometryFacts | null {
    const { dimensions, counts } = this;
    if (this.isUnknown || !isOneFamily(counts) || (dimensions & (dimensions - 1)) !== 0) return null;
    const has = (some: number) => (dimensions & some) !== 0;
    return { counts, hasZ: has(Dimension.z | Dimension.zm), hasM: has(Dimension.m | Dimension.zm) };
  }
}

const isNumberStart = (byte: number) => (byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46;

/** What looks at the geometries of a plan; null where only reading them tells. */
export function geometrySurvey(plan: GeometryPlan, isNumeric: (column: number) => boolean): GeometrySurvey | null {
  if (plan.kind === "none") return new NoGeometry();
  if (plan.kind === "xy") return new CoordinateSurvey(plan.x, plan.y, plan.z, isNumeric);
  return plan.kind === "text" ? new WktSurvey(plan.column) : null;
}

export const kindSummaries = ({ counts, hasZ, hasM }: GeometryFacts): KindSummary[] =>
  counts.map((count, kind) => ({
    ...emptyKind(),
    count,
    hasZ: kind !== Kind.none && count > 0 && hasZ,
    hasM: kind !== Kind.none && count > 0 && hasM,
  }));

import { type Extent, type FieldType, isExtentWithin, Kind } from "../../../src/model/index.js";
import { temporalTypeAt } from "../../../src/model/temporal-type.js";
import { isValidUtf8 } from "../../shared/text/utf8.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { isBlob, isInteger, isText, readInteger, SerialType } from "../sqlite/values.js";
import { findWkbStart, headerBytes, letterG, letterP } from "./geometry-blob.js";

/** Collects statistics of a column from encoded records, as long as the values have the column's type. */
export abstract class ColumnStats {
  /** Number of values that are not null. */
  values = 0;
  /** Whether a value needs decoding before it can be measured. */
  needsDecoding = false;

  /** Adds the value of serial type `serial` at `bytes[at … at + size]`. */
  add(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.null) return;
    this.values++;
    if (!this.measure(bytes, at, serial, size)) this.needsDecoding = true;
  }

  /** Size of the longest value as text, in bytes. */
  abstract readonly longest: number;

  /** @returns false if the value does not have the column's type */
  protected abstract measure(bytes: Buffer, at: number, serial: number, size: number): boolean;
}

/** Types whose maximum text size is used instead of a measured one. */
class FixedWidthStats extends ColumnStats {
  constructor(
    private readonly size: number,
    private readonly fits: (serial: number) => boolean,
  ) {
    super();
  }

  get longest(): number {
    return this.size;
  }

  protected measure(_bytes: Buffer, _at: number, serial: number): boolean {
    return this.fits(serial);
  }
}

class IntegerStats extends ColumnStats {
  private least = 0;
  private most = 0;

  constructor(private readonly widest: number) {
    super();
  }

  get longest(): number {
    return Math.max(String(this.least).length, String(this.most).length);
  }

  protected measure(bytes: Buffer, at: number, serial: number): boolean {
    if (!isInteger(serial) || (serial > this.widest && serial < SerialType.zero)) return false;
    const value = readInteger(bytes, at, serial);
    if (value < this.least) this.least = value;
    if (value > this.most) this.most = value;
    return true;
  }
}

class TextStats extends ColumnStats {
  longest = 0;

  constructor(private readonly isValid: (bytes: Buffer, from: number, to: number) => boolean) {
    super();
  }

  protected measure(bytes: Buffer, at: number, serial: number, size: number): boolean {
    if (size > this.longest) this.longest = size;
    return isText(serial) && this.isValid(bytes, at, at + size);
  }
}

/** Serial types of 32-bit and 48-bit integers, the widest that a column of int32 and a double can hold exactly. */
const [serial32, serial48] = [4, 5];
/** Maximum text size of a double and of a boolean. */
const [doubleBytes, booleanBytes] = [24, 5];

const isOneOrZero = (serial: number): boolean => serial === SerialType.zero || serial === SerialType.one;
const isNumber = (serial: number): boolean =>
  serial === SerialType.double || (isInteger(serial) && serial !== SerialType.int64);

/** Returns null for types that must be decoded. Text must be UTF-8. */
export function createColumnStats(type: FieldType): ColumnStats | null {
  switch (type) {
    case "boolean":
      return new FixedWidthStats(booleanBytes, isOneOrZero);
    case "int32":
      return new IntegerStats(serial32);
    case "int64":
      return new IntegerStats(serial48);
    case "double":
      return new FixedWidthStats(doubleBytes, isNumber);
    case "text":
      return new TextStats(isValidUtf8);
    case "date":
    case "time":
    case "datetime":
      return new TextStats((bytes, from, to) => temporalTypeAt(bytes, from, to) === type);
    default:
      return null;
  }
}

/** Size of the blob of an XY point without an envelope. */
const pointBytes = headerBytes + 21;

/** Counts geometry types from WKB headers, and the extent of plain points. */
export class GeometryTypeStats {
  readonly counts: number[] = Array.from({ length: 8 }, () => 0);
  needsDecoding = false;
  private readonly wkb = new WkbReader();
  private west = Number.POSITIVE_INFINITY;
  private south = Number.POSITIVE_INFINITY;
  private east = Number.NEGATIVE_INFINITY;
  private north = Number.NEGATIVE_INFINITY;

  /** @param within count points too, as long as the layer has only points and all lie within this extent; null: do not */
  constructor(private readonly within: Extent | null) {}

  add(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.null) {
      this.counts[Kind.none]!++;
      return;
    }
    if (this.within && isBlob(serial) && size === pointBytes && this.addPlainPoint(bytes, at)) return;
    const start = isBlob(serial) ? findWkbStart(bytes, at, at + size) : "";
    const kind = typeof start === "string" ? null : this.wkb.flatKind(bytes, start, at + size);
    // The extent of points is needed, and only decoding yields it.
    if (kind === null || kind === Kind.Point || this.counts[Kind.Point]! > 0) this.needsDecoding = true;
    else this.counts[kind]!++;
  }

  /** Fast path for the most common blob, a little-endian XY point. @returns false for anything else */
  private addPlainPoint(bytes: Buffer, at: number): boolean {
    const wkb = at + headerBytes;
    const headed = bytes[at] === letterG && bytes[at + 1] === letterP && bytes[at + 2] === 0;
    // No envelope, no extended geometry type.
    if (!headed || (bytes[at + 3]! & 0x2e) !== 0) return false;
    if (bytes[wkb] !== 1 || bytes.readUInt32LE(wkb + 1) !== Kind.Point) return false;
    const x = bytes.readDoubleLE(wkb + 5);
    const y = bytes.readDoubleLE(wkb + 13);
    if (Number.isNaN(x + y)) return false;
    if (x < this.west) this.west = x;
    if (x > this.east) this.east = x;
    if (y < this.south) this.south = y;
    if (y > this.north) this.north = y;
    this.counts[Kind.Point]!++;
    return true;
  }

  /** Whether the layer has no points, or only points that all lie within the extent. */
  isWithin(): boolean {
    const { within, counts } = this;
    if (counts[Kind.Point] === 0) return true;
    if (counts.some((count, kind) => count > 0 && kind !== Kind.Point && kind !== Kind.none)) return false;
    return within !== null && isExtentWithin(this.pointBox(), within);
  }

  /** Min x, min y, max x and max y of the points. */
  pointBox(): [number, number, number, number] {
    return [this.west, this.south, this.east, this.north];
  }
}

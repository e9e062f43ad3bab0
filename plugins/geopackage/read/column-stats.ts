import { type Extent, type FieldType, isExtentWithin, Kind } from "../../../src/model/index.js";
import { temporalTypeAt } from "../../../src/model/temporal-type.js";
import { isValidUtf8 } from "../../shared/text/utf8.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { isBlob, isInteger, isText, readInteger, SerialType } from "../sqlite/values.js";
import { findWkbStart, headerBytes, letterG, letterP } from "./geometry-blob.js";

/** Measures the values of a column where they stand, as long as they are what the column should hold. */
export abstract class ColumnStats {
  /** Values that are not null. */
  values = 0;
  /** Whether a value came that is to be converted before it can be measured. */
  gaveUp = false;

  /** The value of serial type `serial` is `bytes[at … at + size]`. */
  take(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.null) return;
    this.values++;
    if (!this.measure(bytes, at, serial, size)) this.gaveUp = true;
  }

  /** Bytes that the longest value takes as text, where there is one. */
  abstract readonly longest: number;

  /** @returns false where the value is not what the column should hold */
  protected abstract measure(bytes: Buffer, at: number, serial: number, size: number): boolean;
}

/** Numbers of which each may take as much as any. */
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

  constructor(private readonly isOf: (bytes: Buffer, from: number, to: number) => boolean) {
    super();
  }

  protected measure(bytes: Buffer, at: number, serial: number, size: number): boolean {
    if (size > this.longest) this.longest = size;
    return isText(serial) && this.isOf(bytes, at, at + size);
  }
}

/** The widest serial types whose numbers take 32 bits, and 48, as a double has them exactly. */
const [serial32, serial48] = [4, 5];
/** The longest that the text of a double and of a boolean can be. */
const [doubleBytes, booleanBytes] = [24, 5];

const isOneOrZero = (serial: number): boolean => serial === SerialType.zero || serial === SerialType.one;
const isNumber = (serial: number): boolean =>
  serial === SerialType.double || (isInteger(serial) && serial !== SerialType.int64);

/** The gauge for a field of the type; null where there is none. Texts must be UTF-8. */
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

/** What a blob takes that is a point of two numbers, without an envelope. */
const pointBytes = headerBytes + 21;

/** Counts the kinds of geometries by their heads. */
export class GeometryTypeStats {
  readonly counts: number[] = Array.from({ length: 8 }, () => 0);
  gaveUp = false;
  private readonly wkb = new WkbReader();
  private west = Number.POSITIVE_INFINITY;
  private south = Number.POSITIVE_INFINITY;
  private east = Number.NEGATIVE_INFINITY;
  private north = Number.NEGATIVE_INFINITY;

  /** @param within where points may be that are counted, too, where there is nothing else; null for none */
  constructor(private readonly within: Extent | null) {}

  take(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.null) {
      this.counts[Kind.none]!++;
      return;
    }
    if (this.within && isBlob(serial) && size === pointBytes && this.point(bytes, at)) return;
    const start = isBlob(serial) ? findWkbStart(bytes, at, at + size) : "";
    const kind = typeof start === "string" ? null : this.wkb.flatKind(bytes, start, at + size);
    // Points are decoded as soon as their kind is found out.
    if (kind === null || kind === Kind.Point || this.counts[Kind.Point]! > 0) this.gaveUp = true;
    else this.counts[kind]!++;
  }

  /** A little-endian point of two numbers, which is all that most layers of points have; false for anything else. */
  private point(bytes: Buffer, at: number): boolean {
    const wkb = at + headerBytes;
    const headed = bytes[at] === letterG && bytes[at + 1] === letterP && bytes[at + 2] === 0;
    // Neither an envelope nor a type of an extension.
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

  /** Whether all points are where they may be, and without other geometries. */
  isWithin(): boolean {
    const { within, counts } = this;
    if (counts[Kind.Point] === 0) return true;
    if (counts.some((count, kind) => count > 0 && kind !== Kind.Point && kind !== Kind.none)) return false;
    return within !== null && isExtentWithin(this.pointBox(), within);
  }

  /** Least x, least y, greatest x and greatest y of the points. */
  pointBox(): [number, number, number, number] {
    return [this.west, this.south, this.east, this.north];
  }
}

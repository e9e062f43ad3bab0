import type { CurvePoints } from "../curves.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { dataViewOf } from "../text/data-view.js";

/** Curve types of WKB (ISO 13249-3, 5.1.47). */
export const WkbCurveType = {
  circularString: 8,
  compoundCurve: 9,
  curvePolygon: 10,
  multiCurve: 11,
  multiSurface: 12,
} as const;
export const WkbSurfaceType = { polyhedral: 15, tin: 16, triangle: 17 } as const;

/** Kind by WKB type number; 0 for unknown and abstract types. */
export const kindByWkbType: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 3, 5, 6, 0, 0, 6, 6, 3];

export const nonFinitePositionMessage = "a position is not a number";

/** EWKB flags; `z` is also the flag of OGC's old 2.5D types. */
const EwkbFlag = { z: 0x80000000, m: 0x40000000, srid: 0x20000000 } as const;
const typeMask = 0x1fffffff;

/** Reads headers, counts and positions of WKB, with bounds checks. */
export abstract class WkbCursor {
  /** The buffer that contains the blob; `at` and `end` are offsets in it. */
  protected bytes: Uint8Array = new Uint8Array(0);
  protected view: DataView<ArrayBufferLike> = new DataView(this.bytes.buffer);
  protected at = 0;
  protected end = 0;
  /** Byte order and dimensions of the last header; each nested geometry has its own. */
  protected little = true;
  protected hasZ = false;
  protected hasM = false;
  /** SRID of the last blob (EWKB); null if it has none. */
  srid: number | null = null;
  /** Why a position of the last blob, which is NaN in the builder, is unreadable; null if all are readable. */
  protected flaw: GeometryParseError | null = null;

  /** `accepts` may refuse an SRID. */
  constructor(private readonly accepts: (srid: number) => boolean = () => true) {}

  protected error(reason: string): GeometryParseError {
    return new GeometryParseError(reason, this.at);
  }

  /** Reuses the view if consecutive blobs are in the same buffer. */
  protected open(bytes: Uint8Array): void {
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.view = dataViewOf(bytes);
  }

  protected need(size: number): void {
    if (size > this.end - this.at) throw this.error("the geometry is truncated");
  }

  private uint32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, this.little);
    this.at += 4;
    return value;
  }

  /** Reads a count of items of at least `least` bytes, and checks it before anything is allocated. */
  protected count(least: number): number {
    const count = this.uint32();
    if (count * least > this.end - this.at) throw this.error(`a count of ${count} exceeds the size of the blob`);
    return count;
  }

  /** Byte order, type and SRID; sets the dimensions. */
  protected header(): number {
    this.need(5);
    const order = this.view.getUint8(this.at++);
    if (order > 1) throw this.error(`${order} is not a byte order`);
    this.little = order === 1;
    const word = this.uint32();
    const thousands = Math.floor((word & typeMask) / 1000);
    const type = (word & typeMask) % 1000;
    if (thousands > 3 || !kindByWkbType[type]) throw this.error(`${word} is not a geometry type`);
    this.hasZ = (word & EwkbFlag.z) !== 0 || thousands === 1 || thousands === 3;
    this.hasM = (word & EwkbFlag.m) !== 0 || thousands >= 2;
    if ((word & EwkbFlag.srid) !== 0) this.readSrid();
    return type;
  }

  private readSrid(): void {
    const srid = this.uint32() | 0;
    const isOther = this.srid !== null && this.srid !== srid;
    if (isOther || !this.accepts(srid)) throw this.error(`SRID ${srid} differs from the others`);
    this.srid = srid;
  }

  /** Size of a position in bytes. */
  protected get positionSize(): number {
    return 16 + (this.hasZ ? 8 : 0) + (this.hasM ? 8 : 0);
  }

  /** Skips a Point if it is empty, with NaN coordinates (OGC 12-128r18, 2.1.3.1.2). @returns whether it is */
  protected skipEmptyPoint(): boolean {
    this.need(this.positionSize);
    const { view, at, little } = this;
    const isEmpty = Number.isNaN(view.getFloat64(at, little)) && Number.isNaN(view.getFloat64(at + 8, little));
    if (isEmpty) this.at += this.positionSize;
    return isEmpty;
  }

  /** Whether the last of the next `count` positions equals the first. */
  protected isClosed(count: number): boolean {
    const { view, at, little } = this;
    const last = at + (count - 1) * this.positionSize;
    return (
      view.getFloat64(at, little) === view.getFloat64(last, little) &&
      view.getFloat64(at + 8, little) === view.getFloat64(last + 8, little)
    );
  }

  protected points(count: number): CurvePoints {
    const points: CurvePoints = [];
    const { view, little } = this;
    for (let n = 0; n < count; n++) {
      const at = this.at;
      const x = view.getFloat64(at, little);
      const y = view.getFloat64(at + 8, little);
      if (Number.isNaN(x + y)) this.flaw ??= this.error(nonFinitePositionMessage);
      points.push(
        x,
        y,
        this.hasZ ? view.getFloat64(at + 16, little) : Number.NaN,
        this.hasM ? view.getFloat64(at + (this.hasZ ? 24 : 16), little) : Number.NaN,
      );
      this.at += this.positionSize;
    }
    return points;
  }
}

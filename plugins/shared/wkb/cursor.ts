import type { CurvePoints } from "../curves.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { dataViewOf } from "../text/data-view.js";

/** Geometry types of WKB (ISO 13249-3, 5.1.47) that GeoJSON has no word for. */
export const WkbCurveType = {
  circularString: 8,
  compoundCurve: 9,
  curvePolygon: 10,
  multiCurve: 11,
  multiSurface: 12,
} as const;
export const WkbSurfaceType = { polyhedral: 15, tin: 16, triangle: 17 } as const;

/** The kind that a WKB type is read as, by its number; 0 where there is no such type, or none that has instances. */
export const kindByWkbType: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 3, 5, 6, 0, 0, 6, 6, 3];

/** Why a position cannot be read. */
export const nonFinitePositionMessage = "a position is not a number";

/** The flags of EWKB; the first is also that of OGC's old 2.5D types. */
const EwkbFlag = { z: 0x80000000, m: 0x40000000, srid: 0x20000000 } as const;
const typeMask = 0x1fffffff;

/** What WKB is made of: headers, counts and positions, read one by one, each checked against the bytes there are. */
export abstract class WkbCursor {
  /** What the blob stands in, and `at` and `end` count in. */
  protected bytes: Uint8Array = new Uint8Array(0);
  protected view: DataView<ArrayBufferLike> = new DataView(this.bytes.buffer);
  protected at = 0;
  protected end = 0;
  /** By the header read last: every geometry inside another has its own. */
  protected little = true;
  protected hasZ = false;
  protected hasM = false;
  /** Of the blob read last (EWKB); null where it names none. */
  srid: number | null = null;
  /** Why a position of the blob read last, which is NaN in the builder, cannot be read; null where all can. */
  protected flaw: GeometryParseError | null = null;

  /** `accepts` may refuse an SRID. */
  constructor(private readonly accepts: (srid: number) => boolean = () => true) {}

  protected error(reason: string): GeometryParseError {
    return new GeometryParseError(reason, this.at);
  }

  /** Many blobs stand in the same bytes: one view serves them all. */
  protected open(bytes: Uint8Array): void {
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.view = dataViewOf(bytes);
  }

  protected need(size: number): void {
    if (size > this.end - this.at) throw this.error("the geometry ends early");
  }

  private uint32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, this.little);
    this.at += 4;
    return value;
  }

  /** A count of items that take at least `least` bytes each: what cannot be is refused before anything is made of it. */
  protected count(least: number): number {
    const count = this.uint32();
    if (count * least > this.end - this.at)
      throw this.error(`${count} items are announced, more than there is room for`);
    return count;
  }

  /** Byte order, type and SRID; sets the dimensions. */
  protected header(): number {
    this.need(5);
    const order = this.view.getUint8(this.at++);
    if (order > 1) throw this.error(`${order} is no byte order`);
    this.little = order === 1;
    const word = this.uint32();
    const thousands = Math.floor((word & typeMask) / 1000);
    const type = (word & typeMask) % 1000;
    if (thousands > 3 || !kindByWkbType[type]) throw this.error(`${word} is no geometry type`);
    this.hasZ = (word & EwkbFlag.z) !== 0 || thousands === 1 || thousands === 3;
    this.hasM = (word & EwkbFlag.m) !== 0 || thousands >= 2;
    if ((word & EwkbFlag.srid) !== 0) this.readSrid();
    return type;
  }

  private readSrid(): void {
    const srid = this.uint32() | 0;
    const isOther = this.srid !== null && this.srid !== srid;
    if (isOther || !this.accepts(srid)) throw this.error(`SRID ${srid} is not that of the others`);
    this.srid = srid;
  }

  /** Bytes of a position. */
  protected get positionSize(): number {
    return 16 + (this.hasZ ? 8 : 0) + (this.hasM ? 8 : 0);
  }

  /** Whether the Point here is empty: its coordinates are NaN (OGC 12-128r18, 2.1.3.1.2). It is passed then. */
  protected passesEmptyPoint(): boolean {
    this.need(this.positionSize);
    const { view, at, little } = this;
    const isEmpty = Number.isNaN(view.getFloat64(at, little)) && Number.isNaN(view.getFloat64(at + 8, little));
    if (isEmpty) this.at += this.positionSize;
    return isEmpty;
  }

  /** Whether the last of the `count` positions here is the first again. */
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

import { GeometryBuilder, type GeometryColumn } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError, WkbReader } from "../../shared/wkb/index.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";

/** A little-endian EWKB of a point with two numbers and an SRID: byte order, type, SRID, x, y. */
const pointBytes = 25;
const pointWithSrid = 0x20000001;

/** Takes the geometries of a layer, EWKB by EWKB, into the columns of a batch. */
export class GeometryDecoder {
  private readonly builder = new GeometryBuilder();
  private readonly wkb: WkbReader;
  /** Why the geometry taken last could not be read; null where it could. */
  fault: string | null = null;

  constructor(
    private readonly srid: number,
    private readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">,
  ) {
    // A geometry of another system would stand in the wrong place.
    this.wkb = new WkbReader((found) => found === srid);
  }

  get positions(): number {
    return this.builder.positionCount;
  }

  none(): void {
    this.fault = null;
    this.builder.addNull();
  }

  take(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    if (this.plainPoint(bytes, from, to)) return;
    try {
      this.wkb.read(bytes, from, to, this.builder);
      if (this.srid !== 0 && this.wkb.srid === null) this.otherSystem();
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      this.fault = error.message;
      this.builder.addNull();
    }
  }

  /** It is in the column already. */
  private otherSystem(): void {
    this.fault = `it has no SRID, and others of the layer have ${this.srid}`;
  }

  /** What most layers consist of. */
  private plainPoint(bytes: Buffer, from: number, to: number): boolean {
    if (to - from !== pointBytes || bytes[from] !== 1 || bytes.readUInt32LE(from + 1) !== pointWithSrid) return false;
    if (bytes.readInt32LE(from + 5) !== this.srid) return false;
    const x = bytes.readDoubleLE(from + 9);
    const y = bytes.readDoubleLE(from + 17);
    if (Number.isNaN(x + y)) return false;
    this.builder.addPoint(x, y);
    return true;
  }

  finish(): GeometryColumn {
    const column = this.builder.finish();
    this.builder.reset();
    this.tell();
    return column;
  }

  private tell(): void {
    const { wkb, context } = this;
    reportWkbRepairs(wkb, context);
    wkb.closedRings = 0;
    wkb.curves = 0;
    wkb.unreadable = 0;
  }
}

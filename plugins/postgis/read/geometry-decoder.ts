import { GeometryBuilder, type GeometryColumn } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { GeometryParseError, WkbReader } from "../../shared/wkb/index.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";

/** Size of the little-endian EWKB of an XY point with an SRID: byte order, type, SRID, x, y. */
const pointBytes = 25;
const pointWithSrid = 0x20000001;

/** Decodes EWKB geometries into the geometry column of a batch. */
export class GeometryDecoder {
  private readonly builder = new GeometryBuilder();
  private readonly wkb: WkbReader;
  /** Why the last geometry could not be read; null if it could. */
  fault: string | null = null;

  constructor(
    private readonly srid: number,
    private readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">,
  ) {
    // A geometry in another CRS would be misplaced, so it is unreadable.
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
    if (this.addPlainPoint(bytes, from, to)) return;
    try {
      this.wkb.read(bytes, from, to, this.builder);
      if (this.srid !== 0 && this.wkb.srid === null) this.markOtherSrid();
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      this.fault = error.message;
      this.builder.addNull();
    }
  }

  /** Marks the geometry, which is in the column already. */
  private markOtherSrid(): void {
    this.fault = `it has no SRID, but the layer has SRID ${this.srid}`;
  }

  /** Fast path for the most common geometry. */
  private addPlainPoint(bytes: Buffer, from: number, to: number): boolean {
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
    this.reportRepairs();
    return column;
  }

  private reportRepairs(): void {
    const { wkb, context } = this;
    reportWkbRepairs(wkb, context);
    wkb.closedRings = 0;
    wkb.curves = 0;
    wkb.unreadable = 0;
  }
}

import { GeometryBuilder, type GeometryColumn } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";
import { GeometryParseError } from "../../shared/wkt/index.js";
import { isBlob, SerialType, type SqliteValue } from "../sqlite/values.js";
import { envelopeBytes, findWkbStart, headerBytes, readSrsId } from "./geometry-blob.js";

/** Positions that geometries have on average, of which boxes are worth measuring once for all. */
const minPositionsForBoxes = 4;

/** Where least x, least y, greatest x and greatest y stand in an envelope: it goes axis by axis. */
const envelopeOrder = [0, 2, 1, 3] as const;

function growBoxes(claims: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(2 * claims.length);
  grown.set(claims);
  return grown;
}

/** What is known of a layer's geometries, and what is told of them. */
export interface GeometryDecoderSettings {
  /** Which reference system the layer is in; null for any. */
  readonly srsId: number | null;
  readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">;
}

/** Takes the geometries of a layer, blob by blob, into the columns of a batch. */
export class GeometryDecoder {
  protected readonly builder = new GeometryBuilder();
  protected readonly wkb = new WkbReader();
  /** The boxes that the blobs say, four numbers a row. */
  private claimed = new Float64Array(4 * 1024);
  /** Why the geometry taken last could not be read; null where it could. */
  fault: string | null = null;

  constructor(private readonly facts: GeometryDecoderSettings) {}

  get length(): number {
    return this.builder.length;
  }

  get positions(): number {
    return this.builder.positionCount;
  }

  none(): void {
    this.fault = null;
    this.builder.addNull();
  }

  take(bytes: Buffer, at: number, serial: number, size: number): void {
    this.fault = null;
    if (serial === SerialType.null) this.builder.addNull();
    else if (!isBlob(serial)) this.fail("it is no blob, as a geometry is");
    else this.blob(bytes, at, at + size);
  }

  /** The same for a value that is read already. */
  value(value: SqliteValue): void {
    if (value === null) this.none();
    else if (value instanceof Uint8Array) {
      this.blob(Buffer.from(value.buffer, value.byteOffset, value.length), 0, value.length);
    } else this.fail("it is no blob, as a geometry is");
  }

  protected blob(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    const start = findWkbStart(bytes, from, to);
    if (typeof start === "string") {
      this.fail(start);
      return;
    }
    if (start === from)
      this.facts.context.reportNotice("geometry-plain-wkb", undefined, "WKB without a GeoPackage's header");
    else this.checkSrs(readSrsId(bytes, from));
    if (this.plainPoint(bytes, start, to)) return;
    this.claimBox(bytes, from, start);
    this.decode(bytes, start, to);
  }

  /** Keeps the box that the blob's header says, in the order of ours; NaN where it says none. */
  private claimBox(bytes: Buffer, from: number, start: number): void {
    const at = 4 * this.length;
    if (at >= this.claimed.length) this.claimed = growBoxes(this.claimed);
    const { claimed } = this;
    const says = start - from >= headerBytes + envelopeBytes[1]!;
    const little = says && (bytes[from + 3]! & 1) === 1;
    for (let n = 0; n < 4; n++) {
      const side = from + headerBytes + 8 * envelopeOrder[n]!;
      claimed[at + n] = !says ? Number.NaN : little ? bytes.readDoubleLE(side) : bytes.readDoubleBE(side);
    }
  }

  /** A point, little-endian, of two numbers: what most layers consist of. */
  private plainPoint(bytes: Buffer, start: number, to: number): boolean {
    if (to - start !== 21 || bytes[start] !== 1 || bytes.readUInt32LE(start + 1) !== 1) return false;
    const x = bytes.readDoubleLE(start + 5);
    const y = bytes.readDoubleLE(start + 13);
    if (Number.isNaN(x + y)) return false;
    this.builder.addPoint(x, y);
    return true;
  }

  private decode(bytes: Buffer, start: number, to: number): void {
    try {
      this.wkb.read(bytes, start, to, this.builder);
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      this.fail(error.message);
      return;
    }
  }

  private checkSrs(id: number): void {
    const { srsId, context } = this.facts;
    if (srsId === null || id === srsId) return;
    const example = `a geometry says srs_id ${id}, its layer ${srsId}; taken as the layer's`;
    context.reportNotice("srs-differs", undefined, example);
  }

  private fail(reason: string): void {
    this.fault = reason;
    this.builder.addNull();
  }

  finish(): GeometryColumn {
    const { builder } = this;
    // Of points, boxes would only repeat the positions.
    const measured = builder.positionCount >= minPositionsForBoxes * builder.length;
    const column = builder.finish(measured ? this.claimed : null);
    builder.reset();
    this.tell();
    return column;
  }

  private tell(): void {
    const { wkb } = this;
    const { context } = this.facts;
    reportWkbRepairs(wkb, context);
    wkb.closedRings = 0;
    wkb.curves = 0;
    wkb.unreadable = 0;
  }
}

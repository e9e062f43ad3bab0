import { GeometryBuilder, type GeometryColumn } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { WkbReader } from "../../shared/wkb/index.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";
import { GeometryParseError } from "../../shared/wkt/index.js";
import { isBlob, SerialType, type SqliteValue } from "../sqlite/values.js";
import { envelopeBytes, findWkbStart, headerBytes, readSrsId } from "./geometry-blob.js";

/** Stored envelopes are kept for geometries of at least so many positions on average: computing them again is slow. */
const minPositionsForBoxes = 4;

/** Indexes of min x, min y, max x and max y in an envelope, which lists bounds axis by axis. */
const envelopeOrder = [0, 2, 1, 3] as const;

function growBoxes(boxes: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(2 * boxes.length);
  grown.set(boxes);
  return grown;
}

export interface GeometryDecoderSettings {
  /** srs_id of the layer; null: accept any. */
  readonly srsId: number | null;
  readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">;
}

/** Decodes geometry blobs into the geometry column of a batch. */
export class GeometryDecoder {
  protected readonly builder = new GeometryBuilder();
  protected readonly wkb = new WkbReader();
  /** Envelopes of the blobs, four numbers a row. */
  private storedBoxes = new Float64Array(4 * 1024);
  /** Why the last geometry could not be read; null if it could. */
  fault: string | null = null;

  constructor(private readonly settings: GeometryDecoderSettings) {}

  get length(): number {
    return this.builder.length;
  }

  get positions(): number {
    return this.builder.positionCount;
  }

  addNull(): void {
    this.fault = null;
    this.builder.addNull();
  }

  addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    this.fault = null;
    if (serial === SerialType.null) this.builder.addNull();
    else if (!isBlob(serial)) this.setFault("it is not a blob, as geometries are");
    else this.blob(bytes, at, at + size);
  }

  /** Adds a value that is already decoded. */
  value(addValue: SqliteValue): void {
    if (addValue === null) this.addNull();
    else if (addValue instanceof Uint8Array) {
      this.blob(Buffer.from(addValue.buffer, addValue.byteOffset, addValue.length), 0, addValue.length);
    } else this.setFault("it is not a blob, as geometries are");
  }

  protected blob(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    const start = findWkbStart(bytes, from, to);
    if (typeof start === "string") {
      this.setFault(start);
      return;
    }
    if (start === from)
      this.settings.context.reportNotice("geometry-plain-wkb", undefined, "WKB without a GeoPackage's header");
    else this.checkSrs(readSrsId(bytes, from));
    if (this.addPlainPoint(bytes, start, to)) return;
    this.readEnvelope(bytes, from, start);
    this.decode(bytes, start, to);
  }

  /** Keeps the envelope of the blob's header, or NaN if it has none. */
  private readEnvelope(bytes: Buffer, from: number, start: number): void {
    const at = 4 * this.length;
    if (at >= this.storedBoxes.length) this.storedBoxes = growBoxes(this.storedBoxes);
    const { storedBoxes } = this;
    const hasEnvelope = start - from >= headerBytes + envelopeBytes[1]!;
    const little = hasEnvelope && (bytes[from + 3]! & 1) === 1;
    for (let n = 0; n < 4; n++) {
      const side = from + headerBytes + 8 * envelopeOrder[n]!;
      storedBoxes[at + n] = !hasEnvelope ? Number.NaN : little ? bytes.readDoubleLE(side) : bytes.readDoubleBE(side);
    }
  }

  /** Fast path for the most common geometry, a little-endian XY point. */
  private addPlainPoint(bytes: Buffer, start: number, to: number): boolean {
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
      this.setFault(error.message);
      return;
    }
  }

  private checkSrs(id: number): void {
    const { srsId, context } = this.settings;
    if (srsId === null || id === srsId) return;
    const example = `a geometry says srs_id ${id}, its layer ${srsId}; taken as the layer's`;
    context.reportNotice("srs-differs", undefined, example);
  }

  private setFault(reason: string): void {
    this.fault = reason;
    this.builder.addNull();
  }

  finish(): GeometryColumn {
    const { builder } = this;
    // Boxes of points would only repeat the positions.
    const measured = builder.positionCount >= minPositionsForBoxes * builder.length;
    const column = builder.finish(measured ? this.storedBoxes : null);
    builder.reset();
    this.reportRepairs();
    return column;
  }

  private reportRepairs(): void {
    const { wkb } = this;
    const { context } = this.settings;
    reportWkbRepairs(wkb, context);
    wkb.closedRings = 0;
    wkb.curves = 0;
    wkb.unreadable = 0;
  }
}

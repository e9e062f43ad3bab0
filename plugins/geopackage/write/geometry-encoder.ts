import { type Box, clearBox, widenBox } from "../../../src/model/feature-box.js";
import { type GeometryColumn, Kind } from "../../../src/model/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { headerBytes, letterG, letterP } from "../read/geometry-blob.js";
import type { GeometryBlob } from "../sqlite/record-encoder.js";

const littleEndianFlag = 1;
const envelopeFlag = 1 << 1;
const emptyFlag = 1 << 4;
const envelopeBytes = 32;

/** Encodes geometry blobs (OGC 12-128r19, 2.1.3), with an XY envelope except for points and empty geometries. */
export class GeometryEncoder {
  /** Reused blob of an XY point. */
  private readonly point: GeometryBlob;
  private readonly pointView: DataView;
  private readonly wkb = new WkbWriter();
  /** The box of the last geometry encoded. */
  readonly box: Box = new Float64Array(4);
  private readonly blob = { bytes: new Uint8Array() as Uint8Array, length: 0 };
  /** Geometries with NaN or infinite coordinates, which became null. */
  notFinite = 0;

  constructor(private readonly srsId: number) {
    const bytes = Buffer.alloc(headerBytes + 21);
    this.writeHeader(bytes, littleEndianFlag);
    bytes[headerBytes] = 1;
    bytes.writeUInt32LE(Kind.Point, headerBytes + 1);
    this.point = { bytes, length: bytes.length };
    this.pointView = dataViewOf(bytes);
  }

  /** Resets the counters. */
  begin(): void {
    this.notFinite = 0;
    this.wkb.missingZ = 0;
    this.wkb.missingM = 0;
  }

  get missingZ(): number {
    return this.wkb.missingZ;
  }

  get missingM(): number {
    return this.wkb.missingM;
  }

  get hasBox(): boolean {
    return this.box[0]! <= this.box[2]!;
  }

  /** The blob of feature `i`, valid until the next call; null for a null geometry. */
  encode(column: GeometryColumn, i: number): GeometryBlob | null {
    const { box } = this;
    clearBox(box);
    const kind = column.kinds[i]!;
    if (kind === Kind.none) return null;
    if (!widenBox(box, column, i)) {
      this.notFinite++;
      clearBox(box);
      return null;
    }
    if (kind === Kind.Point && !column.z && !column.m && this.hasBox) return this.encodePlainPoint();
    const isEmpty = !this.hasBox;
    const hasEnvelope = kind !== Kind.Point && !isEmpty;
    const bytes = this.wkb.write(column, i, headerBytes + (hasEnvelope ? envelopeBytes : 0));
    this.writeHeader(bytes, littleEndianFlag | (hasEnvelope ? envelopeFlag : 0) | (isEmpty ? emptyFlag : 0));
    if (hasEnvelope) {
      bytes.writeDoubleLE(box[0]!, headerBytes);
      bytes.writeDoubleLE(box[2]!, headerBytes + 8);
      bytes.writeDoubleLE(box[1]!, headerBytes + 16);
      bytes.writeDoubleLE(box[3]!, headerBytes + 24);
    }
    this.blob.bytes = bytes;
    this.blob.length = bytes.length;
    return this.blob;
  }

  private writeHeader(bytes: Uint8Array, flags: number): void {
    bytes[0] = letterG;
    bytes[1] = letterP;
    bytes[2] = 0;
    bytes[3] = flags;
    for (let n = 0; n < 4; n++) bytes[4 + n] = this.srsId >> (8 * n);
  }

  /** Fast path for XY points, whose box is their position. */
  private encodePlainPoint(): GeometryBlob {
    const { pointView, box } = this;
    pointView.setFloat64(headerBytes + 5, box[0]!, true);
    pointView.setFloat64(headerBytes + 13, box[1]!, true);
    return this.point;
  }
}

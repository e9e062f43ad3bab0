import { type Box, clearBox, widenBox } from "../../../src/model/feature-box.js";
import { type Batch, type BytesColumn, type Column, isBytesColumn, Kind, Presence } from "../../../src/model/index.js";
import type { Encoder, OptionValues, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { reportCoordinateLosses } from "../../shared/coordinate-losses.js";
import { indexPresentCells } from "../../shared/present-cells.js";
import type { writeOptions } from "../index.js";
import { designLayer, type LayerDesign } from "./encode-header.js";
import { FeatureBuffer } from "./feature-buffer.js";
import { GeometryWriter, isEmptyGeometry } from "./geometry-writer.js";

export interface FgbChunk {
  /** The features one behind the other; each with its box before it, if `boxes` is not null. */
  readonly bytes: Uint8Array;
  /** Bytes of each feature, a multiple of eight, without the box. */
  readonly sizes: Uint32Array;
  /** Least x, least y, greatest x, greatest y of each feature; infinity as least and −infinity as greatest without positions. */
  readonly boxes: Float64Array | null;
  /** Box of all features. */
  readonly extent: Float64Array;
}

/** Bytes of the box before each feature. */
export const boxBytes = 32;

/** Size, root, vtable and table of Feature, whose members are at these places. */
const prefix = [0, 0, 0, 0, 12, 0, 0, 0, 8, 0, 12, 0, 4, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] as const;
const vtableAt = 8;
const geometryAt = 20;
const propertiesAt = 24;

/** GDAL refuses longer texts of datetimes. */
const maxDatetimeBytes = 32;
/** Length of `YYYY-MM-DDTHH:MM:SS`, a point and six decimals. */
const microsecondsBytes = 26;

export async function createEncoder(
  layer: TargetLayer,
  { index }: OptionValues<typeof writeOptions>,
  context: WriteContext,
): Promise<Encoder<FgbChunk>> {
  return new FeatureEncoder(designLayer(layer), index, context);
}

class FeatureEncoder implements Encoder<FgbChunk> {
  private readonly buffer = new FeatureBuffer();
  private readonly geometry: GeometryWriter;
  private readonly box: Box = new Float64Array(4);
  private notFinite = 0;
  private empty = 0;
  /** Datetimes that were cut, by column. */
  private readonly cut: Uint32Array;

  constructor(
    private readonly design: LayerDesign,
    private readonly hasIndex: boolean,
    private readonly context: WriteContext,
  ) {
    this.geometry = new GeometryWriter(this.buffer, design);
    this.cut = new Uint32Array(design.fields.length);
  }

  encode(batch: Batch): FgbChunk {
    const { buffer, box, hasIndex } = this;
    const rows = batch.length;
    const sizes = new Uint32Array(rows);
    const boxes = hasIndex ? new Float64Array(4 * rows) : null;
    const extent = new Float64Array(4);
    clearBox(extent);
    const cells = indexPresentCells(batch.columns, rows);
    buffer.begin();
    for (let row = 0; row < rows; row++) {
      const boxAt = buffer.at;
      if (boxes) buffer.zeros(boxBytes);
      const start = buffer.at;
      this.feature(batch, row, cells);
      sizes[row] = buffer.at - start;
      for (let side = 0; side < 4; side++) {
        const value = box[side]!;
        if (side < 2 ? value < extent[side]! : value > extent[side]!) extent[side] = value;
        if (!boxes) continue;
        boxes[4 * row + side] = value;
        buffer.view.setFloat64(boxAt + 8 * side, value, true);
      }
    }
    this.reportLosses();
    return { bytes: buffer.finish(), sizes, boxes, extent };
  }

  /** Writes a feature and sets its box. */
  private feature(batch: Batch, row: number, cells: ReturnType<typeof indexPresentCells>): void {
    const { buffer, box } = this;
    buffer.reserve(prefix.length);
    const start = buffer.at;
    for (let i = 0; i < prefix.length; i++) buffer.bytes[start + i] = prefix[i]!;
    buffer.at = start + prefix.length;
    clearBox(box);
    if (this.isWritable(batch, row)) {
      const table = this.geometry.write(batch.geometry, row);
      buffer.view.setUint32(start + geometryAt, table - (start + geometryAt), true);
    } else buffer.view.setUint16(start + vtableAt + 4, 0, true);
    buffer.align(4);
    const vector = buffer.zeros(4);
    if (cells) {
      for (let n = cells.starts[row]!; n < cells.starts[row + 1]!; n++) {
        const c = cells.columns[n]!;
        this.property(c, batch.columns[c]!, row);
      }
    } else for (let c = 0; c < batch.columns.length; c++) this.property(c, batch.columns[c]!, row);
    const size = buffer.at - vector - 4;
    if (size > 0) {
      buffer.view.setUint32(vector, size, true);
      buffer.view.setUint32(start + propertiesAt, vector - (start + propertiesAt), true);
    } else {
      buffer.at = vector;
      buffer.view.setUint16(start + vtableAt + 6, 0, true);
    }
    buffer.align(8);
    buffer.view.setUint32(start, buffer.at - start - 4, true);
  }

  /** Whether a feature has a geometry with positions that are numbers; sets its box. */
  private isWritable({ geometry }: Batch, row: number): boolean {
    if (geometry.kinds[row] === Kind.none) return false;
    if (isEmptyGeometry(geometry, row)) {
      this.empty++;
      return false;
    }
    if (widenBox(this.box, geometry, row)) return true;
    this.notFinite++;
    clearBox(this.box);
    return false;
  }

  private property(c: number, column: Column, row: number): void {
    if (column.presence[row] !== Presence.value) return;
    const { buffer } = this;
    if (isBytesColumn(column)) {
      this.bytesProperty(c, column, row);
      return;
    }
    buffer.reserve(10);
    const { view, at } = buffer;
    view.setUint16(at, c, true);
    switch (column.type) {
      case "boolean":
        view.setUint8(at + 2, column.values[row]!);
        buffer.at = at + 3;
        return;
      case "int32":
        view.setInt32(at + 2, column.values[row]!, true);
        buffer.at = at + 6;
        return;
      case "double":
        view.setFloat64(at + 2, column.values[row]!, true);
        break;
      default:
        view.setBigInt64(at + 2, column.values[row]!, true);
    }
    buffer.at = at + 10;
  }

  /** Length and bytes. */
  private bytesProperty(c: number, { type, bytes, offsets }: BytesColumn, row: number): void {
    const { buffer } = this;
    const from = offsets[row]!;
    let to = offsets[row + 1]!;
    let zoneFrom = to;
    if (type === "datetime" && to - from > maxDatetimeBytes) {
      this.cut[c]!++;
      zoneFrom = from + microsecondsBytes;
      while (zoneFrom < to && bytes[zoneFrom]! >= 48 && bytes[zoneFrom]! <= 57) zoneFrom++;
      to = from + microsecondsBytes;
    }
    const zoneBytes = offsets[row + 1]! - zoneFrom;
    const size = to - from + zoneBytes;
    buffer.reserve(6 + size);
    const { at, view } = buffer;
    view.setUint16(at, c, true);
    view.setUint32(at + 2, size, true);
    this.copy(bytes, from, to, at + 6);
    if (zoneBytes > 0) this.copy(bytes, zoneFrom, zoneFrom + zoneBytes, at + 6 + to - from);
    buffer.at = at + 6 + size;
  }

  private copy(bytes: Uint8Array, from: number, to: number, at: number): void {
    const into = this.buffer.bytes;
    if (to - from < 24) for (let i = from, k = at; i < to; i++, k++) into[k] = bytes[i]!;
    else into.set(bytes.subarray(from, to), at);
  }

  private reportLosses(): void {
    const { geometry, context, cut, design } = this;
    const report = (code: string, example: string, count: number) => {
      if (count > 0) context.reportLoss(code, undefined, example, count);
    };
    reportCoordinateLosses({ missingZ: geometry.missingZ, notFinite: this.notFinite }, context);
    report("geometry-empty", "a geometry without positions became null", this.empty);
    report("geometry-empty", "a member of a collection without positions was left out", geometry.emptyMembers);
    cut.forEach((count, c) => {
      if (count > 0)
        context.reportLoss("time-rounded", design.fields[c]!.name, "fractions beyond microseconds were cut", count);
    });
    cut.fill(0);
    geometry.missingZ = 0;
    geometry.emptyMembers = 0;
    this.empty = 0;
    this.notFinite = 0;
  }
}

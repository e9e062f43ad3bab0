import { type Box, clearBox, widenBox } from "../../../src/model/feature-box.js";
import { type Batch, type GeometryColumn, isLittleEndian, Kind } from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { reportCoordinateLosses, reportMissingCoordinates } from "../../shared/coordinate-losses.js";
import { dimensionsOf } from "../../shared/dimensions.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { ColumnEncoder, swapBytes, type Zones } from "./column-encoder.js";
import { ByteBuffer, type ColumnPart, presenceOf } from "./column-part.js";
import { boxSides, createLayout, type Layout, type WriteOptions } from "./layout.js";

/** A part for each leaf column. */
export interface ParquetChunk {
  readonly rows: number;
  /** The values of all columns. */
  readonly bytes: Uint8Array;
  readonly parts: readonly ColumnPart[];
  /** By field. */
  readonly zones: readonly Zones[];
  /** Of each row: `kind + 8 × (z + 2 m)`, 0 for null, and the box of its geometry; null without a geometry column. */
  readonly types: Uint8Array | null;
  readonly boxes: Float64Array | null;
}

const leastFloat = 2 ** -149;

/** Bytes of the length of a byte array, and of a point with it. */
const lengthBytes = 4;
const pointBytes = lengthBytes + 21;

export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<ParquetChunk>> {
  return new ParquetEncoder(createLayout(layer, options), context);
}

class ParquetEncoder implements Encoder<ParquetChunk> {
  private readonly buffer = new ByteBuffer();
  private readonly columns: ColumnEncoder;
  private readonly wkb = new WkbWriter();

  constructor(
    private readonly layout: Layout,
    private readonly context: WriteContext,
  ) {
    this.columns = new ColumnEncoder(context, this.buffer);
  }

  encode(batch: Batch): ParquetChunk {
    const { layout, buffer } = this;
    const rows = batch.length;
    buffer.at = 0;
    const zones: Zones[] = layout.fields.map(() => ({ utc: 0, local: 0 }));
    const parts = batch.columns.map((column, c) =>
      this.columns.encode(layout.fields[c]!.name, column, rows, zones[c]!),
    );
    if (layout.geometry === null) return { rows, bytes: buffer.copy(), parts, zones, types: null, boxes: null };
    const types = new Uint8Array(rows);
    const boxes = new Float64Array(4 * rows);
    const part = this.geometryPart(batch.geometry, types, boxes);
    parts.push(part);
    for (let side = 0; layout.box !== null && side < boxSides.length; side++)
      parts.push(this.boxPart(boxes, side, types, part.presence));
    return { rows, bytes: buffer.copy(), parts, zones, types, boxes };
  }

  /** WKB; sets the types and boxes of the rows. */
  private geometryPart(column: GeometryColumn, types: Uint8Array, boxes: Float64Array): ColumnPart {
    const { wkb, buffer } = this;
    const { length } = column;
    const ends = new Uint32Array(length + 1);
    const box: Box = new Float64Array(4);
    let notFinite = 0;
    const start = buffer.at;
    ends[0] = start;
    const arePlain = !column.z && !column.m;
    for (let row = 0; row < length; row++) {
      const kind = column.kinds[row]!;
      if (arePlain && kind === Kind.Point && this.plainPoint(column, row, boxes)) {
        types[row] = kind;
        ends[row + 1] = buffer.at;
        continue;
      }
      clearBox(box);
      if (kind !== Kind.none && !widenBox(box, column, row)) {
        notFinite++;
        clearBox(box);
      } else if (kind !== Kind.none) {
        const { z, m } = dimensionsOf(column, row);
        types[row] = kind + (z ? 8 : 0) + (m ? 16 : 0);
        const bytes = wkb.write(column, row, lengthBytes);
        bytes.writeUInt32LE(bytes.length - lengthBytes);
        buffer.append(bytes);
      }
      boxes.set(box, 4 * row);
      ends[row + 1] = buffer.at;
    }
    this.reportLosses(notFinite);
    return { presence: presenceOf(types.map((type) => Math.min(type, 1))), start, offsets: ends };
  }

  /** Fast path for the most common geometry. @returns false if it is not an XY point of numbers */
  private plainPoint(column: GeometryColumn, row: number, boxes: Float64Array): boolean {
    const { buffer } = this;
    const part = column.partOffsets[row]!;
    if (column.partOffsets[row + 1] === part) return false;
    const k = column.positionOffsets[column.ringOffsets[part]!]!;
    const x = column.xy[2 * k]!;
    const y = column.xy[2 * k + 1]!;
    // A number minus itself is 0 unless it is NaN or infinite.
    if (x - x + (y - y) !== 0) return false;
    buffer.reserve(pointBytes);
    const { view, at } = buffer;
    view.setUint32(at, pointBytes - lengthBytes, true);
    view.setUint8(at + 4, 1);
    view.setUint32(at + 5, Kind.Point, true);
    view.setFloat64(at + 9, x, true);
    view.setFloat64(at + 17, y, true);
    buffer.at = at + pointBytes;
    boxes[4 * row] = x;
    boxes[4 * row + 1] = y;
    boxes[4 * row + 2] = x;
    boxes[4 * row + 3] = y;
    return true;
  }

  private reportLosses(notFinite: number): void {
    reportMissingCoordinates(this.wkb, this.context);
    reportCoordinateLosses({ notFinite }, this.context);
  }

  /** One side of the boxes as floats. */
  private boxPart(boxes: Float64Array, side: number, types: Uint8Array, presence: Uint8Array | null): ColumnPart {
    const { buffer } = this;
    const start = buffer.at;
    const floats = sideOfBoxes(boxes, side, types);
    const bytes = new Uint8Array(floats.buffer, 0, floats.byteLength);
    if (!isLittleEndian) swapBytes(bytes, 4);
    buffer.append(bytes);
    return { presence: presence?.slice() ?? null, start, offsets: null };
  }
}

/** One side of the boxes, rounded outward; NaN for a geometry without positions. */
function sideOfBoxes(boxes: Float64Array, side: number, types: Uint8Array): Float32Array<ArrayBuffer> {
  const isLeast = side < boxSides.length / 2;
  const floats = new Float32Array(types.length);
  const bits = new Int32Array(floats.buffer);
  let count = 0;
  for (let row = 0; row < types.length; row++) {
    if (types[row] === 0) continue;
    const value = boxes[4 * row + side]!;
    floats[count] = value;
    const rounded = floats[count]!;
    if (isLeast ? rounded > value : rounded < value) {
      // The next float that is less, or greater.
      if (rounded === 0) floats[count] = isLeast ? -leastFloat : leastFloat;
      else bits[count] = bits[count]! + (rounded > 0 === isLeast ? -1 : 1);
    } else if (boxes[4 * row]! > boxes[4 * row + 2]!) floats[count] = Number.NaN;
    count++;
  }
  return floats.subarray(0, count);
}

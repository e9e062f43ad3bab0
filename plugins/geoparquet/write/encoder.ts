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
  readonly parts: readonly ColumnPart[];
  /** By field. */
  readonly zones: readonly Zones[];
  /** Of each row: `kind + 8 × (z + 2 m)`, 0 for null, and the box of its geometry; null without a geometry column. */
  readonly types: Uint8Array | null;
  readonly boxes: Float64Array | null;
}

const leastFloat = 2 ** -149;

/** The length of a point's WKB, its byte order and type. */
const pointHeader = [21, 0, 0, 0, 1, Kind.Point, 0, 0, 0];

export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<ParquetChunk>> {
  return new ParquetEncoder(createLayout(layer, options), context);
}

class ParquetEncoder implements Encoder<ParquetChunk> {
  private readonly columns: ColumnEncoder;
  private readonly wkb = new WkbWriter();
  private readonly buffer = new ByteBuffer();

  constructor(
    private readonly layout: Layout,
    private readonly context: WriteContext,
  ) {
    this.columns = new ColumnEncoder(context);
  }

  encode(batch: Batch): ParquetChunk {
    const { layout } = this;
    const rows = batch.length;
    const zones: Zones[] = layout.fields.map(() => ({ utc: 0, local: 0 }));
    const parts = batch.columns.map((column, c) =>
      this.columns.encode(layout.fields[c]!.name, column, rows, zones[c]!),
    );
    if (layout.geometry === null) return { rows, parts, zones, types: null, boxes: null };
    const types = new Uint8Array(rows);
    const boxes = new Float64Array(4 * rows);
    const part = this.geometryPart(batch.geometry, types, boxes);
    parts.push(part);
    for (let side = 0; layout.box !== null && side < boxSides.length; side++)
      parts.push(boxPart(boxes, side, types, part.presence));
    return { rows, parts, zones, types, boxes };
  }

  /** WKB; sets the types and boxes of the rows. */
  private geometryPart(column: GeometryColumn, types: Uint8Array, boxes: Float64Array): ColumnPart {
    const { wkb, buffer } = this;
    const { length } = column;
    const ends = new Uint32Array(length + 1);
    const box: Box = new Float64Array(4);
    let notFinite = 0;
    buffer.at = 0;
    for (let row = 0; row < length; row++) {
      const kind = column.kinds[row]!;
      if (kind === Kind.Point && this.plainPoint(column, row, boxes)) {
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
        const bytes = wkb.write(column, row);
        buffer.byteArray(bytes, 0, bytes.length);
      }
      boxes.set(box, 4 * row);
      ends[row + 1] = buffer.at;
    }
    this.reportLosses(notFinite);
    return { presence: presenceOf(types.map((type) => Math.min(type, 1))), values: buffer.copy(), offsets: ends };
  }

  /** Fast path for the most common geometry. @returns false if it is not an XY point of numbers */
  private plainPoint(column: GeometryColumn, row: number, boxes: Float64Array): boolean {
    const { buffer } = this;
    const part = column.partOffsets[row]!;
    if (column.z || column.m || column.partOffsets[row + 1] === part) return false;
    const k = column.positionOffsets[column.ringOffsets[part]!]!;
    const x = column.xy[2 * k]!;
    const y = column.xy[2 * k + 1]!;
    // A number minus itself is 0 unless it is NaN or infinite.
    if (x - x + (y - y) !== 0) return false;
    buffer.reserve(pointHeader.length + 16);
    const { bytes, at } = buffer;
    for (let i = 0; i < pointHeader.length; i++) bytes[at + i] = pointHeader[i]!;
    bytes.writeDoubleLE(x, at + pointHeader.length);
    bytes.writeDoubleLE(y, at + pointHeader.length + 8);
    buffer.at = at + pointHeader.length + 16;
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
}

/** One side of the boxes as floats, rounded outward; NaN for a geometry without positions. */
function boxPart(boxes: Float64Array, side: number, types: Uint8Array, presence: Uint8Array | null): ColumnPart {
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
  const values = new Uint8Array(count === floats.length ? floats.buffer : floats.slice(0, count).buffer);
  if (!isLittleEndian) swapBytes(values, 4);
  return { presence: presence?.slice() ?? null, values, offsets: null };
}

import { type Batch, type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { dimensionsOf } from "../../shared/dimensions.js";
import { type Box, clearBox, widenBox } from "../../shared/feature-box.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { ColumnEncoder, type Zones } from "./column-encoder.js";
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

const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);
const leastFloat = 2 ** -149;

/** The nearest float that is not greater; with `sign` −1, not less. */
function roundOutward(value: number, sign: 1 | -1): number {
  float[0] = value;
  const rounded = float[0]!;
  if (sign * rounded <= sign * value) return rounded;
  if (rounded === 0) return -sign * leastFloat;
  floatBits[0] = floatBits[0]! + (rounded > 0 === sign > 0 ? -1 : 1);
  return float[0]!;
}

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
    parts.push(this.geometryPart(batch.geometry, types, boxes));
    if (layout.box !== null) for (let side = 0; side < boxSides.length; side++) parts.push(boxPart(boxes, side, types));
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

  private reportLosses(notFinite: number): void {
    const { wkb, context } = this;
    if (wkb.missingZ > 0)
      context.reportLoss("z-missing", undefined, "a position without a height got the height 0", wkb.missingZ);
    if (wkb.missingM > 0)
      context.reportLoss("m-missing", undefined, "a position without a measure got the measure 0", wkb.missingM);
    if (notFinite > 0)
      context.reportLoss("non-finite-coordinates", undefined, "a geometry with NaN or infinity became null", notFinite);
    wkb.missingZ = 0;
    wkb.missingM = 0;
  }
}

/** One side of the boxes as floats, rounded outward; NaN for a geometry without positions. */
function boxPart(boxes: Float64Array, side: number, types: Uint8Array): ColumnPart {
  const sign = side < boxSides.length / 2 ? 1 : -1;
  const values = new Uint8Array(4 * types.length);
  const view = dataViewOf(values);
  let at = 0;
  for (let row = 0; row < types.length; row++) {
    if (types[row] === 0) continue;
    const isEmpty = boxes[4 * row]! > boxes[4 * row + 2]!;
    view.setFloat32(at, isEmpty ? Number.NaN : roundOutward(boxes[4 * row + side]!, sign), true);
    at += 4;
  }
  const presence = presenceOf(types.map((type) => Math.min(type, 1)));
  return { presence, values: presence ? values.slice(0, at) : values, offsets: null };
}

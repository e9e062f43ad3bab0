import { type Batch, type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { dimensionsOf } from "../../shared/dimensions.js";
import { type Box, clearBox, widenBox } from "../../shared/feature-box.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { ColumnEncoder, type Zones } from "./column-encoder.js";
import { boxSides, createLayout, type Layout, type WriteOptions } from "./layout.js";
import { type EncodedPage, PageBuffer } from "./page-encoder.js";

/** Geometries of a chunk, for the metadata. */
export interface GeometrySummary {
  /** By ISO WKB type modulo 1000 and dimensions: `kind + 8 × (z + 2 m)`, the number of geometries. */
  readonly types: Uint32Array;
  /** Min x, min y, max x, max y; min > max if there are no positions. */
  readonly box: Float64Array;
}

/** A page for each leaf column. */
export interface ParquetChunk {
  readonly rows: number;
  readonly pages: readonly EncodedPage[];
  readonly zones: readonly Zones[];
  readonly geometry: GeometrySummary;
}

const float = new Float32Array(1);
const floatBits = new Int32Array(float.buffer);

/** The nearest float that is not greater; with `sign` −1, not less. */
function roundOutward(value: number, sign: 1 | -1): number {
  float[0] = value;
  const rounded = float[0]!;
  if (sign * rounded <= sign * value) return rounded;
  if (rounded === 0) return sign * -1.401298464324817e-45;
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
  private readonly page = new PageBuffer();
  private readonly columns: ColumnEncoder;
  private readonly wkb = new WkbWriter();

  constructor(
    private readonly layout: Layout,
    private readonly context: WriteContext,
  ) {
    this.columns = new ColumnEncoder(this.page, layout.codec, context);
  }

  encode(batch: Batch): ParquetChunk {
    const { layout } = this;
    const zones: Zones[] = layout.fields.map(() => ({ utc: 0, local: 0 }));
    const pages = batch.columns.map((column, c) =>
      this.columns.encode(layout.fields[c]!.name, column, batch.length, zones[c]!),
    );
    const geometry = { types: new Uint32Array(32), box: emptyBox() };
    if (layout.geometry !== null) pages.push(...this.geometryPages(batch.geometry, geometry));
    return { rows: batch.length, pages, zones, geometry };
  }

  private geometryPages(column: GeometryColumn, summary: GeometrySummary): EncodedPage[] {
    const { page, wkb, layout } = this;
    const { length } = column;
    const isPresent = new Uint8Array(length);
    const boxes = new Float64Array(4 * length);
    const box: Box = emptyBox();
    let notFinite = 0;
    for (let row = 0; row < length; row++) {
      if (column.kinds[row] === Kind.none) continue;
      clearBox(box);
      if (!widenBox(box, column, row)) {
        notFinite++;
        continue;
      }
      isPresent[row] = 1;
      boxes.set(box, 4 * row);
      widen(summary.box, box);
    }
    const nulls = page.begin(isPresent);
    for (let row = 0; row < length; row++) {
      if (isPresent[row] === 0) continue;
      const { z, m } = dimensionsOf(column, row);
      const type = column.kinds[row]! + (z ? 8 : 0) + (m ? 16 : 0);
      summary.types[type] = summary.types[type]! + 1;
      const bytes = wkb.write(column, row);
      page.byteArray(bytes, 0, bytes.length);
    }
    const pages = [page.finish(layout.codec, length, nulls, null, null)];
    this.reportLosses(notFinite);
    if (layout.box !== null)
      for (let side = 0; side < 4; side++) pages.push(this.boxPage(boxes, side, isPresent, nulls));
    return pages;
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

  /** One side of the boxes as floats, rounded outward; NaN for a geometry without positions. */
  private boxPage(boxes: Float64Array, side: number, isPresent: Uint8Array, nulls: number): EncodedPage {
    const { page, layout } = this;
    const sign = side < boxSides.length / 2 ? 1 : -1;
    page.begin(isPresent);
    page.reserve(4 * isPresent.length);
    const { bytes } = page;
    let least = Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < isPresent.length; row++) {
      if (isPresent[row] === 0) continue;
      const isEmpty = boxes[4 * row]! > boxes[4 * row + 2]!;
      const value = isEmpty ? Number.NaN : roundOutward(boxes[4 * row + side]!, sign);
      if (value < least) least = value;
      if (value > greatest) greatest = value;
      page.at = bytes.writeFloatLE(value, page.at);
    }
    const hasValues = least <= greatest;
    return page.finish(
      layout.codec,
      isPresent.length,
      nulls,
      hasValues ? floatBytes(least === 0 ? -0 : least) : null,
      hasValues ? floatBytes(greatest === 0 ? 0 : greatest) : null,
    );
  }
}

function floatBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

export function emptyBox(): Float64Array {
  const box = new Float64Array(4);
  clearBox(box);
  return box;
}

export function widen(box: Float64Array, by: Float64Array): void {
  box[0] = Math.min(box[0]!, by[0]!);
  box[1] = Math.min(box[1]!, by[1]!);
  box[2] = Math.max(box[2]!, by[2]!);
  box[3] = Math.max(box[3]!, by[3]!);
}

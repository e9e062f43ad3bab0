import { type Batch, GeometryBuilder, type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import { type AttributeSettings, AttributeWriter } from "../../shared/json/attribute-writer.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";

/** The features of a batch. */
export interface TopologyChunk {
  /** A copy, without geometries that have a coordinate that is not a number. */
  readonly geometry: GeometryColumn;
  /** The members `id` and `properties` of all rows, each with a comma before it, and the end of each row. */
  readonly attributes: Uint8Array;
  readonly ends: Uint32Array;
}

export class TopologyEncoder {
  private readonly out = new TextBuffer(1 << 14);
  private readonly attributes: AttributeWriter;

  constructor(
    settings: AttributeSettings,
    private readonly context: Pick<WriteContext, "reportLoss">,
  ) {
    this.attributes = new AttributeWriter(this.out, settings, context);
  }

  encode(batch: Batch): TopologyChunk {
    const { out, attributes } = this;
    const { geometry, length } = batch;
    const ends = new Uint32Array(length);
    attributes.begin(batch);
    for (let row = 0; row < length; row++) {
      attributes.id(row);
      out.ascii(',"properties":{');
      attributes.properties(row);
      out.ascii("}");
      ends[row] = out.length;
    }
    const kept = new GeometryBuilder();
    let infinite = 0;
    for (let row = 0; row < length; row++) {
      if (isFiniteGeometry(geometry, row)) kept.copy(geometry, row);
      else {
        kept.addNull();
        infinite++;
      }
    }
    if (infinite > 0) {
      const example = "a geometry with a coordinate that is not a number became null";
      this.context.reportLoss("non-finite-value", undefined, example, infinite);
    }
    return { geometry: kept.finish(), attributes: out.finish(), ends };
  }
}

function isFiniteGeometry(column: GeometryColumn, row: number): boolean {
  const { partOffsets, ringOffsets, positionOffsets, xy, kinds, members, memberOffsets } = column;
  const to = positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
  for (let k = positionOffsets[ringOffsets[partOffsets[row]!]!]!; k < to; k++)
    if (!Number.isFinite(xy[2 * k]) || !Number.isFinite(xy[2 * k + 1])) return false;
  if (kinds[row] !== Kind.GeometryCollection || !members || !memberOffsets) return true;
  for (let m = memberOffsets[row]!; m < memberOffsets[row + 1]!; m++) if (!isFiniteGeometry(members, m)) return false;
  return true;
}

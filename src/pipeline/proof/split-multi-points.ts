import type { Batch } from "../../model/batch.js";
import { type GeometryColumn, Kind, positionRange } from "../../model/geometry.js";
import { GeometryBuilder } from "../../model/geometry-builder.js";

/** Returns the batch with a feature for each position of a MultiPoint, as formats without this type store them. */
export function splitMultiPoints(batch: Batch): Batch {
  const { geometry } = batch;
  if (!geometry.kinds.includes(Kind.MultiPoint)) return batch;
  const rows: number[] = [];
  const points = new GeometryBuilder();
  for (let row = 0; row < batch.length; row++) {
    const [from, to] = positionRange(geometry, row);
    if (geometry.kinds[row] !== Kind.MultiPoint || from === to) {
      points.copy(geometry, row);
      rows.push(row);
    } else {
      for (let k = from; k < to; k++) {
        addPoint(points, geometry, k);
        rows.push(row);
      }
    }
  }
  return batch.take(Uint32Array.from(rows)).with({ geometry: points.finish() });
}

function addPoint(points: GeometryBuilder, { xy, z, m }: GeometryColumn, k: number): void {
  points.beginSinglePart(Kind.Point);
  points.addPositionZM(xy[2 * k]!, xy[2 * k + 1]!, z?.[k] ?? Number.NaN, m?.[k] ?? Number.NaN);
  points.end();
}

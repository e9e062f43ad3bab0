import type { Batch } from "../../model/batch.js";
import type { GeometryColumn } from "../../model/geometry.js";
import type { Stage } from "../stage.js";

function swapColumn(geometry: GeometryColumn): GeometryColumn {
  const xy = new Float64Array(geometry.xy.length);
  for (let k = 0; k < xy.length; k += 2) {
    xy[k] = geometry.xy[k + 1]!;
    xy[k + 1] = geometry.xy[k]!;
  }
  return { ...geometry, xy, boxes: null, members: geometry.members && swapColumn(geometry.members) };
}

/** Exchanges x and y of every position, for a source that wrote latitude first. */
export function build(): Stage {
  return { apply: (batch: Batch) => batch.with({ geometry: swapColumn(batch.geometry) }) };
}

import type { Batch } from "../model/batch.js";
import { isSound, SoundCopy } from "../model/degenerate.js";
import { GeometryBuilder } from "../model/geometry-builder.js";
import { keepRows } from "./rows.js";
import type { Settings } from "./settings.js";
import type { Stage, StageContext } from "./stage.js";

export interface DropDegenerateSettings {
  /** Lines of one position stay: for targets that have them, such as the track segments of GPX. */
  readonly shortLines: boolean;
}

/**
 * Leaves out what no standard has a place for: lines of one position, rings of fewer than four. Valid batches pass
 * as they are.
 *
 * - loss `degenerate-part`: lines, holes, polygons of a multi geometry and members of a collection left out;
 * - reject `degenerate-geometry`: nothing else is left of the geometry;
 * - notice `ring-closed`: rings that did not end where they began;
 * - notice `empty-part`: parts without positions left out.
 */
export function build(settings: Settings, context: StageContext): Stage {
  const leastLine = settings.shortLines === true ? 1 : 2;
  return {
    apply: (batch) => (isSound(batch.geometry, leastLine) ? batch : dropDegenerate(batch, leastLine, context)),
  };
}

export function dropDegenerate(batch: Batch, leastLine: number, context: StageContext): Batch {
  const builder = new GeometryBuilder();
  const copy = new SoundCopy(leastLine);
  const keep = new Uint8Array(batch.length).fill(1);
  for (let row = 0; row < batch.length; row++) {
    const reason = copy.add(batch.geometry, row, builder);
    if (reason === null) continue;
    builder.none();
    keep[row] = 0;
    const place = { record: batch.recordAt(row) };
    context.reject({ code: "degenerate-geometry", reason, place, feature: batch.featureAt(row) });
  }
  if (copy.dropped > 0) context.lose("degenerate-part", undefined, `${copy.example} was left out`, copy.dropped);
  if (copy.closed > 0) {
    context.notice("ring-closed", undefined, "the first position was repeated at the end", copy.closed);
  }
  if (copy.empty > 0) context.notice("empty-part", undefined, "a part without positions was left out", copy.empty);
  return keepRows(batch.with({ geometry: builder.finish() }), keep);
}

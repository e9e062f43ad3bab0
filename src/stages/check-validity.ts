import type { Batch } from "../model/batch.js";
import { validityChecker } from "./make-valid.js";
import { keepRows } from "./rows.js";
import type { Settings } from "./settings.js";
import type { Stage, StageContext } from "./stage.js";

/** Rejects features whose geometry is not valid (OGC 06-103r4, 6.1.11 for polygons), with what is wrong and where. */
export async function build(_: Settings, context: StageContext): Promise<Stage> {
  const problem = await validityChecker();
  return {
    apply(batch: Batch): Batch {
      const keep = new Uint8Array(batch.length).fill(1);
      for (let row = 0; row < batch.length; row++) {
        const found = problem(batch.geometry, row);
        if (found === null) continue;
        keep[row] = 0;
        const place = { record: batch.recordAt(row) };
        context.reject({ code: "invalid-geometry", reason: found, place, feature: batch.featureAt(row) });
      }
      return keepRows(batch, keep);
    },
  };
}

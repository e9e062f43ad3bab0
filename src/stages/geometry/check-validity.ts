import type { Batch } from "../../model/batch.js";
import { type GeometryFault, rejectGeometries } from "../rows.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";
import { validityChecker } from "./make-valid.js";

/** Rejects features whose geometry is not valid (OGC 06-103r4, 6.1.11 for polygons), with what is wrong and where. */
export async function build(_: StageSettings, context: StageContext): Promise<Stage> {
  const problem = await validityChecker();
  return {
    apply(batch: Batch): Batch {
      const faults = new Map<number, GeometryFault>();
      for (let row = 0; row < batch.length; row++) {
        const reason = problem(batch.geometry, row);
        if (reason !== null) faults.set(row, { code: "geometry-invalid", reason });
      }
      return rejectGeometries(batch, faults, context);
    },
  };
}

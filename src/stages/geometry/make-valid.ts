import type { Batch } from "../../model/batch.js";
import { rejectGeometries } from "../rows.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";
import { repairColumn } from "./valid/repair.js";
import { loadGeos } from "./valid/validity.js";

export { validityChecker, validityProblem } from "./valid/validity.js";

const firstReason = (reasons: ReadonlyMap<number, string>): string => reasons.values().next().value ?? "";

/**
 * Repairs invalid lines and polygons; valid ones are not changed at all. A polygon stays polygonal, possibly with several
 * parts; overlaps stay area, and heights are interpolated at new vertices.
 *
 * - notice `made-valid`: features repaired;
 * - loss `collapsed-part`: parts that were no more than a point or a line were left out of these;
 * - loss `m-dropped`: repaired features lose their measures;
 * - reject `not-repairable`: nothing of the geometry's dimension is left, or a position is not finite.
 */
export async function build(_settings: StageSettings, context: StageContext): Promise<Stage> {
  const geos = await loadGeos();
  return {
    apply(batch: Batch): Batch {
      const repair = repairColumn(geos, batch.geometry);
      if (!repair) return batch;
      const { column, repaired, failed, collapsed, lostMeasures } = repair;
      if (repaired.size > 0) context.reportNotice("made-valid", undefined, firstReason(repaired), repaired.size);
      if (collapsed.size > 0) {
        const example = "parts without area, or lines without length, were left out of repaired geometries";
        context.reportLoss("collapsed-part", undefined, example, collapsed.size);
      }
      if (lostMeasures.size > 0) {
        context.reportLoss("m-dropped", undefined, "repaired geometries have no measures", lostMeasures.size);
      }
      const faults = new Map([...failed].map(([row, reason]) => [row, { code: "not-repairable", reason }]));
      return rejectGeometries(batch.with({ geometry: column }), faults, context, batch);
    },
  };
}

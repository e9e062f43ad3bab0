import type { Batch } from "../../model/batch.js";
import { DegeneratePartFilter, type GeometryRequirements, meetsRequirements } from "../../model/degenerate-parts.js";
import { GeometryBuilder } from "../../model/geometry-builder.js";
import { type GeometryFault, rejectGeometries } from "../rows.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface DropDegenerateSettings {
  /** Lines of one position stay: for targets that have them, such as the track segments of GPX. */
  readonly shortLines: boolean;
  /** Whether the target has heights, so that the last position of a ring must have the height of the first (RFC 7946, 3.1.6). */
  readonly z?: boolean;
}

/**
 * Removes parts that no standard allows: lines of one position, rings of fewer than four. Valid batches pass unchanged.
 *
 * - loss `degenerate-part`: lines, holes, polygons of a multi geometry and members of a collection left out;
 * - reject `degenerate-geometry`: nothing else is left of the geometry;
 * - notice `ring-closed`: rings that did not end where they began;
 * - notice `empty-part`: parts without positions left out.
 */
export function build(settings: StageSettings, context: StageContext): Stage {
  const needs = { minLinePositions: settings.shortLines === true ? 1 : 2, closesRingsInZ: settings.z === true };
  return {
    apply: (batch) => (meetsRequirements(batch.geometry, needs) ? batch : dropDegenerate(batch, needs, context)),
  };
}

/** Notes what was closed and what was empty in the features copied. */
export function reportRepairs({ closed, empty }: DegeneratePartFilter, context: StageContext): void {
  if (closed > 0) context.reportNotice("ring-closed", undefined, "the first position was repeated at the end", closed);
  if (empty > 0) context.reportNotice("empty-part", undefined, "a part without positions was left out", empty);
}

export function dropDegenerate(batch: Batch, needs: GeometryRequirements, context: StageContext): Batch {
  const builder = new GeometryBuilder();
  const copy = new DegeneratePartFilter(needs);
  const faults = new Map<number, GeometryFault>();
  for (let row = 0; row < batch.length; row++) {
    const reason = copy.add(batch.geometry, row, builder);
    if (reason === null) continue;
    builder.addNull();
    faults.set(row, { code: "degenerate-geometry", reason });
  }
  if (copy.dropped > 0) context.reportLoss("degenerate-part", undefined, `${copy.example} was left out`, copy.dropped);
  reportRepairs(copy, context);
  return rejectGeometries(batch.with({ geometry: builder.finish() }), faults, context, batch);
}

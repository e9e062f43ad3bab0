import type { WriteContext } from "../../src/plugin/format.js";

type LossContext = Pick<WriteContext, "reportLoss">;

/** Counts of what a writer could not write of the coordinates of some features. */
export interface CoordinateLosses {
  /** Positions whose missing height became 0. */
  readonly missingZ?: number;
  /** Positions whose missing measure became 0. */
  readonly missingM?: number;
  /** Geometries with NaN or infinite coordinates, which became null. */
  readonly notFinite?: number;
}

export function reportCoordinateLosses(
  { missingZ = 0, missingM = 0, notFinite = 0 }: CoordinateLosses,
  context: LossContext,
): void {
  if (missingZ > 0)
    context.reportLoss("z-missing", undefined, "a position without a height got the height 0", missingZ);
  if (missingM > 0)
    context.reportLoss("m-missing", undefined, "a position without a measure got the measure 0", missingM);
  if (notFinite > 0)
    context.reportLoss("non-finite-coordinates", undefined, "a geometry with NaN or infinity became null", notFinite);
}

/** Reports the missing heights and measures that a writer of WKB or WKT has counted, and resets its counters. */
export function reportMissingCoordinates(writer: { missingZ: number; missingM: number }, context: LossContext): void {
  reportCoordinateLosses(writer, context);
  writer.missingZ = 0;
  writer.missingM = 0;
}

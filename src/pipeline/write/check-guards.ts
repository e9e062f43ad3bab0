import { createError } from "../../errors.js";
import type { ConversionContext } from "../conversion-context.js";
import { checkGeometryFound } from "../input/check-geometry.js";
import { enforceThresholds } from "../plan/thresholds.js";
import { describeKept, describeLoss, describeSkippedRange } from "../report.js";

/**
 * Checks everything that can fail a conversion after its features were written and before its files get their names.
 * @throws crs-no-operation, guard-rejects, geometry-missing, lossy, guard-decrease, guard-losses, guard-without-geometry
 */
export async function checkGuards(conversion: ConversionContext): Promise<void> {
  const { request, inputLayers, reportBuilder, rejectsFile } = conversion;
  await reportBuilder.checkAnyTransformed();
  await rejectsFile.checkShare(reportBuilder.read);
  checkGeometryFound(inputLayers, reportBuilder.geometryCounts, request, reportBuilder.notices.list());
  if (request.strict) refuseLosses(conversion);
  enforceThresholds(request, reportBuilder);
}

/** @throws lossy */
function refuseLosses({ reportBuilder, rejectsFile }: ConversionContext): void {
  const losses = [
    ...reportBuilder.skippedRanges.map(describeSkippedRange),
    ...reportBuilder.losses.list().map(describeLoss),
    ...describeKept(rejectsFile),
  ];
  if (losses.length > 0) throw createError("lossy", { losses });
}

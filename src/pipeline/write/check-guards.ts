import { createError } from "../../errors.js";
import type { ConversionContext } from "../conversion-context.js";
import { checkGeometryFound } from "../input/check-geometry.js";
import { enforceThresholds } from "../plan/thresholds.js";
import { describeKept, describeLoss, describeSkippedRange } from "../report.js";

/**
 * Checks everything that can fail a conversion after its features were written and before its files get their names.
 * @throws crs-no-operation, guard-rejects, geometry-missing, axis-order-suspected, lossy, guard-decrease, guard-losses, guard-without-geometry
 */
export async function checkGuards(conversion: ConversionContext): Promise<void> {
  const { request, inputLayers, reportBuilder, rejectsFile } = conversion;
  await reportBuilder.checkAnyTransformed();
  await rejectsFile.checkShare(reportBuilder.read);
  checkGeometryFound(inputLayers, reportBuilder.geometryCounts, request, reportBuilder.notices.list());
  if (request.strict) {
    refuseSuspectedOrder(conversion);
    refuseLosses(conversion);
  }
  enforceThresholds(request, reportBuilder);
}

/**
 * Refuses inputs of which every feature is in the area of use of its reference system only after swapping x and y.
 * @throws axis-order-suspected
 */
function refuseSuspectedOrder({ inputLayers, reportBuilder: { geometryCounts, notices } }: ConversionContext): void {
  const suspected = notices.list().filter(({ code }) => code === "axis-order-suspected");
  const count = suspected.reduce((sum, notice) => sum + notice.count, 0);
  const located = inputLayers.reduce((sum, layer) => sum + (geometryCounts.get(layer)?.withGeometry ?? 0), 0);
  if (count === 0 || count < located || notices.list().some(({ code }) => code === "outside-crs-area")) return;
  const source = [...new Set(inputLayers.map(({ source }) => source.name))].join(", ");
  throw createError("axis-order-suspected", { source, note: suspected[0]!.example });
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

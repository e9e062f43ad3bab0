import { createError, type ReadContext, type Source } from "../../src/plugin/index.js";

/**
 * Refuses a saved answer of an ArcGIS service that says `exceededTransferLimit`; with `--skip-errors` its missing features
 * are a skipped range.
 * @throws input-corrupt
 */
export function refuseCutAnswer({ name: source }: Source, context: ReadContext): void {
  const reason =
    "the service that made it left features out, because they were more than it sends at once (exceededTransferLimit)";
  if (!context.skipErrors)
    throw createError("input-corrupt", {
      source,
      reason: `${reason}; name the address of the layer, such as https://host/…/FeatureServer/0, instead of this file`,
      canSkip: true,
    });
  context.skipRange({ source, place: {}, bytes: null, reason });
}

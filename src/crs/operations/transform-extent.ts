import type { Extent } from "../../model/geometry.js";
import { extentOfPositions, sampleExtent } from "./extent-samples.js";
import type { Operation } from "./operation.js";
import { buildTransform } from "./transform.js";

/**
 * Transforms an extent: samples its edges, which may become curves, and its inside, where a pole may lie. Null if no sample
 * can be transformed.
 */
export async function transformExtent(extent: Extent, operation: Operation): Promise<Extent | null> {
  if (operation.kind === "identity") return extent;
  const xy = sampleExtent(extent);
  const transform = await buildTransform(operation);
  transform(xy, null);
  return extentOfPositions(xy);
}

import type { Extent } from "../../model/geometry.js";
import { extentOfPositions, sampleExtent } from "./extent-samples.js";
import type { Operation } from "./operation.js";
import { buildTransform } from "./transform.js";

/**
 * The box around what a box becomes: of its edges, which may become curves, and of its inside, since a pole may lie
 * there. Null if none of it can be transformed. Between systems that wrap it is the box of what does not.
 */
export async function transformExtent(extent: Extent, operation: Operation): Promise<Extent | null> {
  if (operation.kind === "identity") return extent;
  const xy = sampleExtent(extent);
  const transform = await buildTransform(operation);
  transform(xy, null);
  return extentOfPositions(xy);
}

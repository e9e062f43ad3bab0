import { crsContext, findOperation, isWgs84 } from "../crs/index.js";
import { GeoferryError } from "../errors.js";
import type { Crs } from "../model/layer.js";
import type { ToDegrees } from "./changes/movement.js";

/**
 * A function that converts positions of a system to longitude and latitude, for distances and maps; null for an unknown
 * system. If no transformation of the datum is known, the datum is kept: a distance does not depend on it.
 */
export async function createToDegrees(crs: Crs | null): Promise<ToDegrees> {
  if (crs === null) return null;
  if (isWgs84(crs)) return () => {};
  const { buildGeographicTransform, buildTransform } = await import("../crs/operations/transform.js");
  try {
    const operation = await findOperation(crs, crsContext.wgs84, { accuracy: Number.POSITIVE_INFINITY });
    const transform = await buildTransform(operation);
    return (xy) => {
      transform(xy, null);
    };
  } catch (error) {
    if (!(error instanceof GeoferryError)) throw error;
    return buildGeographicTransform(crs);
  }
}

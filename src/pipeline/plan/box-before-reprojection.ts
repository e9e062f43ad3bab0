/** Where points were before a reprojection that moves them into a box. */
import { findOperation, type Operation } from "../../crs/index.js";
import { extentOfPositions, sampleExtent, samplesPerSide } from "../../crs/operations/extent-samples.js";
import { buildTransform } from "../../crs/operations/transform.js";
import { GeoferryError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";

/**
 * Added on each side, in degrees or units of the system: the way back may use another datum transformation, whose results
 * differ by hundreds of metres at most.
 */
const margins: Readonly<Record<Crs["kind"], number>> = { geographic: 0.05, projected: 5000, other: Number.NaN };
/** Meters: any operation will do, thanks to the margin. */
const anyAccuracy = 1000;
/** Neighboring samples farther apart are beside a pole or on both sides of the antimeridian. */
const maxStepDegrees = 20;

/**
 * A box in the source of an operation that has all points which the operation moves into `box`; null if that is not sure.
 * It has not all lines and polygons: their straight edges become other ones. Samples of the box are moved back, and the
 * distance to the next sample is added, which is far more than a smooth transformation bends between two samples.
 */
export async function boxBeforeReprojection(box: Extent, { from, to }: Operation): Promise<Extent | null> {
  if (box[0] > box[2]) return null;
  const xy = sampleExtent(box);
  try {
    const back = await findOperation(to, from, { accuracy: anyAccuracy, allowBallpark: true });
    if ((await buildTransform(back))(xy, null) > 0 || xy.some((value) => !Number.isFinite(value))) return null;
  } catch (error) {
    if (error instanceof GeoferryError) return null;
    throw error;
  }
  const [stepX, stepY] = greatestSteps(xy);
  const isGeographic = from.kind === "geographic";
  if (isGeographic && Math.max(stepX, stepY) > maxStepDegrees) return null;
  const extent = extentOfPositions(xy);
  if (extent === null) return null;
  const [dx, dy] = [stepX + margins[from.kind], stepY + margins[from.kind]];
  const wide: Extent = [extent[0] - dx, extent[1] - dy, extent[2] + dx, extent[3] + dy];
  if (wide.some((side) => !Number.isFinite(side))) return null;
  return isGeographic && (wide[1] <= -90 || wide[3] >= 90) ? null : wide;
}

/** The greatest differences of x and of y between neighboring samples. */
function greatestSteps(xy: Float64Array): readonly [x: number, y: number] {
  const steps: [number, number] = [0, 0];
  const count = xy.length / 2;
  for (let k = 0; k < count; k++) {
    for (const other of [(k + 1) % samplesPerSide === 0 ? k : k + 1, k + samplesPerSide]) {
      if (other >= count) continue;
      steps[0] = Math.max(steps[0], Math.abs(xy[2 * other]! - xy[2 * k]!));
      steps[1] = Math.max(steps[1], Math.abs(xy[2 * other + 1]! - xy[2 * k + 1]!));
    }
  }
  return steps;
}

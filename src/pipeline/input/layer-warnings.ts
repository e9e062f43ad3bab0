/** Warnings about a layer that its summary shows. */
import { areaOfUse, crsContext, findOperation, isWgs84, transformExtent, zoneAdviceFor } from "../../crs/index.js";
import { adviseCoordinateOptions } from "../../errors/format-reader-option.js";
import { GeoferryError } from "../../errors.js";
import type { Crs, Extent, LayerSummary } from "../../model/index.js";
import type { Layer } from "../../model/layer.js";
import { extentsOverlap, suspectSwap } from "../../stages/suspect-swap.js";

/** The existing map that the inputs would be added to. */
export interface ExistingMapData {
  /** `map:ID` */
  readonly name: string;
  /** In degrees of longitude and latitude; null if it has no coordinates. */
  readonly extent: Extent | null;
}

/**
 * Returns the warnings, one sentence each.
 * @param namesCrs whether the source names a reference system, even an unknown one
 */
export async function findWarnings(
  crs: Crs | null,
  { extent, featureCount: count, kinds, fields }: LayerSummary,
  thorough: boolean,
  namesCrs = false,
): Promise<string[]> {
  const found: string[] = [];
  const nulls = kinds[0]!.count;
  if (count === 0) found.push("the layer has no features");
  if (crs === null && extent && !namesCrs) found.push(await explainMissingCrs(extent));
  if (nulls > 0 && nulls < count) found.push(`${nulls} of ${count} features have no geometry`);
  if (extent) {
    const swap = await explainSwap(crs, extent);
    if (swap !== null) found.push(swap);
    else if (crs && isWgs84(crs) && exceedsDegrees(extent))
      found.push("coordinates exceed 180 or 90 degrees: the coordinate reference system may be wrong (--source-crs)");
  }
  // A thorough check reports each position instead.
  if (!thorough && crs?.kind === "projected" && extent) found.push(...(await explainUnmappable(crs, extent)));
  const empty = fields.filter((field) => field.values === 0).map((field) => field.name);
  if (empty.length > 0 && count > 0) found.push(`fields without values: ${empty.join(", ")}`);
  return found;
}

/** Why x and y seem to be swapped in longitudes and latitudes; null if they do not. */
export async function explainSwap(crs: Crs | null, extent: Extent): Promise<string | null> {
  if (crs !== null && crs.kind !== "geographic") return null;
  const swap = suspectSwap({ extent }, { areaOfUse: crs && (await areaOfUse(crs)) });
  if (swap === "sure")
    return "x and y may be swapped: latitudes exceed 90 degrees, and all coordinates are in range after swapping (--swap-xy); if only single positions are wrong, correct them";
  return swap === "suspected"
    ? "x and y may be swapped: only the swapped extent lies in the area of use (--swap-xy)"
    : null;
}

/** The four corners of an extent. */
const cornersOf = ([minX, minY, maxX, maxY]: Extent) => Float64Array.of(minX, minY, maxX, minY, minX, maxY, maxX, maxY);

/** Explains a missing CRS as a conversion would. */
async function explainMissingCrs(extent: Extent): Promise<string> {
  const missing = "the layer declares no coordinate reference system";
  const [x, y] = extent;
  if (!exceedsDegrees(extent) || suspectSwap({ extent }, { areaOfUse: null }) === "sure") return missing;
  const advice = await zoneAdviceFor(x, y);
  return `${missing}, and the coordinates are not longitude and latitude: set it with --source-crs${advice && `; ${advice}`}`;
}

/** Warns if no corner of the extent is a valid position in a projected system. */
async function explainUnmappable(crs: Crs, extent: Extent): Promise<string[]> {
  const { buildGeographicTransform, createZoneAdviser } = await import("../../crs/operations/transform.js");
  const corners = cornersOf(extent);
  const locate = await buildGeographicTransform(crs);
  locate?.(corners);
  if (locate === null || corners.some((angle) => !Number.isNaN(angle))) return [];
  const [x, y] = extent;
  const advice = (await createZoneAdviser(crs))(x, y);
  return [
    `${x}, ${y} is not a valid position in ${crs.id ?? crs.name}: the coordinate reference system may be wrong${advice && `; ${advice}`}`,
  ];
}

/** Names the columns of a table that look like coordinates, and the options that read points from them. */
export const coordinateAdvice = ({ likelyCoordinateFields = [] }: Layer): string[] =>
  likelyCoordinateFields.map(
    ([x, y, order]) =>
      `"${x}" and "${y}" look like coordinates but are read as attributes: ${adviseCoordinateOptions(x, y, order)}`,
  );

/** Warns if the extent of the layer does not overlap that of the existing map. */
export async function warnIfDisjoint(
  crs: Crs | null,
  extent: Extent | null,
  existing: ExistingMapData | undefined,
): Promise<string[]> {
  if (!existing?.extent || !extent) return [];
  const geographic = crs === null || crs.kind === "geographic";
  const degrees = geographic ? extent : await extentInDegrees(crs, extent);
  if (degrees === null || extentsOverlap(degrees, existing.extent)) return [];
  const boxes = `the extent ${formatExtent(degrees)} does not overlap that of ${existing.name}, ${formatExtent(existing.extent)}`;
  const swap = geographic ? suspectSwap({ extent }, { existingExtent: existing.extent }) : null;
  // `findWarnings` already reports this case.
  if (swap === "sure") return [];
  return [swap === null ? boxes : `x and y may be swapped: ${boxes}, but the swapped extent does (--swap-xy)`];
}

/** Null if there is no operation to degrees. */
async function extentInDegrees(crs: Crs, extent: Extent): Promise<Extent | null> {
  try {
    return await transformExtent(extent, await findOperation(crs, crsContext.wgs84, { accuracy: 1000 }));
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "crs-no-operation") return null;
    throw error;
  }
}

const formatExtent = (extent: Extent): string => `[${extent.map((value) => Number(value.toFixed(4))).join(", ")}]`;

const exceedsDegrees = ([minX, minY, maxX, maxY]: Extent): boolean =>
  minX < -180 || minY < -90 || maxX > 180 || maxY > 90;

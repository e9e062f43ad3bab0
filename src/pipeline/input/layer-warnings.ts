/** What is suspicious about a layer, as far as what all its features say together shows it. */
import { areaOfUse, crsContext, findOperation, isWgs84, transformExtent, zoneAdviceFor } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import { formatCoordinateOptions } from "../../format-reader-option.js";
import type { Crs, Extent, LayerSummary } from "../../model/index.js";
import type { Layer } from "../../model/layer.js";
import { extentsOverlap, suspectSwap } from "../../stages/suspect-swap.js";

/** What the inputs are to be added to. */
export interface ExistingMapData {
  /** What it is called: `map:ID`. */
  readonly name: string;
  /** In degrees of longitude and latitude; null where it has no position. */
  readonly extent: Extent | null;
}

/**
 * What a person should look at in a layer, a sentence each.
 * @param namesCrs the source names a reference system, be it an unknown one
 */
export async function findWarnings(
  crs: Crs | null,
  { extent, featureCount: count, kinds, fields }: LayerSummary,
  thorough: boolean,
  namesCrs = false,
): Promise<string[]> {
  const found: string[] = [];
  const nulls = kinds[0]!.count;
  if (count === 0) found.push("there is no feature in it");
  if (crs === null && extent && !namesCrs) found.push(await explainMissingCrs(extent));
  if (nulls > 0 && nulls < count) found.push(`${nulls} of ${count} features have no geometry`);
  if (extent) {
    const geographic = crs === null || crs.kind === "geographic";
    const swap = geographic ? suspectSwap({ extent }, { areaOfUse: crs && (await areaOfUse(crs)) }) : null;
    if (swap === "sure") found.push("x and y are swapped: latitudes beyond 90 degrees that swapping cures (--swap-xy)");
    else if (swap === "suspected")
      found.push(
        "x and y may be swapped: the swapped extent lies in the area of use, the plain one does not (--swap-xy)",
      );
    else if (crs && isWgs84(crs) && exceedsDegrees(extent))
      found.push("coordinates lie beyond 180 or 90 degrees: the coordinate reference system may be another");
  }
  // Who looks at every position says it of each.
  if (!thorough && crs?.kind === "projected" && extent) found.push(...(await explainUnmappable(crs, extent)));
  const empty = fields.filter((field) => field.values === 0).map((field) => field.name);
  if (empty.length > 0 && count > 0) found.push(`without any value: ${empty.join(", ")}`);
  return found;
}

/** The least and the greatest position, between which the others lie. */
const cornersOf = ([minX, minY, maxX, maxY]: Extent) => Float64Array.of(minX, minY, maxX, minY, minX, maxY, maxX, maxY);

/** What a conversion refuses such coordinates for, in its words. */
async function explainMissingCrs(extent: Extent): Promise<string> {
  const said = "it does not say its coordinate reference system";
  const [x, y] = extent;
  if (!exceedsDegrees(extent) || suspectSwap({ extent }, { areaOfUse: null }) === "sure") return said;
  const advice = await zoneAdviceFor(x, y);
  return `${said}, and it is not plain longitude and latitude: name it with --source-crs${advice && `; ${advice}`}`;
}

/** A projected system that has no place for any corner. */
async function explainUnmappable(crs: Crs, extent: Extent): Promise<string[]> {
  const { buildGeographicTransform, createZoneAdviser } = await import("../../crs/operations/transform.js");
  const corners = cornersOf(extent);
  const locate = await buildGeographicTransform(crs);
  locate?.(corners);
  if (locate === null || corners.some((angle) => !Number.isNaN(angle))) return [];
  const [x, y] = extent;
  const advice = (await createZoneAdviser(crs))(x, y);
  return [
    `${x}, ${y} is no position in ${crs.id ?? crs.name}: the coordinate reference system may be another${advice && `; ${advice}`}`,
  ];
}

/** Columns of a table without geometry that look like coordinates, and how to take them. */
export const coordinateAdvice = ({ likelyCoordinateFields = [] }: Layer): string[] =>
  likelyCoordinateFields.map(
    ([x, y]) =>
      `"${x}" and "${y}" look like coordinates, and are attributes: ${formatCoordinateOptions(x, y)} makes points of them`,
  );

/** The same, where it does not lie where that lies to which it is to be added. */
export async function warnIfDisjoint(
  crs: Crs | null,
  extent: Extent | null,
  held: ExistingMapData | undefined,
): Promise<string[]> {
  if (!held?.extent || !extent) return [];
  const geographic = crs === null || crs.kind === "geographic";
  const degrees = geographic ? extent : await extentInDegrees(crs, extent);
  if (degrees === null || extentsOverlap(degrees, held.extent)) return [];
  const boxes = `its extent ${formatExtent(degrees)} does not meet that of ${held.name}, ${formatExtent(held.extent)}`;
  const swap = geographic ? suspectSwap({ extent }, { existingExtent: held.extent }) : null;
  // That x and y are surely swapped is said already.
  if (swap === "sure") return [];
  return [swap === null ? boxes : `x and y may be swapped: ${boxes}, and swapped it does (--swap-xy)`];
}

/** Null where it is not known what the coordinates are in degrees. */
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

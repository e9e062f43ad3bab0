/** Detects whether latitude precedes longitude in a source before anything is sent. */
import { areaOfUse, hasSameDefinition, isWgs84 } from "../../crs/index.js";
import { createError } from "../../errors.js";
import { coordinateToleranceDegrees, type Extent } from "../../model/geometry.js";
import { GeometryExtent, unionExtents } from "../../model/geometry-extent.js";
import type { Loss } from "../../model/report.js";
import { parseCrsOption } from "../../pipeline/plan/parse-crs-option.js";
import { unservedPositionAdvice } from "../../pipeline/report.js";
import { suspectSwap } from "../../stages/suspect-swap.js";
import type { SyncRequest } from "../request.js";
import type { ReadSource } from "./read-source.js";

/**
 * Compares the extent of the source with the valid range of degrees, the area of use of its reference system and the
 * extent of the map; then checks `--max-rejects`, which does not apply to rejects caused by swapped coordinates.
 * @param mapExtent extent of the map; null if it has no position
 * @returns notices for the user
 * @throws axis-order-swapped, axis-order-suspected under `--strict`, guard-rejects
 */
export async function checkCoordinateOrder(
  request: SyncRequest,
  source: ReadSource,
  mapExtent: Extent | null,
): Promise<Loss[]> {
  const area = await sourceAreaOfUse(request, source);
  const notices: Loss[] = [];
  if (area !== undefined) {
    const extent = unionExtents(source.extent, await outOfRangeExtent(source));
    const confirmsOrder =
      mapExtent !== null && intersects(source.extent, mapExtent) && !intersects(swapExtent(source.extent), mapExtent);
    const swap = suspectSwap({ extent }, { areaOfUse: area, existingExtent: mapExtent });
    if (swap === "sure" && !confirmsOrder)
      throw createError("axis-order-swapped", orderDetails(request, source, extent!));
    const suspected =
      swap === "sure" ? null : suspectSwap({ extent: source.extent }, { areaOfUse: area, existingExtent: mapExtent });
    if (suspected === "suspected") notices.push(suspectedOrderNotice(request, source, mapExtent));
  }
  source.rejects.checkLimit(source.readCount, unservedPositionAdvice(source.notices));
  return notices;
}

/**
 * The area of use of the source's reference system; null if unknown, undefined if the coordinates are not longitudes
 * and latitudes, so that swapping cannot fix them.
 */
async function sourceAreaOfUse(
  { source: request }: SyncRequest,
  { layers }: ReadSource,
): Promise<Extent | null | undefined> {
  const sourceCrs = request.sourceCrs === undefined ? null : await parseCrsOption("--source-crs", request.sourceCrs);
  const systems = layers.map(({ crs }) => sourceCrs ?? crs);
  if (systems.some((crs) => crs !== null && crs.kind !== "geographic")) return undefined;
  const [first = null] = systems;
  if (first === null || isWgs84(first)) return null;
  return systems.every((crs) => crs !== null && hasSameDefinition(crs, first)) ? areaOfUse(first) : null;
}

/** The extent of the rejects if all have latitudes beyond a pole that swapping would fix; else null. */
async function outOfRangeExtent({ rejects }: ReadSource): Promise<Extent | null> {
  const all = new GeometryExtent();
  for await (const { geometry, reject } of rejects.readFeatures()) {
    if (reject.code !== "out-of-range") return null;
    const own = new GeometryExtent();
    own.add(geometry);
    const { extent } = own;
    if (extent === null || !isValidWhenSwapped(extent)) return null;
    all.add(geometry);
  }
  return all.extent;
}

const isValidWhenSwapped = ([minX, minY, maxX, maxY]: Extent): boolean =>
  Math.max(-minY, maxY) > 90 + coordinateToleranceDegrees && minX >= -90 && maxX <= 90 && minY >= -180 && maxY <= 180;

const swapExtent = (extent: Extent | null): Extent | null => extent && [extent[1], extent[0], extent[3], extent[2]];

const intersects = (a: Extent | null, b: Extent): boolean =>
  a !== null && a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

const formatExtent = (extent: Extent): string => {
  const [minX, minY, maxX, maxY] = extent.map((degrees) => String(Number(degrees.toFixed(4))));
  return `x from ${minX} to ${maxX}, y from ${minY} to ${maxY}`;
};

function orderDetails({ source: { swapXy } }: SyncRequest, source: ReadSource, extent: Extent) {
  return {
    source: source.inputs.join(", "),
    extent: formatExtent(extent),
    repair: swapXy ? "remove --swap-xy" : "--swap-xy swaps them",
    rejected: source.rejects.count,
  };
}

function suspectedOrderNotice(request: SyncRequest, source: ReadSource, mapExtent: Extent | null): Loss {
  const details = orderDetails(request, source, source.extent!);
  const overlaps =
    mapExtent !== null && !intersects(source.extent, mapExtent) && intersects(swapExtent(source.extent), mapExtent);
  const reason = overlaps
    ? "the coordinates are near the features of the map only after swapping"
    : "the coordinates are in the area of use of their reference system only after swapping";
  if (request.strict) throw createError("axis-order-suspected", { ...details, reason });
  const example = `latitude seems to precede longitude (${details.extent}): ${reason}; ${details.repair}`;
  return { code: "axis-order-suspected", layer: source.inputs.join(", "), count: 1, example };
}

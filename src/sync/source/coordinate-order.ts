/** Whether latitude stands before longitude in a source: found out before anything is sent. */
import { areaOfUse, isSameCrs, isWgs84 } from "../../crs/index.js";
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
 * Holds the extent of the source against the range of degrees, the area where its reference system is used, and what
 * the map holds; then its rejects against `--max-rejects`, which are none where swapped coordinates made them.
 * @param existingExtent the extent of the map; null where it has no position
 * @returns what a person should know
 * @throws axis-order-swapped, axis-order-suspected under `--strict`, guard-rejects
 */
export async function checkCoordinateOrder(
  request: SyncRequest,
  source: ReadSource,
  existingExtent: Extent | null,
): Promise<Loss[]> {
  const area = await sourceAreaOfUse(request, source);
  const notices: Loss[] = [];
  if (area !== undefined) {
    const extent = unionExtents(source.extent, await outOfRangeExtent(source));
    const speaksForOrder =
      existingExtent !== null &&
      intersects(source.extent, existingExtent) &&
      !intersects(swapExtent(source.extent), existingExtent);
    const swap = suspectSwap({ extent }, { areaOfUse: area, existingExtent });
    if (swap === "sure" && !speaksForOrder)
      throw createError("axis-order-swapped", orderDetails(request, source, extent!));
    const suspected =
      swap === "sure" ? null : suspectSwap({ extent: source.extent }, { areaOfUse: area, existingExtent });
    if (suspected === "suspected") notices.push(suspectedOrderNotice(request, source, existingExtent));
  }
  source.rejects.checkLimit(source.readCount, unservedPositionAdvice(source.notices));
  return notices;
}

/**
 * Where the reference system of the source is used; null where nothing is known of that, undefined where its
 * coordinates are no longitudes and latitudes, which exchanging would not repair.
 */
async function sourceAreaOfUse(
  { source: request }: SyncRequest,
  { layers }: ReadSource,
): Promise<Extent | null | undefined> {
  const asked = request.sourceCrs === undefined ? null : await parseCrsOption("--source-crs", request.sourceCrs);
  const systems = layers.map(({ crs }) => asked ?? crs);
  if (systems.some((crs) => crs !== null && crs.kind !== "geographic")) return undefined;
  const [first = null] = systems;
  if (first === null || isWgs84(first)) return null;
  return systems.every((crs) => crs !== null && isSameCrs(crs, first)) ? areaOfUse(first) : null;
}

/** The extent of the rejects, where all were rejected for a latitude beyond the pole that exchanging cures; else null. */
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
    repair: swapXy ? "leave --swap-xy away" : "--swap-xy exchanges them",
    rejected: source.rejects.count,
  };
}

function suspectedOrderNotice(request: SyncRequest, source: ReadSource, held: Extent | null): Loss {
  const details = orderDetails(request, source, source.extent!);
  const overlaps = held !== null && !intersects(source.extent, held) && intersects(swapExtent(source.extent), held);
  const reason = overlaps
    ? "exchanged, the coordinates lie where the features of the map lie, and as they are they do not"
    : "exchanged, the coordinates lie where their reference system is used, and as they are they do not";
  if (request.strict) throw createError("axis-order-suspected", { ...details, reason });
  const example = `latitude seems to stand before longitude (${details.extent}): ${reason}; ${details.repair}`;
  return { code: "axis-order-suspected", layer: source.inputs.join(", "), count: 1, example };
}

import { type Area, areaWidth, isNearArea } from "../../crs/area.js";
import { buildGeographicTransform, createZoneAdviser } from "../../crs/operations/transform.js";
import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { type GeometryColumn, positionRange } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface CheckAreaSettings {
  /** CRS of the coordinates. */
  readonly crs: Crs;
  /** CRS of the output, if `area` is its area of use. */
  readonly target?: Crs;
  /** Area of use and its name. */
  readonly area: Area;
  readonly areaName: string | null;
  /** Whether x and y were exchanged after reading. */
  readonly swapped?: boolean;
  /** Whether no later stage rejects positions that cannot be transformed to degrees, so that they are counted here. */
  readonly untransformed?: boolean;
}

/** Tolerance around the area in degrees: as much as it spans, within these limits. */
const [minMarginDegrees, maxMarginDegrees] = [1, 4];

function marginFor(area: Area): number {
  return Math.max(minMarginDegrees, Math.min(maxMarginDegrees, areaWidth(area), area[3] - area[1]));
}

/** Corners, middles of the sides and the center. */
const samplePositions = [0, 0.5, 1];

/**
 * Counts features far outside the area of use of their system in the notice `outside-crs-area`: such coordinates are
 * distorted or, more likely, in another system. If all of them are in the area after swapping x and y, the notice is
 * `axis-order-suspected`. With `target`, counts features outside the area of the output system in the
 * notice `outside-target-area`: the accuracy of the operation is unknown there. Checks source coordinates, since target
 * coordinates far from the area may be meaningless.
 */
export async function build(settings: StageSettings, context: StageContext): Promise<Stage> {
  const {
    crs,
    target,
    area,
    areaName,
    swapped = false,
    untransformed = false,
  } = settings as unknown as CheckAreaSettings;
  if (typeof crs?.definition !== "string" || !Array.isArray(area))
    throw createError("internal", { reason: "check-area was given no system or no area" });
  const locate = await buildGeographicTransform(crs);
  if (locate === null) return { apply: (batch) => batch };
  const adviceFor = target === undefined ? await createZoneAdviser(crs) : null;
  const margin = marginFor(area);
  const isInside = (longitude: number, latitude: number, beyond: number) =>
    Number.isFinite(longitude + latitude) ? isNearArea(area, longitude, latitude, beyond) : !untransformed;
  const [west, south, east, north] = area;
  const bounds = `longitude ${west}° to ${east}°, latitude ${south}° to ${north}°`;
  const of = target ?? crs;
  const where = `${of.id ?? of.name} (${areaName === null ? bounds : `${areaName}: ${bounds}`})`;
  const code = target === undefined ? "outside-crs-area" : "outside-target-area";
  const exchange = swapped ? "omit --swap-xy" : "--swap-xy swaps them";
  const swapAdvice = `x and y seem to be swapped: ${exchange}; all of them then lie in the area`;
  /** Whether all of these positions lie in the area after swapping x and y. */
  const fitExchanged = (positions: readonly number[]): boolean => {
    const xy = Float64Array.from(positions, (_, k) => positions[k ^ 1]!);
    locate(xy);
    for (let k = 0; k < xy.length; k += 2) if (!isNearArea(area, xy[k]!, xy[k + 1]!, 0)) return false;
    return true;
  };
  return {
    apply(batch: Batch): Batch {
      const box = boxOf(batch.geometry);
      // Half the margin makes up for sides that are bent between the samples.
      if (box === null || isBoxInside(box, locate, (x, y) => isInside(x, y, margin / 2))) return batch;
      const column = toDegrees(batch.geometry, locate);
      let count = 0;
      let example = "";
      const outside: number[] = [];
      for (let row = 0; row < batch.length; row++) {
        const at = firstPositionOutside(column, batch.geometry, row, (x, y) => isInside(x, y, margin));
        if (at === null) continue;
        count++;
        const [x, y, longitude, latitude] = at;
        outside.push(x, y);
        if (example !== "") continue;
        const advice = adviceFor === null ? suggestTargetCrs(longitude, latitude) : adviceFor(x, y);
        const place = Number.isFinite(longitude + latitude)
          ? `is at longitude ${round(longitude)}°, latitude ${round(latitude)}°, far outside of`
          : "cannot be transformed to longitude and latitude, so it is not in";
        example = `${x}, ${y} ${place} the area of use of ${where}${advice && `; ${advice}`}`;
      }
      if (count === 0) return batch;
      const isExchanged = target === undefined && fitExchanged(outside);
      if (isExchanged) context.reportNotice("axis-order-suspected", undefined, `${example}; ${swapAdvice}`, count);
      else context.reportNotice(code, undefined, example, count);
      return batch;
    },
  };
}

/** Suggests the UTM zone of the position, and a system that is valid everywhere. */
function suggestTargetCrs(longitude: number, latitude: number): string {
  const everywhere = "--target-crs EPSG:4326 is for the whole world";
  if (latitude < -80 || latitude > 84) return everywhere;
  const zone = Math.floor(((((longitude + 180) % 360) + 360) % 360) / 6) + 1;
  const code = (latitude < 0 ? 32700 : 32600) + zone;
  return `--target-crs EPSG:${code} (WGS 84 / UTM zone ${zone}${latitude < 0 ? "S" : "N"}) is for this place, ${everywhere}`;
}

const round = (angle: number): number => Number(angle.toFixed(4));

type Box = [minX: number, minY: number, maxX: number, maxY: number];

/** Around all positions; null if there are none. */
function boxOf(column: GeometryColumn, box: Box = [Infinity, Infinity, -Infinity, -Infinity]): Box | null {
  const { xy, boxes, members } = column;
  const [values, step] = boxes ? [boxes, 4] : [xy, 2];
  for (let k = 0; k < values.length; k += step) {
    const greatest = k + step - 2;
    if (values[k]! < box[0]) box[0] = values[k]!;
    if (values[k + 1]! < box[1]) box[1] = values[k + 1]!;
    if (values[greatest]! > box[2]) box[2] = values[greatest]!;
    if (values[greatest + 1]! > box[3]) box[3] = values[greatest + 1]!;
  }
  if (members) boxOf(members, box);
  return box[0] <= box[2] ? box : null;
}

function isBoxInside(
  [minX, minY, maxX, maxY]: Box,
  locate: (xy: Float64Array) => void,
  isInside: (longitude: number, latitude: number) => boolean,
): boolean {
  const xy = Float64Array.from(
    samplePositions.flatMap((u) =>
      samplePositions.flatMap((v) => [minX + (maxX - minX) * u, minY + (maxY - minY) * v]),
    ),
  );
  locate(xy);
  for (let k = 0; k < xy.length; k += 2) if (Number.isNaN(xy[k]!) || !isInside(xy[k]!, xy[k + 1]!)) return false;
  return true;
}

function toDegrees(column: GeometryColumn, locate: (xy: Float64Array) => void): GeometryColumn {
  const xy = column.xy.slice();
  locate(xy);
  return { ...column, xy, boxes: null, members: column.members && toDegrees(column.members, locate) };
}

/** The first position of a row outside the area: as given, then in degrees; null if there is none. */
function firstPositionOutside(
  column: GeometryColumn,
  given: GeometryColumn,
  row: number,
  isInside: (longitude: number, latitude: number) => boolean,
): readonly [number, number, number, number] | null {
  const [from, to] = positionRange(column, row);
  for (let k = from; k < to; k++) {
    const [longitude, latitude] = [column.xy[2 * k]!, column.xy[2 * k + 1]!];
    const [x, y] = [given.xy[2 * k]!, given.xy[2 * k + 1]!];
    if (Number.isFinite(x + y) && !isInside(longitude, latitude)) return [x, y, longitude, latitude];
  }
  if (!column.members || !column.memberOffsets) return null;
  for (let k = column.memberOffsets[row]!; k < column.memberOffsets[row + 1]!; k++) {
    const found = firstPositionOutside(column.members, given.members!, k, isInside);
    if (found !== null) return found;
  }
  return null;
}

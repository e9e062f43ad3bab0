import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { DegeneratePartFilter } from "../../model/degenerate-parts.js";
import { coordinateToleranceDegrees, type GeometryColumn, positionRange } from "../../model/geometry.js";
import { GeometryBuilder } from "../../model/geometry-builder.js";
import { type GeometryFault, rejectGeometries } from "../rows.js";
import { booleanSetting, choiceSetting, type StageSettings, textSetting } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";
import { poleOvershootDegrees } from "../suspect-swap.js";
import { reportRepairs } from "./drop-degenerate.js";

export interface CheckCoordinatesSettings {
  /**
   * `finite`: every number is finite. `wgs84`: also longitudes within ±180° and latitudes within ±90°. `assumed`: the
   * same, for a source without a CRS; a position out of range ends the conversion.
   */
  readonly mode: "wgs84" | "assumed" | "finite";
  /** Name of the source, for `assumed`. */
  readonly source?: string;
  /** Whether the source is the output that features are added to. */
  readonly isOutput?: boolean;
  /** In the mode `wgs84`: features on both sides of the antimeridian may have longitudes up to ±360°. */
  readonly continuousLongitudes?: boolean;
}

interface Range {
  readonly maxX: number;
  readonly maxY: number;
}
/** Of features on both sides of the antimeridian, where the target has room for their longitudes. */
const continuousRange: Range = { maxX: 360, maxY: 90 };
const ranges: Readonly<Record<CheckCoordinatesSettings["mode"], Range>> = {
  wgs84: { maxX: 180, maxY: 90 },
  assumed: { maxX: 180, maxY: 90 },
  finite: { maxX: Number.MAX_VALUE, maxY: Number.MAX_VALUE },
};

interface CoordinateFault extends GeometryFault {
  readonly code: "non-finite" | "out-of-range";
  readonly position?: readonly [x: number, y: number];
}

function arePositionsWithin(xy: Float64Array, { maxX, maxY }: Range): boolean {
  for (let k = 0; k < xy.length; k += 2) {
    // Written so that NaN fails.
    if (!(xy[k]! <= maxX && xy[k]! >= -maxX && xy[k + 1]! <= maxY && xy[k + 1]! >= -maxY)) return false;
  }
  return true;
}

function areBoxesWithin(boxes: Float64Array, { maxX, maxY }: Range): boolean {
  for (let k = 0; k < boxes.length; k += 4) {
    if (!(boxes[k]! >= -maxX && boxes[k + 1]! >= -maxY && boxes[k + 2]! <= maxX && boxes[k + 3]! <= maxY)) return false;
  }
  return true;
}

/** Whether every position is in range: the only pass over valid data. */
function allWithin(column: GeometryColumn, range: Range): boolean {
  const { xy, z, boxes } = column;
  if (!(boxes ? areBoxesWithin(boxes, range) : arePositionsWithin(xy, range))) return false;
  if (z) for (let k = 0; k < z.length; k++) if (Math.abs(z[k]!) === Number.POSITIVE_INFINITY) return false;
  return column.members === null || allWithin(column.members, range);
}

/** Larger numbers are not mistyped degrees. */
const minMeters = 1000;

/** @param remedy for coordinates that look like metres; empty if the message has one */
function outOfRangeFault(x: number, y: number, remedy: string): CoordinateFault {
  const code = "out-of-range";
  const isLatitude = Math.abs(y) > 90 + coordinateToleranceDegrees;
  const reason = isLatitude ? `latitude ${y} is beyond ±90°` : `longitude ${x} is beyond ±180°`;
  if (Math.abs(x) > minMeters || Math.abs(y) > minMeters)
    return { code, reason: `${reason}; these look like metres${remedy === "" ? "" : `: ${remedy}`}` };
  const isExchanged = Math.abs(y) > 90 + poleOvershootDegrees && Math.abs(y) <= 180 && Math.abs(x) <= 90;
  return {
    code,
    reason: isExchanged
      ? `${reason}; if latitude comes before longitude in the whole input, --swap-xy swaps them`
      : reason,
  };
}

/** The least and greatest longitude of a row, and its greatest latitude, by amount. */
interface LongitudeSpan {
  west: number;
  east: number;
  maxAbsLatitude: number;
}

function longitudeSpan(
  column: GeometryColumn,
  row: number,
  span: LongitudeSpan = { west: Infinity, east: -Infinity, maxAbsLatitude: 0 },
): LongitudeSpan {
  const [from, to] = positionRange(column, row);
  for (let k = from; k < to; k++) {
    const x = column.xy[2 * k]!;
    span.west = Math.min(span.west, x);
    span.east = Math.max(span.east, x);
    span.maxAbsLatitude = Math.max(span.maxAbsLatitude, Math.abs(column.xy[2 * k + 1]!));
  }
  const { members, memberOffsets } = column;
  if (members && memberOffsets)
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) longitudeSpan(members, k, span);
  return span;
}

/** Degrees by which a geometry that lies beyond the antimeridian as a whole is turned; 0 where it does not. */
function antimeridianShift({ west, east, maxAbsLatitude }: LongitudeSpan): -360 | 0 | 360 {
  if (!(maxAbsLatitude <= 90 + coordinateToleranceDegrees)) return 0;
  if (west >= 180 - coordinateToleranceDegrees && east <= 360) return -360;
  return east <= -180 + coordinateToleranceDegrees && west >= -360 ? 360 : 0;
}

/** Advice for a feature that crosses the antimeridian, if the target cannot hold continuous longitudes. */
function antimeridianAdvice({ west, east }: LongitudeSpan): string {
  if (!(west >= -360 && east <= 360)) return "";
  return "; the feature lies on both sides of the antimeridian: convert it to GeoJSON with --out antimeridian=cut, which cuts it there, and convert the result";
}

/** Checks rows one by one, and collects positions that are nearly in range. */
class RowChecker {
  /** Positions snapped so far. */
  snapCount = 0;
  private readonly fixes: [Float64Array, number, number][] = [];

  constructor(
    private readonly range: Range,
    private readonly remedy: string,
  ) {}

  /** The first fault of the row, or null. */
  findFault(column: GeometryColumn, row: number): CoordinateFault | null {
    const [from, to] = positionRange(column, row);
    for (let k = from; k < to; k++) {
      const found = this.checkPosition(column, k);
      if (found) return found;
    }
    const { members, memberOffsets } = column;
    if (members && memberOffsets) {
      for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) {
        const found = this.findFault(members, k);
        if (found) return found;
      }
    }
    return null;
  }

  private checkPosition(column: GeometryColumn, k: number): CoordinateFault | null {
    const x = column.xy[2 * k]!;
    const y = column.xy[2 * k + 1]!;
    const z = column.z ? column.z[k]! : 0;
    if (!Number.isFinite(x) || !Number.isFinite(y) || Math.abs(z) === Number.POSITIVE_INFINITY) {
      const shown = Number.isFinite(z) ? `${x}, ${y}` : `${x}, ${y}, ${z}`;
      return { code: "non-finite", reason: `the position ${shown} is not finite` };
    }
    const { range } = this;
    const beyond = Math.abs(x) > range.maxX || Math.abs(y) > range.maxY;
    if (!beyond) return null;
    if (Math.abs(x) > range.maxX + coordinateToleranceDegrees || Math.abs(y) > range.maxY + coordinateToleranceDegrees)
      return { ...outOfRangeFault(x, y, this.remedy), position: [x, y] };
    this.snapCount++;
    if (Math.abs(x) > range.maxX) this.fixes.push([column.xy, 2 * k, Math.sign(x) * range.maxX]);
    if (Math.abs(y) > range.maxY) this.fixes.push([column.xy, 2 * k + 1, Math.sign(y) * range.maxY]);
    return null;
  }

  /** What `revert` goes back to. */
  mark(): readonly [snaps: number, fixes: number] {
    return [this.snapCount, this.fixes.length];
  }

  /** Forgets the positions snapped since `mark`. */
  revert([snaps, fixes]: readonly [snaps: number, fixes: number]): void {
    this.snapCount = snaps;
    this.fixes.length = fixes;
  }

  /** Shifts all longitudes of a row. */
  shiftLongitudes(column: GeometryColumn, row: number, degrees: number): void {
    const [from, to] = positionRange(column, row);
    for (let k = from; k < to; k++) {
      const [x, y] = [column.xy[2 * k]! + degrees, column.xy[2 * k + 1]!];
      this.fixes.push([column.xy, 2 * k, Math.max(-180, Math.min(180, x))]);
      if (Math.abs(y) > 90) this.fixes.push([column.xy, 2 * k + 1, Math.sign(y) * 90]);
    }
    const { members, memberOffsets } = column;
    if (members && memberOffsets)
      for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) this.shiftLongitudes(members, k, degrees);
  }

  /** Returns the column with snapped and shifted positions. */
  applyFixes(column: GeometryColumn): GeometryColumn {
    const xy = column.xy.slice();
    for (const [array, at, value] of this.fixes) if (array === column.xy) xy[at] = value;
    return { ...column, xy, boxes: null, members: column.members && this.applyFixes(column.members) };
  }
}

/** Removes parts of multi geometries, holes and members of collections with positions that are not finite. */
function dropNonFiniteParts(batch: Batch, check: RowChecker, context: StageContext): Batch {
  const { geometry } = batch;
  const builder = new GeometryBuilder();
  const copy = new DegeneratePartFilter({ minLinePositions: 0, closesRingsInZ: false, requiresFinite: true });
  for (let row = 0; row < batch.length; row++) {
    const isWhole = check.findFault(geometry, row)?.code !== "non-finite" || copy.add(geometry, row, builder) !== null;
    if (isWhole) builder.copy(geometry, row);
  }
  if (copy.dropped === 0) return batch;
  context.reportLoss("non-finite-part", undefined, `${copy.example} was left out`, copy.dropped);
  reportRepairs(copy, context);
  return batch.with({ geometry: builder.finish() });
}

/**
 * Rejects geometries with a position that is not finite (`non-finite`) or not on the globe (`out-of-range`). Of a
 * geometry of several parts those with positions that are not finite are left out (loss `non-finite-part`). Positions
 * at most 1e-6 degrees beyond are put on the edge and counted in the notice `snapped`. In the mode `wgs84` a geometry all
 * of whose longitudes lie between 180° and 360°, or −360° and −180°, is turned by 360° (notice `longitude-turned`). One
 * that lies on both sides keeps its longitudes with `continuousLongitudes` (notice `longitude-continued`) and is rejected
 * without: its longitudes turned one by one would lead it around the earth.
 * @throws crs-missing in the mode `assumed`
 */
export function build(settings: StageSettings, context: StageContext): Stage {
  const mode = choiceSetting(settings, "mode", ["wgs84", "assumed", "finite"]);
  const range = ranges[mode];
  const source = mode === "assumed" ? textSetting(settings, "source") : "";
  const place = settings.layer === undefined ? undefined : { layer: textSetting(settings, "layer") };
  const keepsContinuous = mode === "wgs84" && booleanSetting(settings, "continuousLongitudes");
  const remedy = booleanSetting(settings, "untouched")
    ? "omit --no-reproject"
    : mode === "assumed" || booleanSetting(settings, "stated")
      ? ""
      : "name their CRS with --source-crs";
  return {
    apply(given: Batch): Batch {
      if (allWithin(given.geometry, range)) return given;
      const batch = dropNonFiniteParts(given, new RowChecker(range, remedy), context);
      const check = new RowChecker(range, remedy);
      const faults = new Map<number, CoordinateFault>();
      const continuous = new RowChecker(continuousRange, remedy);
      let turned = 0;
      let continued = 0;
      for (let row = 0; row < batch.length; row++) {
        const mark = check.mark();
        const found = check.findFault(batch.geometry, row);
        if (!found) continue;
        if (mode === "assumed" && found.code === "out-of-range") {
          const reason = `it is not plain longitude and latitude: ${found.reason}`;
          const { position } = found;
          const details = { source, ...(place && { place }), reason, ...(position && { position }) };
          throw createError("crs-missing", { ...details, isOutput: booleanSetting(settings, "isOutput") });
        }
        check.revert(mark);
        const isLongitude =
          found.position !== undefined && Math.abs(found.position[1]) <= 90 + coordinateToleranceDegrees;
        const span = isLongitude ? longitudeSpan(batch.geometry, row) : null;
        const degrees = span === null ? 0 : antimeridianShift(span);
        if (degrees !== 0) {
          check.shiftLongitudes(batch.geometry, row, degrees);
          turned++;
        } else if (keepsContinuous && span !== null && continuous.findFault(batch.geometry, row) === null) continued++;
        else
          faults.set(row, span === null ? found : { ...found, reason: `${found.reason}${antimeridianAdvice(span)}` });
      }
      if (continued > 0)
        context.reportNotice(
          "longitude-continued",
          undefined,
          "features on both sides of the antimeridian keep longitudes beyond ±180°, unless --out antimeridian=cut cuts them (GeoJSON)",
          continued,
        );
      if (check.snapCount + turned === 0) return rejectGeometries(batch, faults, context);
      if (check.snapCount > 0)
        context.reportNotice(
          "snapped",
          undefined,
          "positions up to 1e-6° (11 cm) beyond the range were put on its edge",
          check.snapCount,
        );
      if (turned > 0)
        context.reportNotice(
          "longitude-turned",
          undefined,
          "longitudes run from 0° to 360° or go on beyond ±180°: those of features that lie there as a whole are written from −180° to 180°",
          turned,
        );
      return rejectGeometries(batch.with({ geometry: check.applyFixes(batch.geometry) }), faults, context, batch);
    },
  };
}

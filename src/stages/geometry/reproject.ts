import type { Operation, Transform } from "../../crs/index.js";
import { PositionCounter } from "../../crs/operations/position-counter.js";
import {
  buildGeographicTransform,
  buildTransform,
  createFailureExplainer,
  createZoneAdviser,
} from "../../crs/operations/transform.js";
import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { type GeometryColumn, positionRange } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import { type GeometryFault, rejectGeometries } from "../rows.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";
import { countWrappedFeatures, unwrapLongitudes } from "./antimeridian.js";

export interface ReprojectSettings {
  /** The result of `findOperation` of src/crs: plain data. */
  readonly operation: Operation;
  /** Whether the target holds longitudes beyond ±180°, so that lines across the antimeridian stay continuous. */
  readonly continuousLongitudes?: boolean;
}

interface TransformResult {
  readonly column: GeometryColumn;
  readonly failures: number;
}

function transformColumn(column: GeometryColumn, transform: Transform): TransformResult {
  const xy = column.xy.slice();
  const failures = transform(xy, column.z);
  if (!column.members) return { column: { ...column, xy, boxes: null }, failures };
  const members = transformColumn(column.members, transform);
  return {
    column: { ...column, xy, boxes: null, members: members.column },
    failures: failures + members.failures,
  };
}

/** The first position of the row, in coordinates of `given`, that is NaN in `result`; null if there is none. */
function firstFailedPosition(given: GeometryColumn, result: GeometryColumn, row: number): [number, number] | null {
  const [from, to] = positionRange(result, row);
  for (let k = from; k < to; k++) {
    if (Number.isFinite(result.xy[2 * k]!) && Number.isFinite(result.xy[2 * k + 1]!)) continue;
    return [given.xy[2 * k]!, given.xy[2 * k + 1]!];
  }
  if (!result.members || !result.memberOffsets) return null;
  for (let k = result.memberOffsets[row]!; k < result.memberOffsets[row + 1]!; k++) {
    const found = firstFailedPosition(given.members!, result.members, k);
    if (found !== null) return found;
  }
  return null;
}

/** Reports the used transformations, untransformable positions and positions outside their areas, and resets the counts. */
function reportUses({ from, to, transformations }: Operation, tally: PositionCounter, context: StageContext): void {
  const [source, target] = [from.id ?? from.name, to.id ?? to.name];
  for (const transformationIndex of [...transformations.keys(), null]) {
    const positionCount = tally.getCount(transformationIndex);
    if (positionCount > 0)
      context.countOperation({
        from: source,
        to: target,
        transformationIndex,
        positionCount,
        box: tally.getBox(transformationIndex),
      });
  }
  if (tally.outsideAreaCount > 0) {
    const example = `positions lie up to one degree beyond where the operation used from ${source} to ${target} is meant for: there it may be less accurate than stated by metres`;
    context.reportNotice("outside-operation-area", undefined, example, tally.outsideAreaCount);
  }
  tally.clear();
}

const wrappedMessage = ({ id, name }: Crs): string =>
  `a line or ring crosses the edge of the map in ${id ?? name}, and runs around the whole map there; choose a system centered near it (EPSG:3832 for the Pacific), or cut the features first: convert to GeoJSON with --out antimeridian=cut`;

/**
 * Transforms every position by one operation. A feature with a position that cannot be transformed is rejected
 * (`not-transformable`) with its source coordinates; the notice `zone-prefix` reports eastings with a zone number.
 */
export async function build(settings: StageSettings, context: StageContext): Promise<Stage> {
  const operation = settings.operation as Operation | undefined;
  if (typeof operation?.kind !== "string")
    throw createError("internal", { reason: "reproject was given no operation" });
  const tally = new PositionCounter(operation.transformations.length);
  const [transform, why, locate, zoneAdvice] = await Promise.all([
    buildTransform(operation, tally),
    createFailureExplainer(operation),
    buildGeographicTransform(operation.from),
    createZoneAdviser(operation.from),
  ]);
  // Valid positions in the wrong area are reported by `check-area`.
  const tellZone = (x: number, y: number): void => {
    const place = Float64Array.of(x, y);
    locate?.(place);
    const advice = Number.isFinite(place[0]! + place[1]!) ? "" : zoneAdvice(x, y);
    if (advice !== "") context.reportNotice("zone-prefix", undefined, advice, 1);
  };
  const isProjected = [operation.from, operation.to].map(({ kind }) => kind === "projected");
  const unwraps = isProjected[0] && operation.to.kind === "geographic" && settings.continuousLongitudes === true;
  const mayWrap = isProjected[1] && operation.from.kind === "geographic";
  return {
    apply(batch: Batch): Batch {
      if (operation.kind === "identity") return batch;
      const { column, failures } = transformColumn(batch.geometry, transform);
      reportUses(operation, tally, context);
      if (unwraps) unwrapLongitudes(batch.geometry, column);
      const wrapped = mayWrap ? countWrappedFeatures(batch.geometry, column) : 0;
      if (wrapped > 0) context.reportLoss("antimeridian-wrapped", undefined, wrappedMessage(operation.to), wrapped);
      const carried = batch.with({ geometry: column });
      if (failures === 0) return carried;
      const faults = new Map<number, GeometryFault>();
      for (let row = 0; row < batch.length; row++) {
        const position = firstFailedPosition(batch.geometry, column, row);
        if (position === null) continue;
        tellZone(...position);
        const reason = `the position ${position.join(", ")} ${why(...position)}`;
        faults.set(row, { code: "not-transformable", reason });
      }
      return rejectGeometries(carried, faults, context, batch);
    },
  };
}

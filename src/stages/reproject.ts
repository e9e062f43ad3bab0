import type { Operation, Transform } from "../crs/index.js";
import { buildTransform, failureReason } from "../crs/transform.js";
import { fault } from "../errors.js";
import type { Batch } from "../model/batch.js";
import { type GeometryColumn, positionRange } from "../model/geometry.js";
import { type GeometryFault, rejectGeometries } from "./rows.js";
import type { Settings } from "./settings.js";
import type { Stage, StageContext } from "./stage.js";

export interface ReprojectSettings {
  /** What `findOperation` of src/crs gave: plain data. */
  readonly operation: Operation;
}

interface Transformed {
  readonly column: GeometryColumn;
  readonly failures: number;
}

function transformed(column: GeometryColumn, transform: Transform): Transformed {
  const xy = column.xy.slice();
  const failures = transform(xy, column.z);
  if (!column.members) return { column: { ...column, xy, boxes: null }, failures };
  const members = transformed(column.members, transform);
  return {
    column: { ...column, xy, boxes: null, members: members.column },
    failures: failures + members.failures,
  };
}

/** The first position of the row, in the coordinates of `given`, that `result` has as NaN; null where none is. */
function failedPosition(given: GeometryColumn, result: GeometryColumn, row: number): [number, number] | null {
  const [from, to] = positionRange(result, row);
  for (let k = from; k < to; k++) {
    if (Number.isFinite(result.xy[2 * k]!) && Number.isFinite(result.xy[2 * k + 1]!)) continue;
    return [given.xy[2 * k]!, given.xy[2 * k + 1]!];
  }
  if (!result.members || !result.memberOffsets) return null;
  for (let k = result.memberOffsets[row]!; k < result.memberOffsets[row + 1]!; k++) {
    const found = failedPosition(given.members!, result.members, k);
    if (found !== null) return found;
  }
  return null;
}

/** Says which of several routes were taken and how many positions lie beside them, and begins to count anew. */
function tellUses({ from, to, routes }: Operation, counts: Float64Array, context: StageContext): void {
  for (const [i, { name, accuracy }] of routes.entries()) if (counts[i]! > 0) context.went(name, accuracy, counts[i]!);
  const beside = counts[routes.length]!;
  if (beside > 0) {
    const [source, target] = [from, to].map(({ id, name }) => id ?? name);
    const example = `positions lie up to one degree beyond where the operation used from ${source} to ${target} is meant for: there it may be metres less accurate than it says`;
    context.notice("beside-operation", undefined, example, beside);
  }
  counts.fill(0);
}

/**
 * Transforms every position by one operation. A feature of which a position cannot be transformed is rejected
 * (`not-transformable`) whole, in its source coordinates.
 */
export async function build(settings: Settings, context: StageContext): Promise<Stage> {
  const operation = settings.operation as Operation | undefined;
  if (typeof operation?.kind !== "string") throw fault("internal", { reason: "reproject was given no operation" });
  const counts = new Float64Array(operation.routes.length + 1);
  const [transform, why] = await Promise.all([buildTransform(operation, counts), failureReason(operation)]);
  return {
    apply(batch: Batch): Batch {
      if (operation.kind === "identity") return batch;
      const { column, failures } = transformed(batch.geometry, transform);
      tellUses(operation, counts, context);
      const carried = batch.with({ geometry: column });
      if (failures === 0) return carried;
      const faults = new Map<number, GeometryFault>();
      for (let row = 0; row < batch.length; row++) {
        const position = failedPosition(batch.geometry, column, row);
        if (position === null) continue;
        const reason = `the position ${position.join(", ")} ${why(...position)}`;
        faults.set(row, { code: "not-transformable", reason });
      }
      return rejectGeometries(carried, faults, context, batch);
    },
  };
}

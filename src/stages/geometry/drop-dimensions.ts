import type { Batch } from "../../model/batch.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { booleanSetting, type StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface DropDimensionsSettings {
  readonly z?: boolean;
  readonly m?: boolean;
}

const hasValue = (values: Float64Array | null, from: number, to: number): boolean => {
  if (values) for (let k = from; k < to; k++) if (!Number.isNaN(values[k]!)) return true;
  return false;
};

/** Whether feature i, or a member of it, has a value in that dimension. */
function rowHasDimension(geometry: GeometryColumn, dimension: "z" | "m", row: number): boolean {
  const { partOffsets, ringOffsets, positionOffsets, members, memberOffsets } = geometry;
  const from = positionOffsets[ringOffsets[partOffsets[row]!]!]!;
  const to = positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
  if (hasValue(geometry[dimension], from, to)) return true;
  if (!members || !memberOffsets) return false;
  for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++)
    if (rowHasDimension(members, dimension, k)) return true;
  return false;
}

const columnHasDimension = (geometry: GeometryColumn, dimension: "z" | "m"): boolean =>
  geometry[dimension] !== null || (geometry.members !== null && columnHasDimension(geometry.members, dimension));

function withoutDimensions(geometry: GeometryColumn, z: boolean, m: boolean): GeometryColumn {
  return {
    ...geometry,
    z: z ? null : geometry.z,
    m: m ? null : geometry.m,
    members: geometry.members && withoutDimensions(geometry.members, z, m),
  };
}

/** Removes heights or measures, and counts the features that had some: `z-dropped`, `m-dropped`. */
export function build(settings: StageSettings, context: StageContext): Stage {
  const z = booleanSetting(settings, "z");
  const m = booleanSetting(settings, "m");

  const count = (geometry: GeometryColumn, dimension: "z" | "m", words: string) => {
    if (!columnHasDimension(geometry, dimension)) return;
    let features = 0;
    for (let row = 0; row < geometry.length; row++) if (rowHasDimension(geometry, dimension, row)) features++;
    if (features > 0) context.reportLoss(`${dimension}-dropped`, undefined, `${words} are not carried`, features);
  };

  return {
    apply(batch: Batch): Batch {
      const { geometry } = batch;
      if (!(z && columnHasDimension(geometry, "z")) && !(m && columnHasDimension(geometry, "m"))) return batch;
      if (z) count(geometry, "z", "heights");
      if (m) count(geometry, "m", "measures");
      return batch.with({ geometry: withoutDimensions(geometry, z, m) });
    },
  };
}

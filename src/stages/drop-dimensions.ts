import type { Batch } from "../model/batch.js";
import type { GeometryColumn } from "../model/geometry.js";
import { booleanSetting, type Settings } from "./settings.js";
import type { Stage, StageContext } from "./stage.js";

export interface DropDimensionsSettings {
  readonly z?: boolean;
  readonly m?: boolean;
}

const has = (values: Float64Array | null, from: number, to: number): boolean => {
  if (values) for (let k = from; k < to; k++) if (!Number.isNaN(values[k]!)) return true;
  return false;
};

/** Whether feature i, or a member of it, has a value in that dimension. */
function rowHas(geometry: GeometryColumn, dimension: "z" | "m", row: number): boolean {
  const { partOffsets, ringOffsets, positionOffsets, members, memberOffsets } = geometry;
  const from = positionOffsets[ringOffsets[partOffsets[row]!]!]!;
  const to = positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
  if (has(geometry[dimension], from, to)) return true;
  if (!members || !memberOffsets) return false;
  for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) if (rowHas(members, dimension, k)) return true;
  return false;
}

const holds = (geometry: GeometryColumn, dimension: "z" | "m"): boolean =>
  geometry[dimension] !== null || (geometry.members !== null && holds(geometry.members, dimension));

function without(geometry: GeometryColumn, z: boolean, m: boolean): GeometryColumn {
  return {
    ...geometry,
    z: z ? null : geometry.z,
    m: m ? null : geometry.m,
    members: geometry.members && without(geometry.members, z, m),
  };
}

/** Takes heights or measures away and counts the features that had some: `z-dropped`, `m-dropped`. */
export function build(settings: Settings, context: StageContext): Stage {
  const z = booleanSetting(settings, "z");
  const m = booleanSetting(settings, "m");

  const count = (geometry: GeometryColumn, dimension: "z" | "m", words: string) => {
    if (!holds(geometry, dimension)) return;
    let features = 0;
    for (let row = 0; row < geometry.length; row++) if (rowHas(geometry, dimension, row)) features++;
    if (features > 0) context.lose(`${dimension}-dropped`, undefined, `${words} are not carried`, features);
  };

  return {
    apply(batch: Batch): Batch {
      const { geometry } = batch;
      if (!(z && holds(geometry, "z")) && !(m && holds(geometry, "m"))) return batch;
      if (z) count(geometry, "z", "heights");
      if (m) count(geometry, "m", "measures");
      return batch.with({ geometry: without(geometry, z, m) });
    },
  };
}

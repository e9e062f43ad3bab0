import type { Batch } from "../../model/batch.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { countSetting, type StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface ReportRoundingSettings {
  /** Decimals of x and y that the writer keeps. */
  readonly decimals: number;
}

/** A difference beyond the last decimal by less than this part of it comes from the arithmetic. */
const tolerance = 1e-4;

/**
 * Loss `existing-rounded`: features of an output that is appended to whose coordinates have more decimals than the
 * writer keeps. The batch passes unchanged.
 */
export function build(settings: StageSettings, context: StageContext): Stage {
  const decimals = countSetting(settings, "decimals");
  return {
    apply(batch) {
      reportRounding(batch, decimals, context);
      return batch;
    },
  };
}

function reportRounding({ length, geometry }: Batch, decimals: number, context: StageContext): void {
  let count = 0;
  let example = 0;
  for (let row = 0; row < length; row++) {
    const value = findLonger(geometry, row, decimals);
    if (value === null) continue;
    if (count++ === 0) example = value;
  }
  if (count === 0) return;
  const text = `${example} of an existing feature became ${Number(example.toFixed(decimals))}; --out precision=15 keeps all decimals`;
  context.reportLoss("existing-rounded", undefined, text, count);
}

/** The first x or y of a feature and its members with more decimals. */
function findLonger(column: GeometryColumn, row: number, decimals: number): number | null {
  const { xy, partOffsets, ringOffsets, positionOffsets, members, memberOffsets } = column;
  const scale = 10 ** decimals;
  const to = 2 * positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
  for (let k = 2 * positionOffsets[ringOffsets[partOffsets[row]!]!]!; k < to; k++) {
    const scaled = xy[k]! * scale;
    if (Math.abs(scaled - Math.round(scaled)) > tolerance) return xy[k]!;
  }
  if (members && memberOffsets)
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) {
      const value = findLonger(members, k, decimals);
      if (value !== null) return value;
    }
  return null;
}

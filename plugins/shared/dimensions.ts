import { type GeometryColumn, Kind, positionRange } from "../../src/model/geometry.js";

export interface Dimensions {
  readonly z: boolean;
  readonly m: boolean;
}

export const xyOnly: Dimensions = { z: false, m: false };

/** Whether any position of feature i, including members of collections, has a height or measure. */
export function dimensionsOf(column: GeometryColumn, i: number): Dimensions {
  if (!column.z && !column.m && !column.members) return xyOnly;
  let [z, m] = [false, false];
  const [from, to] = positionRange(column, i);
  for (let k = from; k < to; k++) {
    if (column.z && !Number.isNaN(column.z[k]!)) z = true;
    if (column.m && !Number.isNaN(column.m[k]!)) m = true;
  }
  if (column.kinds[i] === Kind.GeometryCollection && column.members && column.memberOffsets) {
    for (let k = column.memberOffsets[i]!; k < column.memberOffsets[i + 1]!; k++) {
      const member = dimensionsOf(column.members, k);
      z ||= member.z;
      m ||= member.m;
    }
  }
  return { z, m };
}

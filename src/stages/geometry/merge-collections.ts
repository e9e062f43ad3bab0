import type { Batch } from "../../model/batch.js";
import { type GeometryColumn, Kind } from "../../model/geometry.js";
import { GeometryBuilder } from "../../model/geometry-builder.js";
import type { StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

/**
 * For targets without GeometryCollections: one whose members are all points, lines or polygons becomes that Multi*,
 * an empty one no geometry; both are losses (`collection-merged`, `geometry-empty`). Mixed ones stay unchanged.
 */
export function build(_settings: StageSettings, context: StageContext): Stage {
  return { apply: (batch) => mergeCollections(batch, context) };
}

function mergeCollections(batch: Batch, context: StageContext): Batch {
  if (!batch.geometry.kinds.includes(Kind.GeometryCollection)) return batch;
  const builder = new GeometryBuilder();
  const counts = { merged: 0, empty: 0 };
  for (let i = 0; i < batch.length; i++) {
    if (batch.geometry.kinds[i] !== Kind.GeometryCollection) builder.copy(batch.geometry, i);
    else {
      const kind = mergeMembers(batch.geometry, i, builder);
      if (kind === Kind.none) counts.empty++;
      else if (kind !== Kind.GeometryCollection) counts.merged++;
    }
  }
  const { merged, empty } = counts;
  if (merged > 0) {
    const example = "a GeometryCollection of points, lines or polygons only became their Multi* type";
    context.reportLoss("collection-merged", undefined, example, merged);
  }
  if (empty > 0) context.reportLoss("geometry-empty", undefined, "a geometry without positions became null", empty);
  return batch.with({ geometry: builder.finish() });
}

const multiKindOf = [
  0,
  Kind.MultiPoint,
  Kind.MultiLineString,
  Kind.MultiPolygon,
  Kind.MultiPoint,
  Kind.MultiLineString,
  Kind.MultiPolygon,
  0,
];

/** The kind that the collection has become. */
function mergeMembers(column: GeometryColumn, i: number, builder: GeometryBuilder): number {
  const { members, memberOffsets } = column;
  if (!members || !memberOffsets || memberOffsets[i] === memberOffsets[i + 1]) {
    builder.addNull();
    return Kind.none;
  }
  const from = memberOffsets[i]!;
  const to = memberOffsets[i + 1]!;
  const multi = multiKindOf[members.kinds[from]!]!;
  const uniform = multi !== 0 && members.kinds.subarray(from, to).every((kind) => multiKindOf[kind] === multi);
  if (!uniform) {
    builder.copy(column, i);
    return Kind.GeometryCollection;
  }
  builder.begin(multi);
  if (multi === Kind.MultiPolygon) {
    for (let k = from; k < to; k++) {
      for (let p = members.partOffsets[k]!; p < members.partOffsets[k + 1]!; p++) builder.copyPart(members, p);
    }
  } else {
    builder.beginPart();
    if (multi === Kind.MultiPoint) builder.beginRing();
    for (let p = members.partOffsets[from]!; p < members.partOffsets[to]!; p++) {
      for (let r = members.ringOffsets[p]!; r < members.ringOffsets[p + 1]!; r++) {
        if (multi === Kind.MultiLineString) builder.beginRing();
        builder.copyPositions(members, members.positionOffsets[r]!, members.positionOffsets[r + 1]!);
      }
    }
  }
  builder.end();
  return multi;
}

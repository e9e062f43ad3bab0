import { type GeometryColumn, Kind } from "../../../model/geometry.js";
import { GeometryBuilder } from "../../../model/geometry-builder.js";
import type { Geos } from "./geos.js";
import { findProblem } from "./validity.js";
import { addPart, findParts, wkbWriter } from "./wkb.js";

/** What was done to the features of a column, by row. */
export interface RepairResult {
  readonly column: GeometryColumn;
  /** Rows repaired, with the problem that they had. */
  readonly repaired: ReadonlyMap<number, string>;
  /** Rows that cannot be repaired, with the reason; they are unchanged in `column`. */
  readonly failed: ReadonlyMap<number, string>;
  /** Rows of which a part collapsed to a point or line and was left out. */
  readonly collapsed: ReadonlySet<number>;
  /** Rows repaired that had measures, which GEOS does not carry. */
  readonly lostMeasures: ReadonlySet<number>;
}

const singleKindOf = (kind: number): number => (kind > Kind.Polygon ? kind - 3 : kind);

function hasM(column: GeometryColumn, row: number): boolean {
  const { m, partOffsets, ringOffsets, positionOffsets } = column;
  if (!m) return false;
  const from = positionOffsets[ringOffsets[partOffsets[row]!]!]!;
  const to = positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
  return m.subarray(from, to).some((value) => !Number.isNaN(value));
}

class Repairer {
  private readonly builder = new GeometryBuilder();
  private readonly repaired = new Map<number, string>();
  private readonly failed = new Map<number, string>();
  private readonly collapsed = new Set<number>();
  private readonly lostMeasures = new Set<number>();

  constructor(
    private readonly geos: Geos,
    private readonly column: GeometryColumn,
    private readonly problems: ReadonlyMap<number, { reason: string; fatal: boolean }>,
  ) {}

  run(): RepairResult {
    const { column, builder } = this;
    for (let row = 0; row < column.length; row++) {
      const problem = this.problems.get(row);
      if (!problem) {
        builder.copy({ ...column, members: null, memberOffsets: null }, row);
        continue;
      }
      const failure = problem.fatal ? problem.reason : this.repairRow(row, problem.reason);
      if (failure === null) this.repaired.set(row, problem.reason);
      else {
        this.failed.set(row, failure);
        builder.copy(column, row);
      }
    }
    const { repaired, failed, collapsed, lostMeasures } = this;
    return { column: builder.finish(), repaired, failed, collapsed, lostMeasures };
  }

  /** Adds the repaired feature to the builder; else gives the reason why there is none. */
  private repairRow(row: number, problem: string): string | null {
    const { geos, column } = this;
    const { size, write } = wkbWriter(column, row);
    const given = geos.parseWkb(size, write);
    const made = given === 0 ? 0 : geos.makeValid(given);
    try {
      if (made === 0) return `${problem}; it cannot be repaired: ${geos.lastError}`;
      return geos.withWkb(made, (view, offset) => this.add(row, view, offset))
        ? null
        : `${problem}; without it nothing of its dimension is left`;
    } finally {
      geos.destroy(made);
      geos.destroy(given);
    }
  }

  private add(row: number, view: DataView, offset: number): boolean {
    const { builder, column } = this;
    const kind = column.kinds[row]!;
    const single = singleKindOf(kind);
    const { matching, hasOthers } = findParts(view, offset, single);
    if (matching.length === 0) return false;
    builder.begin(kind === single && matching.length > 1 ? kind + 3 : kind);
    if (single === Kind.LineString) builder.beginPart();
    for (const part of matching) {
      if (single === Kind.Polygon) builder.beginPart();
      addPart(view, part, builder);
    }
    builder.end();
    if (hasOthers) this.collapsed.add(row);
    if (hasM(column, row)) this.lostMeasures.add(row);
    return true;
  }
}

/** Reports the repair of members for the collections that contain them. */
function liftToCollections(column: GeometryColumn, members: RepairResult): RepairResult {
  const offsets = column.memberOffsets!;
  const repaired = new Map<number, string>();
  const failed = new Map<number, string>();
  const collapsed = new Set<number>();
  const lostMeasures = new Set<number>();
  for (let row = 0; row < column.length; row++) {
    for (let k = offsets[row]!; k < offsets[row + 1]!; k++) {
      const failure = members.failed.get(k);
      const reason = members.repaired.get(k);
      if (failure !== undefined) failed.set(row, failure);
      if (reason !== undefined && !repaired.has(row)) repaired.set(row, reason);
      if (members.collapsed.has(k)) collapsed.add(row);
      if (members.lostMeasures.has(k)) lostMeasures.add(row);
    }
  }
  for (const row of failed.keys()) for (const found of [repaired, collapsed, lostMeasures]) found.delete(row);
  return { column: { ...column, members: members.column }, repaired, failed, collapsed, lostMeasures };
}

/** Makes the invalid features of the column valid; null if all are valid already. */
export function repairColumn(geos: Geos, column: GeometryColumn): RepairResult | null {
  const problems = new Map<number, { reason: string; fatal: boolean }>();
  for (let row = 0; row < column.length; row++) {
    if (column.kinds[row] === Kind.GeometryCollection) continue;
    const problem = findProblem(geos, column, row);
    if (problem) problems.set(row, problem);
  }
  const own = problems.size > 0 ? new Repairer(geos, column, problems).run() : null;
  const inner = column.members ? repairColumn(geos, column.members) : null;
  const members = inner ? liftToCollections(column, inner) : null;
  if (!own) return members;
  // The repairer copies collections without members: they keep their places here.
  const { members: kept, memberOffsets } = members?.column ?? column;
  const whole = { ...own.column, members: kept, memberOffsets };
  if (!members) return { ...own, column: whole };
  return {
    column: whole,
    repaired: new Map([...own.repaired, ...members.repaired]),
    failed: new Map([...own.failed, ...members.failed]),
    collapsed: new Set([...own.collapsed, ...members.collapsed]),
    lostMeasures: new Set([...own.lostMeasures, ...members.lostMeasures]),
  };
}

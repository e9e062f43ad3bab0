/** Collects the rings of Esri JSON polygons, and adds them to a geometry column as shells with their holes. */
import { type GeometryBuilder, Kind } from "../../../src/model/index.js";
import { assignRings, groupByShell } from "../../shared/rings/rings.js";
import { splitTouchingRings } from "../../shared/rings/split-touching-rings.js";
import { VertexTable } from "../../shared/rings/vertex-table.js";

const initialPositions = 4096;

/** Repairs of rings, counted over the polygons of a batch. */
export interface RingRepairs {
  /** Rings that were not closed. */
  closed: number;
  /** Polygons with rings of the wrong direction. */
  turned: number;
  /** Polygons with a ring that touched itself. */
  split: number;
}

/**
 * The rings of one batch. Esri JSON lists the rings of a polygon without nesting: exterior rings are clockwise, holes
 * counter-clockwise (ArcGIS REST API, "Geometry objects", Polygon).
 */
export class PolygonRings {
  readonly repairs: RingRepairs = { closed: 0, turned: 0, split: 0 };
  private xy = new Float64Array(2 * initialPositions);
  private z = new Float64Array(initialPositions);
  private m = new Float64Array(initialPositions);
  private count = 0;
  private starts: number[] = [];
  private ends: number[] = [];
  private vertices = new VertexTable(this.xy);

  /** Begins a polygon. */
  begin(): void {
    this.starts = [];
    this.ends = [];
    // The table of vertices requires that indexes grow.
    if (2 * this.count > initialPositions) this.reset();
  }

  private reset(): void {
    this.count = 0;
    this.vertices = new VertexTable(this.xy);
  }

  beginRing(): void {
    this.starts.push(this.count);
  }

  addPosition(x: number, y: number, z: number, m: number): void {
    const at = this.count++;
    if (at === this.z.length) this.grow();
    this.xy[2 * at] = x;
    this.xy[2 * at + 1] = y;
    this.z[at] = z;
    this.m[at] = m;
  }

  private grow(): void {
    const doubled = (values: Float64Array): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(2 * values.length);
      grown.set(values);
      return grown;
    };
    this.xy = doubled(this.xy);
    this.z = doubled(this.z);
    this.m = doubled(this.m);
    this.vertices = new VertexTable(this.xy);
  }

  /** Ends a ring: closes it if it is open. */
  endRing(): void {
    const from = this.starts.at(-1)!;
    const last = this.count - 1;
    if (last - from > 1 && !this.isSame(from, last)) {
      this.addPosition(this.xy[2 * from]!, this.xy[2 * from + 1]!, this.z[from]!, this.m[from]!);
      this.repairs.closed++;
    }
    this.ends.push(this.count);
  }

  private isSame(a: number, b: number): boolean {
    const { xy } = this;
    return xy[2 * a] === xy[2 * b] && xy[2 * a + 1] === xy[2 * b + 1];
  }

  /** Adds the polygon to the column: a Polygon, or a MultiPolygon if it has several shells. */
  addTo(builder: GeometryBuilder): void {
    const { starts, ends, xy } = this;
    if (starts.length === 0) {
      builder.begin(Kind.Polygon);
      builder.end();
      return;
    }
    const touching = starts.map((from, r) => this.mayTouch(from, ends[r]!));
    const { owners, turned } = assignRings({ xy, starts, ends });
    if (turned > 0) this.repairs.turned++;
    const loops = touching.includes(true) ? splitTouchingRings({ xy, starts, ends }, owners, touching) : null;
    if (loops) this.repairs.split++;
    const groups = groupByShell(loops?.owners ?? owners);
    builder.begin(groups.length === 1 ? Kind.Polygon : Kind.MultiPolygon);
    for (const rings of groups) {
      builder.beginPart();
      for (const ring of rings) {
        builder.beginRing();
        if (loops) {
          const loop = loops.loops[ring]!;
          for (const index of loop) this.copy(index, builder);
          this.copy(loop[0]!, builder);
        } else for (let k = starts[ring]!; k < ends[ring]!; k++) this.copy(k, builder);
      }
    }
    builder.end();
  }

  private mayTouch(from: number, to: number): boolean {
    return this.vertices.mayTouchItself(from, to) && this.isSame(from, to - 1);
  }

  private copy(index: number, builder: GeometryBuilder): void {
    const { xy, z, m } = this;
    builder.addPositionZM(xy[2 * index]!, xy[2 * index + 1]!, z[index]!, m[index]!);
  }
}

/** Turns WKB, or the nested coordinates of the native encodings, into the geometry column of a batch. */
import { GeometryBuilder, type GeometryColumn, Kind } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { GeometryParseError, WkbReader } from "../../shared/wkb/index.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";
import type { LeafRows } from "../parquet/leaf-reader.js";
import { isNumbers } from "../parquet/values.js";
import { type GeometryPlan, nativeEncodings } from "./plan.js";

type Report = Pick<ReadContext, "reportLoss" | "reportNotice">;

/** Rows of a batch whose geometry cannot be read, with the reason. */
export type UnreadableRows = [row: number, reason: string][];

const unreadablePosition = "a position is not a number";
const pointBytes = 21;

export class GeometryColumns {
  private readonly wkb = new WkbReader();
  private readonly builder = new GeometryBuilder();
  private closedRings = 0;
  private unreadableParts = 0;

  constructor(
    private readonly plan: GeometryPlan,
    private readonly context: Report,
  ) {}

  column(leaves: readonly LeafRows[], unreadable: UnreadableRows): GeometryColumn {
    const { builder, wkb, plan } = this;
    if (plan.encoding === "wkb") this.readWkb(leaves[0]!, unreadable);
    else this.readNative(leaves, unreadable);
    const column = builder.finish();
    builder.reset();
    const repairs = {
      closedRings: wkb.closedRings + this.closedRings,
      curves: wkb.curves,
      unreadable: wkb.unreadable + this.unreadableParts,
    };
    reportWkbRepairs(repairs, this.context);
    wkb.closedRings = 0;
    wkb.curves = 0;
    wkb.unreadable = 0;
    this.closedRings = 0;
    this.unreadableParts = 0;
    return column;
  }

  private readWkb({ entries, definitions, values }: LeafRows, unreadable: UnreadableRows): void {
    const { builder, wkb, plan } = this;
    if (isNumbers(values)) {
      for (let row = 0; row < entries; row++) builder.addNull();
      return;
    }
    const { bytes, starts, ends } = values;
    const view = dataViewOf(bytes);
    const present = plan.leaves[0]!.maxDefinition;
    for (let row = 0, k = 0; row < entries; row++) {
      if (definitions && definitions[row] !== present) {
        builder.addNull();
        continue;
      }
      const from = starts[k]!;
      const to = ends[k++]!;
      // The most common geometry.
      if (to - from === pointBytes && bytes[from] === 1 && view.getUint32(from + 1, true) === Kind.Point) {
        const x = view.getFloat64(from + 5, true);
        const y = view.getFloat64(from + 13, true);
        if (!Number.isNaN(x + y)) {
          builder.addPoint(x, y);
          continue;
        }
      }
      try {
        wkb.read(bytes, from, to, builder);
      } catch (error) {
        if (!(error instanceof GeometryParseError)) throw error;
        unreadable.push([row, error.message]);
        builder.addNull();
      }
    }
  }

  private readNative(leaves: readonly LeafRows[], unreadable: UnreadableRows): void {
    const { builder, plan } = this;
    const [first] = leaves;
    const { rows, entries, definitions, repetitions } = first!;
    if (leaves.some((leaf) => leaf.entries !== entries))
      throw new Error("the coordinates of a geometry column have different lengths");
    const ordinates = leaves.map((leaf, d) => spread(leaf, plan.leaves[d]!.maxDefinition));
    const [xs, ys] = ordinates as [Float64Array, Float64Array];
    const { dimensions } = plan;
    const zs = ordinates[dimensions.indexOf("z")] ?? null;
    const ms = ordinates[dimensions.indexOf("m")] ?? null;
    const kind = Kind[nativeEncodings[plan.encoding as keyof typeof nativeEncodings]];
    const { levels } = plan;
    const depth = levels.lists.length;
    const isPolygonal = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    const { maxDefinition } = plan.leaves[0]!;
    let row = 0;
    for (let from = 0; from < entries; row++) {
      let to = from + 1;
      if (repetitions) while (to < entries && repetitions[to] !== 0) to++;
      const definition = definitions ? definitions[from]! : maxDefinition;
      if (definition < levels.geometry) builder.addNull();
      else if (depth === 0 && Number.isNaN(xs[from]!) && Number.isNaN(ys[from]!)) {
        builder.begin(kind);
        builder.end();
      } else {
        builder.begin(kind);
        let hasFlaw = false;
        let ringStart = -1;
        for (let e = from; e < to; e++) {
          const repetition = e === from ? 0 : repetitions![e]!;
          const own = definitions ? definitions[e]! : maxDefinition;
          // An empty list has an entry, whose definition says how deep it is.
          if (depth === 0 || (own >= levels.lists[0]! && opensPart(repetition, depth))) builder.beginPart();
          if (depth === 0 || (own >= levels.lists[Math.max(0, depth - 2)]! && repetition < Math.max(1, depth))) {
            if (isPolygonal) this.closeRing(ringStart, e, xs, ys, zs, ms);
            builder.beginRing();
            ringStart = e;
          }
          if (depth > 0 && own < levels.lists[depth - 1]!) {
            ringStart = -1;
            continue;
          }
          if (Number.isNaN(xs[e]! + ys[e]!)) hasFlaw = true;
          this.addPosition(e, xs, ys, zs, ms);
        }
        if (isPolygonal) this.closeRing(ringStart, to, xs, ys, zs, ms);
        this.end(hasFlaw, row, unreadable);
      }
      from = to;
    }
    if (row !== rows) throw new Error("a geometry column has another number of rows than its row group");
  }

  private end(hasFlaw: boolean, row: number, unreadable: UnreadableRows): void {
    const { builder } = this;
    if (hasFlaw && !builder.hasReadablePart()) {
      builder.cancel();
      builder.addNull();
      unreadable.push([row, unreadablePosition]);
      return;
    }
    if (hasFlaw) this.unreadableParts++;
    builder.end();
  }

  private addPosition(e: number, xs: Float64Array, ys: Float64Array, zs: Float64Array | null, ms: Float64Array | null) {
    const { builder } = this;
    if (zs || ms) builder.addPositionZM(xs[e]!, ys[e]!, zs ? zs[e]! : Number.NaN, ms ? ms[e]! : Number.NaN);
    else builder.addPosition(xs[e]!, ys[e]!);
  }

  /** Repeats the first position of a ring that is not closed. */
  private closeRing(
    from: number,
    to: number,
    xs: Float64Array,
    ys: Float64Array,
    zs: Float64Array | null,
    ms: Float64Array | null,
  ): void {
    if (from < 0 || to - from < 2) return;
    if (xs[from] === xs[to - 1] && ys[from] === ys[to - 1]) return;
    if (Number.isNaN(xs[from]! + ys[from]!)) return;
    this.addPosition(from, xs, ys, zs, ms);
    this.closedRings++;
  }
}

/** Whether an entry begins a part: the first of a feature does, and in a MultiPolygon each polygon. */
const opensPart = (repetition: number, depth: number): boolean => repetition === 0 || (depth === 3 && repetition === 1);

/** The values of all entries, NaN where there is none. */
function spread({ entries, definitions, values }: LeafRows, maxDefinition: number): Float64Array {
  const numbers = isNumbers(values) ? (values as Float64Array) : new Float64Array();
  if (!definitions) return numbers;
  const all = new Float64Array(entries).fill(Number.NaN);
  for (let i = 0, k = 0; i < entries; i++) if (definitions[i] === maxDefinition) all[i] = numbers[k++]!;
  return all;
}

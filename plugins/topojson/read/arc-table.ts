/** Checks arcs where a geometry uses them, since the library would read what is not there. */
import type { TopologyDocument } from "./scan-topology.js";

/** The first and the last position of an arc, on the grid of a quantized topology. */
export interface ArcEnds {
  readonly first: readonly [number, number];
  readonly last: readonly [number, number];
}

/** Why a value is not a position; null if it is one. */
export function flawOfPosition(value: unknown): string | null {
  if (!Array.isArray(value) || value.length < 2) return "a position has fewer than two numbers";
  for (const each of value as unknown[])
    if (typeof each !== "number" || !Number.isFinite(each)) return "a position has a coordinate that is not a number";
  return null;
}

export class ArcTable {
  /** Ends of arcs that are valid, flaws of others; undefined where not checked yet. */
  private readonly known: (ArcEnds | string | undefined)[] = [];
  /** Whether positions have more than x, y and z. */
  hasExtraCoordinates = false;

  constructor(private readonly document: TopologyDocument) {}

  /**
   * Why a list of arc indexes is not a line; null if it is one. A negative index is that of the arc in reverse, its one's
   * complement (TopoJSON 1.0, 2.1.4).
   */
  flawOfLine(value: unknown): string | null {
    if (!Array.isArray(value)) return "the arcs of a line are not an array";
    let end: readonly [number, number] | null = null;
    let before = 0;
    for (const index of value as unknown[]) {
      if (typeof index !== "number" || !Number.isInteger(index)) return "an arc index is not an integer";
      const arc = this.arcAt(index < 0 ? ~index : index);
      if (typeof arc === "string") return arc;
      const [start, next] = index < 0 ? [arc.last, arc.first] : [arc.first, arc.last];
      if (end && (end[0] !== start[0] || end[1] !== start[1]))
        return `arc ${index} does not begin where arc ${before}, before it, ends`;
      end = next;
      before = index;
    }
    return null;
  }

  private arcAt(index: number): ArcEnds | string {
    const known = this.known[index];
    if (known !== undefined) return known;
    const found = this.check(index);
    if (index < this.document.arcs.length) this.known[index] = found;
    return found;
  }

  private check(index: number): ArcEnds | string {
    const { arcs, transform } = this.document;
    if (index >= arcs.length) return `arc ${index} does not exist: the file has ${arcs.length} arcs`;
    const arc = arcs[index];
    if (!Array.isArray(arc) || arc.length < 2) return `arc ${index} has fewer than two positions`;
    let x = 0;
    let y = 0;
    let first: readonly [number, number] = [0, 0];
    for (const [k, position] of (arc as unknown[]).entries()) {
      const flaw = flawOfPosition(position);
      if (flaw !== null) return `arc ${index}: ${flaw}`;
      const [px, py] = position as [number, number];
      x = transform ? x + px : px;
      y = transform ? y + py : py;
      if (k === 0) first = [x, y];
      if ((position as unknown[]).length > 3) this.hasExtraCoordinates = true;
    }
    return { first, last: [x, y] };
  }
}

/** Part types of a MultiPatch (Technical Description, "MultiPatch"). */
const PatchPartType = { strip: 0, fan: 1, outerRing: 2, innerRing: 3, firstRing: 4, ring: 5 } as const;

/** Receives the polygons of a MultiPatch: shells and holes by the indexes of their positions. */
export interface PolygonSink {
  shell(): void;
  hole(): void;
  position(index: number): void;
}

/** Upper bound of the positions of the resulting polygons, including closing ones. */
export function maxPatchPositions(partTypes: readonly number[], starts: readonly number[], ends: readonly number[]) {
  let positions = 0;
  let rings = 0;
  for (let p = 0; p < starts.length; p++) {
    const count = ends[p]! - starts[p]!;
    if (partTypes[p]! <= PatchPartType.fan) {
      const triangles = Math.max(0, count - 2);
      positions += triangles * 4;
      rings += triangles;
    } else {
      positions += count + 1;
      rings++;
    }
  }
  return { positions, rings };
}

/**
 * Converts a MultiPatch to polygons: each triangle of a strip or fan is one; an outer or first ring begins one, and the
 * inner rings and rings that follow are its holes.
 */
export function unfoldPatch(
  partTypes: readonly number[],
  starts: readonly number[],
  ends: readonly number[],
  closed: (first: number, last: number) => boolean,
  target: PolygonSink,
): void {
  let open = false;
  const triangle = (a: number, b: number, c: number) => {
    target.shell();
    for (const index of [a, b, c, a]) target.position(index);
  };
  for (let p = 0; p < starts.length; p++) {
    const from = starts[p]!;
    const to = ends[p]!;
    if (from === to) continue;
    const type = partTypes[p]!;
    if (type === PatchPartType.strip || type === PatchPartType.fan) {
      for (let k = from; k + 2 < to; k++) triangle(type === PatchPartType.fan ? from : k, k + 1, k + 2);
      open = false;
      continue;
    }
    if (open && (type === PatchPartType.innerRing || type === PatchPartType.ring)) target.hole();
    else target.shell();
    open = true;
    for (let k = from; k < to; k++) target.position(k);
    if (!closed(from, to - 1)) target.position(from);
  }
}

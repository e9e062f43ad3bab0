/** Datum shifts at the nodes of grids, as plain data that threads share. */

/** A rectangle of nodes. Angles in radians. */
export interface GridPart {
  readonly name: string;
  /** Bounds of the outermost nodes. */
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
  readonly stepX: number;
  readonly stepY: number;
  readonly columns: number;
  readonly rows: number;
  /** Index of its first value in `Grid.values`. */
  readonly offset: number;
  /** Whether shifts are interpolated by parabolas through three by three nodes (NADCON 5), not bilinearly. */
  readonly isBiquadratic: boolean;
  /** Indices of denser parts inside it, which take precedence. */
  readonly children: readonly number[];
}

export interface Grid {
  /** The file, as in messages. */
  readonly name: string;
  /**
   * Arc-seconds: a node's shift in longitude (positive east), then in latitude; nodes from west to east, rows from south
   * to north. NaN if there is none. In shared memory.
   */
  readonly values: Float32Array;
  readonly parts: readonly GridPart[];
  /** Indices of the parts without a parent. */
  readonly roots: readonly number[];
}

/** A part before its children are known. `parent` is a name, or null. */
export interface UnnestedPart extends Omit<GridPart, "children"> {
  readonly parent: string | null;
}

/** Maximum number of nodes of a file, 512 MB: the largest published grid has 5 million. */
export const maxNodes = 2 ** 26;

/** Maximum number of parts of a file: published grids have fewer than 200. */
export const maxParts = 10_000;

export const allocateSharedValues = (nodes: number): Float32Array =>
  new Float32Array(new SharedArrayBuffer(nodes * 2 * Float32Array.BYTES_PER_ELEMENT));

/** Tolerance at the edges of a part in radians: a hundred-thousandth of a cell, as in PROJ. */
export const edgeToleranceOf = ({ stepX, stepY }: Pick<GridPart, "stepX" | "stepY">): number => (stepX + stepY) * 1e-5;

/** Describes what is wrong with the position and size of a part; null if it is valid. */
export function findPlacementProblem(
  part: Omit<UnnestedPart, "name" | "parent" | "offset" | "isBiquadratic">,
): string | null {
  const { west, south, east, north, stepX, stepY, columns, rows } = part;
  const known = [west, south, east, north, stepX, stepY].every(Number.isFinite);
  if (!known || !(stepX > 1e-10 && stepY > 1e-10)) return "its extent or the distance of its nodes is not a number";
  if (!(west < east && south < north)) return "its edges are in the wrong order";
  if (Math.max(Math.abs(west), Math.abs(east)) > 4 * Math.PI || Math.max(Math.abs(south), Math.abs(north)) > Math.PI)
    return "it does not lie on the globe";
  if (!(columns >= 2 && rows >= 2 && columns * rows <= maxNodes)) return `it has ${columns} by ${rows} nodes`;
  return null;
}

const containsPart = (outer: UnnestedPart, inner: UnnestedPart): boolean => {
  const edge = Math.max(edgeToleranceOf(outer), edgeToleranceOf(inner));
  return (
    outer.west <= inner.west + edge &&
    outer.east >= inner.east - edge &&
    outer.south <= inner.south + edge &&
    outer.north >= inner.north - edge
  );
};

/**
 * Nests parts by the names of their parents or, with `byExtent`, by their extents.
 * @throws the error that `refuse` creates
 */
export function nestParts(
  name: string,
  values: Float32Array,
  loose: readonly UnnestedPart[],
  byExtent: boolean,
  refuse: (reason: string) => Error,
): Grid {
  const byName = new Map<string, number>();
  loose.forEach((part, index) => {
    if (part.name !== "" && !byName.has(part.name)) byName.set(part.name, index);
  });
  const parents = loose.map((part, index) => {
    const named = part.parent === null ? undefined : byName.get(part.parent);
    if (named !== undefined && (!byExtent || containsPart(loose[named]!, part))) return named;
    return byExtent && (part.parent !== null || part.name === "") ? findParentByExtent(loose, index) : -1;
  });
  rejectCycles(loose, parents, refuse);
  const children: number[][] = loose.map(() => []);
  const roots: number[] = [];
  parents.forEach((parent, index) => {
    (parent < 0 ? roots : children[parent]!).push(index);
  });
  const parts = loose.map(({ parent: _, ...part }, index) => ({ ...part, children: children[index]! }));
  return { name, values, parts, roots };
}

/** The smallest of the earlier parts that contains the part; −1 if there is none. */
function findParentByExtent(loose: readonly UnnestedPart[], index: number): number {
  const size = ({ west, south, east, north }: UnnestedPart) => (east - west) * (north - south);
  let best = -1;
  for (let i = 0; i < index; i++) {
    if (containsPart(loose[i]!, loose[index]!) && (best < 0 || size(loose[i]!) < size(loose[best]!))) best = i;
  }
  return best;
}

function rejectCycles(
  loose: readonly UnnestedPart[],
  parents: readonly number[],
  refuse: (reason: string) => Error,
): void {
  const sound = new Uint8Array(loose.length);
  for (let start = 0; start < loose.length; start++) {
    const path = new Set<number>();
    for (let at = start; at >= 0 && sound[at] === 0; at = parents[at]!) {
      if (path.has(at)) throw refuse(`its part "${loose[at]!.name}" is its own ancestor`);
      path.add(at);
    }
    for (const at of path) sound[at] = 1;
  }
}

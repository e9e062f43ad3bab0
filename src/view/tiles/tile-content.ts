/** What a tile shows, as the map gets it: typed arrays in one buffer. */

/** Units of a tile's side. Coordinates start in the north-west of the tile, and reach beyond it for symbols and lines. */
export const tileExtent = 4096;

export interface TileContent {
  /** Features in the tile, with those that its shapes and dots stand for. */
  readonly features: number;
  /** Features left out, since the tile would have too many positions. */
  readonly omitted: number;
  /** Dots: features that are a position, or too small for a shape. One stands for all in its cell. */
  readonly dots: {
    readonly xy: Int16Array;
    readonly classes: Uint8Array;
    /** Sixteen times the binary logarithm of the number of features, rounded. */
    readonly weights: Uint8Array;
  };
  readonly shapes: {
    readonly classes: Uint8Array;
    readonly ringCounts: Uint32Array;
    /** See `RingType`. */
    readonly ringTypes: Uint8Array;
    /** Positions of each ring. */
    readonly ringLengths: Uint32Array;
    readonly xy: Int16Array;
  };
}

const aligned = (size: number): number => (size + 3) & ~3;

function arraysOf({ dots, shapes }: TileContent): readonly (Int16Array | Uint8Array | Uint32Array)[] {
  const { classes, ringCounts, ringTypes, ringLengths, xy } = shapes;
  return [dots.xy, dots.classes, dots.weights, classes, ringCounts, ringTypes, ringLengths, xy];
}

const types = [Int16Array, Uint8Array, Uint8Array, Uint8Array, Uint32Array, Uint8Array, Uint32Array, Int16Array];

export function encodeTile(tile: TileContent): Uint8Array<ArrayBuffer> {
  const arrays = arraysOf(tile);
  const head = [tile.features, tile.omitted, ...arrays.map(({ length }) => length)];
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + aligned(byteLength), 4 * head.length));
  new Uint32Array(bytes.buffer, 0, head.length).set(head);
  let at = 4 * head.length;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += aligned(array.byteLength);
  }
  return bytes;
}

export function decodeTile(buffer: ArrayBuffer): TileContent {
  const head = new Uint32Array(buffer, 0, 2 + types.length);
  let at = head.byteLength;
  const arrays = types.map((Type, a) => {
    const array = new Type(buffer, at, head[2 + a]);
    at += aligned(array.byteLength);
    return array;
  });
  const [dotXy, dotClasses, weights, classes, ringCounts, ringTypes, ringLengths, xy] = arrays as [
    Int16Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint32Array,
    Uint8Array,
    Uint32Array,
    Int16Array,
  ];
  return {
    features: head[0]!,
    omitted: head[1]!,
    dots: { xy: dotXy, classes: dotClasses, weights },
    shapes: { classes, ringCounts, ringTypes, ringLengths, xy },
  };
}

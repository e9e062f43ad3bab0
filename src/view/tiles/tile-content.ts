/** What a tile shows, as the map gets it: typed arrays in one buffer. */

/** Units of a tile's side. Coordinates start in the north-west of the tile, and reach beyond it for symbols and lines. */
export const tileExtent = 4096;

/** Cells of a tile's side are 2^8: one dot is drawn in each, so that a tile has at most 65,536 and those of its margin. */
export const cellBits = 8;

/** Units of a cell's side. */
export const cellExtent = tileExtent >> cellBits;

export interface TileContent {
  /** Features in the tile that its dots stand for. */
  readonly dotted: number;
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
    /** The feature of each shape; `notInTile` if only the margin has a part of it. */
    readonly rows: Uint32Array;
    readonly classes: Uint8Array;
    readonly ringCounts: Uint32Array;
    /** See `RingType`. */
    readonly ringTypes: Uint8Array;
    /** Positions of each ring. */
    readonly ringLengths: Uint32Array;
    readonly xy: Int16Array;
  };
}

export const notInTile = 0xffff_ffff;

/** Arrays of a tile. */
const arrayCount = 9;

const aligned = (size: number): number => (size + 3) & ~3;

function arraysOf({ dots, shapes }: TileContent): readonly (Int16Array | Uint8Array | Uint32Array)[] {
  const { rows, classes, ringCounts, ringTypes, ringLengths, xy } = shapes;
  return [dots.xy, dots.classes, dots.weights, rows, classes, ringCounts, ringTypes, ringLengths, xy];
}

export function encodeTile(tile: TileContent): Uint8Array<ArrayBuffer> {
  const arrays = arraysOf(tile);
  const head = [tile.dotted, tile.omitted, ...arrays.map(({ length }) => length)];
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
  const head = new Uint32Array(buffer, 0, 2 + arrayCount);
  let [at, next] = [head.byteLength, 2];
  const take = <A extends ArrayBufferView>(Type: new (buffer: ArrayBuffer, at: number, length: number) => A): A => {
    const array = new Type(buffer, at, head[next++]!);
    at += aligned(array.byteLength);
    return array;
  };
  // In the order of `arraysOf`.
  const dots = { xy: take(Int16Array), classes: take(Uint8Array), weights: take(Uint8Array) };
  const shapes = {
    rows: take(Uint32Array),
    classes: take(Uint8Array),
    ringCounts: take(Uint32Array),
    ringTypes: take(Uint8Array),
    ringLengths: take(Uint32Array),
    xy: take(Int16Array),
  };
  return { dotted: head[0]!, omitted: head[1]!, dots, shapes };
}

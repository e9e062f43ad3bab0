import { curveCells, maxKeyedEntries, writeHilbertKey } from "./hilbert.js";

/** Number of entries that are sorted in memory. */
export const maxEntries = maxKeyedEntries;

const floatScratch = new Float32Array(1);
const floatBits = new Int32Array(floatScratch.buffer);

/** Rounds to a 32-bit float, down or up. */
function nextFloat32(value: number, up: boolean): number {
  floatScratch[0] = value;
  const near = floatScratch[0]!;
  if (near === value || (up ? near > value : near < value)) return near;
  if (near === 0) floatBits[0] = up ? 1 : -0x7fffffff;
  else floatBits[0] = floatBits[0]! + (near > 0 === up ? 1 : -1);
  return floatScratch[0]!;
}

/** Maps coordinates to cells of the Hilbert curve: min x, min y, and cells per unit. */
export interface HilbertFrame {
  readonly minX: number;
  readonly minY: number;
  readonly perX: number;
  readonly perY: number;
}

export function createHilbertFrame(minX: number, minY: number, maxX: number, maxY: number): HilbertFrame {
  return { minX, minY, perX: curveCells / (maxX - minX || 1), perY: curveCells / (maxY - minY || 1) };
}

const clampCell = (place: number): number =>
  place <= 0 ? 0 : place >= curveCells ? curveCells - 1 : Math.floor(place);

/** Boxes with ids, in input order; a box is min x, max x, min y, max y. */
export class RtreeEntries {
  length = 0;
  /** High (signed) and low 32 bits of the ids. */
  high = new Int32Array(1024);
  low = new Uint32Array(1024);
  boxes = new Float32Array(4 * 1024);
  private keys = new BigUint64Array(0);

  /** Adds a box: min x, min y, max x, max y from `sides[at]`. */
  add(high: number, low: number, sides: Float64Array, at: number): void {
    if (this.length === this.high.length) this.grow();
    const { boxes, length } = this;
    this.high[length] = high;
    this.low[length] = low;
    boxes[4 * length] = nextFloat32(sides[at]!, false);
    boxes[4 * length + 1] = nextFloat32(sides[at + 2]!, true);
    boxes[4 * length + 2] = nextFloat32(sides[at + 1]!, false);
    boxes[4 * length + 3] = nextFloat32(sides[at + 3]!, true);
    this.length++;
  }

  private grow(): void {
    const { high, low, boxes } = this;
    const size = 2 * this.length;
    this.high = new Int32Array(size);
    this.low = new Uint32Array(size);
    this.boxes = new Float32Array(4 * size);
    this.high.set(high);
    this.low.set(low);
    this.boxes.set(boxes);
  }

  get extent(): readonly [minX: number, minY: number, maxX: number, maxY: number] {
    const { boxes, length } = this;
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = 0; at < 4 * length; at += 4) {
      minX = Math.min(minX, boxes[at]!);
      maxX = Math.max(maxX, boxes[at + 1]!);
      minY = Math.min(minY, boxes[at + 2]!);
      maxY = Math.max(maxY, boxes[at + 3]!);
    }
    return [minX, minY, maxX, maxY];
  }

  /** Hilbert keys of the box centers, sorted, as 32-bit halves; valid until the next call. */
  alongCurve({ minX, minY, perX, perY }: HilbertFrame): Uint32Array {
    const { boxes, length } = this;
    if (this.keys.length < length) this.keys = new BigUint64Array(this.high.length);
    const keys = this.keys.subarray(0, length);
    const halves = new Uint32Array(keys.buffer, 0, 2 * length);
    for (let entry = 0; entry < length; entry++) {
      const at = 4 * entry;
      const column = clampCell(((boxes[at]! + boxes[at + 1]!) / 2 - minX) * perX);
      const row = clampCell(((boxes[at + 2]! + boxes[at + 3]!) / 2 - minY) * perY);
      writeHilbertKey(halves, entry, column, row, entry);
    }
    // Sorting a typed array is many times faster than sorting entries with a comparator.
    keys.sort();
    return halves;
  }
}

import { putInteger, putSmallVarint, serialOf } from "./sqlite-record.js";
import type { TableBuilder } from "./table-builder.js";

/** Entries of a node, and bytes of one: an id of 64 bits and four floats (SQLite's R-tree module, rtree.c). */
const mostEntries = 51;
const entryBytes = 24;
const nodeBytes = 4 + mostEntries * entryBytes;

/** Entries that are ordered in space together. More would need memory that grows with the layer. */
const runEntries = 1 << 19;
const rootNode = 1;

/** The tables behind an R-tree. */
export interface RtreeTables {
  /** The content of each node. */
  readonly node: TableBuilder;
  /** The node that each feature is in. */
  readonly rowid: TableBuilder;
  /** The parent of each node. */
  readonly parent: TableBuilder;
}

/** Boxes with ids; the sides of a box are minx, maxx, miny, maxy. */
class Entries {
  length = 0;
  high: Int32Array;
  low: Uint32Array;
  boxes: Float32Array;

  constructor(size: number) {
    this.high = new Int32Array(size);
    this.low = new Uint32Array(size);
    this.boxes = new Float32Array(4 * size);
  }

  /** @returns the place of the new entry, whose box is the caller's to set */
  add(high: number, low: number): number {
    if (this.length === this.high.length) this.grow();
    this.high[this.length] = high;
    this.low[this.length] = low;
    return this.length++;
  }

  private grow(): void {
    const size = 2 * this.length;
    const { high, low, boxes } = this;
    this.high = new Int32Array(size);
    this.low = new Uint32Array(size);
    this.boxes = new Float32Array(4 * size);
    this.high.set(high);
    this.low.set(low);
    this.boxes.set(boxes);
  }
}

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** The next 32-bit float below (`up` false) or above the number, or the number where it is one. */
function rounded(value: number, up: boolean): number {
  float[0] = value;
  const near = float[0]!;
  if (near === value || (up ? near > value : near < value)) return near;
  if (near === 0) bits[0] = up ? 1 : -0x7fffffff;
  else bits[0] = bits[0]! + (near > 0 === up ? 1 : -1);
  return float[0]!;
}

const curveCells = 1 << 15;

/** Where a place lies on a Hilbert curve over 2¹⁵ × 2¹⁵ cells. */
function hilbert(column: number, row: number): number {
  let x = column;
  let y = row;
  let distance = 0;
  for (let side = 1 << 14; side > 0; side >>= 1) {
    const right = (x & side) > 0 ? 1 : 0;
    const upper = (y & side) > 0 ? 1 : 0;
    distance += side * side * ((3 * right) ^ upper);
    if (upper === 0) {
      if (right === 1) {
        x = side - 1 - x;
        y = side - 1 - y;
      }
      const other = x;
      x = y;
      y = other;
    }
  }
  return distance;
}

/**
 * Builds an R-tree from its leaves: the boxes of some hundred thousand features are ordered along a Hilbert curve and
 * packed into full nodes, which is many times faster than inserting one after the other.
 */
export class RtreeBuilder {
  private readonly run = new Entries(1024);
  /** The leaves so far, as the entries of the level above. */
  private readonly leaves = new Entries(256);
  private lastNode = rootNode;
  private readonly record = Buffer.alloc(nodeBytes + 16);
  private readonly view = new DataView(this.record.buffer, this.record.byteOffset, this.record.byteLength);

  constructor(readonly tables: RtreeTables) {}

  /** Adds the box of a feature; ids must ascend. */
  add(high: number, low: number, minX: number, minY: number, maxX: number, maxY: number): void {
    const { run } = this;
    const at = run.add(high, low);
    run.boxes[4 * at] = rounded(minX, false);
    run.boxes[4 * at + 1] = rounded(maxX, true);
    run.boxes[4 * at + 2] = rounded(minY, false);
    run.boxes[4 * at + 3] = rounded(maxY, true);
    if (run.length === runEntries) this.endRun();
  }

  /** Packs the entries of the run into leaves. */
  private endRun(): void {
    const { run } = this;
    const order = alongCurve(run);
    const nodeOf = new Uint32Array(run.length);
    for (let at = 0; at < run.length; at += mostEntries) {
      const part = order.subarray(at, at + mostEntries);
      const node = this.putNode(run, part, this.leaves);
      for (const entry of part) nodeOf[entry] = node;
    }
    for (let entry = 0; entry < run.length; entry++) {
      this.putNumber(this.tables.rowid, run.high[entry]!, run.low[entry]!, nodeOf[entry]!);
    }
    run.length = 0;
  }

  /** Writes a node, and adds its box to the level above. @returns its number */
  private putNode(entries: Entries, order: Uint32Array, above: Entries): number {
    // The root is the first row of its table: its place is kept until it is known.
    if (this.lastNode === rootNode) this.putNodeRow(rootNode, this.node(entries, order.subarray(0, 0), 0));
    const node = ++this.lastNode;
    this.putNodeRow(node, this.node(entries, order, 0));
    const at = above.add(0, node);
    const { boxes } = entries;
    const [first] = order as unknown as [number];
    let [minX, maxX, minY, maxY] = boxes.subarray(4 * first, 4 * first + 4) as unknown as [
      number,
      number,
      number,
      number,
    ];
    for (const entry of order) {
      minX = Math.min(minX, boxes[4 * entry]!);
      maxX = Math.max(maxX, boxes[4 * entry + 1]!);
      minY = Math.min(minY, boxes[4 * entry + 2]!);
      maxY = Math.max(maxY, boxes[4 * entry + 3]!);
    }
    above.boxes.set([minX, maxX, minY, maxY], 4 * at);
    return node;
  }

  /** The content of a node: depth of the tree (in the root), number of entries, and those. */
  private node(entries: Entries, order: Uint32Array, depth: number): Buffer {
    const bytes = Buffer.alloc(nodeBytes);
    bytes.writeUInt16BE(depth, 0);
    bytes.writeUInt16BE(order.length, 2);
    let at = 4;
    for (const entry of order) {
      bytes.writeInt32BE(entries.high[entry]!, at);
      bytes.writeUInt32BE(entries.low[entry]!, at + 4);
      for (let side = 0; side < 4; side++) bytes.writeFloatBE(entries.boxes[4 * entry + side]!, at + 8 + 4 * side);
      at += entryBytes;
    }
    return bytes;
  }

  private putNodeRow(node: number, content: Buffer): void {
    const { record } = this;
    // A head of four bytes: its size, null for the rowid, and the size of the blob.
    record[0] = 4;
    record[1] = 0;
    putSmallVarint(record, 2, 12 + 2 * nodeBytes);
    record.set(content, 4);
    this.tables.node.add(0, node, record, 0, 4 + nodeBytes);
  }

  private putNumber(table: TableBuilder, high: number, low: number, value: number): void {
    const { record } = this;
    const serial = serialOf(0, value);
    record[0] = 3;
    record[1] = 0;
    record[2] = serial;
    table.add(high, low, record, 0, putInteger(this.view, 3, serial, 0, value));
  }

  /** Writes the levels above the leaves. @returns the content of the root, which is the caller's to put; null without an entry */
  finish(): Buffer | null {
    const { run } = this;
    if (this.lastNode === rootNode) {
      if (run.length === 0) return null;
      if (run.length <= mostEntries) {
        for (let entry = 0; entry < run.length; entry++) {
          this.putNumber(this.tables.rowid, run.high[entry]!, run.low[entry]!, rootNode);
        }
        const root = this.node(run, allOf(run), 0);
        this.putNodeRow(rootNode, root);
        return root;
      }
    }
    if (run.length > 0) this.endRun();
    let level = this.leaves;
    let depth = 1;
    for (; level.length > mostEntries; depth++) {
      const above = new Entries(256);
      const order = allOf(level);
      for (let at = 0; at < level.length; at += mostEntries) {
        const part = order.subarray(at, at + mostEntries);
        const parent = this.putNode(level, part, above);
        for (const entry of part) this.putNumber(this.tables.parent, 0, level.low[entry]!, parent);
      }
      level = above;
    }
    for (let entry = 0; entry < level.length; entry++) {
      this.putNumber(this.tables.parent, 0, level.low[entry]!, rootNode);
    }
    return this.node(level, allOf(level), depth);
  }
}

function allOf({ length }: Entries): Uint32Array {
  const order = new Uint32Array(length);
  for (let entry = 0; entry < length; entry++) order[entry] = entry;
  return order;
}

/** The entries in the order of their centres along a Hilbert curve. */
function alongCurve({ boxes, length }: Entries): Uint32Array {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < 4 * length; at += 4) {
    minX = Math.min(minX, boxes[at]!);
    maxX = Math.max(maxX, boxes[at + 1]!);
    minY = Math.min(minY, boxes[at + 2]!);
    maxY = Math.max(maxY, boxes[at + 3]!);
  }
  const cell = (least: number, greatest: number, from: number, to: number) =>
    Math.min(curveCells - 1, Math.floor((((from + to) / 2 - least) / (greatest - least || 1)) * curveCells));
  const keys = new Float64Array(length);
  for (let entry = 0; entry < length; entry++) {
    const at = 4 * entry;
    const place = hilbert(
      cell(minX, maxX, boxes[at]!, boxes[at + 1]!),
      cell(minY, maxY, boxes[at + 2]!, boxes[at + 3]!),
    );
    // The place and the entry in one number, which sorts much faster than entries by their places.
    keys[entry] = place * runEntries + entry;
  }
  keys.sort();
  const order = new Uint32Array(length);
  for (let n = 0; n < length; n++) order[n] = keys[n]! % runEntries;
  return order;
}

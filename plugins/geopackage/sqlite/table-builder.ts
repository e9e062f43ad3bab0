import { DataViewCache, dataViewOf } from "../../shared/text/data-view.js";
import type { PageWriter } from "./page-writer.js";
import { varintSize, writeSmallVarint, writeVarint } from "./record.js";

const [leafKind, interiorKind] = [13, 5];
const [leafHead, interiorHead] = [8, 12];
/** Records up to this size are copied by a loop, which is faster than `set`. */
const maxLoopBytes = 192;
/** Maximum size of an interior cell: child page (4), key (9), cell pointer (2). */
const maxInteriorCellBytes = 15;

/** A page with the largest rowid below it. */
interface ChildPage {
  readonly page: number;
  readonly high: number;
  readonly low: number;
}

/**
 * Builds the b-tree of a table from rows in ascending rowid order: writes leaf after leaf, and interior pages as they
 * fill up. The root page keeps its number, which the schema refers to.
 */
export class TableBuilder {
  private readonly leaf: Buffer;
  private readonly leafView: DataView;
  private readonly sources = new DataViewCache();
  private cells = 0;
  /** Offset of the lowest cell of the leaf: cells fill a page from its end. */
  private lowest: number;
  private readonly levels: ChildPage[][] = [];
  private high = 0;
  private low = 0;
  private readonly usable: number;
  private readonly maxLocalBytes: number;
  private readonly minLocalBytes: number;
  private readonly overflow: Buffer;

  constructor(
    private readonly pages: PageWriter,
    private readonly root: number,
  ) {
    this.usable = pages.pageSize;
    this.leaf = Buffer.alloc(this.usable);
    this.leafView = dataViewOf(this.leaf);
    this.overflow = Buffer.alloc(this.usable);
    this.lowest = this.usable;
    this.maxLocalBytes = this.usable - 35;
    this.minLocalBytes = Math.floor(((this.usable - 12) * 32) / 255) - 23;
  }

  /** Adds a row with the record `bytes[from … to]`. Rowids must ascend. */
  add(high: number, low: number, bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    const local = size <= this.maxLocalBytes ? size : this.localBytesOf(size);
    const room = varintSize(size) + 9 + local + (local < size ? 4 : 0);
    if (leafHead + 2 * (this.cells + 1) + room > this.lowest) this.endLeaf();
    // Overflow pages go first: the cell refers to them.
    const rest = local < size ? this.spill(bytes, from + local, to) : 0;
    this.putCell(high, low, bytes, from, from + local, size, rest);
    this.high = high;
    this.low = low;
  }

  /** Size of the local part of a large record (file format, 1.6: M and K). */
  private localBytesOf(size: number): number {
    const kept = this.minLocalBytes + ((size - this.minLocalBytes) % (this.usable - 4));
    return kept <= this.maxLocalBytes ? kept : this.minLocalBytes;
  }

  private putCell(
    high: number,
    low: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    size: number,
    rest: number,
  ): void {
    const { leaf, leafView } = this;
    const keySize = high === 0 ? varintSize(low >>> 0) : writeVarint(keyScratch, 0, high, low);
    const start = this.lowest - (varintSize(size) + keySize + (to - from) + (rest > 0 ? 4 : 0));
    let at = writeSmallVarint(leaf, start, size);
    at = writeVarint(leaf, at, high, low);
    if (to - from <= maxLoopBytes) at = copyShort(this.sources.of(bytes), from, to, leafView, at);
    else {
      leaf.set(bytes.subarray(from, to), at);
      at += to - from;
    }
    if (rest > 0) leafView.setUint32(at, rest);
    leafView.setUint16(leafHead + 2 * this.cells, start === 65_536 ? 0 : start);
    this.cells++;
    this.lowest = start;
  }

  /** Writes the rest of a record to overflow pages. @returns the number of the first */
  private spill(bytes: Uint8Array, from: number, to: number): number {
    const { pages, overflow } = this;
    const room = this.usable - 4;
    let first = 0;
    for (let at = from; at < to; at += room) {
      const part = Math.min(room, to - at);
      const isLast = at + part >= to;
      overflow.fill(0);
      overflow.writeUInt32BE(isLast ? 0 : pages.pageAfterNext, 0);
      overflow.set(bytes.subarray(at, at + part), 4);
      const page = pages.append(overflow);
      if (first === 0) first = page;
    }
    return first;
  }

  private finishLeaf(): Buffer {
    const { leaf } = this;
    leaf[0] = leafKind;
    leaf.writeUInt16BE(0, 1);
    leaf.writeUInt16BE(this.cells, 3);
    leaf.writeUInt16BE(this.lowest === 65_536 ? 0 : this.lowest, 5);
    leaf[7] = 0;
    return leaf;
  }

  private endLeaf(): void {
    const page = this.pages.append(this.finishLeaf());
    this.leaf.fill(0);
    this.cells = 0;
    this.lowest = this.usable;
    this.addChild(0, { page, high: this.high, low: this.low });
  }

  private get maxInteriorCells(): number {
    return Math.floor((this.usable - interiorHead) / maxInteriorCellBytes);
  }

  private addChild(level: number, child: ChildPage): void {
    if (level === this.levels.length) this.levels.push([]);
    const children = this.levels[level]!;
    children.push(child);
    // Keep two children back, so that the last page never has a single child.
    if (children.length < this.maxInteriorCells + 3) return;
    const full = children.splice(0, this.maxInteriorCells + 1);
    this.addChild(level + 1, this.endInterior(full));
  }

  private endInterior(children: readonly ChildPage[]): ChildPage {
    const page = this.pages.append(this.interior(children));
    const { high, low } = children.at(-1)!;
    return { page, high, low };
  }

  private interior(children: readonly ChildPage[]): Buffer {
    const page = Buffer.alloc(this.usable);
    let lowest = this.usable;
    const last = children.length - 1;
    for (let c = 0; c < last; c++) {
      const { page: child, high, low } = children[c]!;
      const size = 4 + writeVarint(keyScratch, 0, high, low);
      lowest -= size;
      page.writeUInt32BE(child, lowest);
      writeVarint(page, lowest + 4, high, low);
      page.writeUInt16BE(lowest, interiorHead + 2 * c);
    }
    page[0] = interiorKind;
    page.writeUInt16BE(last, 3);
    page.writeUInt16BE(lowest, 5);
    page.writeUInt32BE(children[last]!.page, 8);
    return page;
  }

  /** Writes the root page. Leaves it unchanged if there are no rows. */
  finish(): void {
    if (this.levels.length === 0) {
      if (this.cells > 0) this.pages.replace(this.root, this.finishLeaf());
      return;
    }
    if (this.cells > 0) this.endLeaf();
    for (let level = 0; ; level++) {
      const children = this.levels[level]!;
      const isTop = level === this.levels.length - 1;
      if (isTop && children.length <= this.maxInteriorCells + 1) {
        this.pages.replace(this.root, this.interior(children));
        return;
      }
      const half = children.length > this.maxInteriorCells + 1 ? Math.ceil(children.length / 2) : children.length;
      for (let c = 0; c < children.length; c += half) {
        this.addChild(level + 1, this.endInterior(children.slice(c, c + half)));
      }
    }
  }
}

const keyScratch = new Uint8Array(9);

/**
 * Copies `source[from … to]` to `at`, four bytes at a time. Below a few hundred bytes this is cheaper than a native
 * copy and the subarray that it needs.
 * @returns the offset after the copied bytes
 */
function copyShort(source: DataView, from: number, to: number, target: DataView, at: number): number {
  let next = from;
  let into = at;
  for (; next <= to - 4; next += 4, into += 4) target.setInt32(into, source.getInt32(next));
  for (; next < to; next++, into++) target.setUint8(into, source.getUint8(next));
  return into;
}

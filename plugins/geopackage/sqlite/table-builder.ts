import { copyShort } from "../../shared/text/copy-bytes.js";
import { DataViewCache, dataViewOf } from "../../shared/text/data-view.js";
import type { PageWriter } from "./page-writer.js";
import { varintSize, writeSmallVarint, writeVarint } from "./record.js";

const [leafKind, interiorKind] = [13, 5];
const [leafHead, interiorHead] = [8, 12];
/** Bytes of a record that are copied by hand. */
const maxLoopBytes = 192;
/** Cells of an interior page, of which each takes up to 15 bytes: child, key, and where it stands. */
const maxInteriorCellBytes = 15;

/** A page with the greatest rowid under it. */
interface ChildPage {
  readonly page: number;
  readonly high: number;
  readonly low: number;
}

/**
 * Builds the b-tree of a table whose rows come by ascending rowids: leaf after leaf, with the pages above them made as
 * they fill up. The root keeps its place, which the schema names.
 */
export class TableBuilder {
  private readonly leaf: Buffer;
  private readonly leafView: DataView;
  private readonly sources = new DataViewCache();
  private cells = 0;
  /** Where the lowest cell of the leaf starts: cells fill a page from its end. */
  private lowest: number;
  private readonly levels: ChildPage[][] = [];
  private high = 0;
  private low = 0;
  private readonly usable: number;
  private readonly most: number;
  private readonly least: number;
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
    this.most = this.usable - 35;
    this.least = Math.floor(((this.usable - 12) * 32) / 255) - 23;
  }

  /** Adds a row, whose record is `bytes[from … to]`; its rowid must be greater than that of the row before. */
  add(high: number, low: number, bytes: Uint8Array, from: number, to: number): void {
    const size = to - from;
    const local = size <= this.most ? size : this.localOf(size);
    const room = varintSize(size) + 9 + local + (local < size ? 4 : 0);
    if (leafHead + 2 * (this.cells + 1) + room > this.lowest) this.endLeaf();
    // The rest goes first: the cell says where it is.
    const rest = local < size ? this.spill(bytes, from + local, to) : 0;
    this.putCell(high, low, bytes, from, from + local, size, rest);
    this.high = high;
    this.low = low;
  }

  /** How much of a large record stays in its leaf (file format, 1.6: M and K). */
  private localOf(size: number): number {
    const kept = this.least + ((size - this.least) % (this.usable - 4));
    return kept <= this.most ? kept : this.least;
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

  /** Writes what a leaf has no room for into pages of its own. @returns the number of the first */
  private spill(bytes: Uint8Array, from: number, to: number): number {
    const { pages, overflow } = this;
    const room = this.usable - 4;
    let first = 0;
    for (let at = from; at < to; at += room) {
      const part = Math.min(room, to - at);
      const isLast = at + part >= to;
      overflow.fill(0);
      overflow.writeUInt32BE(isLast ? 0 : pages.following, 0);
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

  private get mostCells(): number {
    return Math.floor((this.usable - interiorHead) / maxInteriorCellBytes);
  }

  private addChild(level: number, child: ChildPage): void {
    if (level === this.levels.length) this.levels.push([]);
    const children = this.levels[level]!;
    children.push(child);
    // Two more than fit: a page is never left with a single child.
    if (children.length < this.mostCells + 3) return;
    const full = children.splice(0, this.mostCells + 1);
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

  /** Puts the root into its place. Without a row, what is there stays. */
  finish(): void {
    if (this.levels.length === 0) {
      if (this.cells > 0) this.pages.replace(this.root, this.finishLeaf());
      return;
    }
    if (this.cells > 0) this.endLeaf();
    for (let level = 0; ; level++) {
      const children = this.levels[level]!;
      const isTop = level === this.levels.length - 1;
      if (isTop && children.length <= this.mostCells + 1) {
        this.pages.replace(this.root, this.interior(children));
        return;
      }
      const half = children.length > this.mostCells + 1 ? Math.ceil(children.length / 2) : children.length;
      for (let c = 0; c < children.length; c += half) {
        this.addChild(level + 1, this.endInterior(children.slice(c, c + half)));
      }
    }
  }
}

const keyScratch = new Uint8Array(9);

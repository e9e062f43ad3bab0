import type { ScratchFile } from "../../shared/scratch-file.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { integerSerialType, writeInteger } from "../sqlite/record.js";
import type { TableBuilder } from "../sqlite/table-builder.js";
import { createHilbertFrame, type HilbertFrame, maxEntries, RtreeEntries } from "./entries.js";
import { entryIndexOf } from "./hilbert.js";
import { LevelBoxes } from "./level-boxes.js";
import { maxNodeEntries, NodeWriter, rootNodeId } from "./nodes.js";
import { SortedRuns } from "./sorted-runs.js";

/** Shadow tables of an R-tree (SQLite's R-tree module, 3.1). */
export interface RtreeTables {
  /** The content of each node. */
  readonly node: TableBuilder;
  /** The node that each feature is in. */
  readonly rowid: TableBuilder;
  /** The parent of each node. */
  readonly parent: TableBuilder;
}

/** Min x, min y, max x and max y of a layer. */
type LayerExtent = readonly [number, number, number, number];

const globeExtent: LayerExtent = [-180, -90, 180, 90];
const isWithin = ([west, south, east, north]: LayerExtent, [minX, minY, maxX, maxY]: LayerExtent): boolean =>
  west >= minX && south >= minY && east <= maxX && north <= maxY;

/**
 * Estimates the area of the Hilbert curve before all features are known. Features outside of it are found too, in nodes
 * that overlap more.
 */
function estimateFrame(known: LayerExtent | null, first: LayerExtent): HilbertFrame {
  if (known && isWithin(first, widenForRounding(known))) return createHilbertFrame(...known);
  if (isWithin(first, globeExtent)) return createHilbertFrame(...globeExtent);
  const reach = 2 ** Math.ceil(Math.log2(Math.max(...first.map(Math.abs))) + 1);
  return createHilbertFrame(-reach, -reach, reach, reach);
}

/** Rounding to 32-bit floats moves a side by up to this much. */
const widenForRounding = ([minX, minY, maxX, maxY]: LayerExtent): LayerExtent => {
  const by = Math.max(Math.abs(minX), Math.abs(minY), Math.abs(maxX), Math.abs(maxY)) * 2 ** -22;
  return [minX - by, minY - by, maxX + by, maxY + by];
};

/**
 * Bulk-loads an R-tree: sorts the boxes of all features along a Hilbert curve and packs them into full nodes, which is
 * many times faster than single inserts. Uses an external merge sort if the boxes do not fit into memory.
 */
export class RtreeBuilder {
  private readonly entries = new RtreeEntries();
  private readonly nodes: NodeWriter;
  private frame: HilbertFrame | null = null;
  private scratch: ScratchFile | null = null;
  private runs: SortedRuns | null = null;
  private readonly record = Buffer.alloc(16);
  private readonly view = dataViewOf(this.record);

  /**
   * @param extent of all features, if known
   * @param maxInMemory number of features that are sorted in memory
   */
  constructor(
    readonly tables: RtreeTables,
    private readonly extent: LayerExtent | null,
    private readonly maxInMemory: number = maxEntries,
  ) {
    this.nodes = new NodeWriter(tables.node);
  }

  /** Whether `spill` must be called before the next `add`. */
  get isFull(): boolean {
    return this.entries.length >= this.maxInMemory;
  }

  /** Adds the box of a feature: min x, min y, max x, max y from `sides[at]`. Ids must ascend. */
  add(high: number, low: number, sides: Float64Array, at: number): void {
    this.entries.add(high, low, sides, at);
  }

  /** Writes the features in memory to disk as a sorted entries. @param open creates the file */
  async spill(open: () => Promise<ScratchFile>): Promise<void> {
    const { entries } = this;
    this.scratch ??= await open();
    this.runs ??= new SortedRuns(this.scratch);
    this.frame ??= estimateFrame(this.extent, entries.extent);
    this.runs.add(entries, entries.alongCurve(this.frame));
    entries.length = 0;
  }

  /** Writes the tree. @returns the content of the root node, which the caller writes; null for an empty tree */
  finish(): Buffer | null {
    const { entries, runs, nodes } = this;
    if (!runs && entries.length === 0) return null;
    const leaves = new LevelBoxes(this.scratch);
    const order = entries.length > 0 ? entries.alongCurve(this.frame ?? createHilbertFrame(...entries.extent)) : null;
    if (runs) {
      if (order) runs.add(entries, order);
      this.packRuns(runs, leaves);
    } else this.packRun(order!, leaves);
    const root = leaves.length === 0 ? nodes.root(0) : this.packLevels(leaves);
    this.abandon();
    return root;
  }

  /** Packs the features in memory into leaves. */
  private packRun(order: Uint32Array, leaves: LevelBoxes): void {
    const { entries, tables, nodes } = this;
    const isRoot = entries.length <= maxNodeEntries;
    const nodeOf = new Uint32Array(entries.length);
    for (let n = 0; n < entries.length; n++) {
      const entry = entryIndexOf(order, n);
      nodeOf[entry] = isRoot ? rootNodeId : nodes.last + 1;
      if (nodes.put(entries.high[entry]!, entries.low[entry]!, entries.boxes, 4 * entry) && !isRoot)
        this.endNode(leaves);
    }
    if (!isRoot) this.endNode(leaves);
    for (let entry = 0; entry < entries.length; entry++) {
      this.putNumber(tables.rowid, entries.high[entry]!, entries.low[entry]!, nodeOf[entry]!);
    }
  }

  /** Packs the features on disk into leaves. */
  private packRuns(runs: SortedRuns, leaves: LevelBoxes): void {
    const { nodes, tables } = this;
    runs.merge((high, low, boxes, at) => {
      const node = nodes.last + 1;
      if (nodes.put(high, low, boxes, at)) this.endNode(leaves);
      return node;
    });
    this.endNode(leaves);
    runs.eachPlaced((high, low, node) => this.putNumber(tables.rowid, high, low, node));
  }

  /** Ends the current node, unless it is empty, and adds its box to its level. */
  private endNode(level: LevelBoxes): void {
    const { nodes } = this;
    if (nodes.count === 0) return;
    nodes.end();
    level.add(nodes.box);
    nodes.begin();
  }

  /** Packs the leaves into the levels above them. @returns the root */
  private packLevels(leaves: LevelBoxes): Buffer {
    const { nodes, tables } = this;
    let level = leaves;
    let first = rootNodeId + 1;
    for (let depth = 1; ; depth++) {
      const above = new LevelBoxes(this.scratch);
      const isTop = level.length <= maxNodeEntries;
      let child = first;
      first = nodes.last + 1;
      level.each((boxes, at) => {
        this.putNumber(tables.parent, 0, child, isTop ? rootNodeId : nodes.last + 1);
        if (nodes.put(0, child, boxes, at) && !isTop) this.endNode(above);
        child++;
      });
      if (isTop) return nodes.root(depth);
      this.endNode(above);
      level = above;
    }
  }

  private putNumber(table: TableBuilder, high: number, low: number, value: number): void {
    const { record } = this;
    const serial = integerSerialType(0, value);
    record[0] = 3;
    record[1] = 0;
    record[2] = serial;
    table.add(high, low, record, 0, writeInteger(this.view, 3, serial, 0, value));
  }

  /** Closes the temporary file; the host removes it. */
  abandon(): void {
    this.scratch?.close();
    this.scratch = null;
  }
}

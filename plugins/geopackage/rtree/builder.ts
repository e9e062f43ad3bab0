import { dataViewOf } from "../../shared/text/data-view.js";
import { integerSerialType, writeInteger } from "../sqlite/record.js";
import type { ScratchFile } from "../sqlite/scratch-file.js";
import type { TableBuilder } from "../sqlite/table-builder.js";
import { createHilbertFrame, type HilbertFrame, maxEntries, RtreeEntries } from "./entries.js";
import { entryIndexOf } from "./hilbert.js";
import { LevelBoxes } from "./level-boxes.js";
import { maxNodeEntries, NodeWriter, rootNodeId } from "./nodes.js";
import { SortedRuns } from "./sorted-runs.js";

/** The tables behind an R-tree. */
export interface RtreeTables {
  /** The content of each node. */
  readonly node: TableBuilder;
  /** The node that each feature is in. */
  readonly rowid: TableBuilder;
  /** The parent of each node. */
  readonly parent: TableBuilder;
}

/** Least x, least y, greatest x and greatest y of a layer. */
type LayerExtent = readonly [number, number, number, number];

const globeExtent: LayerExtent = [-180, -90, 180, 90];
const isWithin = ([west, south, east, north]: LayerExtent, [minX, minY, maxX, maxY]: LayerExtent): boolean =>
  west >= minX && south >= minY && east <= maxX && north <= maxY;

/**
 * What to lay the curve over when all is not there yet. Beyond it features are as easily found, in nodes that overlap
 * more.
 */
function estimateFrame(known: LayerExtent | null, first: LayerExtent): HilbertFrame {
  if (known && isWithin(first, widenForRounding(known))) return createHilbertFrame(...known);
  if (isWithin(first, globeExtent)) return createHilbertFrame(...globeExtent);
  const reach = 2 ** Math.ceil(Math.log2(Math.max(...first.map(Math.abs))) + 1);
  return createHilbertFrame(-reach, -reach, reach, reach);
}

/** By what rounding to 32 bits moves a side. */
const widenForRounding = ([minX, minY, maxX, maxY]: LayerExtent): LayerExtent => {
  const by = Math.max(Math.abs(minX), Math.abs(minY), Math.abs(maxX), Math.abs(maxY)) * 2 ** -22;
  return [minX - by, minY - by, maxX + by, maxY + by];
};

/**
 * Builds an R-tree from its leaves: the boxes of all features are ordered along a Hilbert curve and packed into full
 * nodes, which is many times faster than inserting one after the other. Those that are more than fit into memory are
 * ordered on disk.
 */
export class RtreeBuilder {
  private readonly run = new RtreeEntries();
  private readonly nodes: NodeWriter;
  private frame: HilbertFrame | null = null;
  private scratch: ScratchFile | null = null;
  private runs: SortedRuns | null = null;
  private readonly record = Buffer.alloc(16);
  private readonly view = dataViewOf(this.record);

  /**
   * @param extent of all features, where it is known
   * @param most features that are ordered in memory
   */
  constructor(
    readonly tables: RtreeTables,
    private readonly extent: LayerExtent | null,
    private readonly most: number = maxEntries,
  ) {
    this.nodes = new NodeWriter(tables.node);
  }

  /** Whether features must go to disk before others are added. */
  get isFull(): boolean {
    return this.run.length >= this.most;
  }

  /** Adds the box of a feature: least x and y, greatest x and y, in `sides` from `at` on. Ids must ascend. */
  add(high: number, low: number, sides: Float64Array, at: number): void {
    this.run.add(high, low, sides, at);
  }

  /** Sends the features to disk that are in memory. @param open makes the file for it */
  async spill(open: () => Promise<ScratchFile>): Promise<void> {
    const { run } = this;
    this.scratch ??= await open();
    this.runs ??= new SortedRuns(this.scratch);
    this.frame ??= estimateFrame(this.extent, run.extent);
    this.runs.add(run, run.alongCurve(this.frame));
    run.length = 0;
  }

  /** Writes the tree. @returns the content of the root, which is the caller's to put; null without an entry */
  finish(): Buffer | null {
    const { run, runs, nodes } = this;
    if (!runs && run.length === 0) return null;
    const leaves = new LevelBoxes(this.scratch);
    const order = run.length > 0 ? run.alongCurve(this.frame ?? createHilbertFrame(...run.extent)) : null;
    if (runs) {
      if (order) runs.add(run, order);
      this.packRuns(runs, leaves);
    } else this.packRun(order!, leaves);
    const root = leaves.length === 0 ? nodes.root(0) : this.packLevels(leaves);
    this.abandon();
    return root;
  }

  /** Packs the features in memory into leaves. */
  private packRun(order: Uint32Array, leaves: LevelBoxes): void {
    const { run, tables, nodes } = this;
    const isRoot = run.length <= maxNodeEntries;
    const nodeOf = new Uint32Array(run.length);
    for (let n = 0; n < run.length; n++) {
      const entry = entryIndexOf(order, n);
      nodeOf[entry] = isRoot ? rootNodeId : nodes.last + 1;
      if (nodes.put(run.high[entry]!, run.low[entry]!, run.boxes, 4 * entry) && !isRoot) this.endNode(leaves);
    }
    if (!isRoot) this.endNode(leaves);
    for (let entry = 0; entry < run.length; entry++) {
      this.putNumber(tables.rowid, run.high[entry]!, run.low[entry]!, nodeOf[entry]!);
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

  /** Ends the node available, where there is anything in it, and adds its box to those of its level. */
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

  /** Closes what is on disk, which the host removes. */
  abandon(): void {
    this.scratch?.close();
    this.scratch = null;
  }
}

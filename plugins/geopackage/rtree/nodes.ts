import { dataViewOf } from "../../shared/text/data-view.js";
import { writeSmallVarint } from "../sqlite/record.js";
import type { TableBuilder } from "../sqlite/table-builder.js";

/** Entries of a node, and bytes of one: an id of 64 bits and four floats (SQLite's R-tree module, rtree.c). */
export const maxNodeEntries = 51;
const entryBytes = 24;
const nodeBytes = 4 + maxNodeEntries * entryBytes;
export const rootNodeId = 1;

/** The head of a node's record: its own size, null for the rowid, and the size of the blob. */
const recordHeaderBytes = 4;

/** Fills one node after the other, and writes them as rows of their table. */
export class NodeWriter {
  /** The number of the node written last. */
  last = rootNodeId;
  /** Entries of the node available. */
  count = 0;
  /** The box of the node available: minx, maxx, miny, maxy. */
  readonly box = new Float32Array(4);
  private readonly record = Buffer.alloc(recordHeaderBytes + nodeBytes);
  private readonly view = dataViewOf(this.record);

  constructor(private readonly table: TableBuilder) {
    this.record[0] = recordHeaderBytes;
    writeSmallVarint(this.record, 2, 12 + 2 * nodeBytes);
    this.begin();
  }

  /** Begins another node. */
  begin(): void {
    this.count = 0;
    this.box.set([Infinity, -Infinity, Infinity, -Infinity]);
  }

  /** Adds an entry with its box, `boxes[at]` and behind, to the node available. @returns whether it is full */
  put(high: number, low: number, boxes: Float32Array, at: number): boolean {
    const { view, box } = this;
    const place = recordHeaderBytes + 4 + entryBytes * this.count;
    view.setInt32(place, high);
    view.setUint32(place + 4, low);
    for (let side = 0; side < 4; side++) {
      const value = boxes[at + side]!;
      view.setFloat32(place + 8 + 4 * side, value);
      if ((side & 1) === 0 ? value < box[side]! : value > box[side]!) box[side] = value;
    }
    this.count++;
    return this.count === maxNodeEntries;
  }

  /** Writes the node available. Its box stays until `begin`. */
  end(): void {
    // The root is the first row of its table: its place is kept until it is known.
    if (this.last === rootNodeId) this.table.add(0, rootNodeId, emptyRecord(this.record), 0, this.record.length);
    this.putRow(++this.last);
  }

  private putRow(node: number): void {
    this.close(0);
    this.table.add(0, node, this.record, 0, this.record.length);
  }

  /** Depth of the tree, which only the root says, and number of entries; nothing behind them. */
  private close(depth: number): void {
    this.view.setUint16(recordHeaderBytes, depth);
    this.view.setUint16(recordHeaderBytes + 2, this.count);
    this.record.fill(0, recordHeaderBytes + 4 + entryBytes * this.count);
  }

  /** The content that the root is to have, which are the entries of the node available. @param depth levels below it */
  root(depth: number): Buffer {
    if (this.last === rootNodeId) this.putRow(rootNodeId);
    this.close(depth);
    return Buffer.from(this.record.subarray(recordHeaderBytes));
  }
}

const emptyRecord = (record: Buffer): Buffer => Buffer.from(record).fill(0, recordHeaderBytes);

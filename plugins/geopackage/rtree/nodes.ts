import { dataViewOf } from "../../shared/text/data-view.js";
import { writeSmallVarint } from "../sqlite/record.js";
import type { TableBuilder } from "../sqlite/table-builder.js";

/** Maximum entries of a node; an entry is a 64-bit id and four floats (SQLite's R-tree module, rtree.c). */
export const maxNodeEntries = 51;
const entryBytes = 24;
const nodeBytes = 4 + maxNodeEntries * entryBytes;
export const rootNodeId = 1;

/** Record header of a node: header size, null for the rowid, and the serial type of the blob. */
const recordHeaderBytes = 4;

/** Fills nodes one after the other and writes them as rows of the `_node` table. */
export class NodeWriter {
  /** Number of the last node written. */
  last = rootNodeId;
  /** Entries of the current node. */
  count = 0;
  /** Box of the current node: min x, max x, min y, max y. */
  readonly box = new Float32Array(4);
  private readonly record = Buffer.alloc(recordHeaderBytes + nodeBytes);
  private readonly view = dataViewOf(this.record);

  constructor(private readonly table: TableBuilder) {
    this.record[0] = recordHeaderBytes;
    writeSmallVarint(this.record, 2, 12 + 2 * nodeBytes);
    this.begin();
  }

  begin(): void {
    this.count = 0;
    this.box.set([Infinity, -Infinity, Infinity, -Infinity]);
  }

  /** Adds an entry with the box `boxes[at … at + 4]` to the current node. @returns whether the node is full */
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

  /** Writes the current node. Its box stays until `begin`. */
  end(): void {
    // The root is the first row of its table, but is known last: an empty row reserves its place.
    if (this.last === rootNodeId) this.table.add(0, rootNodeId, emptyRecord(this.record), 0, this.record.length);
    this.putRow(++this.last);
  }

  private putRow(node: number): void {
    this.close(0);
    this.table.add(0, node, this.record, 0, this.record.length);
  }

  /** Writes the depth of the tree (root only) and the number of entries; zeroes the rest. */
  private close(depth: number): void {
    this.view.setUint16(recordHeaderBytes, depth);
    this.view.setUint16(recordHeaderBytes + 2, this.count);
    this.record.fill(0, recordHeaderBytes + 4 + entryBytes * this.count);
  }

  /** Returns the current node as the content of the root. @param depth levels below the root */
  root(depth: number): Buffer {
    if (this.last === rootNodeId) this.putRow(rootNodeId);
    this.close(depth);
    return Buffer.from(this.record.subarray(recordHeaderBytes));
  }
}

const emptyRecord = (record: Buffer): Buffer => Buffer.from(record).fill(0, recordHeaderBytes);

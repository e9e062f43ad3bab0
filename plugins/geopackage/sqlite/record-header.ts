import { type SqliteRow, VarintReader } from "./row-reader.js";
import { contentBytes } from "./values.js";

/**
 * Where the values of a record stand, as its head says (file format, 2.1). It calls no one with them: readings that do
 * different things with values would make it one that V8 compiles again for each.
 */
export class RecordHeader {
  private readonly varint = new VarintReader();
  /** By column: the value of serial type `serials[c]` has the `sizes[c]` bytes from `starts[c]` on. */
  readonly serials: Uint32Array;
  readonly starts: Uint32Array;
  readonly sizes: Uint32Array;

  /** The columns beyond the first `columns` are passed over. */
  constructor(columns: number) {
    this.serials = new Uint32Array(columns);
    this.starts = new Uint32Array(columns);
    this.sizes = new Uint32Array(columns);
  }

  /** @returns how many columns the record has values of; -1 where it contradicts itself */
  read(row: SqliteRow): number {
    const { varint, serials, starts, sizes } = this;
    const { bytes, from, to } = row;
    let head = varint.read(bytes, from);
    let body = from + varint.size;
    const end = body;
    if (end > to || end < head) return -1;
    let c = 0;
    while (head < end) {
      let serial = bytes[head]!;
      if (serial < 0x80) {
        head++;
        if (serial === 10 || serial === 11) return -1;
      } else {
        head = varint.read(bytes, head);
        if (varint.high !== 0) return -1;
        serial = varint.low;
      }
      const size = contentBytes(serial);
      if (c < serials.length) {
        serials[c] = serial;
        starts[c] = body;
        sizes[c] = size;
        c++;
      }
      body += size;
    }
    return head === end && body <= to ? c : -1;
  }
}

import { type SqliteRow, VarintReader } from "./row-reader.js";
import { contentBytes } from "./values.js";

/**
 * Parses the header of a record (file format, 2.1) into arrays. Takes no callback for the values: different callbacks
 * would make the call megamorphic and slow.
 */
export class RecordHeader {
  private readonly varint = new VarintReader();
  /** By column: serial type, offset and size of the value. */
  readonly serials: Uint32Array;
  readonly starts: Uint32Array;
  readonly sizes: Uint32Array;

  /** Ignores columns beyond the first `columns`. */
  constructor(columns: number) {
    this.serials = new Uint32Array(columns);
    this.starts = new Uint32Array(columns);
    this.sizes = new Uint32Array(columns);
  }

  /** @returns the number of values, or -1 if the record is malformed */
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

import { type Row, Varint } from "./sqlite-rows.js";
import { contentSize } from "./sqlite-values.js";

/** What takes the values of one column, row by row. */
export interface ValueTaker {
  /** The value of serial type `serial` is `bytes[at … at + size]`. */
  take(bytes: Buffer, at: number, serial: number, size: number): void;
}

/** Gives the values of records (file format, 2.1) to what takes those of each column; null for a column passed over. */
export class RecordWalk {
  private readonly varint = new Varint();

  constructor(private readonly takers: readonly (ValueTaker | null)[]) {}

  /** @returns how many columns the record has values of; -1 where it contradicts itself, with nothing given */
  give(row: Row): number {
    const { varint, takers } = this;
    const { bytes, from, to } = row;
    let head = varint.read(bytes, from);
    let body = from + varint.size;
    const end = body;
    if (end > to || end < head || !this.fits(bytes, head, end, to)) return -1;
    let c = 0;
    for (; head < end && c < takers.length; c++) {
      const byte = bytes[head]!;
      let serial = byte;
      if (byte < 0x80) head++;
      else {
        head = varint.read(bytes, head);
        serial = varint.size;
      }
      const size = contentSize(serial);
      takers[c]?.take(bytes, body, serial, size);
      body += size;
    }
    return c;
  }

  /** Whether the sizes in a record's head are those of its body. */
  private fits(bytes: Buffer, start: number, end: number, to: number): boolean {
    const { varint } = this;
    let size = 0;
    let head = start;
    while (head < end) {
      const byte = bytes[head]!;
      if (byte < 0x80) {
        head++;
        if (byte === 10 || byte === 11) return false;
        size += contentSize(byte);
      } else {
        head = varint.read(bytes, head);
        if (varint.high !== 0) return false;
        size += contentSize(varint.low);
      }
    }
    return head === end && end + size <= to;
  }
}

import type { Pages } from "./sqlite-pages.js";
import { cellCount, headOf } from "./sqlite-tree.js";

/** One row as it stands in its page, or put together from several. Used again for the next row. */
export interface Row {
  /** The rowid in two halves, of which the upper one has the sign. */
  high: number;
  low: number;
  /** `bytes[from … to]` is the record. */
  bytes: Buffer;
  from: number;
  to: number;
}

/** Reads a varint (file format, 1.6): up to nine bytes, of which the ninth counts whole. */
export class Varint {
  high = 0;
  low = 0;

  /** @returns where the next byte stands */
  read(bytes: Buffer, at: number): number {
    let byte = bytes[at++]!;
    if (byte < 0x80) {
      this.high = 0;
      this.low = byte;
      return at;
    }
    let high = 0;
    let low = byte & 0x7f;
    for (let n = 1; n < 8; n++) {
      byte = bytes[at++]!;
      high = (high << 7) | (low >>> 25);
      low = (low << 7) | (byte & 0x7f);
      if (byte < 0x80) {
        this.high = high;
        this.low = low >>> 0;
        return at;
      }
    }
    byte = bytes[at++]!;
    this.high = (high << 8) | (low >>> 24);
    this.low = ((low << 8) | byte) >>> 0;
    return at;
  }

  /** Exact up to 2^53; what is negative has no meaning as a size. */
  get size(): number {
    return this.high * 4_294_967_296 + this.low;
  }
}

/** Reads the rows of leaf pages. */
export class RowReader {
  readonly row: Row = { high: 0, low: 0, bytes: Buffer.alloc(0), from: 0, to: 0 };
  private readonly varint = new Varint();
  private scratch = Buffer.alloc(0);
  private page = 0;
  private bytes: Buffer = Buffer.alloc(0);
  /** Rows of the page opened last. */
  count = 0;

  constructor(private readonly pages: Pages) {}

  /** @throws SqliteDamage */
  async open(page: number): Promise<void> {
    this.bytes = await this.pages.page(page);
    this.page = page;
    this.count = cellCount(this.pages, page, this.bytes);
  }

  /**
   * Makes `row` the row `index` of the page.
   * @returns the promise of it only where it goes on in other pages
   * @throws SqliteDamage
   */
  read(index: number): Promise<void> | undefined {
    const { bytes, row, varint, pages } = this;
    const { usable } = pages.header;
    const cell = bytes.readUInt16BE(headOf(this.page) + 8 + 2 * index);
    if (cell < headOf(this.page) + 8 || cell + 2 > usable) throw this.damage(index);
    let at = varint.read(bytes, cell);
    const size = varint.size;
    at = varint.read(bytes, at);
    row.high = varint.high;
    row.low = varint.low;
    // What of a record stays in its page (file format, 1.6: X, M and K).
    const most = usable - 35;
    if (size <= most) {
      row.bytes = bytes;
      row.from = at;
      row.to = at + size;
      if (row.to > usable || size < 0) throw this.damage(index);
      return undefined;
    }
    if (size > pages.bytes) throw this.damage(index);
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const kept = least + ((size - least) % (usable - 4));
    const local = kept <= most ? kept : least;
    if (at + local + 4 > usable) throw this.damage(index);
    return this.collect(at, local, size, index);
  }

  private async collect(at: number, local: number, size: number, index: number): Promise<void> {
    const { pages, row, page } = this;
    const room = pages.header.usable - 4;
    if (this.scratch.length < size) this.scratch = Buffer.allocUnsafeSlow(Math.max(size, 65_536));
    const { scratch } = this;
    this.bytes.copy(scratch, 0, at, at + local);
    let next = this.bytes.readUInt32BE(at + local);
    for (let filled = local; filled < size; ) {
      if (next === 0) throw pages.damage(page, `row ${index + 1} on it breaks off after ${filled} of ${size} bytes`);
      const more = await pages.page(next);
      const part = Math.min(room, size - filled);
      more.copy(scratch, filled, 4, 4 + part);
      filled += part;
      next = more.readUInt32BE(0);
    }
    row.bytes = scratch;
    row.from = 0;
    row.to = size;
  }

  private damage(index: number): Error {
    return this.pages.damage(this.page, `row ${index + 1} on it lies beyond its end`);
  }
}

/** The rowid of the row as a number, rounded beyond 2^53. */
export const rowidOf = (high: number, low: number): number => (high | 0) * 4_294_967_296 + low;

import { PageCursor } from "./page-cursor.js";
import type { DatabasePages } from "./pages.js";
import { cellCount, contradiction, leastCell, pageHeaderOffset, takenBytes } from "./tree.js";

/** One row as it stands in its page, or put together from several. Used again for the next row. */
export interface SqliteRow {
  /** The rowid in two halves, of which the upper one has the sign. */
  high: number;
  low: number;
  /** `bytes[from … to]` is the record. */
  bytes: Buffer;
  from: number;
  to: number;
}

/** Reads a varint (file format, 1.6): up to nine bytes, of which the ninth counts whole. */
export class VarintReader {
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
  readonly row: SqliteRow = { high: 0, low: 0, bytes: Buffer.alloc(0), from: 0, to: 0 };
  private readonly varint = new VarintReader();
  private readonly cursor: PageCursor;
  private scratch = Buffer.alloc(0);
  private page = 0;
  /** Rows of the page opened last. */
  count = 0;
  /** Bytes that the rows of the page take by what it says of its free space; -1 where it cannot be told. */
  private taken = -1;
  /** Of the rows read since the page was opened: how many, their bytes, and whether their ids ascended. */
  private done = 0;
  private spent = 0;
  private inOrder = true;

  constructor(private readonly pages: DatabasePages) {
    this.cursor = new PageCursor(pages);
  }

  /** @returns a promise only where the page has to be read @throws SqliteDamage */
  open(page: number): Promise<void> | undefined {
    const { cursor } = this;
    const more = cursor.move(page);
    if (more) return more.then(() => this.countRows(page));
    this.countRows(page);
    return undefined;
  }

  private countRows(page: number): void {
    this.page = page;
    const { pages, cursor } = this;
    this.count = cellCount(pages, page, cursor.bytes, cursor.start);
    this.taken = takenBytes(cursor.bytes, cursor.start, pageHeaderOffset(page), pages.header.usable);
    this.done = 0;
    this.spent = 0;
    this.inOrder = true;
  }

  /**
   * What shows that the page has lost rows, or names some twice, once all of them were read one after the other; null
   * where nothing does. It is what SQLite's integrity_check looks for.
   */
  get contradiction(): Error | null {
    const { pages, page, count, taken, spent } = this;
    if (this.done !== count) return null;
    if (!this.inOrder) return pages.damage(page, "its rows do not stand in the order of their ids");
    if (taken < 0 || taken === spent) return null;
    return contradiction(pages, page, "rows", count, spent, taken);
  }

  /**
   * Makes `row` the row `index` of the page, good until the next one is read.
   * @returns the promise of it only where another page has to be read
   * @throws SqliteDamage
   */
  read(index: number): Promise<void> | undefined {
    // A row that went on in other pages led away from this one.
    const more = this.cursor.move(this.page);
    return more ? more.then(() => this.readHere(index)) : this.readHere(index);
  }

  private readHere(index: number): Promise<void> | undefined {
    const { row, varint, pages } = this;
    const { bytes, start } = this.cursor;
    const { usable } = pages.header;
    const head = start + pageHeaderOffset(this.page) + 8;
    const end = start + usable;
    const cell = start + bytes.readUInt16BE(head + 2 * index);
    if (cell < head || cell + 2 > end) throw this.damage(index);
    let at = varint.read(bytes, cell);
    const size = varint.size;
    at = varint.read(bytes, at);
    const high = varint.high | 0;
    if (this.done > 0 && (high < (row.high | 0) || (high === (row.high | 0) && varint.low <= row.low))) {
      this.inOrder = false;
    }
    row.high = varint.high;
    row.low = varint.low;
    this.done++;
    // What of a record stays in its page (file format, 1.6: X, M and K).
    const most = usable - 35;
    if (size <= most) {
      row.bytes = bytes;
      row.from = at;
      row.to = at + size;
      if (row.to > end || size < 0) throw this.damage(index);
      this.spent += Math.max(leastCell, row.to - cell);
      return undefined;
    }
    if (size > pages.bytes) throw this.damage(index);
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const kept = least + ((size - least) % (usable - 4));
    const local = kept <= most ? kept : least;
    if (at + local + 4 > end) throw this.damage(index);
    this.spent += at + local + 4 - cell;
    return this.collect(at, local, size, index);
  }

  private async collect(at: number, local: number, size: number, index: number): Promise<void> {
    const { cursor, pages, row, page } = this;
    const room = pages.header.usable - 4;
    if (this.scratch.length < size) this.scratch = Buffer.allocUnsafeSlow(Math.max(size, 65_536));
    const { scratch } = this;
    cursor.bytes.copy(scratch, 0, at, at + local);
    let next = cursor.bytes.readUInt32BE(at + local);
    for (let filled = local; filled < size; ) {
      if (next === 0) throw pages.damage(page, `row ${index + 1} on it breaks off after ${filled} of ${size} bytes`);
      const more = cursor.move(next);
      if (more) await more;
      const { bytes, start } = cursor;
      const part = Math.min(room, size - filled);
      bytes.copy(scratch, filled, start + 4, start + 4 + part);
      filled += part;
      next = bytes.readUInt32BE(start);
    }
    row.bytes = scratch;
    row.from = 0;
    row.to = size;
  }

  /** Gives the memory back, once nothing is read into it any more. */
  close(): Promise<void> {
    return this.cursor.close();
  }

  private damage(index: number): Error {
    return this.pages.damage(this.page, `row ${index + 1} on it lies beyond its end`);
  }
}

/** The rowid of the row as a number, rounded beyond 2^53. */
export const rowidOf = (high: number, low: number): number => (high | 0) * 4_294_967_296 + low;

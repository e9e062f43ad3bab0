import { PageCursor } from "./page-cursor.js";
import type { DatabasePages } from "./pages.js";
import { cellCount, cellBytesMismatch as corruption, minCellBytes, pageHeaderOffset, usedCellBytes } from "./tree.js";

/** One row, in its page or assembled from overflow pages. Reused for the next row. */
export interface SqliteRow {
  /** High and low 32 bits of the rowid. */
  high: number;
  low: number;
  /** The record is `bytes[from … to]`. */
  bytes: Buffer;
  from: number;
  to: number;
}

/** Reads a varint (file format, 1.6): eight bytes of seven bits at most, then one of eight. */
export class VarintReader {
  high = 0;
  low = 0;

  /** @returns the next offset */
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

  /** The value as a number, exact up to 2^53. */
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
  /** Number of rows of the open page. */
  count = 0;
  /** Size of the cells according to the free-space fields of the page; -1 if those are invalid. */
  private expectedCellBytes = -1;
  /** Rows read from the open page: their number, total size, and whether ids ascend. */
  private done = 0;
  private cellBytes = 0;
  private inOrder = true;

  constructor(private readonly pages: DatabasePages) {
    this.cursor = new PageCursor(pages);
  }

  /** Opens a leaf page. @returns a promise only if the page must be read @throws SqliteDamage */
  open(page: number): Promise<void> | undefined {
    const { cursor } = this;
    const more = cursor.move(page);
    if (more) return more.then(() => this.countRows(page));
    this.countRows(page);
    return undefined;
  }

  /** The bytes of the open page, valid until another one is read. */
  get pageBytes(): Buffer {
    const { bytes, start } = this.cursor;
    return bytes.subarray(start, start + this.pages.header.usable);
  }

  /** Bytes before the header of the open page. */
  get headerOffset(): number {
    return pageHeaderOffset(this.page);
  }

  /** Takes rows of the open page as read, which were read from `pageBytes`. @param isInOrder whether their ids ascend */
  noteRead(rows: number, cellBytes: number, isInOrder: boolean, high: number, low: number): void {
    this.done += rows;
    this.cellBytes += cellBytes;
    if (!isInOrder) this.inOrder = false;
    this.row.high = high;
    this.row.low = low;
  }

  /** Whether a row of the open page was read before; then `row` has its id. */
  get hasPrevious(): boolean {
    return this.done > 0;
  }

  private countRows(page: number): void {
    this.page = page;
    const { pages, cursor } = this;
    this.count = cellCount(pages, page, cursor.bytes, cursor.start);
    this.expectedCellBytes = usedCellBytes(cursor.bytes, cursor.start, pageHeaderOffset(page), pages.header.usable);
    this.done = 0;
    this.cellBytes = 0;
    this.inOrder = true;
  }

  /**
   * Evidence of missing or repeated rows, once all rows of the page were read in order; null if there is none. SQLite's
   * integrity_check makes the same checks.
   */
  get contradiction(): Error | null {
    const { pages, page, count, expectedCellBytes, cellBytes } = this;
    if (this.done !== count) return null;
    if (!this.inOrder) return pages.damage(page, "rows are not in the order of their ids");
    if (expectedCellBytes < 0 || expectedCellBytes === cellBytes) return null;
    return corruption(pages, page, "rows", count, cellBytes, expectedCellBytes);
  }

  /**
   * Reads row `index` of the page into `row`, valid until the next read.
   * @returns a promise only if another page must be read
   * @throws SqliteDamage
   */
  read(index: number): Promise<void> | undefined {
    // Reading overflow pages of the last row moved the cursor.
    const more = this.cursor.move(this.page);
    return more ? more.then(() => this.readFromPage(index)) : this.readFromPage(index);
  }

  private readFromPage(index: number): Promise<void> | undefined {
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
    // Size of the record's local part (file format, 1.6: X, M and K).
    const most = usable - 35;
    if (size <= most) {
      row.bytes = bytes;
      row.from = at;
      row.to = at + size;
      if (row.to > end || size < 0) throw this.damage(index);
      this.cellBytes += Math.max(minCellBytes, row.to - cell);
      return undefined;
    }
    if (size > pages.bytes) throw this.damage(index);
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const kept = least + ((size - least) % (usable - 4));
    const local = kept <= most ? kept : least;
    if (at + local + 4 > end) throw this.damage(index);
    this.cellBytes += at + local + 4 - cell;
    return this.readOverflow(at, local, size, index);
  }

  private async readOverflow(at: number, local: number, size: number, index: number): Promise<void> {
    const { cursor, pages, row, page } = this;
    const room = pages.header.usable - 4;
    if (this.scratch.length < size) this.scratch = Buffer.allocUnsafeSlow(Math.max(size, 65_536));
    const { scratch } = this;
    cursor.bytes.copy(scratch, 0, at, at + local);
    let next = cursor.bytes.readUInt32BE(at + local);
    for (let filled = local; filled < size; ) {
      if (next === 0) throw pages.damage(page, `row ${index + 1} ends after ${filled} of ${size} bytes`);
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

  /** Releases the buffers once pending reads have ended. */
  close(): Promise<void> {
    return this.cursor.close();
  }

  private damage(index: number): Error {
    return this.pages.damage(this.page, `row ${index + 1} extends beyond the page`);
  }
}

/** The rowid as a number, rounded beyond 2^53. */
export const rowidOf = (high: number, low: number): number => (high | 0) * 4_294_967_296 + low;

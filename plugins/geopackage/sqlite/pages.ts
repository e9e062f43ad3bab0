import type { SourceFile } from "../../../src/plugin/index.js";
import type { SqliteHeader } from "./header.js";

/** Pages whose current version is in the write-ahead log or the journal. */
export interface PageOverlay {
  readonly file: SourceFile;
  /** Offset of each page in the file, by page number from 1. */
  readonly positions: ReadonlyMap<number, number>;
  /** Number of pages of the database in that state. */
  readonly pageCount: number;
}

/** Corruption of the database file. */
export class SqliteDamage extends Error {
  constructor(
    reason: string,
    readonly byte: number,
    /** The file is truncated. */
    readonly isTruncated = false,
  ) {
    super(reason);
  }
}

export const pageSizeMismatch = (what: string, size: number, pageSize: number): SqliteDamage =>
  new SqliteDamage(
    `${what} beside it has pages of ${size} bytes, but the database has pages of ${pageSize}, so they do not belong together; move one of them away`,
    0,
  );

/** Locates the pages of a database, with an optional overlay. */
export class DatabasePages {
  readonly count: number;

  constructor(
    readonly file: SourceFile,
    readonly header: SqliteHeader,
    private readonly overlay: PageOverlay | null,
  ) {
    this.count = overlay?.pageCount ?? header.pageCount ?? Math.floor(file.size / header.pageSize);
  }

  /** Total size of all pages. */
  get bytes(): number {
    return this.count * this.header.pageSize;
  }

  byteOf(page: number): number {
    return (page - 1) * this.header.pageSize;
  }

  damage(page: number, reason: string): SqliteDamage {
    return new SqliteDamage(`page ${page}: ${reason}`, this.byteOf(page));
  }

  /** Reads a page from the overlay; null if the overlay does not have it. */
  readOverlayPage(page: number): Promise<Buffer> | null {
    const position = this.overlay?.positions.get(page);
    return position === undefined ? null : this.overlay!.file.read(position, this.header.pageSize);
  }

  /** Reads a single page, counted from 1, without caching or prefetching. @throws SqliteDamage */
  async page(page: number): Promise<Buffer> {
    this.check(page);
    const { pageSize } = this.header;
    const bytes = await (this.readOverlayPage(page) ?? this.file.read(this.byteOf(page), pageSize));
    if (bytes.length < pageSize) throw this.missing(page);
    return bytes;
  }

  /** @throws SqliteDamage if there is no such page */
  check(page: number): void {
    if (page < 1 || page > this.count) throw new SqliteDamage(`there is no page ${page}`, this.bytes);
  }

  missing(page: number): SqliteDamage {
    const reason = `${this.count} pages of ${this.header.pageSize} bytes are announced, and page ${page} is not there`;
    return new SqliteDamage(reason, this.file.size, true);
  }
}

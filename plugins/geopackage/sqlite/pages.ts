import type { SourceFile } from "../../../src/plugin/index.js";
import type { SqliteHeader } from "./header.js";

/** Where a page stands that is not in its place in the database: in the write-ahead log, or in the journal. */
export interface PageOverlay {
  readonly file: SourceFile;
  /** Byte of each page by its number, from 1. */
  readonly positions: ReadonlyMap<number, number>;
  /** Pages of the database as of then. */
  readonly pageCount: number;
}

/** Damage of the container: what is wrong, and at which byte of the file. */
export class SqliteDamage extends Error {
  constructor(
    reason: string,
    readonly byte: number,
    /** The file ends before what should be there. */
    readonly early = false,
  ) {
    super(reason);
  }
}

/** What is beside a database holds pages of another size: SQLite would put the two together, to no good end. */
export const pageSizeMismatch = (what: string, size: number, pageSize: number): SqliteDamage =>
  new SqliteDamage(
    `${what} beside it has pages of ${size} bytes, and the database has pages of ${pageSize}: the two do not belong together; take the one beside it away, or bring its own database`,
    0,
  );

/** The pages of a database: how many there are, and where each stands. */
export class DatabasePages {
  readonly count: number;

  constructor(
    readonly file: SourceFile,
    readonly header: SqliteHeader,
    private readonly elsewhere: PageOverlay | null,
  ) {
    this.count = elsewhere?.pageCount ?? header.pageCount ?? Math.floor(file.size / header.pageSize);
  }

  /** Bytes that all pages take. */
  get bytes(): number {
    return this.count * this.header.pageSize;
  }

  byteOf(page: number): number {
    return (page - 1) * this.header.pageSize;
  }

  damage(page: number, reason: string): SqliteDamage {
    return new SqliteDamage(`page ${page}: ${reason}`, this.byteOf(page));
  }

  /** A page that does not stand in its place; null where it does. */
  moved(page: number): Promise<Buffer> | null {
    const position = this.elsewhere?.positions.get(page);
    return position === undefined ? null : this.elsewhere!.file.read(position, this.header.pageSize);
  }

  /** The bytes of page `page`, from 1, read alone: for what stands far from what is read next. @throws SqliteDamage */
  async page(page: number): Promise<Buffer> {
    this.check(page);
    const { pageSize } = this.header;
    const bytes = await (this.moved(page) ?? this.file.read(this.byteOf(page), pageSize));
    if (bytes.length < pageSize) throw this.missing(page);
    return bytes;
  }

  /** @throws SqliteDamage where there is no such page */
  check(page: number): void {
    if (page < 1 || page > this.count) throw new SqliteDamage(`there is no page ${page}`, this.bytes);
  }

  missing(page: number): SqliteDamage {
    const reason = `${this.count} pages of ${this.header.pageSize} bytes are announced, and page ${page} is not there`;
    return new SqliteDamage(reason, this.file.size, true);
  }
}

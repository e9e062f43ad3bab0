import type { SourceFile } from "../../src/plugin/index.js";
import type { SqliteHeader } from "./sqlite-header.js";

/** Where a page stands that is not in its place in the database: in the write-ahead log, or in the journal. */
export interface Elsewhere {
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

const blockBytes = 1 << 17;
const blocksKept = 12;

/** The pages of a database, read in blocks of some pages, of which the last few are kept. */
export class Pages {
  readonly count: number;
  private readonly perBlock: number;
  private readonly blocks = new Map<number, Buffer>();

  constructor(
    private readonly file: SourceFile,
    readonly header: SqliteHeader,
    private readonly elsewhere: Elsewhere | null,
  ) {
    this.count = elsewhere?.pageCount ?? header.pageCount ?? Math.floor(file.size / header.pageSize);
    this.perBlock = Math.max(1, blockBytes / header.pageSize);
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

  /** The bytes of page `page`, from 1; good as long as they are held. @throws SqliteDamage */
  async page(page: number): Promise<Buffer> {
    const { pageSize } = this.header;
    if (page < 1 || page > this.count) throw new SqliteDamage(`there is no page ${page}`, this.bytes);
    const position = this.elsewhere?.positions.get(page);
    if (position !== undefined) return this.elsewhere!.file.read(position, pageSize);
    const block = Math.floor((page - 1) / this.perBlock);
    const bytes = this.blocks.get(block) ?? (await this.load(block));
    const from = (page - 1 - block * this.perBlock) * pageSize;
    if (from + pageSize > bytes.length) {
      const reason = `${this.count} pages of ${pageSize} bytes are announced, and page ${page} is not there`;
      throw new SqliteDamage(reason, this.file.size, true);
    }
    return bytes.subarray(from, from + pageSize);
  }

  private async load(block: number): Promise<Buffer> {
    const size = this.perBlock * this.header.pageSize;
    const bytes = await this.file.read(block * size, size);
    if (this.blocks.size >= blocksKept) this.blocks.delete(this.blocks.keys().next().value!);
    this.blocks.set(block, bytes);
    return bytes;
  }
}

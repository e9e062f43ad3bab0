import { acquireBuffer, releaseBuffer } from "../../../src/model/index.js";
import type { DatabasePages } from "./pages.js";

const blockBytes = 1 << 19;
const maxCachedBlocks = 6;

/** Blocks that are read before they are asked for: to look at one can take less time than to read it. */
const readAheadBlocks = 2;

/**
 * Goes from page to page of a database, which it reads in blocks of many. The last few blocks are kept, in memory that
 * is used again: what it stands on is good until it moves on. Where one block was followed by the next, those behind
 * are read while the pages of this one are worked on.
 */
export class PageCursor {
  /** The page that it stands on is `bytes[start … start + pageSize]`. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  private at = 0;
  private readonly perBlock: number;
  /** By the number of the block; those used last come last. */
  private readonly blocks = new Map<number, Buffer>();
  /** Which block `bytes` is; -1 where it is none. */
  private block = -1;
  /** The block that was read last, and those that are read ahead, by their numbers. */
  private loaded = -1;
  private readonly ahead = new Map<number, Promise<Buffer>>();

  constructor(private readonly pages: DatabasePages) {
    this.perBlock = Math.max(1, blockBytes / pages.header.pageSize);
  }

  /** Moves to page `page`, from 1. @returns a promise only where it has to be read @throws SqliteDamage */
  move(page: number): Promise<void> | undefined {
    if (page === this.at) return undefined;
    this.pages.check(page);
    const moved = this.pages.moved(page);
    if (moved) return this.standOn(page, moved);
    const block = Math.floor((page - 1) / this.perBlock);
    if (block !== this.block) {
      const known = this.blocks.get(block);
      if (!known) return this.load(block, page);
      this.blocks.delete(block);
      this.blocks.set(block, known);
      this.bytes = known;
      this.block = block;
    }
    this.stand(page);
    return undefined;
  }

  /** @throws SqliteDamage where the block ends before the page */
  private stand(page: number): void {
    this.at = 0;
    const { pageSize } = this.pages.header;
    const start = (page - 1 - this.block * this.perBlock) * pageSize;
    if (start + pageSize > this.bytes.length) throw this.pages.missing(page);
    this.start = start;
    this.at = page;
  }

  private async standOn(page: number, moved: Promise<Buffer>): Promise<void> {
    this.at = 0;
    const bytes = await moved;
    if (bytes.length < this.pages.header.pageSize) throw this.pages.missing(page);
    this.bytes = bytes;
    this.block = -1;
    this.start = 0;
    this.at = page;
  }

  private async load(block: number, page: number): Promise<void> {
    this.at = 0;
    this.block = -1;
    const early = this.ahead.get(block);
    this.ahead.delete(block);
    if (!early) for (const [other, bytes] of await this.readEarly()) this.keep(other, bytes);
    this.bytes = await (early ?? this.read(block));
    this.keep(block, this.bytes);
    this.block = block;
    if (block === this.loaded + 1) for (let n = 1; n <= readAheadBlocks; n++) this.readAhead(block + n);
    this.loaded = block;
    this.stand(page);
  }

  private read(block: number): Promise<Buffer> {
    const { file, header } = this.pages;
    const from = block * this.perBlock * header.pageSize;
    const size = Math.max(0, Math.min(this.perBlock * header.pageSize, file.size - from));
    return file.read(from, size, acquireBuffer(size));
  }

  private readAhead(block: number): void {
    const { file, header } = this.pages;
    if (this.blocks.has(block) || this.ahead.has(block)) return;
    if (block * this.perBlock * header.pageSize >= file.size) return;
    const bytes = this.read(block);
    // Whether it can be read is for whoever asks for it.
    bytes.catch(() => undefined);
    this.ahead.set(block, bytes);
  }

  /** The blocks that were read ahead and not asked for yet; none is then. */
  private async readEarly(): Promise<[number, Buffer][]> {
    const early = [...this.ahead];
    this.ahead.clear();
    const read: [number, Buffer][] = [];
    for (const [block, reading] of early) {
      const bytes = await reading.catch(() => null);
      if (bytes) read.push([block, bytes]);
    }
    return read;
  }

  private keep(block: number, bytes: Buffer): void {
    const [oldest] = this.blocks;
    if (oldest && this.blocks.size >= maxCachedBlocks) this.drop(...oldest);
    this.blocks.set(block, bytes);
  }

  private drop(block: number, bytes: Buffer): void {
    this.blocks.delete(block);
    releaseBuffer(bytes.buffer);
  }

  /** Gives the memory back, once nothing is read into it any more. */
  async close(): Promise<void> {
    for (const [block, bytes] of [...this.blocks]) this.drop(block, bytes);
    this.bytes = Buffer.alloc(0);
    this.block = -1;
    this.at = 0;
    for (const [, unused] of await this.readEarly()) releaseBuffer(unused.buffer);
  }
}

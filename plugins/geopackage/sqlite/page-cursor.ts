import { acquireBuffer, releaseBuffer } from "../../../src/model/index.js";
import type { DatabasePages } from "./pages.js";

const blockBytes = 1 << 19;
const maxCachedBlocks = 6;

/** Number of blocks to prefetch: processing a block can take less time than reading it. */
const readAheadBlocks = 2;

/**
 * Moves from page to page of a database, reading blocks of many pages. Caches the last few blocks in reused memory: the
 * current page is valid until the next move. Prefetches the following blocks during sequential reads.
 */
export class PageCursor {
  /** The current page is `bytes[start … start + pageSize]`. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  private at = 0;
  private readonly perBlock: number;
  /** By block number, least recently used first. */
  private readonly blocks = new Map<number, Buffer>();
  /** Block number of `bytes`; -1 if it is not a block. */
  private block = -1;
  /** The last block loaded, and pending prefetches by block number. */
  private loaded = -1;
  private readonly prefetches = new Map<number, Promise<Buffer>>();

  constructor(private readonly pages: DatabasePages) {
    this.perBlock = Math.max(1, blockBytes / pages.header.pageSize);
  }

  /** Moves to a page, counted from 1. @returns a promise only if it must be read @throws SqliteDamage */
  move(page: number): Promise<void> | undefined {
    if (page === this.at) return undefined;
    this.pages.check(page);
    const moved = this.pages.readOverlayPage(page);
    if (moved) return this.useOverlayPage(page, moved);
    const block = Math.floor((page - 1) / this.perBlock);
    if (block !== this.block) {
      const known = this.blocks.get(block);
      if (!known) return this.load(block, page);
      this.blocks.delete(block);
      this.blocks.set(block, known);
      this.bytes = known;
      this.block = block;
    }
    this.usePage(page);
    return undefined;
  }

  /** @throws SqliteDamage if the block ends before the page */
  private usePage(page: number): void {
    this.at = 0;
    const { pageSize } = this.pages.header;
    const start = (page - 1 - this.block * this.perBlock) * pageSize;
    if (start + pageSize > this.bytes.length) throw this.pages.missing(page);
    this.start = start;
    this.at = page;
  }

  private async useOverlayPage(page: number, moved: Promise<Buffer>): Promise<void> {
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
    const prefetched = this.prefetches.get(block);
    this.prefetches.delete(block);
    if (!prefetched) for (const [other, bytes] of await this.takePrefetched()) this.keep(other, bytes);
    this.bytes = await (prefetched ?? this.read(block));
    this.keep(block, this.bytes);
    this.block = block;
    if (block === this.loaded + 1) for (let n = 1; n <= readAheadBlocks; n++) this.readAhead(block + n);
    this.loaded = block;
    this.usePage(page);
  }

  private read(block: number): Promise<Buffer> {
    const { file, header } = this.pages;
    const from = block * this.perBlock * header.pageSize;
    const size = Math.max(0, Math.min(this.perBlock * header.pageSize, file.size - from));
    return file.read(from, size, acquireBuffer(size));
  }

  private readAhead(block: number): void {
    const { file, header } = this.pages;
    if (this.blocks.has(block) || this.prefetches.has(block)) return;
    if (block * this.perBlock * header.pageSize >= file.size) return;
    const bytes = this.read(block);
    // `load` awaits the same promise and reports a failure.
    bytes.catch(() => undefined);
    this.prefetches.set(block, bytes);
  }

  /** Returns the prefetched blocks and clears the list. */
  private async takePrefetched(): Promise<[number, Buffer][]> {
    const early = [...this.prefetches];
    this.prefetches.clear();
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

  /** Releases the buffers once pending reads have ended. */
  async close(): Promise<void> {
    for (const [block, bytes] of [...this.blocks]) this.drop(block, bytes);
    this.bytes = Buffer.alloc(0);
    this.block = -1;
    this.at = 0;
    for (const [, unused] of await this.takePrefetched()) releaseBuffer(unused.buffer);
  }
}

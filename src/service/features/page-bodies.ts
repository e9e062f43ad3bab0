/**
 * Bodies of feature pages. A page above `maxMemoryPageBytes` is spooled to an unnamed file at the speed of the
 * database, and each client reads it from there at its own speed. A slow client therefore holds no transaction, no
 * database connection, and no more memory than a few chunks.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { isDiskFull } from "../../errors/disk-full.js";
import { problem } from "../http/problems.js";
import type { ByteBudget, Release } from "../limits/byte-budget.js";
import type { FeaturePage, FeatureStore, PageMetadata, PageRequest } from "../store/contract.js";

/** Maximum size of a page that is held in memory, in bytes. */
export const maxMemoryPageBytes = 1 << 20;

/**
 * Smaller bodies do not count against the budget: small requests always get a response, and the connection limit bounds
 * their number.
 */
const minBudgetedBytes = 64 << 10;

/** Bytes per read of a spooled file. */
const chunkBytes = 64 << 10;
/** Memory per reader of a spooled file: a chunk being read, one that waits, and those in the socket. */
const spoolReaderBytes = 4 * chunkBytes;

/** Maximum number of attempts to spool a page that grows in the meantime. */
const maxSpoolAttempts = 3;

export interface PageBody extends PageMetadata {
  /** Version of the map when the page was located; a spooled page may have a later version. */
  readonly measuredVersion: string;
  /** Bytes of the body, with prefix and suffix. */
  readonly length: number;
  /** Whether the body is read from a spooled file. */
  readonly isLarge: boolean;
  /** The body, or a stream of it. */
  send(): Buffer | Readable;
  /** Releases memory and file; call it when the body is no longer needed. */
  readonly release: Release;
}

/** Bytes before the features. */
const pagePrefix = Buffer.from('{"type":"FeatureCollection","features":[');

/** Bytes after the features: JSON from `]` on. */
export type PageSuffix = (metadata: PageMetadata) => Buffer;

/** Calls `release` when the response closes, or at once if it is already closed. */
export function onResponseClosed(response: ServerResponse, release: Release): void {
  if (response.closed) release();
  else response.once("close", () => release());
}

export const releaseOnClose = ({ raw }: FastifyReply, { release }: PageBody): void => onResponseClosed(raw, release);

/** Sets Content-Length for a stream, so that clients detect truncation. */
export function sendPage(reply: FastifyReply, page: PageBody): FastifyReply {
  if (!page.isLarge) return reply.send(page.send());
  reply.header("content-length", page.length);
  return reply.send(page.send());
}

const measuredPage = (metadata: PageMetadata, suffix: PageSuffix): PageBody => ({
  ...metadata,
  measuredVersion: metadata.version,
  length: pagePrefix.length + metadata.bytes + suffix(metadata).length,
  isLarge: true,
  send: () => Readable.from([]),
  release: () => {},
});

function memoryPage({ text, ...metadata }: FeaturePage, suffix: PageSuffix): Omit<PageBody, "release"> {
  const suffixBytes = suffix(metadata);
  return {
    ...metadata,
    measuredVersion: metadata.version,
    length: pagePrefix.length + text.length + suffixBytes.length,
    isLarge: false,
    send: () => Buffer.concat([pagePrefix, text, suffixBytes]),
  };
}

function isDiskFullError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "disk-full" || isDiskFull(code);
}

/** A page in an unnamed file, which exists as long as it has readers. */
interface SpooledPage {
  readonly metadata: PageMetadata;
  readonly file: FileHandle;
  readers: number;
  readonly close: () => void;
}

export interface PageBodyReaderOptions {
  readonly store: Pick<FeatureStore, "page" | "spool">;
  /** Folder for the unnamed files, which disappear with the process. */
  readonly folder: string;
  readonly memory: ByteBudget;
  readonly disk: ByteBudget;
}

export class PageBodyReader {
  readonly #options: PageBodyReaderOptions;
  /** Spooled pages by map, version and range; readers of the same page share a file. */
  readonly #spools = new Map<string, Promise<SpooledPage>>();

  constructor(options: PageBodyReaderOptions) {
    this.#options = options;
  }

  /**
   * Returns null if the map does not exist.
   * @param method HEAD measures a large page without reading it
   * @throws overloaded if memory or disk budget is exhausted; bad-query if the page is too large
   */
  async read(request: PageRequest, account: string, method: string, suffix: PageSuffix): Promise<PageBody | null> {
    const page = await this.#options.store.page({ ...request, maxBytes: maxMemoryPageBytes });
    if (page === null) return null;
    if (page.text.length === page.bytes) return this.#fromMemory(page, account, suffix);
    if (method === "HEAD") return measuredPage(page, suffix);
    return this.#fromFile(page, request, account, suffix).catch((error: unknown) => {
      if (!isDiskFullError(error)) throw error;
      return this.#fromMemoryUnspooled(page, request, account, suffix, error);
    });
  }

  /** Measures a page without its text. Returns null if the map does not exist. */
  measure(request: PageRequest): Promise<PageMetadata | null> {
    return this.#options.store.page({ ...request, maxBytes: -1 });
  }

  #fromMemory(page: FeaturePage, account: string, suffix: PageSuffix): PageBody {
    const { memory } = this.#options;
    const body = memoryPage(page, suffix);
    const release = body.length < minBudgetedBytes ? () => {} : memory.take(account, body.length);
    if (!release) throw memory.refuse();
    return { ...body, release };
  }

  /**
   * Reads the page into memory if the disk is full, so that reads still work.
   * @param cause why the page was not spooled
   */
  async #fromMemoryUnspooled(
    { bytes }: PageMetadata,
    request: PageRequest,
    account: string,
    suffix: PageSuffix,
    cause: unknown,
  ): Promise<PageBody | null> {
    const { store, memory } = this.#options;
    // The text, and the copy in the body.
    const release = memory.take(account, 2 * bytes);
    if (!release) throw memory.refuse(cause);
    try {
      const page = await store.page({ ...request, maxBytes: bytes });
      if (page !== null && page.text.length < page.bytes) throw memory.refuse(cause);
      if (page !== null) return { ...memoryPage(page, suffix), release };
    } catch (error) {
      release();
      throw error;
    }
    release();
    return null;
  }

  async #fromFile(page: PageMetadata, request: PageRequest, account: string, suffix: PageSuffix): Promise<PageBody> {
    const { memory } = this.#options;
    const releaseMemory = memory.take(account, spoolReaderBytes);
    if (!releaseMemory) throw memory.refuse();
    try {
      const spool = await this.#spoolOf(page, request, account);
      const { metadata, file } = spool;
      const suffixBytes = suffix(metadata);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        releaseMemory();
        if (--spool.readers === 0) spool.close();
      };
      async function* chunks(): AsyncGenerator<Buffer> {
        yield pagePrefix;
        for (let at = 0; at < metadata.bytes; ) {
          const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, metadata.bytes - at));
          const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
          if (bytesRead === 0) throw new Error(`a page of ${metadata.bytes} bytes ends after ${at}`);
          yield chunk.subarray(0, bytesRead);
          at += bytesRead;
        }
        yield suffixBytes;
      }
      const length = pagePrefix.length + metadata.bytes + suffixBytes.length;
      const send = () => Readable.from(chunks(), { objectMode: false, highWaterMark: 1 });
      return { ...metadata, measuredVersion: page.version, length, isLarge: true, send, release };
    } catch (error) {
      releaseMemory();
      throw error;
    }
  }

  /** Finds or creates the spooled page, and counts one more reader. */
  async #spoolOf(page: PageMetadata, request: PageRequest, account: string): Promise<SpooledPage> {
    const name = [request.map, page.version, page.first, page.last, request.size].join(" ");
    for (;;) {
      const known = this.#spools.get(name);
      if (!known) break;
      const spool = await known.catch(() => null);
      // The file was closed, or creating it failed, in the meantime.
      if (spool === null || this.#spools.get(name) !== known) continue;
      spool.readers++;
      return spool;
    }
    const created = this.#createSpool(page, request, account, () => this.#spools.delete(name));
    this.#spools.set(name, created);
    created.catch(() => this.#spools.get(name) === created && this.#spools.delete(name));
    return created;
  }

  async #createSpool(
    page: PageMetadata,
    request: PageRequest,
    account: string,
    onClose: () => void,
  ): Promise<SpooledPage> {
    const { store, disk } = this.#options;
    let maxBytes = page.bytes;
    for (let n = 0; n < maxSpoolAttempts; n++) {
      const release = disk.take(account, maxBytes);
      if (!release) throw disk.refuse();
      const file = await this.#openUnnamedFile().catch((error: unknown) => {
        release();
        throw error;
      });
      const close = () => {
        onClose();
        release();
        void file.close();
      };
      try {
        const spoolRequest = { map: request.map, size: request.size, after: page.first! - 1, maxBytes };
        const metadata = await store.spool(spoolRequest, file.fd);
        if (metadata && metadata.bytes <= maxBytes) return { metadata, file, readers: 1, close };
        if (!metadata) throw problem("map-not-found", {});
        maxBytes = metadata.bytes;
        close();
      } catch (error) {
        close();
        throw error;
      }
    }
    throw disk.refuse();
  }

  async #openUnnamedFile(): Promise<FileHandle> {
    const path = join(this.#options.folder, `.page-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    return file;
  }
}

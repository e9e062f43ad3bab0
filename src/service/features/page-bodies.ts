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
export type PageSuffix = (facts: PageMetadata) => Buffer;

/** Calls `release` when the response closes, or at once if it is already closed. */
export function onResponseClosed(response: ServerResponse, release: Release): void {
  if (response.closed) release();
  else response.once("close", release);
}

export const releaseOnClose = ({ raw }: FastifyReply, { release }: PageBody): void => onResponseClosed(raw, release);

/** Sets Content-Length for a stream, so that clients detect truncation. */
export function sendPage(reply: FastifyReply, page: PageBody): FastifyReply {
  if (!page.isLarge) return reply.send(page.send());
  reply.header("content-length", page.length);
  return reply.send(page.send());
}

const measuredPage = (facts: PageMetadata, tail: PageSuffix): PageBody => ({
  ...facts,
  measuredVersion: facts.version,
  length: pagePrefix.length + facts.bytes + tail(facts).length,
  isLarge: true,
  send: () => Readable.from([]),
  release: () => {},
});

function memoryPage({ text, ...facts }: FeaturePage, tail: PageSuffix): Omit<PageBody, "release"> {
  const end = tail(facts);
  return {
    ...facts,
    measuredVersion: facts.version,
    length: pagePrefix.length + text.length + end.length,
    isLarge: false,
    send: () => Buffer.concat([pagePrefix, text, end]),
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
  async read(question: PageRequest, account: string, method: string, tail: PageSuffix): Promise<PageBody | null> {
    const page = await this.#options.store.page({ ...question, maxBytes: maxMemoryPageBytes });
    if (page === null) return null;
    if (page.text.length === page.bytes) return this.#fromMemory(page, account, tail);
    if (method === "HEAD") return measuredPage(page, tail);
    return this.#fromFile(page, question, account, tail).catch((error: unknown) => {
      if (!isDiskFullError(error)) throw error;
      return this.#withoutFile(page, question, account, tail, error);
    });
  }

  /** Measures a page without its text. Returns null if the map does not exist. */
  measure(question: PageRequest): Promise<PageMetadata | null> {
    return this.#options.store.page({ ...question, maxBytes: -1 });
  }

  #fromMemory(page: FeaturePage, account: string, tail: PageSuffix): PageBody {
    const { memory } = this.#options;
    const body = memoryPage(page, tail);
    const release = body.length < minBudgetedBytes ? () => {} : memory.take(account, body.length);
    if (!release) throw memory.refuse();
    return { ...body, release };
  }

  /**
   * Reads the page into memory if the disk is full, so that reads still work.
   * @param cause why the page was not spooled
   */
  async #withoutFile(
    { bytes }: PageMetadata,
    question: PageRequest,
    account: string,
    tail: PageSuffix,
    cause: unknown,
  ): Promise<PageBody | null> {
    const { store, memory } = this.#options;
    // The text, and the copy in the body.
    const release = memory.take(account, 2 * bytes);
    if (!release) throw memory.refuse(cause);
    try {
      const page = await store.page({ ...question, maxBytes: bytes });
      if (page !== null && page.text.length < page.bytes) throw memory.refuse(cause);
      if (page !== null) return { ...memoryPage(page, tail), release };
    } catch (error) {
      release();
      throw error;
    }
    release();
    return null;
  }

  async #fromFile(page: PageMetadata, question: PageRequest, account: string, tail: PageSuffix): Promise<PageBody> {
    const { memory } = this.#options;
    const releaseMemory = memory.take(account, spoolReaderBytes);
    if (!releaseMemory) throw memory.refuse();
    try {
      const spool = await this.#spoolOf(page, question, account);
      const { metadata, file } = spool;
      const end = tail(metadata);
      let isReleased = false;
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        releaseMemory();
        if (--spool.readers === 0) spool.close();
      };
      async function* pieces(): AsyncGenerator<Buffer> {
        yield pagePrefix;
        for (let at = 0; at < metadata.bytes; ) {
          const piece = Buffer.allocUnsafeSlow(Math.min(chunkBytes, metadata.bytes - at));
          const { bytesRead } = await file.read(piece, 0, piece.length, at);
          if (bytesRead === 0) throw new Error(`a page of ${metadata.bytes} bytes ends after ${at}`);
          yield piece.subarray(0, bytesRead);
          at += bytesRead;
        }
        yield end;
      }
      const length = pagePrefix.length + metadata.bytes + end.length;
      const send = () => Readable.from(pieces(), { objectMode: false, highWaterMark: 1 });
      return { ...metadata, measuredVersion: page.version, length, isLarge: true, send, release };
    } catch (error) {
      releaseMemory();
      throw error;
    }
  }

  /** Finds or creates the spooled page, and counts one more reader. */
  async #spoolOf(page: PageMetadata, question: PageRequest, account: string): Promise<SpooledPage> {
    const name = [question.map, page.version, page.first, page.last, question.size].join(" ");
    for (;;) {
      const known = this.#spools.get(name);
      if (!known) break;
      const spool = await known.catch(() => null);
      // The file was closed, or creating it failed, in the meantime.
      if (spool === null || this.#spools.get(name) !== known) continue;
      spool.readers++;
      return spool;
    }
    const made = this.#make(page, question, account, () => this.#spools.delete(name));
    this.#spools.set(name, made);
    made.catch(() => this.#spools.get(name) === made && this.#spools.delete(name));
    return made;
  }

  async #make(page: PageMetadata, question: PageRequest, account: string, onClose: () => void): Promise<SpooledPage> {
    const { store, disk } = this.#options;
    let maxBytes = page.bytes;
    for (let n = 0; n < maxSpoolAttempts; n++) {
      const release = disk.take(account, maxBytes);
      if (!release) throw disk.refuse();
      const file = await this.#newFile().catch((error: unknown) => {
        release();
        throw error;
      });
      const close = () => {
        onClose();
        release();
        void file.close();
      };
      try {
        const asked = { map: question.map, size: question.size, after: page.first! - 1, maxBytes };
        const metadata = await store.spool(asked, file.fd);
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

  async #newFile(): Promise<FileHandle> {
    const path = join(this.#options.folder, `.page-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    return file;
  }
}

import { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { createError, GeoferryError } from "../../../src/errors.js";
import type { Source, SourceFile } from "../../../src/plugin/format.js";

/** An entry may be this many times as large as the zip; deflate reaches 1032, and real files do not come near it. */
export const maxExpansion = 1000;
/** The ratio is checked from this size on. */
export const expansionCheckFromBytes = 64 * 2 ** 20;
const maxEntries = 100_000;

/** Methods that are read (APPNOTE 4.4.5). */
const stored = 0;
const deflated = 8;

const inflateChunkBytes = 1 << 18;
const readBytes = 1 << 16;
/** Size of a local header without its name and extra field (APPNOTE 4.3.7). */
const localHeaderBytes = 30;
const localHeaderSignature = 0x04034b50;

function zipError(source: string, error: unknown): Error {
  if (error instanceof GeoferryError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "ENOENT")
    return createError("input-unreadable", { source, reason: message }, error);
  if (/End of central directory record signature not found/i.test(message))
    return createError("input-truncated", { source, reason: "the zip has no directory at its end" }, error);
  const reason = code?.startsWith("Z_") ? `its compressed data is damaged (${message})` : message;
  return createError("input-corrupt", { source, reason: `the zip is damaged: ${reason}` }, error);
}

/** The entries of a zip, each read as a stream: nothing is unpacked to disk. */
export class ZipReader implements AsyncDisposable {
  private constructor(
    private readonly file: SourceFile,
    private readonly source: Source,
    /** By their paths in lower case, with `/`. */
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** @throws input-corrupt, input-truncated, input-unreadable */
  static async open(source: Source): Promise<ZipReader> {
    let zip: ZipFile | undefined;
    try {
      zip = await openPromise(source.path, { lazyEntries: true, autoClose: false, decodeStrings: false });
      if (zip.entryCount > maxEntries) {
        const reason = `the zip has ${zip.entryCount} entries, and at most ${maxEntries} are allowed`;
        throw createError("input-corrupt", { source: source.name, reason });
      }
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        const path = normalizePath(entry.fileNameRaw.toString("utf8"));
        if (entries.has(path)) {
          const reason = `the zip has two entries with the name ${JSON.stringify(path)}`;
          throw createError("input-corrupt", { source: source.name, reason });
        }
        entries.set(path, entry);
      }
      return new ZipReader(await source.open(), source, entries);
    } catch (error) {
      throw zipError(source.name, error);
    } finally {
      zip?.close();
    }
  }

  /** In lower case. */
  get paths(): Iterable<string> {
    return this.entries.keys();
  }

  has(path: string): boolean {
    return this.entries.has(normalizePath(path));
  }

  /** An entry, to be read from its beginning to its end; null if there is none. @throws input-corrupt, unsupported */
  find(path: string): ZipEntryFile | null {
    const entry = this.entries.get(normalizePath(path));
    if (!entry) return null;
    const name = `${this.source.name}/${path}`;
    const { compressionMethod, uncompressedSize } = entry;
    if (entry.isEncrypted())
      throw createError("unsupported", { source: name, reason: "the entry is encrypted; save it without a password" });
    if (compressionMethod !== stored && compressionMethod !== deflated) {
      const reason = `the entry is compressed with method ${compressionMethod}, and only deflate is read`;
      throw createError("unsupported", { source: name, reason });
    }
    checkExpansion(uncompressedSize, this.source);
    return new ZipEntryFile(this.file, entry, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close();
  }
}

const normalizePath = (path: string) => path.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase();

/** Refuses zip bombs. @param bytes what a part of the zip expands to @throws input-corrupt */
export function checkExpansion(bytes: number, { name, size }: Source): void {
  if (bytes <= expansionCheckFromBytes || bytes <= maxExpansion * size) return;
  const reason = `its content would be more than ${maxExpansion} times as large as the file, which looks like an attack`;
  throw createError("input-corrupt", { source: name, reason });
}

/** One entry. Reads go forward; a read of earlier bytes begins again. */
export class ZipEntryFile implements SourceFile {
  readonly size: number;
  private stream: Readable | null = null;
  private chunks: AsyncIterator<Buffer> | null = null;
  /** Inflated and not yet read. */
  private rest: Buffer = Buffer.alloc(0);
  private position = 0;
  private inflated = 0;
  private checksum = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly zip: SourceFile,
    private readonly entry: Entry,
    readonly name: string,
  ) {
    this.size = entry.uncompressedSize;
  }

  /** One read at a time. */
  read(position: number, length: number, into?: Uint8Array): Promise<Buffer> {
    const reading = this.last.then(() => this.readNow(position, length, into));
    this.last = reading.catch(() => undefined);
    return reading;
  }

  private async readNow(position: number, length: number, into?: Uint8Array): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    const target = into ? Buffer.from(into.buffer, into.byteOffset, wanted) : Buffer.allocUnsafeSlow(wanted);
    if (wanted === 0) return target;
    try {
      if (!this.chunks || position < this.position) await this.begin();
      while (this.position < position) {
        if (this.rest.length === 0) await this.next();
        this.take(Math.min(this.rest.length, position - this.position));
      }
      for (let filled = 0; filled < wanted; ) {
        if (this.rest.length === 0) await this.next();
        const part = this.rest.subarray(0, wanted - filled);
        part.copy(target, filled);
        filled += part.length;
        this.take(part.length);
      }
      // The checksum comes with the end of the data.
      if (this.position === this.size && this.rest.length === 0) await this.end();
      return target;
    } catch (error) {
      throw zipError(this.name, error);
    }
  }

  private take(bytes: number): void {
    this.rest = this.rest.subarray(bytes);
    this.position += bytes;
  }

  private async begin(): Promise<void> {
    this.stream?.destroy();
    const raw = Readable.from(this.compressedChunks(), { objectMode: false });
    if (this.entry.compressionMethod === stored) this.stream = raw;
    else {
      const inflate = createInflateRaw({ chunkSize: inflateChunkBytes });
      raw.on("error", (error) => inflate.destroy(error));
      inflate.on("close", () => raw.destroy());
      this.stream = raw.pipe(inflate);
    }
    this.chunks = this.stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.rest = Buffer.alloc(0);
    this.position = this.inflated = this.checksum = 0;
  }

  private async *compressedChunks(): AsyncGenerator<Buffer> {
    const { relativeOffsetOfLocalHeader: offset, compressedSize } = this.entry;
    const header = await this.zip.read(offset, localHeaderBytes);
    if (header.length < localHeaderBytes || header.readUInt32LE(0) !== localHeaderSignature)
      throw this.damaged("the entry does not begin where the directory says");
    let at = offset + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
    for (const end = at + compressedSize; at < end; ) {
      const chunk = await this.zip.read(at, Math.min(readBytes, end - at));
      if (chunk.length === 0) throw this.damaged("the zip ends within the entry");
      yield chunk;
      at += chunk.length;
    }
  }

  private async next(): Promise<void> {
    const { done, value } = await this.chunks!.next();
    if (done) throw this.damaged(`the entry has ${this.inflated} bytes, not ${this.size}`);
    this.add(value);
  }

  private add(chunk: Buffer): void {
    this.inflated += chunk.length;
    if (this.inflated > this.size) throw this.damaged("the entry is larger than the zip says");
    this.checksum = crc32(chunk, this.checksum);
    this.rest = chunk;
  }

  private async end(): Promise<void> {
    const { done, value } = await this.chunks!.next();
    if (!done) this.add(value);
    if (this.checksum !== this.entry.crc32) throw this.damaged("the entry is damaged: its checksum is wrong");
  }

  private damaged(reason: string): Error {
    return createError("input-corrupt", { source: this.name, reason });
  }

  async close(): Promise<void> {
    await this.last;
    this.stream?.destroy();
    this.stream = null;
    this.chunks = null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

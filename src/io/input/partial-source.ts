/** A remote file of which only those ranges are downloaded that a reader asks for. */
import { open as openFile } from "node:fs/promises";
import { createError } from "../../errors.js";
import type { NetworkSettings } from "../../network-settings.js";
import type { SourceFile } from "../../plugin/format.js";
import type { HostSource, SourceSpec } from "./source.js";
import { withSpoolErrors } from "./spool.js";

/** The remote file, as plain data. */
export type RemoteFile = {
  readonly size: number;
  /** The limits of requests of the thread that opened the file. */
  readonly limits: NetworkSettings;
} & (
  | {
      readonly kind: "http";
      readonly url: string;
      /** An entity tag or date for If-Range (RFC 9110, 13.1.5); null if the server sends neither. */
      readonly validator: string | null;
    }
  | { readonly kind: "s3"; readonly bucket: string; readonly key: string; readonly etag: string }
);

/** A remote file and the file on disk for its ranges, as plain data that threads share. */
export interface PartialFileSpec {
  readonly remote: RemoteFile;
  /** A bit for each granule that is on disk. */
  readonly present: SharedArrayBuffer;
  /** The number of bytes that were downloaded, as a bigint. */
  readonly received: SharedArrayBuffer;
  readonly maxBytes: number | null;
}

/** Ranges are downloaded in multiples of so many bytes. */
const granuleBytes = 64;

/** Downloads `length` bytes from `position`. @throws input-changed, input-download, input-unavailable … */
export type FetchRange = (position: number, length: number, signal: AbortSignal) => Promise<Uint8Array>;

async function loadFetch(remote: RemoteFile, name: string): Promise<FetchRange> {
  if (remote.kind === "http") return (await import("../http/fetch-range.js")).createFetch(remote, name);
  return (await import("../s3/fetch-range.js")).createFetch(remote);
}

export class PartialSource implements HostSource {
  constructor(
    readonly name: string,
    readonly path: string,
    private readonly file: PartialFileSpec,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Creates the file on disk, without content.
   * @param known the beginning of the remote file
   * @throws output-failed
   */
  static async create(
    name: string,
    path: string,
    remote: RemoteFile,
    known: Uint8Array,
    maxBytes: number | null,
    signal: AbortSignal,
  ): Promise<PartialSource> {
    const granules = Math.ceil(remote.size / granuleBytes);
    const present = new SharedArrayBuffer(Math.ceil(granules / 8));
    const spec = { remote, present, received: new SharedArrayBuffer(8), maxBytes };
    const handle = await withSpoolErrors(path, openFile(path, "wx", 0o600));
    await withSpoolErrors(path, handle.truncate(remote.size)).finally(() => handle.close());
    const source = new PartialSource(name, path, spec, signal);
    const file = await source.open();
    await file.store(0, known).finally(() => file.close());
    return source;
  }

  get size(): number {
    return this.file.remote.size;
  }

  get spec(): SourceSpec {
    return { name: this.name, path: this.path, partial: this.file };
  }

  findSibling(): null {
    return null;
  }

  async open(): Promise<PartialFile> {
    const handle = await withSpoolErrors(this.path, openFile(this.path, "r+"));
    return new PartialFile(this.path, handle, this.file, await loadFetch(this.file.remote, this.name), this.signal);
  }
}

class PartialFile implements SourceFile {
  private readonly present: Uint8Array;

  constructor(
    private readonly path: string,
    private readonly handle: Awaited<ReturnType<typeof openFile>>,
    private readonly spec: PartialFileSpec,
    private readonly fetchRange: FetchRange,
    private readonly signal: AbortSignal,
  ) {
    this.present = new Uint8Array(spec.present);
  }

  get size(): number {
    return this.spec.remote.size;
  }

  async read(position: number, length: number, into?: Uint8Array): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    if (wanted > 0) await this.download(position, position + wanted);
    const buffer = into ? Buffer.from(into.buffer, into.byteOffset, wanted) : Buffer.allocUnsafeSlow(wanted);
    for (let filled = 0; filled < wanted; ) {
      const { bytesRead } = await withSpoolErrors(
        this.path,
        this.handle.read(buffer, filled, wanted - filled, position + filled),
      );
      if (bytesRead === 0) throw createError("internal", { reason: `${this.path} is shorter than it was made` });
      filled += bytesRead;
    }
    return buffer;
  }

  private isPresent(granule: number): boolean {
    return (Atomics.load(this.present, granule >>> 3) & (1 << (granule & 7))) !== 0;
  }

  /** Downloads what is missing of the bytes `from … to`. */
  private async download(from: number, to: number): Promise<void> {
    const end = Math.ceil(to / granuleBytes);
    for (let granule = Math.floor(from / granuleBytes); granule < end; granule++) {
      if (this.isPresent(granule)) continue;
      let next = granule + 1;
      while (next < end && !this.isPresent(next)) next++;
      const position = granule * granuleBytes;
      const length = Math.min(next * granuleBytes, this.size) - position;
      this.countBytes(length);
      await this.store(position, await this.fetchRange(position, length, this.signal));
      granule = next;
    }
  }

  /** @throws input-too-large */
  private countBytes(length: number): void {
    const { maxBytes, received, remote } = this.spec;
    const total = Number(Atomics.add(new BigInt64Array(received), 0, BigInt(length))) + length;
    if (maxBytes === null || total <= maxBytes) return;
    const source = remote.kind === "http" ? remote.url : `s3://${remote.bucket}/${remote.key}`;
    throw createError("input-too-large", { source, limit: maxBytes, option: "--max-input" });
  }

  /** Keeps downloaded bytes; `position` is that of a granule. */
  async store(position: number, bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const write = this.handle.write(bytes, done, bytes.length - done, position + done);
      done += (await withSpoolErrors(this.path, write)).bytesWritten;
    }
    const isEnd = position + bytes.length === this.size;
    const end = isEnd ? Math.ceil(this.size / granuleBytes) : Math.floor((position + bytes.length) / granuleBytes);
    for (let granule = position / granuleBytes; granule < end; granule++)
      Atomics.or(this.present, granule >>> 3, 1 << (granule & 7));
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

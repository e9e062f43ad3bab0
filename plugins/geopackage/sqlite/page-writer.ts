import { closeSync, fdatasync, openSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);
const writeAsync = promisify(write);

/** Size of a write. */
const bufferBytes = 1 << 20;
/** Interval between background syncs, so that the final sync has little left to do. */
const syncIntervalBytes = 1 << 24;
/** The page with this byte is unused: it is reserved for locks (file format, 1.5). */
const lockByteOffset = 2 ** 30;
const pageCountOffset = 28;

/** Maximum number of concurrent writes. */
const maxPendingWrites = 4;

/** Buffers for reuse, also by other files. */
const freeBuffers: Buffer[] = [];

const takeBuffer = (): Buffer => freeBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);

function returnBuffer(buffer: Buffer): void {
  if (freeBuffers.length <= maxPendingWrites) freeBuffers.push(buffer);
}

async function writeAll(file: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeAsync(file, bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * Appends pages to a database that no other process uses. Writes full buffers in the background; falls back to
 * synchronous writes if too many are pending, which bounds memory: a table builder cannot wait.
 */
export class PageWriter {
  private readonly file: number;
  private buffer = takeBuffer();
  private filled = 0;
  private position: number;
  private readonly lockPage: number;
  private readonly pendingWrites = new Set<Promise<void>>();
  /** The pending sync, and the position at its start. */
  private syncing: Promise<void> | null = null;
  private synced: number;
  /** The first failure of a background write or sync; later calls throw it. */
  private failure: unknown = null;

  /** @param count number of existing pages */
  constructor(
    path: string,
    readonly pageSize: number,
    private count: number,
  ) {
    this.file = openSync(path, "r+");
    this.position = count * pageSize;
    this.synced = this.position;
    this.lockPage = lockByteOffset / pageSize + 1;
  }

  private after(page: number): number {
    return page + 1 === this.lockPage ? page + 2 : page + 1;
  }

  get pageAfterNext(): number {
    return this.after(this.after(this.count));
  }

  /** Appends a page. @returns its number */
  append(page: Uint8Array): number {
    if (this.count + 1 === this.lockPage) this.push(new Uint8Array(this.pageSize));
    this.push(page);
    return this.count;
  }

  private push(page: Uint8Array): void {
    this.buffer.set(page, this.filled);
    this.filled += this.pageSize;
    this.count++;
    if (this.filled + this.pageSize > this.buffer.length) this.flush();
  }

  private write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.file, bytes, done, bytes.length - done, position + done);
    }
  }

  private flush(): void {
    if (this.failure) throw this.failure;
    const full = this.buffer.subarray(0, this.filled);
    if (this.pendingWrites.size >= maxPendingWrites) this.write(full, this.position);
    else this.writeInBackground(full);
    this.position += this.filled;
    this.filled = 0;
    if (this.syncing === null && this.position - this.synced >= syncIntervalBytes) this.startSync();
  }

  private writeInBackground(full: Buffer): void {
    const { buffer } = this;
    this.buffer = takeBuffer();
    const writing: Promise<void> = writeAll(this.file, full, this.position)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => {
        this.pendingWrites.delete(writing);
        returnBuffer(buffer);
      });
    this.pendingWrites.add(writing);
  }

  private startSync(): void {
    this.synced = this.position;
    // The kernel reports a write-back failure only once, so a later sync would succeed.
    this.syncing = datasync(this.file)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => {
        this.syncing = null;
      });
  }

  /** Overwrites a page that existed before the first `append`. */
  replace(page: number, bytes: Uint8Array): void {
    this.write(bytes, (page - 1) * this.pageSize);
  }

  /** Flushes, updates the page count in the header and closes the file. */
  async close(): Promise<void> {
    try {
      this.flush();
      const count = Buffer.alloc(4);
      count.writeUInt32BE(this.count);
      this.write(count, pageCountOffset);
    } finally {
      await this.abandon();
    }
    if (this.failure) throw this.failure;
  }

  /** Closes the file without flushing, once pending writes have ended. */
  async abandon(): Promise<void> {
    await Promise.all(this.pendingWrites);
    await this.syncing;
    closeSync(this.file);
    returnBuffer(this.buffer);
  }
}

import { closeSync, fdatasync, openSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";

const datasync = promisify(fdatasync);
const writeAsync = promisify(write);

/** Bytes that are written at once. */
const bufferBytes = 1 << 20;
/** So much is sent on its way to the disk while more is being made: the host's sync then finds little left to do. */
const syncIntervalBytes = 1 << 24;
/** The page with this byte is never used (file format, 1.5): programs lock it. */
const lockByteOffset = 2 ** 30;
const pageCountOffset = 28;

/** So many buffers are written while others are filled. */
const maxPendingWrites = 4;

/** Buffers that are written: they serve again, also for the files that follow. */
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
 * Appends pages to a database that no one else has open. Buffers are written while others are filled; where too many
 * are under way it writes without waiting for its turn: the trees of a run of features come all at once, and would have
 * to be kept otherwise.
 */
export class PageWriter {
  private readonly file: number;
  private buffer = takeBuffer();
  private filled = 0;
  private position: number;
  private readonly lockPage: number;
  private readonly underWay = new Set<Promise<void>>();
  /** A sync under way, and how much was written when it began. */
  private syncing: Promise<void> | null = null;
  private synced: number;
  /** The first failure of what no one waited for: every later call meets it. */
  private failure: unknown = null;

  /** @param count pages so far */
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

  /** The number of the page after the next one. */
  get following(): number {
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
    if (this.underWay.size >= maxPendingWrites) this.write(full, this.position);
    else this.send(full);
    this.position += this.filled;
    this.filled = 0;
    if (this.syncing === null && this.position - this.synced >= syncIntervalBytes) this.syncBehind();
  }

  /** Writes the buffer while the next one is filled. */
  private send(full: Buffer): void {
    const { buffer } = this;
    this.buffer = takeBuffer();
    const writing: Promise<void> = writeAll(this.file, full, this.position)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => {
        this.underWay.delete(writing);
        returnBuffer(buffer);
      });
    this.underWay.add(writing);
  }

  private syncBehind(): void {
    this.synced = this.position;
    // The system tells a failure once: it is kept, since a later sync would find nothing wrong.
    this.syncing = datasync(this.file)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => {
        this.syncing = null;
      });
  }

  /** Overwrites a page that was there before the first one that was appended. */
  replace(page: number, bytes: Uint8Array): void {
    this.write(bytes, (page - 1) * this.pageSize);
  }

  /** Writes what waits, says how many pages there are, and closes the file. */
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

  /** Closes the file as it is, once nothing of it is under way. */
  async abandon(): Promise<void> {
    await Promise.all(this.underWay);
    await this.syncing;
    closeSync(this.file);
    returnBuffer(this.buffer);
  }
}

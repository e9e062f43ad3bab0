import { type FileHandle, open } from "node:fs/promises";

const bufferCapacity = 1 << 20;
/** Buffers of closed files, reused by later files. */
const freeBuffers: Buffer[] = [];
const maxFreeBuffers = 4;

const acquireBuffer = (): Buffer => freeBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferCapacity);

/** Bytes that do not fit into the buffer are written directly from this size on. */
const minDirectWriteBytes = 1 << 18;
/** Bytes between data syncs in the background, so that the final sync has little left to do. */
const syncIntervalBytes = 1 << 24;

/**
 * A new file that is written in calls of about a megabyte; while one is written, the next one is collected. The caller
 * must await each call. Errors are system errors.
 */
export class BufferedFile {
  private buffer: Buffer | null = null;
  private spare: Buffer | null = null;
  private used = 0;
  /** Bytes written, including the pending write. */
  private flushed = 0;
  private pending: Promise<unknown> | null = null;
  /** The running sync, and the number of bytes that it covers. */
  private syncing: Promise<unknown> | null = null;
  private synced = 0;
  private syncFailure: unknown;
  private open = true;

  private constructor(
    readonly path: string,
    readonly handle: FileHandle,
  ) {}

  /** @throws EEXIST if the file exists */
  static async create(path: string, mode: number): Promise<BufferedFile> {
    return new BufferedFile(path, await open(path, "wx+", mode));
  }

  /** Bytes appended so far. */
  get size(): number {
    return this.flushed + this.used;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > bufferCapacity - this.used) {
      await this.startFlush();
      if (bytes.length >= minDirectWriteBytes) {
        await this.waitForFlush();
        await this.writeFully(bytes, this.flushed);
        this.flushed += bytes.length;
        return;
      }
    }
    this.buffer ??= acquireBuffer();
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    if (position < 0 || position + bytes.length > this.size) {
      throw new RangeError(`${bytes.length} bytes at ${position} are not within the ${this.size} written`);
    }
    if (position >= this.flushed) {
      this.buffer?.set(bytes, position - this.flushed);
      return;
    }
    if (position + bytes.length > this.flushed) await this.startFlush();
    await this.waitForFlush();
    await this.writeFully(bytes, position);
  }

  /** Writes everything that is buffered. */
  async flush(): Promise<void> {
    await this.startFlush();
    await this.syncing;
    await this.waitForFlush();
  }

  async close(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    await this.pending?.catch(() => {});
    await this.syncing;
    for (const buffer of [this.buffer, this.spare])
      if (buffer && freeBuffers.length < maxFreeBuffers) freeBuffers.push(buffer);
    this.buffer = null;
    this.spare = null;
    await this.handle.close();
  }

  private async startFlush(): Promise<void> {
    await this.waitForFlush();
    if (this.used === 0 || !this.buffer) return;
    const full = this.buffer;
    const writing = this.writeFully(full.subarray(0, this.used), this.flushed);
    writing.catch(() => {});
    this.pending = writing;
    this.flushed += this.used;
    this.used = 0;
    this.buffer = this.spare;
    this.spare = full;
  }

  /** Waits for the pending write. A failure is kept and thrown by every later call. */
  private async waitForFlush(): Promise<void> {
    await this.pending;
    if (this.syncFailure) throw this.syncFailure;
  }

  /** Repeats partial writes, which happen for example when the disk is nearly full. */
  private async writeFully(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.handle.write(bytes, written, bytes.length - written, position + written);
      written += bytesWritten;
    }
    const end = position + bytes.length;
    if (this.syncing || end - this.synced < syncIntervalBytes) return;
    this.synced = end;
    // The system reports a write failure only once, so it is kept for the next call: a later sync would succeed.
    this.syncing = this.handle
      .datasync()
      .catch((error: unknown) => {
        this.syncFailure = error;
      })
      .finally(() => {
        this.syncing = null;
      });
  }
}

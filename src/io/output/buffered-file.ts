import { type FileHandle, open } from "node:fs/promises";

const bufferCapacity = 1 << 20;
/** Buffers of files that are closed: many small files one after the other share a few. */
const freeBuffers: Buffer[] = [];
const maxFreeBuffers = 4;

const acquireBuffer = (): Buffer => freeBuffers.pop() ?? Buffer.allocUnsafeSlow(bufferCapacity);

/** From this size on, bytes that do not fit are not worth copying. */
const minDirectWriteBytes = 1 << 18;
/** So much is sent on its way to the disk while more is being made: the last sync then finds little left to do. */
const syncIntervalBytes = 1 << 24;

/**
 * A new file that is written in calls of about a megabyte, one of which is under way while the next is collected.
 * Calls must be awaited one after the other. Errors are the system's own.
 */
export class BufferedFile {
  private buffer: Buffer | null = null;
  private spare: Buffer | null = null;
  private used = 0;
  /** Bytes handed to the system, or on their way. */
  private flushed = 0;
  private pending: Promise<unknown> | null = null;
  /** A sync under way, and how much had been handed over when it began. */
  private syncing: Promise<unknown> | null = null;
  private synced = 0;
  private syncFailure: unknown;
  private open = true;

  private constructor(
    readonly path: string,
    readonly handle: FileHandle,
  ) {}

  /** @throws EEXIST where there is such a file */
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

  /** Hands everything to the system. */
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

  /** Waits for the write under way. A failure stays: every later call meets it again. */
  private async waitForFlush(): Promise<void> {
    await this.pending;
    if (this.syncFailure) throw this.syncFailure;
  }

  /** The system may write less than asked for, as when the disk is nearly full. */
  private async writeFully(bytes: Uint8Array, position: number): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.handle.write(bytes, written, bytes.length - written, position + written);
      written += bytesWritten;
    }
    const end = position + bytes.length;
    if (this.syncing || end - this.synced < syncIntervalBytes) return;
    this.synced = end;
    // The system tells a failure once: it is kept for the next call, since a later sync would find nothing wrong.
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

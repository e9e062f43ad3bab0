import { type FileHandle, open } from "node:fs/promises";

/** Bytes that go to the disk at once. */
const bufferBytes = 1 << 20;
/** The page with this byte is never used (file format, 1.5): programs lock it. */
const lockByte = 2 ** 30;
const pageCountAt = 28;

/** Appends pages to a database that nobody else has open. */
export class PageWriter {
  private buffer = Buffer.allocUnsafeSlow(bufferBytes);
  private filled = 0;
  private position: number;
  private readonly lockPage: number;
  /** Pages that wait to be written into places before the end. */
  private readonly patches: { readonly page: number; readonly bytes: Buffer }[] = [];

  private constructor(
    private readonly file: FileHandle,
    readonly pageSize: number,
    /** Pages so far. */
    private count: number,
  ) {
    this.position = count * pageSize;
    this.lockPage = lockByte / pageSize + 1;
  }

  static async open(path: string, pageSize: number, count: number): Promise<PageWriter> {
    return new PageWriter(await open(path, "r+"), pageSize, count);
  }

  /** The number of the page after the next one. */
  get following(): number {
    const next = this.count + 1 === this.lockPage ? this.count + 2 : this.count + 1;
    return next + 1 === this.lockPage ? next + 2 : next + 1;
  }

  /** Whether what waits should be written before more comes. */
  get isFull(): boolean {
    return this.filled >= bufferBytes;
  }

  /** Appends a page. @returns its number */
  append(page: Uint8Array): number {
    if (this.count + 1 === this.lockPage) this.push(new Uint8Array(this.pageSize));
    this.push(page);
    return this.count;
  }

  private push(page: Uint8Array): void {
    if (this.filled + this.pageSize > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(2 * this.buffer.length);
      grown.set(this.buffer.subarray(0, this.filled));
      this.buffer = grown;
    }
    this.buffer.set(page, this.filled);
    this.filled += this.pageSize;
    this.count++;
  }

  /** Overwrites a page that was there before. */
  replace(page: number, bytes: Uint8Array): void {
    this.patches.push({ page, bytes: Buffer.from(bytes) });
  }

  async flush(): Promise<void> {
    const { filled } = this;
    for (let done = 0; done < filled; ) {
      const { bytesWritten } = await this.file.write(this.buffer, done, filled - done, this.position + done);
      done += bytesWritten;
    }
    this.position += filled;
    this.filled = 0;
  }

  /** Writes what waits, says how many pages there are, and closes the file. */
  async close(): Promise<void> {
    try {
      await this.flush();
      for (const { page, bytes } of this.patches) {
        await this.file.write(bytes, 0, bytes.length, (page - 1) * this.pageSize);
      }
      const count = Buffer.alloc(4);
      count.writeUInt32BE(this.count);
      await this.file.write(count, 0, 4, pageCountAt);
    } finally {
      await this.file.close();
    }
  }

  /** Closes the file as it is. */
  async abandon(): Promise<void> {
    await this.file.close();
  }
}

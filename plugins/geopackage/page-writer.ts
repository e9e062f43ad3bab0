import { closeSync, openSync, writeSync } from "node:fs";

/** Bytes that go to the disk at once. */
const bufferBytes = 1 << 20;
/** The page with this byte is never used (file format, 1.5): programs lock it. */
const lockByte = 2 ** 30;
const pageCountAt = 28;

/** A buffer of a file that is closed: many small files one after the other share it. */
let free: Buffer | null = null;

function takeBuffer(): Buffer {
  const buffer = free ?? Buffer.allocUnsafeSlow(bufferBytes);
  free = null;
  return buffer;
}

/**
 * Appends pages to a database that nobody else has open. It writes without waiting: the trees of a run of features come
 * all at once, and would have to be kept otherwise.
 */
export class PageWriter {
  private readonly file: number;
  private readonly buffer = takeBuffer();
  private filled = 0;
  private position: number;
  private readonly lockPage: number;

  /** @param count pages so far */
  constructor(
    path: string,
    readonly pageSize: number,
    private count: number,
  ) {
    this.file = openSync(path, "r+");
    this.position = count * pageSize;
    this.lockPage = lockByte / pageSize + 1;
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
    this.write(this.buffer.subarray(0, this.filled), this.position);
    this.position += this.filled;
    this.filled = 0;
  }

  /** Overwrites a page that was there before the first one that was appended. */
  replace(page: number, bytes: Uint8Array): void {
    this.write(bytes, (page - 1) * this.pageSize);
  }

  /** Writes what waits, says how many pages there are, and closes the file. */
  close(): void {
    try {
      this.flush();
      const count = Buffer.alloc(4);
      count.writeUInt32BE(this.count);
      this.write(count, pageCountAt);
    } finally {
      this.abandon();
    }
  }

  /** Closes the file as it is. */
  abandon(): void {
    closeSync(this.file);
    free = this.buffer;
  }
}

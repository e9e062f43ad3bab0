/** Documents in one temporary file, one after the other. */
import { type FileHandle, open } from "node:fs/promises";
import { createError } from "../../src/plugin/index.js";

/** Where a document is in the file, in bytes. Plain data. */
export interface DocumentRange {
  readonly start: number;
  readonly end: number;
}

export class DocumentSpool {
  readonly ranges: DocumentRange[] = [];
  private size = 0;

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** Creates an empty file or empties one. @throws output-failed */
  static async create(path: string): Promise<DocumentSpool> {
    try {
      return new DocumentSpool(path, await open(path, "w"));
    } catch (error) {
      throw failed(path, error);
    }
  }

  /** @throws output-failed */
  async append(document: Buffer): Promise<void> {
    try {
      for (let at = 0; at < document.length; )
        at += (await this.file.write(document, at, document.length - at, this.size + at)).bytesWritten;
    } catch (error) {
      throw failed(this.path, error);
    }
    this.ranges.push({ start: this.size, end: this.size + document.length });
    this.size += document.length;
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}

const failed = (output: string, error: unknown) =>
  createError("output-failed", { output, reason: error instanceof Error ? error.message : String(error) }, error);

/** The bytes of a range of a file. */
export async function readRange(path: string, { start, end }: DocumentRange): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

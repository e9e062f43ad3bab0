import { type FileHandle, open } from "node:fs/promises";
import { createError } from "../../../src/errors.js";
import type { SinkFile } from "../../../src/plugin/format.js";

/** With more bytes than this, a temporary file is used. */
const maxMemoryBytes = 1 << 20;
const copyChunkBytes = 1 << 20;

/** Collects bytes that are written later: in memory, or in a temporary file where there are many. */
export class SpooledPart {
  private kept: Buffer[] = [];
  private size = 0;
  private file: FileHandle | null = null;
  private written = 0;

  constructor(
    private readonly output: string,
    private readonly path: () => Promise<string>,
  ) {}

  /** Adds bytes. The caller may reuse the buffer afterwards. */
  async add(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.kept.push(Buffer.from(bytes));
    this.size += bytes.length;
    if (this.size >= maxMemoryBytes) await this.flush();
  }

  private async flush(): Promise<void> {
    try {
      this.file ??= await open(await this.path(), "w+", 0o600);
      for (const bytes of this.kept) {
        await this.file.writeFile(bytes);
        this.written += bytes.length;
      }
    } catch (error) {
      throw this.failure(error);
    }
    this.kept = [];
    this.size = 0;
  }

  private failure(error: unknown): Error {
    const reason = `a temporary file: ${error instanceof Error ? error.message : String(error)}`;
    return createError("output-failed", { output: this.output, reason }, error);
  }

  /** Writes all bytes to `target`, in order. */
  async copyTo(target: SinkFile): Promise<void> {
    for (let at = 0; at < this.written; ) {
      const { bytesRead, buffer } = await this.file!.read(Buffer.allocUnsafe(copyChunkBytes), 0, copyChunkBytes, at);
      if (bytesRead === 0) throw this.failure(new Error("it was cut off"));
      await target.write(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    for (const bytes of this.kept) await target.write(bytes);
    this.kept = [];
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close();
  }
}

import { type FileHandle, open } from "node:fs/promises";
import { createError } from "../../src/errors.js";
import type { Source, SourceFile } from "../../src/plugin/format.js";

/** A temporary file of a reader, as a source that any thread of the run can open. */
export class ScratchSource implements Source {
  /** @param name for messages */
  constructor(
    readonly name: string,
    readonly path: string,
    readonly size: number,
  ) {}

  findSibling(): null {
    return null;
  }

  async open(): Promise<SourceFile> {
    try {
      return new ScratchSourceFile(await open(this.path, "r"), this);
    } catch (error) {
      throw unreadable(this, error);
    }
  }
}

const unreadable = ({ name }: ScratchSource, error: unknown) =>
  createError("input-unreadable", { source: name, reason: `temporary file: ${(error as Error).message}` }, error);

class ScratchSourceFile implements SourceFile {
  readonly size: number;

  constructor(
    private readonly handle: FileHandle,
    private readonly source: ScratchSource,
  ) {
    this.size = source.size;
  }

  async read(position: number, length: number, into?: Uint8Array): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    const buffer = into ? Buffer.from(into.buffer, into.byteOffset, wanted) : Buffer.allocUnsafeSlow(wanted);
    let filled = 0;
    try {
      while (filled < wanted) {
        const { bytesRead } = await this.handle.read(buffer, filled, wanted - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
    } catch (error) {
      throw unreadable(this.source, error);
    }
    return filled === wanted ? buffer : buffer.subarray(0, filled);
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

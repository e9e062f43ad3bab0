import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { createError } from "../../src/plugin/index.js";

/** A temporary file with synchronous random access. */
export class ScratchFile {
  private readonly file: number;
  /** End of the last byte written. */
  size = 0;

  /** @throws output-failed, and so do all its methods */
  constructor(
    private readonly output: string,
    path: string,
  ) {
    this.file = this.attempt(() => openSync(path, "wx+", 0o600));
  }

  private attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = `temporary file: ${message} (set TMPDIR to use another folder for temporary files)`;
      throw createError("output-failed", { output: this.output, reason }, error);
    }
  }

  write(bytes: Uint8Array, position: number): void {
    this.attempt(() => {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.file, bytes, done, bytes.length - done, position + done);
      }
    });
    this.size = Math.max(this.size, position + bytes.length);
  }

  /** Fills `bytes` from `position` on. */
  read(bytes: Uint8Array, position: number): void {
    this.attempt(() => {
      for (let done = 0; done < bytes.length; ) {
        const count = readSync(this.file, bytes, done, bytes.length - done, position + done);
        if (count === 0) throw new Error("it was truncated");
        done += count;
      }
    });
  }

  close(): void {
    closeSync(this.file);
  }
}

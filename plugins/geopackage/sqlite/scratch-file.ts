import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { createError } from "../../../src/plugin/index.js";

/** A temporary file that is read and written at any place, without waiting. */
export class ScratchFile {
  private readonly file: number;
  /** Bytes up to the last that was written. */
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
      const said = error instanceof Error ? error.message : String(error);
      const reason = `a temporary file: ${said} (temporary files go to the folder that TMPDIR names)`;
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

  /** Fills `bytes` with what stands from `position` on. */
  read(bytes: Uint8Array, position: number): void {
    this.attempt(() => {
      for (let done = 0; done < bytes.length; ) {
        const count = readSync(this.file, bytes, done, bytes.length - done, position + done);
        if (count === 0) throw new Error("it was cut off");
        done += count;
      }
    });
  }

  close(): void {
    closeSync(this.file);
  }
}

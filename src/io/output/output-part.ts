import type { Stats } from "node:fs";
import { open, rm } from "node:fs/promises";
import type { SinkFile } from "../../plugin/format.js";
import { removeOnExit } from "./abandoned-files.js";
import type { BufferedFile } from "./buffered-file.js";
import { journalSuffixes, outputError } from "./temporary-names.js";

/** A file that is written under a temporary name beside its final path. */
export class OutputPart implements SinkFile {
  private readonly keepOnExit: () => void;
  private used = false;

  constructor(
    private readonly output: string,
    private readonly file: BufferedFile,
    readonly finalPath: string,
    readonly isMain: boolean,
    private readonly replaced: Stats | null,
  ) {
    this.keepOnExit = removeOnExit(file.path);
  }

  get path(): string {
    return this.file.path;
  }

  get size(): number {
    return this.file.size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.used = true;
    try {
      await this.file.write(bytes);
    } catch (error) {
      throw outputError(this.output, error);
    }
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    try {
      await this.file.patch(position, bytes);
    } catch (error) {
      throw error instanceof RangeError ? error : outputError(this.output, error);
    }
  }

  /** Syncs all bytes, and sets the owner and permissions of the file that it will replace. */
  async finish(): Promise<void> {
    await this.file.flush();
    // A library that writes by path may have replaced the file.
    const own = this.used ? this.file.handle : await open(this.path, "r+");
    try {
      if (this.replaced) {
        const { uid, gid } = await own.stat();
        if (uid !== this.replaced.uid || gid !== this.replaced.gid) {
          await own.chown(this.replaced.uid, this.replaced.gid).catch(() => {});
        }
        await own.chmod(this.replaced.mode & 0o7777);
      }
      await own.sync();
    } finally {
      if (own !== this.file.handle) await own.close();
    }
    await this.file.close();
  }

  /** Keeps the file when the process exits: from now on recovery by the next run decides. */
  release(): void {
    this.keepOnExit();
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => {});
    for (const suffix of ["", ...journalSuffixes]) await rm(this.path + suffix, { force: true }).catch(() => {});
    this.keepOnExit();
  }
}

import { rm } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { ZipFile } from "yazl";
import { createError } from "../../errors.js";
import type { SinkFile } from "../../plugin/format.js";
import { newMark, removeOnExit } from "./abandoned-files.js";
import { BufferedFile } from "./buffered-file.js";
import type { HostSink, SinkOptions } from "./create-sink.js";
import { FileSink } from "./file-sink.js";
import { commitAll, type FileSet } from "./publish-outputs.js";
import { outputError, temporaryPath } from "./temporary-names.js";

/** Zips store local time without a zone (APPNOTE 4.4.6); UTC makes the bytes the same on every machine. */
class UtcWallClock extends Date {
  override getFullYear = () => this.getUTCFullYear();
  override getMonth = () => this.getUTCMonth();
  override getDate = () => this.getUTCDate();
  override getHours = () => this.getUTCHours();
  override getMinutes = () => this.getUTCMinutes();
  override getSeconds = () => this.getUTCSeconds();
}

/** A set of files in one zip, which is renamed to its final name when complete. */
export class ZipSink implements HostSink {
  readonly inPlaceTarget = null;
  readonly isStream = false;
  private readonly mark = newMark();
  private isPrepared = false;
  private readonly members = new Map<string, { readonly file: BufferedFile; readonly keepOnExit: () => void }>();

  private constructor(
    readonly name: string,
    private readonly main: string,
    private readonly archive: FileSink,
    private readonly options: SinkOptions,
  ) {}

  static async at(name: string, main: string, options: SinkOptions): Promise<ZipSink> {
    return new ZipSink(name, main, await FileSink.at(name, { ...options, companions: [] }), options);
  }

  private entryName(extension: string | undefined): string {
    return extension === undefined ? this.main : `${basename(this.main, extname(this.main))}.${extension}`;
  }

  async create(extension?: string): Promise<SinkFile> {
    const entry = this.entryName(extension);
    if (this.members.has(entry)) throw createError("internal", { reason: `${entry} is created twice` });
    const { name } = this;
    const withOutputError = (work: Promise<void>) =>
      work.catch((error: unknown) => {
        throw error instanceof RangeError ? error : outputError(name, error);
      });
    try {
      const path = temporaryPath(join(dirname(this.name), entry), this.mark, "tmp");
      const file = await BufferedFile.create(path, 0o600);
      this.members.set(entry, { file, keepOnExit: removeOnExit(path) });
      return {
        path,
        get size() {
          return file.size;
        },
        write: (bytes) => withOutputError(file.write(bytes)),
        patch: (position, bytes) => withOutputError(file.patch(position, bytes)),
      };
    } catch (error) {
      throw outputError(name, error);
    }
  }

  async prepare(): Promise<void> {
    if (this.isPrepared) return;
    this.isPrepared = true;
    try {
      const zip = new ZipFile();
      const failed = new Promise<never>((_, reject) => {
        zip.on("error", reject);
      });
      failed.catch(() => {});
      const options = {
        mtime: new UtcWallClock(this.options.now ?? Date.now()),
        mode: 0o100644,
        forceDosTimestamp: true,
      };
      for (const [entry, { file }] of this.members) {
        await file.flush();
        zip.addFile(file.path, entry, options);
      }
      zip.end();
      const archive = await this.archive.create();
      const copy = async () => {
        for await (const chunk of zip.outputStream) await archive.write(chunk as Buffer);
      };
      await Promise.race([copy(), failed]);
      await this.discardMembers();
      await this.archive.prepare();
    } catch (error) {
      throw outputError(this.name, error);
    }
  }

  files(): FileSet {
    return this.archive.files();
  }

  published(): void {
    this.archive.published();
  }

  commit(): Promise<void> {
    return commitAll([this]);
  }

  private async discardMembers(): Promise<void> {
    for (const { file, keepOnExit } of this.members.values()) {
      await file.close().catch(() => {});
      await rm(file.path, { force: true }).catch(() => {});
      keepOnExit();
    }
    this.members.clear();
  }

  async abort(): Promise<void> {
    await this.discardMembers();
    await this.archive.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }
}

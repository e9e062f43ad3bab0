import { open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import type { SinkFile } from "../../plugin/format.js";
import { removeOnExit } from "./abandoned-files.js";
import type { HostSink, SinkOptions } from "./create-sink.js";
import { createFolder } from "./created-folders.js";
import { commitAll, syncFolder } from "./publish-outputs.js";
import { recoverOutput } from "./recover-outputs.js";
import { rename } from "./rename.js";
import { lstatOrNull, outputError, resolveSymlinks, TemporaryNames } from "./temporary-names.js";

/** A folder that is one dataset, written under a temporary name beside the final one and then renamed. */
export class FolderSink implements HostSink {
  readonly inPlaceTarget = null;
  readonly isStream = false;
  readonly folderPath: string;
  private readonly finalPath: string;
  private readonly backupPath: string;
  private readonly keepOnExit: () => void;
  private replaced = false;
  private isPublished = false;
  private releaseFolder = () => {};

  private constructor(
    readonly name: string,
    private readonly overwrite: boolean,
  ) {
    this.finalPath = resolveSymlinks(name.replace(/[/\\]+$/, ""));
    // Not shared with other outputs, since recovery of their files must not decide about this folder.
    const names = new TemporaryNames();
    names.setCommitPoint(this.finalPath);
    this.folderPath = names.nameFor(this.finalPath, "tmp");
    this.backupPath = names.nameFor(this.finalPath, "old");
    this.keepOnExit = removeOnExit(this.folderPath);
  }

  /** @throws output-exists, output-failed */
  static async at(name: string, { overwrite }: SinkOptions): Promise<FolderSink> {
    let sink: FolderSink | undefined;
    try {
      sink = new FolderSink(name, overwrite);
      const parent = dirname(sink.finalPath);
      sink.releaseFolder = createFolder(parent);
      recoverOutput(sink.finalPath, false);
      const existing = lstatOrNull(sink.finalPath);
      if (existing && !overwrite) throw createError("output-exists", { output: name });
      if (existing && !existing.isDirectory())
        throw createError("output-failed", { output: name, reason: "it is a file, but the output is a folder" });
      return sink;
    } catch (error) {
      sink?.releaseFolder();
      throw outputError(name, error);
    }
  }

  async create(): Promise<SinkFile> {
    throw createError("internal", { reason: `${this.name} is a folder, and no file of it is created apart` });
  }

  /** Syncs all files of the folder. */
  async prepare(): Promise<void> {
    try {
      for (const entry of await readdir(this.folderPath, { withFileTypes: true, recursive: true })) {
        if (!entry.isFile()) continue;
        // Windows syncs only files that are open for writing.
        const file = await open(join(entry.parentPath, entry.name), "r+");
        await file.sync().finally(() => file.close());
      }
    } catch (error) {
      throw outputError(this.name, error);
    }
  }

  files(): null {
    return null;
  }

  async publish(): Promise<void> {
    try {
      if (lstatOrNull(this.finalPath)) {
        if (!this.overwrite) throw createError("output-exists", { output: this.name });
        await rename(this.finalPath, this.backupPath);
        this.replaced = true;
      }
      await rename(this.folderPath, this.finalPath);
      this.isPublished = true;
      await syncFolder(dirname(this.finalPath));
    } catch (error) {
      throw outputError(this.name, error);
    }
  }

  async rollBack(): Promise<void> {
    if (this.isPublished) await rename(this.finalPath, this.folderPath).catch(() => {});
    if (this.replaced) await rename(this.backupPath, this.finalPath).catch(() => {});
    this.isPublished = false;
    this.replaced = false;
  }

  async published(): Promise<void> {
    this.keepOnExit();
    this.releaseFolder();
    // If this fails, the next run that writes here removes it.
    if (this.replaced) await rm(this.backupPath, { recursive: true, force: true }).catch(() => {});
  }

  commit(): Promise<void> {
    return commitAll([this]);
  }

  async abort(): Promise<void> {
    if (this.isPublished) return;
    await rm(this.folderPath, { recursive: true, force: true }).catch(() => {});
    this.keepOnExit();
    this.releaseFolder();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }
}

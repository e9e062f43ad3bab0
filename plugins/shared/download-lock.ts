/** A lock file beside an interrupted download, so that two processes do not continue it at once. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolders } from "../../src/make-folders.js";
import { createError } from "../../src/plugin/index.js";

export class DownloadLock {
  /** @param path of the lock file */
  constructor(private readonly path: string) {}

  /** Creates the folder and the lock; replaces one of a process that has ended. @throws output-locked, output-failed */
  async acquire(): Promise<void> {
    const { path } = this;
    try {
      makeFolders(dirname(path));
      if (!isRunning(await readFile(path, "utf8").catch(() => ""))) await rm(path, { force: true });
      await writeFile(path, String(process.pid), { flag: "wx" });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw createError("output-locked", { output: path }, error);
      throw createError("output-failed", { output: path, reason: message }, error);
    }
  }

  async release(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

/** Whether the process that wrote a lock runs. */
function isRunning(text: string): boolean {
  const id = Number(text);
  if (!Number.isInteger(id) || id <= 0) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

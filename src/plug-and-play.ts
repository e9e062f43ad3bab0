/**
 * Completes the file handles of Yarn's Plug'n'Play, which replaces those of Node.js: its own throw where a file is to be
 * synced to the disk, and cannot be disposed. Entry points import this first.
 */
import type { FileHandle } from "node:fs/promises";

type Missing = Pick<FileHandle, "sync" | "datasync"> & AsyncDisposable;

if (process.versions.pnp) {
  const fs = process.getBuiltinModule("node:fs");
  const { promisify } = process.getBuiltinModule("node:util");
  const [fsync, fdatasync] = [promisify(fs.fsync), promisify(fs.fdatasync)];
  const missing: Missing & ThisType<FileHandle> = {
    sync() {
      return fsync(this.fd);
    },
    datasync() {
      return fdatasync(this.fd);
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
  const { open } = fs.promises;
  fs.promises.open = async (...args) => {
    const handle = await open(...args);
    Object.defineProperties(handle, Object.getOwnPropertyDescriptors(missing));
    return handle;
  };
  process.getBuiltinModule("node:module").syncBuiltinESMExports();
}

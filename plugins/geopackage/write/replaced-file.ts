/** The existing database that a new file replaces. */
import { closeSync, openSync, readSync } from "node:fs";
import { createError } from "../../../src/plugin/index.js";
import { loadNativeSqlite } from "../../../src/sqlite/index.js";
import { isLockError, retryWhileLocked } from "../sql/session.js";

/** The first bytes of a database (file format, 1.3). */
const magic = Buffer.from("SQLite format 3\0", "latin1");

function isDatabase(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(magic.length);
    return readSync(file, head, 0, head.length, 0) === head.length && head.equals(magic);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks that no other program has uncommitted changes in the file, which would be lost if it were replaced. Any other
 * file, also a damaged database, may be replaced. Without a native SQLite, locks are not visible.
 * @param output for the message
 * @throws output-locked
 */
export async function checkNotLocked(path: string, output: string, signal: AbortSignal): Promise<void> {
  try {
    if (!isDatabase(path)) return;
    const database = new (loadNativeSqlite())(path, { fileMustExist: true, timeout: 0 });
    try {
      await retryWhileLocked(signal, () => database.exec("BEGIN IMMEDIATE; ROLLBACK"));
    } finally {
      database.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isLockError(error)) throw createError("output-locked", { output }, error);
  }
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { ensurePrivateFile } from "./state-folder.js";

/** The process that has a lock. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** Milliseconds: who only looks whether it is held has the file for a moment. */
const busyTimeoutMs = 250;

/** How SQLite's codes begin for a file that is no database any more. */
const corruptionCodes = ["SQLITE_NOTADB", "SQLITE_CORRUPT"];

/**
 * One run at a time for one folder of state. The lock is SQLite's on a file in it, which the system takes back when the
 * process ends, however it ends; a second file says who has it.
 */
export class FolderLock implements Disposable {
  private constructor(private readonly database: Database) {}

  /**
   * @param held what is thrown where another process has it; of that one null is known a moment after it took it
   * @throws what `held` gives; output-failed
   */
  static async acquire(folder: string, held: (holder: string | null) => GeoferryError): Promise<FolderLock> {
    const { default: Sqlite } = await import("better-sqlite3");
    const holderPath = join(folder, "lock.json");
    let database: Database | undefined;
    try {
      database = new Sqlite(ensurePrivateFile(join(folder, "lock.db")), { timeout: busyTimeoutMs });
      database.exec("BEGIN EXCLUSIVE");
      const holder: LockHolder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
      writeFileSync(holderPath, JSON.stringify(holder), { mode: 0o600 });
      return new FolderLock(database);
    } catch (error) {
      database?.close();
      const { code } = error as { code?: string };
      if (code?.startsWith("SQLITE_BUSY")) throw held(formatHolderFile(holderPath));
      const cure = corruptionCodes.some((damage) => code?.startsWith(damage))
        ? " (it keeps nothing but the lock: remove it)"
        : "";
      throw createError(
        "output-failed",
        { output: join(folder, "lock.db"), reason: `${describeSystemError(error)}${cure}` },
        error,
      );
    }
  }

  /** Who has the lock, in words, for those who do not need it; null where nobody has. */
  static async describeHolder(folder: string): Promise<string | null> {
    const path = join(folder, "lock.db");
    if (!existsSync(path)) return null;
    const { default: Sqlite } = await import("better-sqlite3");
    const database = new Sqlite(path, { readonly: true, timeout: 0 });
    try {
      database.prepare("SELECT 1 FROM sqlite_schema").get();
      return null;
    } catch {
      return formatHolderFile(join(folder, "lock.json")) ?? "another process";
    } finally {
      database.close();
    }
  }

  /** The process that has the lock, or had it last; null where that cannot be read. */
  static readLastHolder(folder: string): LockHolder | null {
    return parseHolderFile(join(folder, "lock.json"));
  }

  /** Lets others in. */
  [Symbol.dispose](): void {
    this.database.close();
  }
}

/** @param folder of the map (`mapFolder`) @throws map-locked where another process has it; output-failed */
export const acquireMapLock = (
  folder: string,
  names: { readonly service: string; readonly map: string },
): Promise<FolderLock> => FolderLock.acquire(folder, (holder) => createError("map-locked", { ...names, holder }));

export const formatHolder = ({ pid, host, since }: LockHolder): string => `process ${pid} on ${host}, since ${since}`;

/** Null where nothing can be read: it was taken a moment ago. */
function formatHolderFile(path: string): string | null {
  const holder = parseHolderFile(path);
  return holder && formatHolder(holder);
}

function parseHolderFile(path: string): LockHolder | null {
  try {
    const {
      pid,
      host = "another machine",
      since = "a while ago",
    } = JSON.parse(readFileSync(path, "utf8")) as Partial<LockHolder>;
    return pid === undefined ? null : { pid, host, since };
  } catch {
    return null;
  }
}

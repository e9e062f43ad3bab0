import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { type Database, loadNativeSqlite } from "../../sqlite/index.js";
import { ensurePrivateFile } from "./state-folder.js";

/** The process that holds a lock. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** SQLite busy timeout in milliseconds: `describeHolder` opens the file briefly. */
const busyTimeoutMs = 250;

/** Prefixes of SQLite's codes for corrupt databases. */
const corruptionCodes = ["SQLITE_NOTADB", "SQLITE_CORRUPT"];

/**
 * Allows one run at a time per state folder. The lock is an SQLite lock on a file, which the operating system releases
 * when the process ends for any reason; a second file names the holder.
 */
export class FolderLock implements Disposable {
  private constructor(private readonly database: Database) {}

  /**
   * @param createHeldError creates the error if another process holds the lock; the holder is null just after it was
   * acquired
   * @throws the error of `createHeldError`; output-failed
   */
  static async acquire(folder: string, createHeldError: (holder: string | null) => GeoferryError): Promise<FolderLock> {
    const Sqlite = loadNativeSqlite();
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
      if (code?.startsWith("SQLITE_BUSY")) throw createHeldError(formatHolderFile(holderPath));
      const remedy = corruptionCodes.some((damage) => code?.startsWith(damage))
        ? " (the file contains only the lock; delete it)"
        : "";
      throw createError(
        "output-failed",
        { output: join(folder, "lock.db"), reason: `${describeSystemError(error)}${remedy}` },
        error,
      );
    }
  }

  /** Describes the holder for callers that do not need the lock; null if it is free. */
  static async describeHolder(folder: string): Promise<string | null> {
    const path = join(folder, "lock.db");
    if (!existsSync(path)) return null;
    const Sqlite = loadNativeSqlite();
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

  /** The current or last holder; null if unreadable. */
  static readLastHolder(folder: string): LockHolder | null {
    return parseHolderFile(join(folder, "lock.json"));
  }

  /** Releases the lock. */
  [Symbol.dispose](): void {
    this.database.close();
  }
}

/** @param folder of the map (`ensureMapFolder`) @throws map-locked if another process holds it; output-failed */
export const acquireMapLock = (
  folder: string,
  names: { readonly service: string; readonly map: string },
): Promise<FolderLock> => FolderLock.acquire(folder, (holder) => createError("map-locked", { ...names, holder }));

export const formatHolder = ({ pid, host, since }: LockHolder): string => `process ${pid} on ${host}, since ${since}`;

/** Null if unreadable, as just after acquisition. */
function formatHolderFile(path: string): string | null {
  const holder = parseHolderFile(path);
  return holder && formatHolder(holder);
}

function parseHolderFile(path: string): LockHolder | null {
  try {
    const {
      pid,
      host = "another machine",
      since = "an unknown time",
    } = JSON.parse(readFileSync(path, "utf8")) as Partial<LockHolder>;
    return pid === undefined ? null : { pid, host, since };
  } catch {
    return null;
  }
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { fault, type GeoferryError } from "../errors.js";
import { systemReason } from "../io/source.js";
import { privateFile } from "./state-folder.js";

/** The process that has a lock. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/** Milliseconds: who only looks whether it is held has the file for a moment. */
const patience = 250;

/** How SQLite's codes begin for a file that is no database any more. */
const damaged = ["SQLITE_NOTADB", "SQLITE_CORRUPT"];

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
      database = new Sqlite(privateFile(join(folder, "lock.db")), { timeout: patience });
      database.exec("BEGIN EXCLUSIVE");
      const holder: Holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
      writeFileSync(holderPath, JSON.stringify(holder), { mode: 0o600 });
      return new FolderLock(database);
    } catch (error) {
      database?.close();
      const { code } = error as { code?: string };
      if (code?.startsWith("SQLITE_BUSY")) throw held(holderIn(holderPath));
      const cure = damaged.some((damage) => code?.startsWith(damage))
        ? " (it keeps nothing but the lock: remove it)"
        : "";
      throw fault("output-failed", { output: join(folder, "lock.db"), reason: `${systemReason(error)}${cure}` }, error);
    }
  }

  /** Who has the lock, in words, for those who do not need it; null where nobody has. */
  static async holder(folder: string): Promise<string | null> {
    const path = join(folder, "lock.db");
    if (!existsSync(path)) return null;
    const { default: Sqlite } = await import("better-sqlite3");
    const database = new Sqlite(path, { readonly: true, timeout: 0 });
    try {
      database.prepare("SELECT 1 FROM sqlite_schema").get();
      return null;
    } catch {
      return holderIn(join(folder, "lock.json")) ?? "another process";
    } finally {
      database.close();
    }
  }

  /** The process that has the lock, or had it last; null where that cannot be read. */
  static lastHolder(folder: string): Holder | null {
    return readHolder(join(folder, "lock.json"));
  }

  /** Lets others in. */
  [Symbol.dispose](): void {
    this.database.close();
  }
}

/** @param folder of the map (`mapFolder`) @throws map-locked where another process has it; output-failed */
export const lockMap = (
  folder: string,
  names: { readonly service: string; readonly map: string },
): Promise<FolderLock> => FolderLock.acquire(folder, (holder) => fault("map-locked", { ...names, holder }));

export const describeHolder = ({ pid, host, since }: Holder): string => `process ${pid} on ${host}, since ${since}`;

/** Null where nothing can be read: it was taken a moment ago. */
function holderIn(path: string): string | null {
  const holder = readHolder(path);
  return holder && describeHolder(holder);
}

function readHolder(path: string): Holder | null {
  try {
    const {
      pid,
      host = "another machine",
      since = "a while ago",
    } = JSON.parse(readFileSync(path, "utf8")) as Partial<Holder>;
    return pid === undefined ? null : { pid, host, since };
  } catch {
    return null;
  }
}

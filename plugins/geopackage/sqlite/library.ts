import { createRequire } from "node:module";
import type SqliteDatabase from "better-sqlite3";

export type { SqliteDatabase };

/** Why SQLite cannot be had on this machine, and what to do about it. */
export class SqliteMissing extends Error {
  constructor(cause: unknown) {
    const said = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    super(
      `needs the package better-sqlite3, which cannot be loaded here (${said}); run "npm rebuild better-sqlite3", for which a C++ compiler may be needed`,
      { cause },
    );
  }
}

/**
 * SQLite itself, for what is more than reading tables. Loaded only then, so that everything else works without it.
 * @throws SqliteMissing
 */
export async function loadSqlite(): Promise<typeof SqliteDatabase> {
  try {
    // An import would first search its files for what they export, which takes 2 ms more.
    const library = createRequire(import.meta.url)("better-sqlite3") as typeof SqliteDatabase;
    // The package loads its compiled part with the first database.
    new library(":memory:").close();
    return library;
  } catch (error) {
    throw new SqliteMissing(error);
  }
}

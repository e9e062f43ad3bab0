import { createRequire } from "node:module";
import { createError } from "../errors.js";
import { installCommand } from "../install-command.js";
import type { SqliteDriver } from "./database.js";
import { createNodeDriver, type NodeSqlite } from "./node-driver.js";

/** The environment variable that selects one driver, to compare them or to work around a fault in one. */
const driverVariable = "GEOFERRY_SQLITE";

/** Null if the package is not installed or does not fit this version of Node. */
function requireBetterSqlite(): SqliteDriver | null {
  try {
    // `import` would first search the files for their exports, which takes 2 ms more.
    const library = createRequire(import.meta.url)("better-sqlite3") as SqliteDriver;
    // The package loads its binary with the first database.
    new library(":memory:").close();
    return library;
  } catch {
    return null;
  }
}

/** Null before Node 22.16. Node 22 and 24 print a warning that the module is experimental, which is suppressed. */
function requireNodeSqlite(): SqliteDriver | null {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return createNodeDriver(createRequire(import.meta.url)("node:sqlite") as NodeSqlite);
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

const nativeDrivers: Readonly<Record<string, () => SqliteDriver | null>> = {
  "better-sqlite3": requireBetterSqlite,
  "node:sqlite": requireNodeSqlite,
};

let native: SqliteDriver | null | undefined;

function findNative(): SqliteDriver | null {
  if (native !== undefined) return native;
  const selected = process.env[driverVariable];
  const drivers = Object.entries(nativeDrivers).filter(([name]) => !selected || name === selected);
  for (const [, require] of drivers) native ??= require();
  native ??= null;
  return native;
}

/**
 * SQLite with locks that other processes see, for databases that several processes use: better-sqlite3 if it is
 * installed, else `node:sqlite`. @throws sqlite-unavailable
 */
export function loadNativeSqlite(): SqliteDriver {
  const driver = findNative();
  if (!driver) throw createError("sqlite-unavailable", { install: installCommand("better-sqlite3") });
  return driver;
}

/**
 * SQLite for a file that no other process uses: a native driver, else the WebAssembly build, which takes no locks.
 * @throws sqlite-unavailable
 */
export async function loadSqlite(): Promise<SqliteDriver> {
  const driver = findNative();
  if (driver) return driver;
  const { loadWasmDriver } = await import("./wasm-driver.js");
  return loadWasmDriver().catch((error: unknown) => {
    throw createError("sqlite-unavailable", { install: installCommand("better-sqlite3") }, error);
  });
}

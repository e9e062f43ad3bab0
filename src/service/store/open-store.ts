/** Where the service keeps what it has: in SQLite in a folder, or in a PostgreSQL database. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import type { Store } from "./contract.js";
import type { StoreEvents } from "./store-events.js";

export type StoreLocation =
  | { readonly kind: "folder"; readonly path: string }
  /** `postgres://user@host:port/name`, with what libpq takes behind a `?`. */
  | { readonly kind: "database"; readonly url: string };

const databasePath = (folder: string): string => join(folder, "geoferry.sqlite");

/** For people and logs: without the password of an address. */
export function describeLocation(location: StoreLocation): string {
  if (location.kind === "folder") return location.path;
  const { protocol, username, host, pathname } = new URL(location.url);
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}

/**
 * Opens the store, recreated or brought up to date where needed.
 * @param news is told what the store does by itself, for log and metrics
 * @throws folder-not-writable, store-unavailable, store-newer, store-foreign
 */
export async function openStore(location: StoreLocation, news: StoreEvents = {}): Promise<Store> {
  if (location.kind === "database") {
    const { openPostgresStore } = await import("./postgres/index.js");
    return openPostgresStore(location.url, undefined, news.onKeyIndex);
  }
  prepareFolder(location.path);
  const { openSqliteStore } = await import("./sqlite/index.js");
  return openSqliteStore(databasePath(location.path), news);
}

/**
 * The same where a new store would only hide that the folder is the wrong one.
 * @throws store-folder-missing, and what `openStore` throws
 */
export async function openExistingStore(location: StoreLocation): Promise<Store> {
  if (location.kind === "folder" && !existsSync(databasePath(location.path)))
    throw createError("store-folder-missing", { store: location.path });
  return openStore(location);
}

/**
 * Makes a folder where there is none. What is in it is for the service alone: password hashes, people's addresses.
 * @throws folder-not-writable
 */
export function prepareFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" || code === "ENOTDIR" ? "it, or what it lies in, is a file" : message;
    throw createError("folder-not-writable", { folder: path, reason }, error);
  }
}

/** With the folders above it; Node's `recursive` goes on for ever where the system makes none, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw Object.assign(new Error(), { code: "ENOTDIR" });
    return;
  }
  const above = dirname(path);
  if (!existsSync(above)) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Opens the store of the service: SQLite in a folder, or a PostgreSQL database. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import type { Store } from "./contract.js";
import { hostUrls } from "./postgres/host-urls.js";
import type { StoreEvents } from "./store-events.js";

export type StoreLocation =
  | { readonly kind: "folder"; readonly path: string }
  /** `postgres://user@host:port/name`, with parameters of libpq after `?`; several hosts are separated by commas. */
  | { readonly kind: "database"; readonly url: string };

const databasePath = (folder: string): string => join(folder, "geoferry.sqlite");

/** The location for messages and logs, without a password. */
export function describeLocation(location: StoreLocation): string {
  if (location.kind === "folder") return location.path;
  const urls = hostUrls(location.url).map((url) => new URL(url));
  const { protocol, username, pathname } = urls[0]!;
  const hosts = urls.map(({ host }) => host).join(",");
  return `${protocol}//${username === "" ? "" : `${username}@`}${hosts}${pathname}`;
}

/**
 * Opens the store; creates or migrates it if necessary.
 * @param events callbacks for log and metrics
 * @throws folder-not-writable, store-unavailable, store-newer, store-foreign
 */
export async function openStore(location: StoreLocation, events: StoreEvents = {}): Promise<Store> {
  if (location.kind === "database") {
    const { openPostgresStore } = await import("./postgres/index.js");
    return openPostgresStore(location.url, undefined, events.onKeyIndex);
  }
  prepareFolder(location.path);
  const { openSqliteStore } = await import("./sqlite/index.js");
  return openSqliteStore(databasePath(location.path), events);
}

/**
 * Opens a store that must exist, so that a wrong folder is reported.
 * @throws store-folder-missing, and the errors of `openStore`
 */
export async function openExistingStore(location: StoreLocation): Promise<Store> {
  if (location.kind === "folder" && !existsSync(databasePath(location.path)))
    throw createError("store-folder-missing", { store: location.path });
  return openStore(location);
}

/**
 * Creates a folder if it does not exist, accessible only to the user of the service: it holds password hashes and email
 * addresses.
 * @throws folder-not-writable
 */
export function prepareFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" || code === "ENOTDIR" ? "it or a parent folder is a file" : message;
    throw createError("folder-not-writable", { folder: path, reason }, error);
  }
}

/**
 * Creates parent folders, too. The `recursive` option of Node.js never returns where the system denies creation, as in
 * /proc.
 */
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
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

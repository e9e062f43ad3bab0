/** Locates the folder with the state, lock, journal and backups of a map. */
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { makeFolders } from "../../make-folders.js";

/**
 * `--state`, or else geoferry's folder in XDG_STATE_HOME, which defaults to ~/.local/state unless it is an absolute
 * path (XDG Base Directory Specification 0.8).
 */
export function resolveStateRoot(requested: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (requested !== undefined) return resolve(requested);
  const { XDG_STATE_HOME: home = "" } = environment;
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "geoferry");
}

/**
 * Returns the id of the state root, by which processes recognize a shared folder; creates it if missing. @throws
 * output-failed
 */
export function ensureStateId(root: string): string {
  const existing = readStateId(root);
  if (existing !== null) return existing;
  const path = join(root, "id");
  try {
    // An existing folder may be shared: its permissions stay.
    makeFolders(root, 0o700);
    // Created atomically, since another process may create it at the same time.
    const temporaryPath = join(root, `.id-${randomUUID()}`);
    writeFileSync(temporaryPath, randomUUID(), { mode: 0o600 });
    try {
      linkSync(temporaryPath, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" && !existsSync(path)) renameSync(temporaryPath, path);
    }
    rmSync(temporaryPath, { force: true });
    return readFileSync(path, "utf8");
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/** Reads the id of a state root, which may not exist; null if it has none. */
export function readStateId(root: string): string | null {
  try {
    return readFileSync(join(root, "id"), "utf8");
  } catch {
    return null;
  }
}

/** Normalizes the base URL of a service. */
export const normalizeServiceUrl = (service: string): string => {
  const { origin, pathname } = new URL(service);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
};

/** Creates a folder if missing, and restricts it to its owner. @returns the folder @throws output-failed */
export function ensurePrivateFolder(folder: string): string {
  try {
    makeFolders(folder, 0o700);
    chmodSync(folder, 0o700);
  } catch (error) {
    throw createError(
      "output-failed",
      { output: folder, reason: `${describeSystemError(error)} (choose another folder with --state)` },
      error,
    );
  }
  return folder;
}

/**
 * Creates a file if missing, and restricts it to its owner. SQLite creates the journals of a database with the same
 * permissions (https://www.sqlite.org/tempfiles.html, 2). @returns the path
 */
export function ensurePrivateFile(path: string): string {
  try {
    // Does not open an existing file: closing it would release the locks that this process holds on it (POSIX fcntl).
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
  return path;
}

/**
 * The folder of one map, which may not exist.
 * @param map as `resolveMapId` returns it: two ids that are no UUIDs may differ in case only
 */
export function mapFolder(root: string, service: string, map: string): string {
  const name = createHash("sha256")
    .update(`${normalizeServiceUrl(service)}\n${map}`)
    .digest("hex");
  return join(root, name.slice(0, 24));
}

/** Creates the folder of one map if missing. @throws output-failed */
export const ensureMapFolder = (root: string, service: string, map: string): string =>
  ensurePrivateFolder(mapFolder(root, service, map));

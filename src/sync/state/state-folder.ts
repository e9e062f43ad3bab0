/** Where what is known of a map lies from one run to the next: its state, lock, journal and backups. */
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
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

/**
 * `--state`, else geoferry's folder in XDG_STATE_HOME, which is ~/.local/state unless it is an absolute path (XDG Base
 * Directory Specification 0.8).
 */
export function resolveStateRoot(asked: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (asked !== undefined) return resolve(asked);
  const { XDG_STATE_HOME: home = "" } = environment;
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "geoferry");
}

/** By which those who use the folder of all states know that it is the same. @throws output-failed */
export function ensureStateId(root: string): string {
  const known = readStateId(root);
  if (known !== null) return known;
  const path = join(ensurePrivateFolder(root), "id");
  try {
    // Whole, or not at all: another may make it in the same moment.
    const own = join(root, `.id-${randomUUID()}`);
    writeFileSync(own, randomUUID(), { mode: 0o600 });
    try {
      linkSync(own, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" && !existsSync(path)) renameSync(own, path);
    }
    rmSync(own, { force: true });
    return readFileSync(path, "utf8");
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/** The same of a folder that need not be there; null where it has none. */
export function readStateId(root: string): string | null {
  try {
    return readFileSync(join(root, "id"), "utf8");
  } catch {
    return null;
  }
}

/** A service's base address in one way of writing it. */
export const normalizeServiceUrl = (service: string): string => {
  const { origin, pathname } = new URL(service);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
};

/** Makes a folder, where it is missing, that is for its user alone. @returns it @throws output-failed */
export function ensurePrivateFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw createError(
      "output-failed",
      { output: folder, reason: `${describeSystemError(error)} (--state names another)` },
      error,
    );
  }
  return folder;
}

/**
 * Creates a file, where it is missing, that only its user may read and write; an existing one gets those rights. SQLite
 * gives the journals of a database the same (https://www.sqlite.org/tempfiles.html, 2). @returns the path
 */
export function ensurePrivateFile(path: string): string {
  try {
    // An existing file is not opened: closing it would end the locks that this process holds on it (POSIX fcntl).
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
  return path;
}

/** The folder of one map. @throws output-failed */
export function ensureMapFolder(root: string, service: string, map: string): string {
  const name = createHash("sha256")
    .update(`${normalizeServiceUrl(service)}\n${map.toLowerCase()}`)
    .digest("hex");
  return ensurePrivateFolder(join(root, name.slice(0, 24)));
}

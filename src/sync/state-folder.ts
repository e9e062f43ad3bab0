/** Where what is known of a map lies from one run to the next: its state, lock, journal and backups. */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";

/**
 * `--state`, else geoferry's folder in XDG_STATE_HOME, which is ~/.local/state unless it is an absolute path (XDG Base
 * Directory Specification 0.8).
 */
export function stateRoot(asked: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (asked !== undefined) return resolve(asked);
  const { XDG_STATE_HOME: home = "" } = environment;
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "geoferry");
}

/** A service's base address in one way of writing it. */
export const plainAddress = (service: string): string => {
  const { origin, pathname } = new URL(service);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
};

/** Makes a folder, where it is missing, that is for its user alone. @returns it @throws output-failed */
export function ownFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw fault("output-failed", { output: folder, reason: `${systemReason(error)} (--state names another)` }, error);
  }
  return folder;
}

/** The folder of one map. @throws output-failed */
export function mapFolder(root: string, service: string, map: string): string {
  const name = createHash("sha256")
    .update(`${plainAddress(service)}\n${map.toLowerCase()}`)
    .digest("hex");
  return ownFolder(join(root, name.slice(0, 24)));
}

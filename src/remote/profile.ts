/** Services that a person keeps the address and the credentials of, by name, in a file that nobody else can read. */
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fault } from "../errors.js";
import { randomDigits } from "../io/short-hash.js";
import { systemReason } from "../io/source.js";
import type { Connection } from "./connection.js";
import { isObject } from "./told.js";

/** The profile that is meant where none is named. */
export const usualProfile = "default";

/** XDG Base Directory Specification 0.8: `geoferry/profiles.json` in the folder for settings. */
export function profilesFile(environment: NodeJS.ProcessEnv): string {
  const home = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(home, "geoferry", "profiles.json");
}

export type Profiles = ReadonlyMap<string, Connection>;

/**
 * The profiles of a file; none where it is not there.
 * @throws remote-profile where others may read the file, or it is damaged
 */
export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readPrivate(file);
  if (text === null) return new Map();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw fault("remote-profile", { file, reason: `is no JSON: repair it, or remove it and log in again` }, error);
  }
  const entries = Object.entries(isObject(json) ? json : { "": json });
  return new Map(entries.map(([name, profile]) => [name, connectionIn(profile, name, file)]));
}

/** @throws remote-profile, output-failed */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  const text = `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`;
  const temporary = `${file}.${randomDigits()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(temporary, "wx", 0o600);
    try {
      // Whatever the umask is.
      await chmod(temporary, 0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fault("output-failed", { output: file, reason: systemReason(error) }, error);
  }
}

/** The profile of this name. @throws remote-profile */
export function profileNamed(profiles: Profiles, name: string, file: string): Connection {
  const found = profiles.get(name);
  if (found) return found;
  const names = [...profiles.keys()].join(", ");
  const rather = names === "" ? "it has none" : `it has ${names}`;
  const reason = `has no profile ${name}; ${rather}; geoferry login URL --profile ${name} makes it`;
  throw fault("remote-profile", { file, reason });
}

/** What profiles may be called. @throws option-invalid */
export function checkProfileName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  const expected = "a name of 1 to 64 letters, digits, dots, hyphens and underscores";
  throw fault("option-invalid", { option: "--profile", value: name, expected });
}

async function readPrivate(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    // Windows keeps no such bits.
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw fault("remote-profile", {
        file,
        reason: `holds secrets and others may read or change it; take that away: chmod 600 ${file}`,
      });
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code !== undefined && /^E[A-Z]+$/.test(code))
      throw fault("remote-profile", { file, reason: `cannot be read: ${systemReason(error)}` }, error);
    throw error;
  }
}

/** @throws remote-profile */
function connectionIn(value: unknown, name: string, file: string): Connection {
  if (!isObject(value) || !isText(value.url) || !isText(value.clientId) || !isText(value.clientSecret))
    throw fault("remote-profile", {
      file,
      reason: `the profile ${name} is incomplete: log in again with geoferry login URL --profile ${name}`,
    });
  const { url, clientId, clientSecret, apiPath, tokenPath, insecureHttp } = value;
  return {
    url,
    clientId,
    clientSecret,
    ...(isText(apiPath) && { apiPath }),
    ...(isText(tokenPath) && { tokenPath }),
    ...(insecureHttp === true && { insecureHttp }),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

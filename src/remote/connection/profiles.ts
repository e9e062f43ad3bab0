/** Named profiles with the address and credentials of a service, in a file that only its owner can read. */
import { chmod, open, readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { rename } from "../../io/output/rename.js";
import { randomDigits } from "../../io/short-hash.js";
import { makeFolders } from "../../make-folders.js";
import type { NetworkSettings } from "../../network-settings.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { Connection } from "./connection.js";

/** The profile used if none is named. */
export const defaultProfile = "default";

/** `geoferry/profiles.json` in the configuration folder (XDG Base Directory Specification 0.8). */
export function profilesPath(environment: NodeJS.ProcessEnv): string {
  const home = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(home, "geoferry", "profiles.json");
}

export type Profiles = ReadonlyMap<string, Connection>;

/**
 * Reads the profiles of a file; empty if the file does not exist.
 * @throws remote-profile if others can read the file, or it is damaged
 */
export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readPrivateFile(file);
  if (text === null) return new Map();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw createError(
      "remote-profile",
      { file, reason: `is not valid JSON: repair it, or remove it and log in again` },
      error,
    );
  }
  const entries = Object.entries(isObject(json) ? json : { "": json });
  return new Map(entries.map(([name, profile]) => [name, parseConnection(profile, name, file)]));
}

/** @throws remote-profile, output-failed */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  const text = `${JSON.stringify(Object.fromEntries([...profiles].map(([name, profile]) => [name, toFileEntry(profile)])), null, 2)}\n`;
  const temporary = `${file}.${randomDigits()}`;
  try {
    makeFolders(dirname(file), 0o700);
    const handle = await open(temporary, "wx", 0o600);
    try {
      // Independent of the umask.
      await chmod(temporary, 0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw createError("output-failed", { output: file, reason: describeSystemError(error) }, error);
  }
}

/** The profile of this name. @throws remote-profile */
export function getProfile(profiles: Profiles, name: string, file: string): Connection {
  const found = profiles.get(name);
  if (found) return found;
  const names = [...profiles.keys()].join(", ");
  const available = names === "" ? "it has no profiles" : `available: ${names}`;
  const reason = `has no profile ${name} (${available}); create it with geoferry login URL --profile ${name}`;
  throw createError("remote-profile", { file, reason });
}

/** Validates a profile name. @throws option-invalid */
export function checkProfileName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  const expected = "a name of 1 to 64 letters, digits, dots, hyphens and underscores";
  throw createError("option-invalid", { option: "--profile", value: name, expected });
}

async function readPrivateFile(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    // Windows has no such permission bits.
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw createError("remote-profile", {
        file,
        reason: `contains secrets, but other users can read or change it; restrict it with chmod 600 ${file}`,
      });
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code !== undefined && /^E[A-Z]+$/.test(code))
      throw createError("remote-profile", { file, reason: `cannot be read: ${describeSystemError(error)}` }, error);
    throw error;
  }
}

/** @throws remote-profile */
function parseConnection(value: unknown, name: string, file: string): Connection {
  if (
    !isObject(value) ||
    !isNonEmptyString(value.url) ||
    !isNonEmptyString(value.clientId) ||
    !isNonEmptyString(value.clientSecret)
  )
    throw createError("remote-profile", {
      file,
      reason: `the profile ${name} is incomplete: log in again with geoferry login URL --profile ${name}`,
    });
  const { url, clientId, clientSecret, apiPath, tokenPath, insecureHttp } = value;
  return {
    url,
    clientId,
    clientSecret,
    ...(isNonEmptyString(apiPath) && { apiPath }),
    ...(isNonEmptyString(tokenPath) && { tokenPath }),
    ...(insecureHttp === true && { insecureHttp }),
    ...parseNetwork(value.network, name, file),
  };
}

/** Factors from the units of the file to those of `NetworkSettings`: the file has seconds, as the flags do. */
const units: Readonly<Record<keyof NetworkSettings, number>> = {
  connectTimeout: 1000,
  timeout: 1000,
  minimumRate: 1,
  retries: 1,
};

/** One day; a larger value is probably in the wrong unit. */
const maxSeconds = 86_400;

/** @throws remote-profile */
function parseNetwork(value: unknown, name: string, file: string): Pick<Connection, "network"> {
  if (value === undefined) return {};
  const refuse = (member: string, expected: string) =>
    createError("remote-profile", {
      file,
      reason: `${member} of the profile ${name} must be ${expected}`,
    });
  if (!isObject(value)) throw refuse("network", "an object");
  const network: Partial<Record<keyof NetworkSettings, number>> = {};
  for (const [member, number] of Object.entries(value)) {
    if (!isNetworkName(member)) throw refuse(`network.${member}`, `one of ${Object.keys(units).join(", ")}`);
    const isTime = units[member] > 1;
    const isInRange = typeof number === "number" && (isTime ? number > 0 && number <= maxSeconds : number >= 0);
    if (!isInRange || (member === "retries" && !Number.isInteger(number))) {
      const expected = isTime ? `a number of seconds above 0 and at most ${maxSeconds}` : "a number of at least 0";
      throw refuse(`network.${member}`, member === "retries" ? "an integer of at least 0" : expected);
    }
    network[member] = number * units[member];
  }
  return { network };
}

const isNetworkName = (name: string): name is keyof NetworkSettings => Object.hasOwn(units, name);

/** Converts a connection to the units of the file. */
function toFileEntry({ network, ...connection }: Connection): object {
  if (!network) return connection;
  const members = Object.entries(network).map(([name, value]) => [name, value / units[name as keyof NetworkSettings]]);
  return { ...connection, network: Object.fromEntries(members) };
}

const isNonEmptyString = (value: unknown): value is string => typeof value === "string" && value !== "";

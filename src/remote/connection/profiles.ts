/** Services that a person keeps the address and the credentials of, by name, in a file that nobody else can read. */
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { randomDigits } from "../../io/short-hash.js";
import type { NetworkSettings } from "../../network-settings.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { Connection } from "./connection.js";

/** The profile that is meant where none is named. */
export const defaultProfile = "default";

/** XDG Base Directory Specification 0.8: `geoferry/profiles.json` in the folder for settings. */
export function profilesPath(environment: NodeJS.ProcessEnv): string {
  const home = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(home, "geoferry", "profiles.json");
}

export type Profiles = ReadonlyMap<string, Connection>;

/**
 * The profiles of a file; none where it is not there.
 * @throws remote-profile where others may read the file, or it is damaged
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
      { file, reason: `is no JSON: repair it, or remove it and log in again` },
      error,
    );
  }
  const entries = Object.entries(isObject(json) ? json : { "": json });
  return new Map(entries.map(([name, profile]) => [name, parseConnection(profile, name, file)]));
}

/** @throws remote-profile, output-failed */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  const text = `${JSON.stringify(Object.fromEntries([...profiles].map(([name, one]) => [name, written(one)])), null, 2)}\n`;
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
    throw createError("output-failed", { output: file, reason: describeSystemError(error) }, error);
  }
}

/** The profile of this name. @throws remote-profile */
export function getProfile(profiles: Profiles, name: string, file: string): Connection {
  const found = profiles.get(name);
  if (found) return found;
  const names = [...profiles.keys()].join(", ");
  const rather = names === "" ? "it has none" : `it has ${names}`;
  const reason = `has no profile ${name}; ${rather}; geoferry login URL --profile ${name} makes it`;
  throw createError("remote-profile", { file, reason });
}

/** What profiles may be called. @throws option-invalid */
export function checkProfileName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  const expected = "a name of 1 to 64 letters, digits, dots, hyphens and underscores";
  throw createError("option-invalid", { option: "--profile", value: name, expected });
}

async function readPrivateFile(file: string): Promise<string | null> {
  try {
    const { mode } = await stat(file);
    // Windows keeps no such bits.
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw createError("remote-profile", {
        file,
        reason: `holds secrets and others may read or change it; take that away: chmod 600 ${file}`,
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
    ...networkIn(value.network, name, file),
  };
}

/** Milliseconds of what the file has, as the flags do, in seconds. */
const units: Readonly<Record<keyof NetworkSettings, number>> = {
  connectTimeout: 1000,
  timeout: 1000,
  minimumRate: 1,
  retries: 1,
};

/** A day; more is a mistake in the unit. */
const mostSeconds = 86_400;

/** @throws remote-profile */
function networkIn(value: unknown, name: string, file: string): Pick<Connection, "network"> {
  if (value === undefined) return {};
  const refuse = (member: string, expected: string) =>
    createError("remote-profile", {
      file,
      reason: `says ${member} of the profile ${name}, which is to be ${expected}`,
    });
  if (!isObject(value)) throw refuse("network", "an object");
  const network: Partial<Record<keyof NetworkSettings, number>> = {};
  for (const [member, number] of Object.entries(value)) {
    if (!isNetworkName(member)) throw refuse(`network.${member}`, `one of ${Object.keys(units).join(", ")}`);
    const isTime = units[member] > 1;
    const isFit = typeof number === "number" && (isTime ? number > 0 && number <= mostSeconds : number >= 0);
    if (!isFit || (member === "retries" && !Number.isInteger(number))) {
      const expected = isTime ? `seconds above 0, at most ${mostSeconds}` : "a number from 0";
      throw refuse(`network.${member}`, member === "retries" ? "a whole number from 0" : expected);
    }
    network[member] = number * units[member];
  }
  return { network };
}

const isNetworkName = (name: string): name is keyof NetworkSettings => Object.hasOwn(units, name);

/** As the file has it. */
function written({ network, ...connection }: Connection): object {
  if (!network) return connection;
  const members = Object.entries(network).map(([name, value]) => [name, value / units[name as keyof NetworkSettings]]);
  return { ...connection, network: Object.fromEntries(members) };
}

const isNonEmptyString = (value: unknown): value is string => typeof value === "string" && value !== "";

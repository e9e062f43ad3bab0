import { readFile } from "node:fs/promises";
import { profilesPath } from "../../remote/connection/profiles.js";

/** Names of the profiles saved by `geoferry login`; empty if their file cannot be read. */
export async function listProfileNames(): Promise<string[]> {
  try {
    return Object.keys(JSON.parse(await readFile(profilesPath(process.env), "utf8")));
  } catch {
    return [];
  }
}

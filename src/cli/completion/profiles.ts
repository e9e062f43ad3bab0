import { readFile } from "node:fs/promises";
import { profilesFile } from "../../remote/profile.js";

/** Names of the profiles that `geoferry login` keeps; none where their file cannot be read. */
export async function profileNames(): Promise<string[]> {
  try {
    return Object.keys(JSON.parse(await readFile(profilesFile(process.env), "utf8")));
  } catch {
    return [];
  }
}

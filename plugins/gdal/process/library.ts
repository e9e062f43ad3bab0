/** Loads GDAL. Only the GDAL process may import this. */
import { createRequire } from "node:module";
import type gdalAsync from "gdal-async";

export type Gdal = typeof gdalAsync;

/** Prefix on standard error if the package cannot be loaded. */
const missingPrefix = "gdal-async cannot be loaded: ";

/** Returns what was said after the prefix in the standard error of a process, or null if the package could be loaded. */
export function readMissing(stderr: string): string | null {
  const at = stderr.indexOf(missingPrefix);
  return at < 0 ? null : stderr.slice(at + missingPrefix.length).trim();
}

/** @throws Error whose message starts with `missingPrefix` */
export function loadGdal(): Gdal {
  try {
    return createRequire(import.meta.url)("gdal-async") as Gdal;
  } catch (error) {
    const said = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new Error(`${missingPrefix}${said}`, { cause: error });
  }
}

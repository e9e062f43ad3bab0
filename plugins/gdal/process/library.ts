/** GDAL itself; only the process of its own imports this. */
import { createRequire } from "node:module";
import type gdalAsync from "gdal-async";

export type Gdal = typeof gdalAsync;

/** What the process says on its standard error where the package cannot be loaded, before the reason. */
export const missingPrefix = "gdal-async cannot be loaded: ";

/** @throws Error that begins with `missingPrefix` */
export function loadGdal(): Gdal {
  try {
    return createRequire(import.meta.url)("gdal-async") as Gdal;
  } catch (error) {
    const said = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new Error(`${missingPrefix}${said}`, { cause: error });
  }
}

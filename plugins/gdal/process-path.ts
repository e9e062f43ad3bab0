import { createRequire } from "node:module";

/** Always the built file: another process cannot run TypeScript. */
export const gdalProcessPath = (): string => createRequire(import.meta.url).resolve("#gdal-process");

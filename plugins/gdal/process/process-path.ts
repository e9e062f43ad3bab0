import { createRequire } from "node:module";

/** Always the built file: the process cannot run TypeScript. */
export const resolveGdalProcess = (): string => createRequire(import.meta.url).resolve("#gdal-process");

import { fault } from "../../src/plugin/index.js";
import { howToGet } from "./catalogue.js";
import { GdalFailure } from "./connection.js";

/** What GDAL's messages begin with, and where they name the file once more. */
const clean = (message: string): string =>
  message
    .replace(/^(ERROR|Warning) \d+: /, "")
    .replaceAll(/\s+/g, " ")
    .trim();

/** A failure of GDAL while reading, as an error of the registry; any other error as it is. */
export function readFailure(error: unknown, source: string, driver: string | null): unknown {
  if (!(error instanceof GdalFailure)) return error;
  if (error.missing) return fault("unsupported", { source, reason: `${howToGet}; ${error.message}` }, error);
  const reader = driver === null ? "GDAL" : `GDAL's driver ${driver}`;
  return fault("input-corrupt", { source, reason: `${reader} cannot read it: ${clean(error.message)}` }, error);
}

/** The same of writing. */
export function writeFailure(error: unknown, output: string, driver: string): unknown {
  if (!(error instanceof GdalFailure)) return error;
  if (error.missing) return fault("unsupported", { source: output, reason: `${howToGet}; ${error.message}` }, error);
  const reason = `GDAL's driver ${driver} cannot write it: ${clean(error.message)}`;
  return fault("output-failed", { output, reason }, error);
}

import { createError } from "../../../src/plugin/index.js";
import { missingReason } from "../drivers/catalog.js";
import { GdalError } from "./connection.js";

/** Strips the prefix and the file name from GDAL's messages. */
const cleanMessage = (message: string): string =>
  message
    .replace(/(^|: )(ERROR|Warning) \d+: /, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();

/** Converts a read failure of GDAL to a registry error; returns other errors unchanged. */
export function toReadError(error: unknown, source: string, driver: string | null): unknown {
  if (!(error instanceof GdalError)) return error;
  if (error.missing) return createError("unsupported", { source, reason: missingReason(error.message) }, error);
  const reader = driver === null ? "GDAL" : `GDAL's driver ${driver}`;
  return createError(
    "input-corrupt",
    { source, reason: `${reader} cannot read it: ${cleanMessage(error.message)}` },
    error,
  );
}

/** Likewise for write failures. */
export function toWriteError(error: unknown, output: string, driver: string): unknown {
  if (!(error instanceof GdalError)) return error;
  if (error.missing) return createError("unsupported", { source: output, reason: missingReason(error.message) }, error);
  const reason = `GDAL's driver ${driver} cannot write it: ${cleanMessage(error.message)}`;
  return createError("output-failed", { output, reason }, error);
}

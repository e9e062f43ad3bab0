/** Drivers of the installed GDAL. Loaded once, and only on demand, because that starts a process. */

import { installCommand } from "../../../src/install-command.js";
import { createError } from "../../../src/plugin/index.js";
import { missingPrefix } from "../process/library.js";
import { resolveGdalProcess } from "../process/process-path.js";
import type { DriverCatalog, DriverInfo } from "../process/protocol.js";

export const installHint = (): string =>
  `it needs GDAL: run "${installCommand("gdal-async")}"; to use the GDAL of this machine, install its headers and a compiler first (Debian: libgdal-dev, g++, make, python3) and set npm_config_shared_gdal=true`;

const timeoutMs = 60_000;

let catalogRequest: DriverCatalog | { readonly missing: string } | undefined;

function requestCatalog(): DriverCatalog | { readonly missing: string } {
  // Loaded lazily: this module is imported on every run.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout, stderr, status, signal, error } = spawnSync(process.execPath, [resolveGdalProcess(), "catalogue"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: timeoutMs,
  });
  if (status === 0) return JSON.parse(stdout) as DriverCatalog;
  const said = stderr.slice(stderr.indexOf(missingPrefix)).replace(missingPrefix, "").trim();
  return { missing: error?.message ?? (signal ? `it ended with ${signal}` : said) };
}

/** Returns the drivers, or the reason why GDAL is not available. */
export function loadCatalog(): DriverCatalog | { readonly missing: string } {
  catalogRequest ??= requestCatalog();
  return catalogRequest;
}

/** @throws unsupported if GDAL or the driver is not available */
export function findDriver(name: string): DriverInfo {
  const catalogue = loadCatalog();
  const source = `gdal:${name}`;
  if ("missing" in catalogue)
    throw createError("unsupported", { source, reason: `${installHint()}; ${catalogue.missing}` });
  const found = catalogue.drivers.find((driver) => driver.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw createError("unsupported", {
    source,
    reason: `the installed GDAL (${catalogue.version}) has no such driver; "geoferry formats" lists its drivers`,
  });
}

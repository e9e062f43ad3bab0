/** What the GDAL of this machine has. It is asked once, and only for what a person names: that takes another process. */

import { installCommand } from "../../../src/install-command.js";
import { createError } from "../../../src/plugin/index.js";
import { missingPrefix } from "../process/library.js";
import { resolveGdalProcess } from "../process/process-path.js";
import type { DriverCatalog, DriverInfo } from "../process/protocol.js";

/** What to do where GDAL is not there. */
export const installHint = (): string =>
  `it needs GDAL: run "${installCommand("gdal-async")}"; to use the GDAL of this machine, install its headers first (Debian: libgdal-dev) and set npm_config_shared_gdal=true`;

const timeoutMs = 60_000;

let catalogRequest: DriverCatalog | { readonly missing: string } | undefined;

function requestCatalog(): DriverCatalog | { readonly missing: string } {
  // Loaded here: this module is there on every run.
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

/** The drivers there are, or why there are none. */
export function loadCatalog(): DriverCatalog | { readonly missing: string } {
  catalogRequest ??= requestCatalog();
  return catalogRequest;
}

/** @throws unsupported where GDAL, or the driver, is not there */
export function findDriver(name: string): DriverInfo {
  const catalogue = loadCatalog();
  const source = `gdal:${name}`;
  if ("missing" in catalogue)
    throw createError("unsupported", { source, reason: `${installHint()}; ${catalogue.missing}` });
  const found = catalogue.drivers.find((driver) => driver.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw createError("unsupported", {
    source,
    reason: `the GDAL of this machine (${catalogue.version}) has no such driver`,
  });
}

/** Drivers of the installed GDAL. Loaded once, and only on demand, because that starts a process. */

import { installCommand } from "../../../src/install-command.js";
import { createError } from "../../../src/plugin/index.js";
import { readMissing } from "../process/library.js";
import { resolveGdalProcess } from "../process/process-path.js";
import type { DriverCatalog, DriverInfo } from "../process/protocol.js";

/** Why nothing goes through GDAL if its package cannot be loaded, and what to do. @param said by Node.js or the linker */
export const missingReason = (said: string): string =>
  `it needs GDAL: run "${installCommand("gdal-async")}"; to use the GDAL of this machine, install its headers and a compiler first (Debian: libgdal-dev, g++, make, python3) and set npm_config_shared_gdal=true; ${said}`;

/** Why GDAL cannot be used now, as the reason of an error. */
interface Unavailable {
  readonly unavailable: string;
}

const timeoutMs = 60_000;

let catalog: DriverCatalog | undefined;

function requestCatalog(): DriverCatalog | Unavailable {
  // Loaded lazily: this module is imported on every run.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout, stderr, status, signal, error } = spawnSync(process.execPath, [resolveGdalProcess(), "catalogue"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: timeoutMs,
  });
  if (status === 0) return JSON.parse(stdout) as DriverCatalog;
  const said = readMissing(stderr);
  if (said !== null) return { unavailable: missingReason(said) };
  const reason = error?.message ?? (signal ? `its process was ended by ${signal}` : stderr.trim());
  return {
    unavailable: `GDAL does not start: ${reason}; check the free memory of this machine and run geoferry again`,
  };
}

/** Returns the drivers, or the reason why GDAL is not available. */
export function loadCatalog(): DriverCatalog | Unavailable {
  if (catalog) return catalog;
  const found = requestCatalog();
  if (!("unavailable" in found)) catalog = found;
  return found;
}

/** @throws unsupported if GDAL is not available */
export function requireCatalog(source: string): DriverCatalog {
  const found = loadCatalog();
  if ("unavailable" in found) throw createError("unsupported", { source, reason: found.unavailable });
  return found;
}

/** @throws unsupported if GDAL or the driver is not available */
export function findDriver(name: string): DriverInfo {
  const source = `gdal:${name}`;
  const catalogue = requireCatalog(source);
  const found = catalogue.drivers.find((driver) => driver.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw createError("unsupported", {
    source,
    reason: `the installed GDAL (${catalogue.version}) has no such driver; "geoferry formats" lists its drivers`,
  });
}

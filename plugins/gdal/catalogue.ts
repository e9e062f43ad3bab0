/** What the GDAL of this machine has. It is asked once, and only for what a person names: that takes another process. */
import { fault } from "../../src/plugin/index.js";
import { missingMark } from "./library.js";
import { gdalProcessPath } from "./process-path.js";
import type { Catalogue, DriverFacts } from "./protocol.js";

/** What to do where GDAL is not there. */
export const howToGet =
  "it needs GDAL: install the package gdal-async (npm install gdal-async; where no prebuilt one fits, it is built on GDAL's own files, on Debian those of libgdal-dev)";

const patience = 60_000;

let known: Catalogue | { readonly missing: string } | undefined;

function ask(): Catalogue | { readonly missing: string } {
  // Loaded here: this module is there on every run.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout, stderr, status, signal, error } = spawnSync(process.execPath, [gdalProcessPath(), "catalogue"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: patience,
  });
  if (status === 0) return JSON.parse(stdout) as Catalogue;
  const said = stderr.slice(stderr.indexOf(missingMark)).replace(missingMark, "").trim();
  return { missing: error?.message ?? (signal ? `it ended with ${signal}` : said) };
}

/** The drivers there are, or why there are none. */
export function askCatalogue(): Catalogue | { readonly missing: string } {
  known ??= ask();
  return known;
}

/** @throws unsupported where GDAL, or the driver, is not there */
export function driverFacts(name: string): DriverFacts {
  const catalogue = askCatalogue();
  const source = `gdal:${name}`;
  if ("missing" in catalogue) throw fault("unsupported", { source, reason: `${howToGet}; ${catalogue.missing}` });
  const found = catalogue.drivers.find((driver) => driver.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  throw fault("unsupported", { source, reason: `the GDAL of this machine (${catalogue.version}) has no such driver` });
}

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { hasProgram } from "../../support/command.js";

function installed(): boolean {
  try {
    createRequire(import.meta.url)("gdal-async");
    return true;
  } catch {
    return false;
  }
}

/** CI requires GDAL; elsewhere a missing GDAL prints a warning. */
export const hasGdal = installed() && hasProgram("ogr2ogr");
if (!hasGdal) {
  if (process.env.CI) throw new Error("gdal-async is missing, and CI must not leave its tests out");
  console.warn("NOT TESTED: gdal-async or ogr2ogr is missing, so nothing is read or written through GDAL");
}

/** Runs ogr2ogr to its end. */
export function ogr2ogr(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("ogr2ogr", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ogr2ogr ${args.join(" ")}: ${stderr}`);
}

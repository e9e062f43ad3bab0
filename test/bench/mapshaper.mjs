/** How mapshaper does what geoferry does in the bench, and what it cannot do. */
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

function isProgram(path) {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The script of mapshaper: the one given, or that on PATH; null where there is none. @throws where none is at `given` */
export function findMapshaper(given) {
  const places = given ? [given] : process.env.PATH.split(delimiter).map((folder) => join(folder, "mapshaper"));
  const found = places.find(isProgram);
  if (given && !found) throw new Error(`there is no mapshaper at ${given}`);
  return found ? realpathSync(found) : null;
}

/** Why mapshaper does not do a conversion; null where it does. */
export function whyNotMapshaper(from, to, geometry) {
  if (from === "gpx") return "reads no GPX";
  if (to === "gpx") return "writes no GPX";
  if (from === "csv" && geometry !== "points") return "reads no geometry from CSV but points";
  if (to === "csv" && geometry !== "points") return "writes no geometry to CSV";
  return null;
}

/** Node arguments: mapshaper keeps everything in memory, which exceeds Node's default heap limit. */
export function mapshaperArguments(script, from, to, input, output) {
  return [
    ...["--max-old-space-size=8192", script],
    ...["-i", input, "encoding=utf8"],
    ...(from === "csv" ? ["-points", "x=lon", "y=lat"] : []),
    ...(to === "csv" && from !== "csv" ? ["-each", "lon = this.x, lat = this.y"] : []),
    ...["-o", output],
  ];
}

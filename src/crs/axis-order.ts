import type { Crs } from "../model/layer.js";

/** EPSG's geographic systems that declare the longitude first: those named "(lon-lat)". */
const longitudeFirst: ReadonlySet<number> = new Set([
  7034, 7035, 7036, 7037, 7038, 7039, 7040, 7041, 7042, 7084, 7085, 7086, 7087, 7088, 7133, 8901, 8902, 9778, 9779,
  9783, 9784, 10300, 10307, 10311, 10312, 10672, 10673,
]);

/**
 * Whether the authority of a system declares the latitude or northing before the longitude or easting (ISO 19111, 10.3).
 * False for a projected system without a code, and for OGC's CRS84, which is another name of EPSG:4326 here.
 */
export async function isNorthFirst(crs: Crs): Promise<boolean> {
  const [authority, code] = (crs.id ?? "").split(":");
  const number = Number(code);
  if (crs.kind === "geographic") return authority !== "EPSG" || !longitudeFirst.has(number);
  if (crs.kind === "other" || authority !== "EPSG") return false;
  const { northFirstLines } = await import("./tables/axis-order.js");
  return northFirstLines
    .trim()
    .split("\n")
    .some((line) => {
      const [first, last] = line.split("|").map(Number);
      return number >= first! && number <= last!;
    });
}

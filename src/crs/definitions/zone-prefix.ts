import { areaSize, isNearArea } from "../area.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type CrsDefinition, isSameDatum } from "./definition.js";

/** Maximum number of systems in a message. */
const maxSystems = 3;
const million = 1e6;
/** False easting without the zone number, in metres. */
const zoneFalseEasting = 500_000;
/** Metres per degree of latitude, accurate enough to distinguish countries. */
const metersPerDegree = 111_320;
const nearDegrees = 1;

interface ZonedSystem {
  readonly label: string;
  readonly name: string;
  readonly hasSameDatum: boolean;
  readonly isInStatedArea: boolean;
  /** Systems with the same central meridian agree on the position to a few hundred metres. */
  readonly centralMeridian: string;
  /** Whether the position is in the area of use of the system, and not only near it. */
  readonly isInside: boolean;
  readonly size: number;
}

/**
 * Describes systems of EPSG whose eastings start with a zone number and whose area of use contains the position: "EPSG:4647
 * (ETRS89 / UTM zone 32N (zE-N))". Prefers systems on the datum of the stated system, or with the position in its area.
 * Empty for an easting without such a number.
 * @param x easting in metres
 * @param y northing in metres
 */
export function findZonePrefixedSystems(
  x: number,
  y: number,
  stated: CrsDefinition | null,
  tables: CrsRegistry,
): string[] {
  if (!(x >= million && x < 100 * million) || !(Math.abs(y) <= 10 * million)) return [];
  const datum = stated?.geodetic?.datum;
  const place = stated?.id ? tables.getArea(stated.id) : null;
  const latitude = y / metersPerDegree;
  const found: ZonedSystem[] = [];
  for (const id of tables.listProjectedSystems()) {
    const other = tables.getDefinition(id, () => null);
    const { x0, lon0, y0 = 0 } = other?.projection?.parameters ?? {};
    if (x0 === undefined || lon0 === undefined || y0 !== 0 || other?.projection?.method !== "transverse-mercator")
      continue;
    if (other.projection.unit.conversionFactor !== 1 || x0 < million || x0 % million !== zoneFalseEasting) continue;
    if (Math.floor(x0 / million) !== Math.floor(x / million)) continue;
    const area = tables.getArea(id);
    const longitude = lon0 + (x - x0) / (metersPerDegree * Math.cos((latitude * Math.PI) / 180));
    if (area === null || !isNearArea(area, longitude, latitude, nearDegrees)) continue;
    found.push({
      label: `${id} (${other.name})`,
      name: other.name,
      hasSameDatum: datum !== undefined && other.geodetic !== null && isSameDatum(other.geodetic.datum, datum),
      isInStatedArea: place !== null && isNearArea(place, longitude, latitude, nearDegrees),
      isInside: isNearArea(area, longitude, latitude, 0),
      centralMeridian: `${lon0}`,
      size: areaSize(area),
    });
  }
  const best = preferMatching(preferMatching(found, "hasSameDatum"), "isInStatedArea");
  best.sort((a, b) => Number(b.isInside) - Number(a.isInside) || b.size - a.size || a.name.length - b.name.length);
  // First one system for each zone, since the number may count zones of three or of six degrees.
  const firsts = best.filter(
    (each, i) => best.findIndex(({ centralMeridian }) => centralMeridian === each.centralMeridian) === i,
  );
  return [...new Set([...firsts, ...best])].slice(0, maxSystems).map(({ label }) => label);
}

/** Those with the property, or all if none has it. */
function preferMatching(all: readonly ZonedSystem[], of: "hasSameDatum" | "isInStatedArea"): ZonedSystem[] {
  const some = all.filter((each) => each[of]);
  return some.length > 0 ? some : [...all];
}

/** The advice for an easting that starts with a zone number; empty for other eastings. Searches all systems. */
export function adviseZone(x: number, y: number, stated: CrsDefinition | null, tables: CrsRegistry): string {
  const systems = findZonePrefixedSystems(x, y, stated, tables);
  if (systems.length === 0) return "";
  return `the easting seems to start with a zone number, as eastings do in ${systems.join(", ")}`;
}

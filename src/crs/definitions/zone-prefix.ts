import { areaSize, isNearArea } from "../area.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type CrsDefinition, isSameDatum } from "./definition.js";

/** So many are named. */
const maxSystems = 3;
const million = 1e6;
/** What the false easting has behind the number of the zone, in metres. */
const zoneFalseEasting = 500_000;
/** Metres a degree of latitude: near enough to tell countries apart. */
const degreeMetres = 111_320;
const nearDegrees = 1;

interface ZonedSystem {
  readonly label: string;
  readonly name: string;
  readonly hasSameDatum: boolean;
  readonly isInStatedArea: boolean;
  /** The middle meridian: those of one zone place the position alike, to some hundred metres. */
  readonly centralMeridian: string;
  /** Within the system's own area, not only near it. */
  readonly isInside: boolean;
  readonly size: number;
}

/**
 * Systems of EPSG whose eastings begin with the number of the zone and that have an area of use where the position would lie,
 * in words: "EPSG:4647 (ETRS89 / UTM zone 32N (zE-N))". Those on the datum of the stated system, or that place the
 * position in its area, alone, where there are some. Empty for an easting without such a number.
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
  const latitude = y / degreeMetres;
  const found: ZonedSystem[] = [];
  for (const id of tables.listProjectedSystems()) {
    const other = tables.getDefinition(id, () => null);
    const { x0, lon0, y0 = 0 } = other?.projection?.parameters ?? {};
    if (x0 === undefined || lon0 === undefined || y0 !== 0 || other?.projection?.method !== "transverse-mercator")
      continue;
    if (other.projection.unit.conversionFactor !== 1 || x0 < million || x0 % million !== zoneFalseEasting) continue;
    if (Math.floor(x0 / million) !== Math.floor(x / million)) continue;
    const area = tables.getArea(id);
    const longitude = lon0 + (x - x0) / (degreeMetres * Math.cos((latitude * Math.PI) / 180));
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
  // One of each zone before further ones: the number may count zones of three or of six degrees.
  const firsts = best.filter(
    (each, i) => best.findIndex(({ centralMeridian }) => centralMeridian === each.centralMeridian) === i,
  );
  return [...new Set([...firsts, ...best])].slice(0, maxSystems).map(({ label }) => label);
}

/** Those of which it is true, or all where it is of none. */
function preferMatching(all: readonly ZonedSystem[], of: "hasSameDatum" | "isInStatedArea"): ZonedSystem[] {
  const some = all.filter((each) => each[of]);
  return some.length > 0 ? some : [...all];
}

/** The advice for an easting that begins with the number of a zone, a sentence; empty for others. It looks at all systems once. */
export function adviseZone(x: number, y: number, stated: CrsDefinition | null, tables: CrsRegistry): string {
  const systems = findZonePrefixedSystems(x, y, stated, tables);
  if (systems.length === 0) return "";
  return `the easting seems to begin with the number of a zone, as eastings do in ${systems.join(", ")}`;
}

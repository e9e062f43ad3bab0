import { areaSize } from "../area.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type CrsDefinition, hasSameCoordinates, isSameEllipsoid } from "./definition.js";

/** So many are named. */
const maxSystems = 3;

/**
 * Projected systems of EPSG that have the projection and the ellipsoid of a definition, in words: "EPSG:25832 (ETRS89 /
 * UTM zone 32N)", those for the widest areas first. What differs is the datum at most.
 */
export function findSimilarSystems(definition: CrsDefinition, tables: CrsRegistry): string[] {
  const { geodetic, projection } = definition;
  if (geodetic === null || projection === null) return [];
  const found: { readonly title: string; readonly name: string; readonly size: number }[] = [];
  for (const id of tables.listProjectedSystems()) {
    const other = tables.getDefinition(id, () => null);
    if (!other?.geodetic || !isSameEllipsoid(other.geodetic.datum.ellipsoid, geodetic.datum.ellipsoid)) continue;
    if (!hasSameCoordinates(other, definition)) continue;
    const area = tables.getArea(id);
    found.push({ title: `${id} (${other.name})`, name: other.name, size: area === null ? 0 : areaSize(area) });
  }
  // The same system with its axes exchanged has a longer name.
  found.sort((a, b) => b.size - a.size || a.name.length - b.name.length);
  return found.slice(0, maxSystems).map(({ title }) => title);
}

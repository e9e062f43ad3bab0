import { sizeOf } from "./area.js";
import { type Definition, sameCoordinates, sameEllipsoid } from "./definition.js";
import type { Registry } from "./registry.js";

/** So many are named. */
const most = 3;

/**
 * Projected systems of EPSG that have the projection and the ellipsoid of a definition, in words: "EPSG:25832 (ETRS89 /
 * UTM zone 32N)", those for the widest areas first. What differs is the datum at most.
 */
export function systemsLike(definition: Definition, tables: Registry): string[] {
  const { geodetic, projection } = definition;
  if (geodetic === null || projection === null) return [];
  const found: { readonly title: string; readonly name: string; readonly size: number }[] = [];
  for (const id of tables.projectedSystems()) {
    const other = tables.definition(id, () => null);
    if (!other?.geodetic || !sameEllipsoid(other.geodetic.datum.ellipsoid, geodetic.datum.ellipsoid)) continue;
    if (!sameCoordinates(other, definition)) continue;
    const area = tables.area(id);
    found.push({ title: `${id} (${other.name})`, name: other.name, size: area === null ? 0 : sizeOf(area) });
  }
  // The same system with its axes exchanged has a longer name.
  found.sort((a, b) => b.size - a.size || a.name.length - b.name.length);
  return found.slice(0, most).map(({ title }) => title);
}

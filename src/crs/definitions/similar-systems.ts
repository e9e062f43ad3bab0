import { areaSize } from "../area.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type CrsDefinition, hasSameCoordinates, isSameEllipsoid } from "./definition.js";

/** Maximum number of systems in a message. */
const maxSystems = 3;

/**
 * Describes projected systems of EPSG with the projection and ellipsoid of a definition: "EPSG:25832 (ETRS89 / UTM zone
 * 32N)", those with the widest areas first. At most the datum differs.
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
  // Systems with exchanged axes have longer names.
  found.sort((a, b) => b.size - a.size || a.name.length - b.name.length);
  return found.slice(0, maxSystems).map(({ title }) => title);
}

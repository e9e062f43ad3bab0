import { type Datum, isSameEllipsoid, wgs84Definition } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import type { CrsRegistry } from "../tables/registry.js";
import type { Candidate } from "./candidates.js";

/** A grid that a definition asks for. */
interface DeclaredGrid {
  readonly file: string;
  /** It may be missing (`@`). */
  readonly optional: boolean;
}

/** `+nadgrids=@conus,ntv2_0.gsb,null`: in the order in which they are asked; `null` is no shift. */
const parseNadgrids = (text: string): DeclaredGrid[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .map((name) => (name.startsWith("@") ? { file: name.slice(1), optional: true } : { file: name, optional: false }));

/** The grids that a definition asks for and cannot do without; empty if those available are enough. */
export function findMissingDeclaredGrids(datum: Datum, files: GridLocator): string[] {
  const asked = datum.nadgrids === null ? [] : parseNadgrids(datum.nadgrids);
  const isThere = ({ file }: DeclaredGrid) => file === "null" || files.find(file) !== null;
  const lacking = asked.filter((grid) => !isThere(grid));
  return asked.some(isThere)
    ? lacking.filter(({ optional }) => !optional).map(({ file }) => file)
    : lacking.map(({ file }) => file);
}

/**
 * From a datum to WGS84, or back, by the grids that its definition asks for. A file that EPSG has an operation with, from
 * a datum on that ellipsoid to WGS84, has its accuracy; of any other, and of places for which `null` stands, it is
 * unknown.
 */
export function findDeclaredGridCandidates(
  datum: Datum,
  inverse: boolean,
  tables: CrsRegistry,
  files: GridLocator,
): Candidate[] {
  if (datum.nadgrids === null || findMissingDeclaredGrids(datum, files).length > 0) return [];
  const targetEllipsoid = inverse ? datum.ellipsoid : wgs84Definition.geodetic!.datum.ellipsoid;
  const found: string[] = [];
  let unshifted = false;
  for (const { file } of parseNadgrids(datum.nadgrids)) {
    // What follows is never reached.
    if (file === "null") unshifted = true;
    if (unshifted) break;
    const path = files.find(file);
    if (path !== null) found.push(path);
  }
  const candidate = (name: string, accuracy: number | null, grids: readonly (string | null)[]): Candidate => {
    const steps = [{ code: null, name, values: [], grids, offset: null, inverse, targetEllipsoid }];
    return { name, inverse, accuracy, offshore: false, area: null, steps };
  };
  const shown = `nadgrids ${datum.nadgrids}`;
  return [
    ...(found.length > 0 ? [candidate(shown, worstGridAccuracy(found, datum, tables), found)] : []),
    ...(unshifted ? [candidate(`${shown}, beyond them no shift`, null, [null])] : []),
  ];
}

/** Meters; null if unknown of one of them. */
function worstGridAccuracy(paths: readonly string[], { ellipsoid }: Datum, tables: CrsRegistry): number | null {
  let worst: number | null = 0;
  for (const path of paths) {
    const file = path.replace(/^.*[/\\]/, "");
    const known = tables
      .findOperationsByGrid(file)
      .filter(
        ({ source, target }) => target === "6326" && isSameEllipsoid(tables.getDatum(source).ellipsoid, ellipsoid),
      )
      .map(({ accuracy }) => accuracy ?? Number.NaN);
    const accuracy = known.length === 0 ? Number.NaN : Math.max(...known);
    worst = worst === null || Number.isNaN(accuracy) ? null : Math.max(worst, accuracy);
  }
  return worst;
}

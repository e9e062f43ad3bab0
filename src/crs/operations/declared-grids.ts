import { type Datum, isSameEllipsoid, wgs84Definition } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import type { CrsRegistry } from "../tables/registry.js";
import type { Candidate } from "./candidates.js";

/** A grid that a definition declares. */
interface DeclaredGrid {
  readonly file: string;
  /** Whether it may be missing (`@`). */
  readonly optional: boolean;
}

/** Parses `+nadgrids=@conus,ntv2_0.gsb,null`, in order of precedence; `null` is not a shift. */
const parseNadgrids = (text: string): DeclaredGrid[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .map((name) => (name.startsWith("@") ? { file: name.slice(1), optional: true } : { file: name, optional: false }));

/** The required grids of a definition that are missing. */
export function findMissingDeclaredGrids(datum: Datum, files: GridLocator): string[] {
  const asked = datum.nadgrids === null ? [] : parseNadgrids(datum.nadgrids);
  const isThere = ({ file }: DeclaredGrid) => file === "null" || files.find(file) !== null;
  const lacking = asked.filter((grid) => !isThere(grid));
  return asked.some(isThere)
    ? lacking.filter(({ optional }) => !optional).map(({ file }) => file)
    : lacking.map(({ file }) => file);
}

/**
 * Transformations between a datum and WGS 84 with the grids that its definition declares. The accuracy is that of EPSG's
 * operation with the same file, from a datum on the same ellipsoid to WGS 84; it is unknown for other files and for `null`.
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
    // Grids after `null` are never used.
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

/** Metres; null if the accuracy of one grid is unknown. */
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

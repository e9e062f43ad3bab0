import type { Area } from "../area.js";
import { isUnnamedDatum } from "../definitions/assumed-wgs84.js";
import { type CrsDefinition, type Datum, isGeocentricEllipsoid, wgs84Definition } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import { isSameShift } from "../tables/registered-operations.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type Candidate, findCandidates, wgs84DatumCode } from "./candidates.js";
import { concatenate, type DatumTransformation, overlapsArea, sortTransformations } from "./datum-transformations.js";
import { findDeclaredGridCandidates } from "./declared-grids.js";

/**
 * Metres: a declared shift of zeros on an ellipsoid of satellite geodesy means that the datum is geocentric. The value is
 * the worst accuracy of EPSG's operations with zeros, that of NAD83.
 */
const geocentricFrameAccuracy = 4;

const noShift: Candidate = { name: "none", inverse: false, accuracy: 0, offshore: false, area: null, steps: [] };

/**
 * Finds transformations through WGS 84 if one or both datums declare their shift to it, by values (TOWGS84, `+towgs84`) or
 * grids (`+nadgrids`). If EPSG has an operation with the same values on that ellipsoid, its accuracy and area are used;
 * otherwise the accuracy is unknown.
 */
export async function findDeclaredTransformations(
  a: Datum,
  b: Datum,
  tables: CrsRegistry,
  files: GridLocator,
  area: Area | null,
): Promise<DatumTransformation[]> {
  if (![a, b].some(({ toWgs84, nadgrids }) => toWgs84 !== null || nadgrids !== null)) return [];
  const [first, second] = await Promise.all([
    candidatesToWgs84(a, false, tables, files),
    candidatesToWgs84(b, true, tables, files),
  ]);
  const transformations = first.flatMap((one) =>
    second.map((other) => concatenate([one, other].filter((side) => side !== noShift))),
  );
  return sortTransformations(
    transformations.filter((candidate) => overlapsArea(candidate, area)),
    area,
  );
}

/** Candidates from a datum to WGS 84, or back. */
async function candidatesToWgs84(
  datum: Datum,
  inverse: boolean,
  tables: CrsRegistry,
  files: GridLocator,
): Promise<Candidate[]> {
  const { toWgs84, code, nadgrids, ellipsoid } = datum;
  if (nadgrids !== null) return findDeclaredGridCandidates(datum, inverse, tables, files);
  if (code === wgs84DatumCode) return [noShift];
  if (!toWgs84) {
    if (code === null) return [];
    const [from, to] = inverse ? [wgs84DatumCode, code] : [code, wgs84DatumCode];
    return findCandidates(from, to, tables, files);
  }
  const targetEllipsoid = inverse ? ellipsoid : wgs84Definition.geodetic!.datum.ellipsoid;
  const name = "TOWGS84 of the definition";
  const steps = [{ code: null, name, values: toWgs84, grids: [], offset: null, inverse, targetEllipsoid }];
  const declared = { name, inverse, offshore: false, area: null, steps };
  if (toWgs84.every((value) => value === 0) && isGeocentricEllipsoid(ellipsoid))
    return [{ ...declared, accuracy: geocentricFrameAccuracy }];
  const known = await tables.findOperationsByShift(toWgs84, datum);
  if (known.length === 0) return [{ ...declared, accuracy: null }];
  return known.map(({ name: own, accuracy, area, offshore }) => ({
    ...declared,
    name: `${name}, which is ${own}`,
    accuracy,
    area,
    offshore,
  }));
}

/**
 * Latitudes on a sphere without a declared relation to the ellipsoid are taken for those of the ellipsoid, as in PROJ and
 * ESRI. If the data were made otherwise, positions are up to 20 km off.
 */
export function sphereTransformation(a: Datum, b: Datum): DatumTransformation[] {
  const isSphere = (datum: Datum) => datum.ellipsoid.inverseFlattening === 0 && isUnnamedDatum(datum);
  if (!(isSphere(a) ? isGeocentricEllipsoid(b.ellipsoid) : isSphere(b) && isGeocentricEllipsoid(a.ellipsoid)))
    return [];
  const name = "latitudes of the sphere taken for those of the ellipsoid";
  return [{ name, accuracy: null, area: null, offshore: false, hasIntersectedArea: false, steps: [] }];
}

/** Describes declared shifts of known datums that EPSG does not have and that are not used, although other programs do. */
export async function describeUnusedShifts(
  transformations: readonly DatumTransformation[],
  definitions: readonly CrsDefinition[],
): Promise<string[]> {
  const said: string[] = [];
  for (const { geodetic } of definitions) {
    const { toWgs84, code, name, ellipsoid, nadgrids } = geodetic!.datum;
    if (toWgs84 === null || code === null || nadgrids !== null) continue;
    if (toWgs84.every((value) => value === 0) && isGeocentricEllipsoid(ellipsoid)) continue;
    if (transformations.some(({ steps }) => steps.some(({ values }) => isSameShift(values, toWgs84)))) continue;
    const { getRegistry } = await import("../tables/registry.js");
    if ((await (await getRegistry()).findOperationsByShift(toWgs84, geodetic!.datum)).length > 0) continue;
    const numbers = toWgs84.join(", ");
    said.push(
      `the shift that the definition declares (TOWGS84 ${numbers}) is none that EPSG has for ${name}: not used`,
    );
  }
  return said;
}

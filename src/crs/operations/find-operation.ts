import { basename } from "node:path";
import { createError } from "../../errors.js";
import type { Crs } from "../../model/layer.js";
import { type Area, areaSize, intersectAreas } from "../area.js";
import { assumedWgs84Accuracy, assumeWgs84, describeAssumption } from "../definitions/assumed-wgs84.js";
import {
  type CrsDefinition,
  type Datum,
  isGeocentricEllipsoid,
  isSameDatum,
  isSameDefinition,
} from "../definitions/definition.js";
import type { MethodId } from "../definitions/methods.js";
import { resolveDefinition } from "../definitions/parse.js";
import { findSimilarSystems } from "../definitions/similar-systems.js";
import { type GridLocator, locateGrids } from "../grids/grid-locator.js";
import { type CrsRegistry, idOf } from "../tables/registry.js";
import { type AreaSelection, adviseAccuracy, padArea, selectInArea } from "./accuracy-advice.js";
import { defaultAccuracyLimit } from "./accuracy-limits.js";
import {
  type DatumTransformation,
  findRegisteredTransformations,
  gridFilesOf,
  isAccurateEnough,
  isNullTransformation,
  unknownAccuracy,
  usesGrid,
} from "./datum-transformations.js";
import { findMissingDeclaredGrids } from "./declared-grids.js";
import { describeUnusedShifts, findDeclaredTransformations, sphereTransformation } from "./declared-transformations.js";
import {
  adviseGrids,
  type BetterOperation,
  findOperationsMissingGrids,
  isPublishedGridName,
  selectBetterInArea,
} from "./missing-grids.js";
import {
  type CrsPair,
  createTrivialOperation,
  hasSameText,
  type Operation,
  type OperationOptions,
} from "./operation.js";
import { worstAccuracy } from "./operation-notes.js";

/**
 * Finds the operation between two systems of different text, with a known and sufficient accuracy.
 * @throws crs-no-operation if there is none
 */
export async function findOperation(from: Crs, to: Crs, options: OperationOptions): Promise<Operation> {
  const pair = { from, to };
  const [source, target] = await Promise.all([resolveDefinition(from), resolveDefinition(to)]);
  const found = hasSameText(from, to)
    ? createTrivialOperation(pair, "identity", "the same system")
    : await findHorizontalOperation(pair, assumeWgs84(source), assumeWgs84(target), options);
  return addRemarks(found, source, target, options);
}

/** Adds remarks about assumptions and limits of an operation. */
async function addRemarks(found: Operation, source: CrsDefinition, target: CrsDefinition, options: OperationOptions) {
  const assumed = [source, target].filter((definition) => assumeWgs84(definition) !== definition);
  const remarks = [...found.remarks, ...(await describeUnusedGrids(found, options.grids ?? []))];
  if (assumed.length > 0) {
    const { from, to } = found;
    const limit = options.accuracy ?? defaultAccuracyLimit;
    const reason = `the datum has no name; assuming WGS 84, as its ellipsoid suggests, is accurate to ${assumedWgs84Accuracy} m at best, but ${limit} m is required; --accuracy ${assumedWgs84Accuracy} allows the assumption`;
    if (limit < assumedWgs84Accuracy && !options.allowBallpark)
      throw createError("crs-no-operation", { from: crsLabel(from), to: crsLabel(to), reason });
    const { getRegistry } = await import("../tables/registry.js");
    const tables = await getRegistry();
    remarks.push(...new Set(assumed.map((definition) => describeAssumption(definition, tables))));
  }
  if (found.kind === "transformation")
    remarks.push(...(await describeUnusedShifts(found.transformations, [source, target])));
  for (const { holds, notice } of ambiguousMethods) if ([source, target].some(holds)) remarks.push(notice);
  remarks.push(...describeHeights(source, target));
  const accuracy =
    assumed.length > 0 && found.accuracy !== null ? Math.max(found.accuracy, assumedWgs84Accuracy) : found.accuracy;
  return { ...found, accuracy, remarks };
}

/** Notices about grid files of the request that are not used. */
async function describeUnusedGrids({ gridFiles }: Operation, grids: readonly string[]): Promise<string[]> {
  const { explicitFiles } = await locateGrids({ grids });
  return explicitFiles
    .filter((file) => !gridFiles.includes(file))
    .map((file) => `the grid ${basename(file)} is not used: no operation between these systems goes by that name`);
}

/** Projections that programs implement differently. */
const ambiguousMethods: readonly { holds: (definition: CrsDefinition) => boolean; notice: string }[] = [
  {
    holds: (definition) => isOnEllipsoid(definition, "equidistant-cylindrical"),
    notice:
      "Equidistant Cylindrical is computed on the ellipsoid, as EPSG defines it; GDAL and QGIS with PROJ before 9.8 took a sphere, as ArcGIS does for its method of that name, which is up to 25 km off in y: what they wrote is in EPSG:32662 if the standard parallel is the equator",
  },
  {
    holds: (definition) => isOnEllipsoid(definition, "equidistant-cylindrical-spherical"),
    notice:
      "Equidistant Cylindrical (Spherical) is computed on the sphere of the semi-major axis, as in ArcGIS and in PROJ before 9.8; GDAL and QGIS with PROJ 9.8 or later take the ellipsoid, which is up to 25 km off in y: what they wrote is in EPSG:4087 if the standard parallel is the equator, else in +proj=eqc with the same parameters",
  },
  {
    holds: (definition) => isOnEllipsoid(definition, "lambert-azimuthal-spherical", "equal-area-cylindrical-spherical"),
    notice:
      "this equal-area map is drawn on the sphere of the ellipsoid's surface, as EPSG defines it; GDAL and QGIS with PROJ before 9.2 took the ellipsoid, which is up to 40 km off: what they wrote of an EASE-Grid (EPSG:3973 to 3975) is in EPSG:6931 to 6933",
  },
  {
    holds: (definition) => isOnEllipsoid(definition, "miller", "van-der-grinten"),
    notice:
      "this world map is drawn on the sphere of the ellipsoid's surface, as GDAL and QGIS have it; ArcGIS takes the semi-major axis for its radius, which is up to 22 km off",
  },
];

const isOnEllipsoid = ({ geodetic, projection }: CrsDefinition, ...methods: readonly MethodId[]): boolean =>
  projection !== null &&
  projection.method !== null &&
  methods.includes(projection.method) &&
  geodetic?.datum.ellipsoid.inverseFlattening !== 0;

function describeHeights({ vertical: from }: CrsDefinition, { vertical: to }: CrsDefinition): string[] {
  if (from === to) return [];
  if (from === undefined) return [`heights are copied unchanged and taken for ${to}`];
  const kept = `heights are copied unchanged: the vertical part of the system, ${from}, is dropped`;
  return [to === undefined ? kept : `${kept} for ${to}`];
}

async function findHorizontalOperation(
  pair: CrsPair,
  source: CrsDefinition,
  target: CrsDefinition,
  options: OperationOptions,
): Promise<Operation> {
  const { from, to } = pair;
  const refuse = (reason: string, better: readonly BetterOperation[] = []) =>
    createError("crs-no-operation", { from: crsLabel(from), to: crsLabel(to), reason, better });
  if (isSameDefinition(source, target)) return createTrivialOperation(pair, "identity", "the same system");
  await requireComputable(source, from, refuse);
  await requireComputable(target, to, refuse);
  const a = source.geodetic!.datum;
  const b = target.geodetic!.datum;
  if (isSameDatum(a, b)) return createTrivialOperation(pair, "conversion", "conversion on the same datum");

  const { getRegistry } = await import("../tables/registry.js");
  const tables = await getRegistry();
  // The area of use of an unregistered datum is unknown.
  const area = a.code === null || b.code === null ? null : commonAreaOfUse(source, target, tables);
  const limit = options.accuracy ?? defaultAccuracyLimit;
  const files = await locateGrids(options);
  const found = await findTransformations(a, b, tables, files, area);
  const usable = found.filter((candidate) => isAccurateEnough(candidate, limit));
  const better = findOperationsMissingGrids(a, b, tables, files, area, usable);
  const within = options.within === undefined ? area : padArea(options.within);
  const reach = within === null ? selectAnywhere(found, limit) : selectInArea(found, within, limit);
  const lacking = selectBetterInArea(better, usable, within);
  const unknown = found.length > 0 ? undefined : [source, target].find(({ geodetic }) => geodetic!.datum.code === null);
  const reason =
    explainMissingGrids(a, b, files) ??
    (unknown === undefined
      ? explainNoOperation(a, b, found, reach, limit, lacking)
      : explainUnknownDatum(unknown, unknown === source ? "--source-crs" : "--target-crs", tables));
  if (reason === null) return createTransformation(pair, found, reach, limit, lacking, [a, b]);
  if (options.allowBallpark)
    return createSingleTransformation(
      pair,
      ballparkTransformation,
      "the datums differ by an unknown amount, which may be hundreds of metres",
    );
  throw refuse(reason, lacking);
}

/** Operations of EPSG take precedence over declared shift values, but not over declared grids. */
async function findTransformations(
  a: Datum,
  b: Datum,
  tables: CrsRegistry,
  files: GridLocator,
  area: Area | null,
): Promise<DatumTransformation[]> {
  const registered =
    a.nadgrids === null && b.nadgrids === null ? findRegisteredTransformations(a, b, tables, files, area) : [];
  if (registered.length > 0) return registered;
  const declared = await findDeclaredTransformations(a, b, tables, files, area);
  return declared.length > 0 ? declared : sphereTransformation(a, b);
}

const createSingleTransformation = (pair: CrsPair, transformation: DatumTransformation, remark: string): Operation => ({
  ...pair,
  kind: "transformation",
  name: transformation.name,
  accuracy: null,
  remarks: [remark],
  transformations: [transformation],
  ignoresArea: true,
  accuracyLimit: Infinity,
  gridFiles: [],
  better: [],
});

const ballparkTransformation: DatumTransformation = {
  name: "ballpark: no shift between the datums",
  accuracy: null,
  area: null,
  offshore: false,
  hasIntersectedArea: false,
  steps: [],
};

const crsLabel = (crs: Crs): string => crs.id ?? crs.name;

async function requireComputable(
  definition: CrsDefinition,
  crs: Crs,
  refuse: (reason: string) => Error,
): Promise<void> {
  if (!definition.geodetic)
    throw refuse(`${crsLabel(crs)}: ${definition.unsupportedReason ?? "it is neither geographic nor projected"}`);
  if (definition.unsupportedReason !== null) throw refuse(`${crsLabel(crs)}: ${definition.unsupportedReason}`);
  if (!definition.projection) return;
  const { buildKernel } = await import("../projections/index.js");
  if (!buildKernel(definition.projection, definition.geodetic.datum.ellipsoid))
    throw refuse(`${crsLabel(crs)}: its projection, ${definition.projection.methodName}, cannot be computed exactly`);
}

/** The intersection of both areas of use, which an operation must cover. Null if unknown. */
function commonAreaOfUse(source: CrsDefinition, target: CrsDefinition, tables: CrsRegistry): Area | null {
  const a = definitionArea(source, tables);
  const b = definitionArea(target, tables);
  if (!a || !b) return [a, b].find((area) => area && areaSize(area) < areaSize(worldArea) / 2) ?? null;
  return intersectAreas(a, b) ?? a;
}
const worldArea: Area = [-180, -90, 180, 90];

/** The area of use of the system, or of its base system. */
export function definitionArea(definition: CrsDefinition, tables: CrsRegistry): Area | null {
  const id = findSystemWithArea(definition, tables);
  return id === null ? null : tables.getArea(id);
}

/** ID of the registered system whose area of use applies to a definition. */
export function findSystemWithArea({ id, geodetic }: CrsDefinition, tables: CrsRegistry): string | null {
  if (id !== null) return id;
  if (!geodetic || geodetic.datum.code === null) return null;
  if (geodetic.code !== null) return idOf(geodetic.code);
  for (const name of [geodetic.name, geodetic.datum.name]) {
    for (const candidate of tables.findSystemsByName(name)) {
      const found = tables.getDefinition(candidate, () => null)?.geodetic;
      if (found && isSameDatum(found.datum, geodetic.datum)) return candidate;
    }
  }
  return null;
}

/** Explains which required grids are missing. */
function explainMissingGrids(a: Datum, b: Datum, files: GridLocator): string | null {
  const lacking = [a, b].flatMap((datum) => findMissingDeclaredGrids(datum, files));
  if (lacking.length === 0) return null;
  const names = lacking.join(" and ");
  const remedy = lacking.every(isPublishedGridName)
    ? `type geoferry grids get ${lacking.join(" ")}`
    : "name the file with --grid";
  return `the definition requires the shift grid ${names}, which is missing: ${remedy}`;
}

/**
 * Explains, with advice, why all positions are refused; null if they are not. If only some positions are refused, the
 * transformation reports it, since it knows where they are.
 * @param reach where the data lie, or may lie
 * @param better the operations that lack a grid there, the best first
 */
function explainNoOperation(
  a: Datum,
  b: Datum,
  found: readonly DatumTransformation[],
  { accepted, rejected }: AreaSelection,
  limit: number,
  better: readonly BetterOperation[],
): string | null {
  const advised = (reason: string, worse: readonly DatumTransformation[]) =>
    [reason, ...adviseAccuracy(worse), ...adviseGrids(better)].join("; ");
  if (found.length === 0) return advised(`no shift between ${a.name} and ${b.name} is known`, []);
  if (isValidEverywhere(found, a, b) && isAccurateEnough(found[0], limit)) return null;
  // An available grid probably covers the data, and without any information the declared extent may be wrong.
  if (
    accepted.length > 0 ||
    (rejected.length === 0 && found.some((transformation) => isAccurateEnough(transformation, limit)))
  )
    return null;
  if (found.some((transformation) => isAccurateEnough(transformation, limit) && usesGrid(transformation))) return null;
  const bad = rejected.length > 0 ? rejected : found;
  const worst = bad.every(({ accuracy }) => accuracy === null);
  const declared = bad.some(({ steps }) => steps.length === 0 || steps.some(({ code }) => code === null));
  if (worst && declared)
    return `the accuracy of the only operation (${bad[0]!.name}) is unknown; name the system by its code with --source-crs, or allow the operation with --accuracy ${unknownAccuracy}`;
  const best = Math.min(...bad.map(({ accuracy }) => accuracy ?? Infinity));
  const known = worst ? "has no known accuracy" : `is accurate to ${best} m, but ${limit} m is required`;
  return advised(`the best operation where the data may lie ${known}`, bad);
}

/** Explains that the relation of a datum to others is unknown, and names similar systems. */
function explainUnknownDatum(definition: CrsDefinition, option: string, tables: CrsRegistry): string {
  const { name, ellipsoid } = definition.geodetic!.datum;
  const alike = findSimilarSystems(definition, tables);
  const meant = alike.length > 0 ? `: its projection and ellipsoid are those of ${alike.join(", ")}` : " by its code";
  return `the datum "${name}" and its shift to WGS 84 are unknown (its ellipsoid is ${ellipsoid.name}); name the system with ${option}${meant}`;
}

const selectAnywhere = (transformations: readonly DatumTransformation[], limit: number): AreaSelection => ({
  accepted: transformations.filter((transformation) => isAccurateEnough(transformation, limit)),
  rejected: transformations.filter((transformation) => !isAccurateEnough(transformation, limit)),
});

/**
 * A shift is only valid in and near its area. But a null transformation between two global frames of satellite geodesy is
 * valid everywhere.
 */
function isValidEverywhere(found: readonly DatumTransformation[], a: Datum, b: Datum): boolean {
  const [only] = found;
  if (!only || found.length > 1) return false;
  return (
    only.area === null ||
    (isNullTransformation(only) && isGeocentricEllipsoid(a.ellipsoid) && isGeocentricEllipsoid(b.ellipsoid))
  );
}

function createTransformation(
  pair: CrsPair,
  transformations: readonly DatumTransformation[],
  { accepted }: AreaSelection,
  accuracyLimit: number,
  better: readonly BetterOperation[],
  [a, b]: readonly [Datum, Datum],
): Operation {
  const usable = transformations.filter((candidate) => isAccurateEnough(candidate, accuracyLimit));
  const likely = accepted.length > 0 ? accepted : usable;
  const best = likely.reduce((p, q) => ((q.accuracy ?? Infinity) < (p.accuracy ?? Infinity) ? q : p));
  return {
    ...pair,
    kind: "transformation",
    name: likely.length === 1 ? best.name : `${best.name} and ${likely.length - 1} more, by area`,
    accuracy: worstAccuracy(likely),
    remarks: [],
    transformations,
    ignoresArea: isValidEverywhere(transformations, a, b),
    accuracyLimit,
    gridFiles: [...new Set(usable.flatMap(gridFilesOf))],
    better,
  };
}

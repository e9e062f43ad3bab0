import { basename } from "node:path";
import { fault } from "../errors.js";
import type { Crs } from "../model/layer.js";
import { type Area, commonArea, sizeOf } from "./area.js";
import { assumedAccuracy, assumeWgs84, assumption } from "./assumed-wgs84.js";
import { gridsLacking } from "./declared-grids.js";
import { declaredRoutes, sphereRoute, unusedShifts } from "./declared-shift.js";
import { type Datum, type Definition, isGeocentric, sameDatum, sameDefinition } from "./definition.js";
import { areaAround, enoughAccuracy, type Reach, reachOf } from "./enough-accuracy.js";
import { type GridFiles, gridFilesAt } from "./grids/grid-files.js";
import { type Operation, type OperationOptions, type Pair, plain, sameText } from "./identity.js";
import { type BetterOperation, betterWithin, isPublished, lackingGrids, remedies } from "./lacking.js";
import { usualLimit } from "./limits.js";
import type { MethodId } from "./methods.js";
import { resolve } from "./parse.js";
import { idOf, type Registry } from "./registry.js";
import { filesOf, hasGrid, isGood, isNull, type Route, routesBetween, unknownAccuracy } from "./routes.js";
import { worstOf } from "./statements.js";
import { systemsLike } from "./systems-like.js";

/**
 * The direct operation between two systems whose accuracy is known and good enough, where they are not told to be one
 * by their text.
 * @throws crs-no-operation where there is none that is accurate enough
 */
export async function findOperation(from: Crs, to: Crs, options: OperationOptions): Promise<Operation> {
  const pair = { from, to };
  const [source, target] = await Promise.all([resolve(from), resolve(to)]);
  const found = sameText(from, to)
    ? plain(pair, "identity", "the same system")
    : await horizontalOperation(pair, assumeWgs84(source), assumeWgs84(target), options);
  return told(found, source, target, options);
}

/** Says beside an operation what it leaves undone and takes for granted. */
async function told(found: Operation, source: Definition, target: Definition, options: OperationOptions) {
  const assumed = [source, target].filter((definition) => assumeWgs84(definition) !== definition);
  const remarks = [...found.remarks, ...(await unusedGrids(found, options.grids ?? []))];
  if (assumed.length > 0) {
    const { from, to } = found;
    const limit = options.accuracy ?? usualLimit;
    const reason = `the datum is not named; taken for WGS 84, which its ellipsoid suggests, it would be known to ${assumedAccuracy} m at best, and ${limit} m is asked for; --accuracy ${assumedAccuracy} takes it for that`;
    if (limit < assumedAccuracy && !options.ballpark)
      throw fault("crs-no-operation", { from: title(from), to: title(to), reason });
    const { registry } = await import("./registry.js");
    const tables = await registry();
    remarks.push(...new Set(assumed.map((definition) => assumption(definition, tables))));
  }
  if (found.kind === "transformation") remarks.push(...(await unusedShifts(found.routes, [source, target])));
  for (const { holds, notice } of readings) if ([source, target].some(holds)) remarks.push(notice);
  remarks.push(...heightNotices(source, target));
  const accuracy =
    assumed.length > 0 && found.accuracy !== null ? Math.max(found.accuracy, assumedAccuracy) : found.accuracy;
  return { ...found, accuracy, remarks };
}

/** A file that was named by itself was meant to be used. */
async function unusedGrids({ gridFiles }: Operation, grids: readonly string[]): Promise<string[]> {
  const { named } = await gridFilesAt({ grids });
  return named
    .filter((file) => !gridFiles.includes(file))
    .map((file) => `the grid ${basename(file)} is not used: no operation between these systems goes by that name`);
}

/** Maps that programs draw in more than one way. */
const readings: readonly { holds: (definition: Definition) => boolean; notice: string }[] = [
  {
    holds: (definition) => isOnEllipsoid(definition, "equidistant-cylindrical"),
    notice:
      "Equidistant Cylindrical is computed on the ellipsoid, as EPSG defines it; GDAL and QGIS with PROJ before 9.8 took a sphere, which is up to 23 km off in y: what they wrote is in EPSG:32662",
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

const isOnEllipsoid = ({ geodetic, projection }: Definition, ...methods: readonly MethodId[]): boolean =>
  projection !== null &&
  projection.method !== null &&
  methods.includes(projection.method) &&
  geodetic?.datum.ellipsoid.inverseFlattening !== 0;

function heightNotices({ vertical: from }: Definition, { vertical: to }: Definition): string[] {
  if (from === to) return [];
  if (from === undefined) return [`heights stay as they are and are taken for ${to}`];
  const kept = `heights stay as they are: the vertical part of the system, ${from}, is dropped`;
  return [to === undefined ? kept : `${kept} for ${to}`];
}

async function horizontalOperation(
  pair: Pair,
  source: Definition,
  target: Definition,
  options: OperationOptions,
): Promise<Operation> {
  const { from, to } = pair;
  const refuse = (reason: string, better: readonly BetterOperation[] = []) =>
    fault("crs-no-operation", { from: title(from), to: title(to), reason, better });
  if (sameDefinition(source, target)) return plain(pair, "identity", "the same system");
  await checkComputable(source, from, refuse);
  await checkComputable(target, to, refuse);
  const a = source.geodetic!.datum;
  const b = target.geodetic!.datum;
  if (sameDatum(a, b)) return plain(pair, "conversion", "conversion on the same datum");

  const { registry } = await import("./registry.js");
  const tables = await registry();
  // Where a datum is not registered nobody says where its data lie.
  const area = a.code === null || b.code === null ? null : areaOfBoth(source, target, tables);
  const limit = options.accuracy ?? usualLimit;
  const files = await gridFilesAt(options);
  const found = await routesOf(a, b, tables, files, area);
  const usable = found.filter((candidate) => isGood(candidate, limit));
  const better = lackingGrids(a, b, tables, files, area, usable);
  const within = options.within === undefined ? area : areaAround(options.within);
  const reach = within === null ? reachAnywhere(found, limit) : reachOf(found, within, limit);
  const lacking = betterWithin(better, usable, within);
  const unknown = found.length > 0 ? undefined : [source, target].find(({ geodetic }) => geodetic!.datum.code === null);
  const reason =
    gridAsked(a, b, files) ??
    (unknown === undefined
      ? whyNot(a, b, found, reach, limit, lacking)
      : unknownDatum(unknown, unknown === source ? "--source-crs" : "--target-crs", tables));
  if (reason === null) return transformation(pair, found, reach, limit, lacking, [a, b]);
  if (options.ballpark)
    return single(pair, ballpark, "the datums differ by an unknown amount, which may be hundreds of metres");
  throw refuse(reason, lacking);
}

/** What EPSG registers for the datums goes before numbers that a definition declares, but not before its grids. */
async function routesOf(a: Datum, b: Datum, tables: Registry, files: GridFiles, area: Area | null): Promise<Route[]> {
  const registered = a.grid === null && b.grid === null ? routesBetween(a, b, tables, files, area) : [];
  if (registered.length > 0) return registered;
  const declared = await declaredRoutes(a, b, tables, files, area);
  return declared.length > 0 ? declared : sphereRoute(a, b);
}

const single = (pair: Pair, route: Route, remark: string): Operation => ({
  ...pair,
  kind: "transformation",
  name: route.name,
  accuracy: null,
  remarks: [remark],
  routes: [route],
  everywhere: true,
  limit: Infinity,
  gridFiles: [],
  better: [],
});

const ballpark: Route = {
  name: "ballpark: no shift between the datums",
  accuracy: null,
  area: null,
  offshore: false,
  nameless: false,
  steps: [],
};

const title = (crs: Crs): string => crs.id ?? crs.name;

async function checkComputable(definition: Definition, crs: Crs, refuse: (reason: string) => Error): Promise<void> {
  if (!definition.geodetic)
    throw refuse(`${title(crs)}: ${definition.obstacle ?? "it is neither geographic nor projected"}`);
  if (definition.obstacle !== null) throw refuse(`${title(crs)}: ${definition.obstacle}`);
  if (!definition.projection) return;
  const { kernelOf } = await import("./projections/index.js");
  if (!kernelOf(definition.projection, definition.geodetic.datum.ellipsoid))
    throw refuse(`${title(crs)}: its projection, ${definition.projection.methodName}, cannot be computed exactly`);
}

/** Where both are used: what an operation has to cover. Null where the one that limits it does not say. */
function areaOfBoth(source: Definition, target: Definition, tables: Registry): Area | null {
  const a = areaOfDefinition(source, tables);
  const b = areaOfDefinition(target, tables);
  if (!a || !b) return [a, b].find((area) => area && sizeOf(area) < sizeOf(world) / 2) ?? null;
  return commonArea(a, b) ?? a;
}
const world: Area = [-180, -90, 180, 90];

/** Of the system, else of the geographic system that it builds on. */
export function areaOfDefinition(definition: Definition, tables: Registry): Area | null {
  const id = systemOfArea(definition, tables);
  return id === null ? null : tables.area(id);
}

/** The system whose area of use is that of a definition. */
export function systemOfArea({ id, geodetic }: Definition, tables: Registry): string | null {
  if (id !== null) return id;
  if (!geodetic || geodetic.datum.code === null) return null;
  if (geodetic.code !== null) return idOf(geodetic.code);
  for (const name of [geodetic.name, geodetic.datum.name]) {
    for (const candidate of tables.systemsNamed(name)) {
      const found = tables.definition(candidate, () => null)?.geodetic;
      if (found && sameDatum(found.datum, geodetic.datum)) return candidate;
    }
  }
  return null;
}

/** The grids that a definition cannot do without, in words. */
function gridAsked(a: Datum, b: Datum, files: GridFiles): string | null {
  const lacking = [a, b].flatMap((datum) => gridsLacking(datum, files));
  if (lacking.length === 0) return null;
  const names = lacking.join(" and ");
  const remedy = lacking.every(isPublished)
    ? `type geoferry grids get ${lacking.join(" ")}`
    : "name the file with --grid";
  return `the definition asks for the shift grid ${names}, which is not at hand: ${remedy}`;
}

/**
 * The reason to refuse all positions, with what to do, or null. What some positions lack is for the transformation to
 * say: it knows where they are.
 * @param reach where the data lie, or may lie
 * @param better the operations that lack a grid there, the best first
 */
function whyNot(
  a: Datum,
  b: Datum,
  found: readonly Route[],
  { taken, refused }: Reach,
  limit: number,
  better: readonly BetterOperation[],
): string | null {
  const advised = (reason: string, worse: readonly Route[]) =>
    [reason, ...enoughAccuracy(worse), ...remedies(better)].join("; ");
  if (found.length === 0) return advised(`no shift between ${a.name} and ${b.name} is known`, []);
  if (usedEverywhere(found, a, b) && isGood(found[0], limit)) return null;
  // Who has a grid has it for where the data are; and where nothing at all is known the declared place may be wrong.
  if (taken.length > 0 || (refused.length === 0 && found.some((route) => isGood(route, limit)))) return null;
  if (found.some((route) => isGood(route, limit) && hasGrid(route))) return null;
  const bad = refused.length > 0 ? refused : found;
  const worst = bad.every(({ accuracy }) => accuracy === null);
  const declared = bad.some(({ steps }) => steps.length === 0 || steps.some(({ code }) => code === null));
  if (worst && declared)
    return `nobody says how accurate the one way is (${bad[0]!.name}); name the system by its code with --source-crs, or take that way with --accuracy ${unknownAccuracy}`;
  const best = Math.min(...bad.map(({ accuracy }) => accuracy ?? Infinity));
  const known = worst ? "has no known accuracy" : `is accurate to ${best} m, and ${limit} m is asked for`;
  return advised(`the best operation where the data may lie ${known}`, bad);
}

/** A datum of which neither name nor numbers say how it lies to others, with the systems that may be meant. */
function unknownDatum(definition: Definition, option: string, tables: Registry): string {
  const { name, ellipsoid } = definition.geodetic!.datum;
  const alike = systemsLike(definition, tables);
  const meant = alike.length > 0 ? `: its projection and ellipsoid are those of ${alike.join(", ")}` : " by its code";
  return `the datum "${name}" is not known, nor how it lies to WGS84 (its ellipsoid is ${ellipsoid.name}); name the system with ${option}${meant}`;
}

const reachAnywhere = (routes: readonly Route[], limit: number): Reach => ({
  taken: routes.filter((route) => isGood(route, limit)),
  refused: routes.filter((route) => !isGood(route, limit)),
});

/**
 * A shift is right in its area and close to it only. But frames of satellite geodesy span the earth: where the one way
 * between two of them moves nothing, it is as good elsewhere.
 */
function usedEverywhere(found: readonly Route[], a: Datum, b: Datum): boolean {
  const [only] = found;
  if (!only || found.length > 1) return false;
  return only.area === null || (isNull(only) && isGeocentric(a.ellipsoid) && isGeocentric(b.ellipsoid));
}

function transformation(
  pair: Pair,
  routes: readonly Route[],
  { taken }: Reach,
  limit: number,
  better: readonly BetterOperation[],
  [a, b]: readonly [Datum, Datum],
): Operation {
  const usable = routes.filter((candidate) => isGood(candidate, limit));
  const likely = taken.length > 0 ? taken : usable;
  const best = likely.reduce((p, q) => ((q.accuracy ?? Infinity) < (p.accuracy ?? Infinity) ? q : p));
  return {
    ...pair,
    kind: "transformation",
    name: likely.length === 1 ? best.name : `${best.name} and ${likely.length - 1} more, by area`,
    accuracy: worstOf(likely),
    remarks: [],
    routes,
    everywhere: usedEverywhere(routes, a, b),
    limit,
    gridFiles: [...new Set(usable.flatMap(filesOf))],
    better,
  };
}

import { fault } from "../errors.js";
import type { Crs } from "../model/layer.js";
import { type Area, commonParts, contains, coverage, inArea, sizeOf } from "./area.js";
import { assumedAccuracy, assumeWgs84, assumption } from "./assumed-wgs84.js";
import { type Datum, type Definition, sameDatum, sameDefinition } from "./definition.js";
import { resolve } from "./parse.js";
import { idOf, type RegisteredOperation, type Registry } from "./registry.js";

/** One registered shift, as plain data. */
export interface ShiftStep {
  readonly code: string | null;
  readonly name: string;
  /** Metres, arc-seconds (position vector), ppm, pivot; empty for one that is only named because it needs a grid. */
  readonly values: readonly number[];
  /** From its target to its source. */
  readonly inverse: boolean;
}

/** A way from one datum to the other. */
export interface Route {
  readonly name: string;
  /** Metres; null where unknown. */
  readonly accuracy: number | null;
  readonly area: Area | null;
  readonly offshore: boolean;
  readonly steps: readonly ShiftStep[];
}

/** How coordinates of one system become those of another, as plain data that any thread can build. */
export interface Operation {
  readonly from: Crs;
  readonly to: Crs;
  /** Metres; 0 where both have the same datum, null where nobody knows. */
  readonly accuracy: number | null;
  readonly name: string;
  /** What a person should hear before trusting the result. */
  readonly notice?: string;
  /** `identity` leaves every coordinate untouched. */
  readonly kind: "identity" | "conversion" | "transformation";
  /** In the order in which `chooseRoute` looks at them. */
  readonly routes: readonly Route[];
  /** The one route is used everywhere, inside its area or not. */
  readonly everywhere: boolean;
  /** Metres: a position whose route is worse is refused, not served by one that is meant for elsewhere. */
  readonly limit: number;
}

export interface OperationOptions {
  /** Metres: nothing worse is used. */
  readonly accuracy?: number;
  /** Carry coordinates over as if both datums were one where no operation is known. */
  readonly ballpark?: boolean;
}

const zero: readonly number[] = [0];
const wgs84Datum = "6326";

/**
 * The direct operation between two systems whose accuracy is known and good enough.
 * @throws crs-no-operation where there is none that is sure to be right
 */
export async function findOperation(from: Crs, to: Crs, options: OperationOptions = {}): Promise<Operation> {
  const pair = { from, to };
  if (from === to || (sameText(from, to) && from.definition === to.definition))
    return plain(pair, "identity", "the same system");
  const [source, target] = await Promise.all([resolve(from), resolve(to)]);
  const found = sameText(from, to)
    ? plain(pair, "identity", "the same system")
    : await horizontalOperation(pair, assumeWgs84(source), assumeWgs84(target), options);
  return told(found, source, target, options);
}

/** Says beside an operation what it leaves undone and takes for granted. */
async function told(found: Operation, source: Definition, target: Definition, options: OperationOptions) {
  const assumed = [source, target].filter((definition) => assumeWgs84(definition) !== definition);
  const notices = found.notice === undefined ? [] : [found.notice];
  if (assumed.length > 0) {
    const { from, to } = found;
    const limit = options.accuracy ?? 5;
    const reason = `the datum is not named; taken for WGS 84, which its ellipsoid suggests, it would be known to ${assumedAccuracy} m at best, and --accuracy asks for ${limit} m`;
    if (limit < assumedAccuracy && !options.ballpark)
      throw fault("crs-no-operation", { from: title(from), to: title(to), reason });
    const { registry } = await import("./registry.js");
    const tables = await registry();
    notices.push(...new Set(assumed.map((definition) => assumption(definition, tables))));
  }
  notices.push(...heightNotices(source, target));
  const accuracy =
    assumed.length > 0 && found.accuracy !== null ? Math.max(found.accuracy, assumedAccuracy) : found.accuracy;
  return notices.length === 0 ? found : { ...found, accuracy, notice: notices.join("; ") };
}

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
  const refuse = (reason: string) => fault("crs-no-operation", { from: title(from), to: title(to), reason });
  if (sameDefinition(source, target)) return plain(pair, "identity", "the same system");
  await checkComputable(source, from, refuse);
  await checkComputable(target, to, refuse);
  const a = source.geodetic!.datum;
  const b = target.geodetic!.datum;
  if (sameDatum(a, b)) return plain(pair, "conversion", "conversion on the same datum");

  const { registry } = await import("./registry.js");
  const tables = await registry();
  const area = commonArea(source, target, tables);
  const found = routesBetween(a, b, tables, area);
  const declared = found.length === 0 ? declaredRoute(a, b) : null;
  const reason = declared ? gridAsked(a, b) : whyNot(a, b, found, area, options.accuracy ?? 5, tables);
  if (reason !== null) {
    if (options.ballpark)
      return single(pair, ballpark, "the datums differ by an unknown amount, which may be hundreds of metres");
    throw refuse(reason);
  }
  if (declared)
    return single(pair, declared, "the shift is the one that the definition itself declares; its accuracy is unknown");
  return transformation(pair, found, options.accuracy ?? 5, area, tables, [a, b]);
}

type Pair = Pick<Operation, "from" | "to">;

const plain = (pair: Pair, kind: "identity" | "conversion", name: string): Operation => ({
  ...pair,
  kind,
  name,
  accuracy: 0,
  routes: [],
  everywhere: true,
  limit: Infinity,
});

const single = (pair: Pair, route: Route, notice: string): Operation => ({
  ...pair,
  kind: "transformation",
  name: route.name,
  accuracy: null,
  notice,
  routes: [route],
  everywhere: true,
  limit: Infinity,
});

const ballpark: Route = {
  name: "ballpark: no shift between the datums",
  accuracy: null,
  area: null,
  offshore: false,
  steps: [{ code: null, name: "none", values: zero, inverse: false }],
};

const title = (crs: Crs): string => crs.id ?? crs.name;

/** Told apart without reading a definition. */
export function sameText(a: Crs, b: Crs): boolean {
  if (a.id !== null && a.id === b.id) return a.kind !== "other" || a.definition === b.definition;
  return a.definition.trim() === b.definition.trim() && !/unknown|unspecified/i.test(a.definition);
}

async function checkComputable(definition: Definition, crs: Crs, refuse: (reason: string) => Error): Promise<void> {
  if (!definition.geodetic)
    throw refuse(`${title(crs)}: ${definition.obstacle ?? "it is neither geographic nor projected"}`);
  if (definition.obstacle !== null) throw refuse(`${title(crs)}: ${definition.obstacle}`);
  if (!definition.projection) return;
  const { kernelOf } = await import("./projections.js");
  const kernel = await kernelOf(definition.projection, definition.geodetic.datum.ellipsoid).catch(() => null);
  if (!kernel)
    throw refuse(`${title(crs)}: its projection, ${definition.projection.methodName}, cannot be computed exactly`);
}

/** Where both are used: what an operation has to cover. Null where the one that limits it does not say. */
function commonArea(source: Definition, target: Definition, tables: Registry): Area | null {
  const a = areaOfDefinition(source, tables);
  const b = areaOfDefinition(target, tables);
  if (!a || !b) return [a, b].find((area) => area && sizeOf(area) < sizeOf(world) / 2) ?? null;
  return commonParts(a, b).sort((p, q) => sizeOf(q) - sizeOf(p))[0] ?? a;
}
const world: Area = [-180, -90, 180, 90];

/** Of the system, else of the geographic system that it builds on. */
export function areaOfDefinition({ id, geodetic }: Definition, tables: Registry): Area | null {
  if (id !== null) return tables.area(id);
  if (!geodetic || geodetic.datum.code === null) return null;
  const code = geodetic.code;
  if (code !== null) return tables.area(idOf(code));
  for (const name of [geodetic.name, geodetic.datum.name]) {
    for (const candidate of tables.systemsNamed(name)) {
      const found = tables.definition(candidate, () => null)?.geodetic;
      if (found && sameDatum(found.datum, geodetic.datum)) return tables.area(candidate);
    }
  }
  return null;
}

/** Direct operations in either direction; only where there are none, those through WGS84. The best first. */
function routesBetween(a: Datum, b: Datum, tables: Registry, area: Area | null): Route[] {
  if (a.code === null || b.code === null) return [];
  const direct = steps(a.code, b.code, tables);
  const routes =
    direct.length > 0
      ? direct.map((step) => route([step]))
      : a.code === wgs84Datum || b.code === wgs84Datum
        ? []
        : steps(a.code, wgs84Datum, tables).flatMap((first) =>
            steps(wgs84Datum, b.code!, tables).map((second) => route([first, second])),
          );
  return order(
    routes.filter((candidate) => touches(candidate, area)),
    area,
  );
}

/**
 * Not in EPSG's dataset, yet sure: systems that follow the ITRF, as WGS84 does, and so agree with it within the 2 m that
 * EPSG gives the WGS84 ensemble itself. China 2000 is ITRF97 at epoch 2000.0.
 */
const aligned: readonly RegisteredOperation[] = [
  {
    source: "1043",
    target: wgs84Datum,
    code: "CGCS2000",
    name: "China 2000 to WGS 84, both following the ITRF",
    accuracy: 2,
    offshore: false,
    area: [73.62, 16.7, 134.77, 53.56],
    values: zero,
    grid: null,
  },
];

interface Candidate extends ShiftStep {
  readonly accuracy: number | null;
  readonly offshore: boolean;
  readonly area: Area | null;
}

function steps(source: string, target: string, tables: Registry): Candidate[] {
  const between = (from: string, to: string, inverse: boolean): Candidate[] =>
    [...tables.operations(from, to), ...aligned.filter((entry) => entry.source === from && entry.target === to)]
      .filter((operation) => operation.grid === null)
      .map((operation) => ({ ...operation, inverse }));
  return [...between(source, target, false), ...between(target, source, true)];
}

function route(candidates: readonly Candidate[]): Route {
  let area: Area | null = null;
  let accuracy: number | null = 0;
  let empty = false;
  for (const candidate of candidates) {
    if (candidate.area) {
      const common: Area | null = area ? (commonParts(area, candidate.area)[0] ?? null) : candidate.area;
      if (!common) empty = true;
      area = common ?? area;
    }
    accuracy = accuracy === null || candidate.accuracy === null ? null : accuracy + candidate.accuracy;
  }
  return {
    name: candidates
      .map((candidate) => (candidate.inverse ? `inverse of ${candidate.name}` : candidate.name))
      .join(", then "),
    accuracy: empty ? null : accuracy,
    area,
    offshore: candidates.some((candidate) => candidate.offshore),
    steps: candidates.map(({ code, name, values, inverse }) => ({ code, name, values, inverse })),
  };
}

const touches = (candidate: Route, area: Area | null): boolean =>
  !area || !candidate.area || commonParts(candidate.area, area).length > 0;

/**
 * PROJ's order: those that serve most of the area first, then the more accurate, then by name. Of two that are alike
 * otherwise the one that moves nothing goes first, so that both directions choose the same.
 */
function order(routes: readonly Route[], area: Area | null): Route[] {
  const served = (route: Route) =>
    !route.area
      ? Infinity
      : area
        ? commonParts(route.area, area).reduce((sum, part) => sum + sizeOf(part), 0)
        : sizeOf(route.area);
  const name = (route: Route) => route.steps.map((step) => step.name).join();
  return [...routes].sort((p, q) => {
    const [a, b] = [served(p), served(q)];
    if (a !== b) return b - a;
    const accuracy = (p.accuracy ?? Infinity) - (q.accuracy ?? Infinity);
    if (accuracy !== 0 && !Number.isNaN(accuracy)) return accuracy;
    if (isNull(p) !== isNull(q)) return isNull(p) ? -1 : 1;
    return name(p).length - name(q).length || (name(p) < name(q) ? 1 : -1);
  });
}

/**
 * The route for a position, as PROJ chooses it: of those in whose area it lies the most accurate; of equally accurate
 * ones the first, unless a later one's area lies inside that one's. −1 where none reaches it.
 */
export function chooseRoute(routes: readonly Route[], longitude: number, latitude: number): number {
  let best = -1;
  for (let i = 0; i < routes.length; i++) {
    const { area, accuracy, offshore } = routes[i]!;
    if (area && !inArea(area, longitude, latitude)) continue;
    if (best < 0) best = i;
    else if (!offshore && accuracy !== null) {
      const had = routes[best]!;
      const tied = accuracy === had.accuracy && area !== null && had.area !== null && inside(area, had.area);
      if (accuracy < (had.accuracy ?? Infinity) || tied) best = i;
    }
  }
  return best;
}

const inside = (inner: Area, outer: Area): boolean =>
  inner[0] > outer[0] && inner[1] > outer[1] && inner[2] < outer[2] && inner[3] < outer[3];

/** Operations that reach only a corner of where the data may lie do not make a system transformable. */
const leastCoverage = 0.25;

/** The share of an area whose positions get a route that is good enough. */
const served = (routes: readonly Route[], area: Area, limit: number): number =>
  coverage(area, (longitude, latitude) => isGood(routes[chooseRoute(routes, longitude, latitude)], limit));

export const isGood = (candidate: Route | undefined, limit: number): boolean =>
  candidate !== undefined && (candidate.accuracy === null ? limit === Infinity : candidate.accuracy <= limit);

/** The shift that a definition declares, to or from WGS84 only. */
function declaredRoute(a: Datum, b: Datum): Route | null {
  const step = (datum: Datum, inverse: boolean): ShiftStep | null =>
    datum.toWgs84
      ? { code: null, name: "TOWGS84", values: datum.toWgs84, inverse }
      : datum.code === wgs84Datum
        ? { code: null, name: "none", values: zero, inverse }
        : null;
  const first = step(a, false);
  const second = step(b, true);
  if (!first || !second) return null;
  const used = [first, second].filter((candidate) => candidate.name !== "none");
  return { name: `TOWGS84 of the definition`, accuracy: null, area: null, offshore: false, steps: used };
}

/** A registered operation that is better than those at hand but needs a grid. */
function betterGrid(
  a: Datum,
  b: Datum,
  tables: Registry,
  area: Area | null,
  usable: readonly Route[],
): RegisteredOperation | null {
  if (a.code === null || b.code === null) return null;
  const best = Math.min(...usable.map((candidate) => candidate.accuracy ?? Infinity));
  return (
    [...tables.operations(a.code, b.code), ...tables.operations(b.code, a.code)]
      .filter((operation) => operation.grid !== null && operation.accuracy !== null && operation.accuracy < best)
      .filter((operation) => !area || !operation.area || commonParts(operation.area, area).length > 0)
      .sort((p, q) => p.accuracy! - q.accuracy!)[0] ?? null
  );
}

function gridAsked(a: Datum, b: Datum): string | null {
  const grid = a.grid ?? b.grid;
  return grid === null ? null : `the definition asks for the shift grid ${grid}, which is not at hand`;
}

/** The reason not to trust any of the routes found, or null. */
function whyNot(
  a: Datum,
  b: Datum,
  found: readonly Route[],
  area: Area | null,
  limit: number,
  tables: Registry,
): string | null {
  const asked = gridAsked(a, b);
  if (asked !== null) return asked;
  for (const datum of [a, b]) {
    if (datum.code === null) return `the datum "${datum.name}" is not known, nor how it lies to WGS84`;
  }
  const usable = found.filter((candidate) => isGood(candidate, limit));
  const better = betterGrid(a, b, tables, area, usable);
  const grid = better ? `; the grid ${better.grid} would do it (${better.name}, ${better.accuracy} m)` : "";
  if (found.length === 0) return `no shift between ${a.name} and ${b.name} is known${grid}`;
  if (usable.length === 0) {
    const best = Math.min(...found.map((candidate) => candidate.accuracy ?? Infinity));
    const known = best === Infinity ? "has no known accuracy" : `is accurate to ${best} m`;
    return `the best shift at hand ${known}, and --accuracy asks for ${limit} m${grid}`;
  }
  if (usedEverywhere(found, area) || area === null || served(found, area, limit) >= leastCoverage) return null;
  return `shifts accurate to ${limit} m reach only a small part of where it is used${grid}`;
}

/**
 * One operation that covers all, or the only one there is and it moves nothing, is used wherever the data lie, as PROJ
 * does. Of several, or of one for a part, each is right in its own area only.
 */
function usedEverywhere(found: readonly Route[], area: Area | null): boolean {
  const [only] = found;
  if (!only || found.length > 1) return false;
  return isNull(only) || only.area === null || (area !== null && contains(only.area, area));
}

function transformation(
  pair: Pair,
  routes: readonly Route[],
  limit: number,
  area: Area | null,
  tables: Registry,
  [a, b]: readonly [Datum, Datum],
): Operation {
  const usable = routes.filter((candidate) => isGood(candidate, limit));
  const better = betterGrid(a, b, tables, area, usable);
  const accuracy = Math.max(...usable.map((candidate) => candidate.accuracy ?? 0));
  const best = usable.reduce((p, q) => ((q.accuracy ?? Infinity) < (p.accuracy ?? Infinity) ? q : p));
  const name = usable.length === 1 ? best.name : `${best.name} and ${usable.length - 1} more, by area`;
  const everywhere = usedEverywhere(routes, area);
  const notices = [`accurate to ${accuracy} m`];
  if (usable.every(isNull)) notices.push("both datums are taken for one");
  if (!everywhere && (area === null || served(routes, area, limit) < 1)) {
    notices.push("positions where it does not hold are refused");
  }
  if (better) notices.push(`${better.name}, accurate to ${better.accuracy} m, needs the grid ${better.grid}`);
  const notice = `${name}: ${notices.join("; ")}`;
  return { ...pair, kind: "transformation", name, accuracy, notice, routes, everywhere, limit };
}

export const isNull = (candidate: Route): boolean =>
  candidate.steps.every((step) => step.values.every((value) => value === 0));

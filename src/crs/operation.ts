import { fault } from "../errors.js";
import type { Crs } from "../model/layer.js";
import { type Area, commonParts, coverage, sizeOf } from "./area.js";
import { type Datum, type Definition, sameDatum, sameDefinition } from "./definition.js";
import { resolve } from "./parse.js";
import type { RegisteredOperation, Registry } from "./registry.js";

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
  /** The best first; a position takes the first whose area it lies in. One alone is used everywhere. */
  readonly routes: readonly Route[];
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
  const limit = options.accuracy ?? 5;
  const refuse = (reason: string) => fault("crs-no-operation", { from: title(from), to: title(to), reason });
  if (sameText(from, to)) return { from, to, accuracy: 0, name: "the same system", kind: "identity", routes: [] };
  const [source, target] = await Promise.all([resolve(from), resolve(to)]);
  if (sameDefinition(source, target))
    return { from, to, accuracy: 0, name: "the same system", kind: "identity", routes: [] };
  await checkComputable(source, from, refuse);
  await checkComputable(target, to, refuse);
  const a = source.geodetic!.datum;
  const b = target.geodetic!.datum;
  if (sameDatum(a, b))
    return { from, to, accuracy: 0, name: "conversion on the same datum", kind: "conversion", routes: [] };
  for (const [datum, crs] of [
    [a, from],
    [b, to],
  ] as const) {
    if (datum.grid !== null && !options.ballpark)
      throw refuse(`${title(crs)} asks for the shift grid ${datum.grid}, which is not at hand`);
  }
  const { registry } = await import("./registry.js");
  const tables = await registry();
  const area = commonArea(source, target, tables);
  const found = routesBetween(a, b, tables, area);
  const usable = found.filter((route) => route.accuracy !== null && route.accuracy <= limit);
  const better = betterGrid(a, b, tables, area, usable);
  const declared = found.length === 0 ? declaredRoute(a, b) : null;
  if (declared)
    return {
      from,
      to,
      accuracy: null,
      name: declared.name,
      kind: "transformation",
      routes: [declared],
      notice: `the shift is the one that the definition itself declares; its accuracy is unknown`,
    };
  const ballpark: Route = {
    name: "ballpark: no shift between the datums",
    accuracy: null,
    area: null,
    steps: [{ code: null, name: "none", values: zero, inverse: false }],
  };
  if (usable.length === 0 || !sufficient(usable, area)) {
    if (options.ballpark)
      return {
        from,
        to,
        accuracy: null,
        name: ballpark.name,
        kind: "transformation",
        routes: [ballpark],
        notice: "the datums differ by an unknown amount, which may be hundreds of metres",
      };
    throw refuse(whyNot(a, b, found, usable, limit, better));
  }
  return describe(from, to, usable, area, better);
}

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

/** Where both are used: what an operation has to cover. Null where neither says. */
function commonArea(source: Definition, target: Definition, tables: Registry): Area | null {
  const a = areaOfDefinition(source, tables);
  const b = areaOfDefinition(target, tables);
  if (!a || !b) return a ?? b;
  return commonParts(a, b).sort((p, q) => sizeOf(q) - sizeOf(p))[0] ?? a;
}

function areaOfDefinition(definition: Definition, tables: Registry): Area | null {
  if (definition.id !== null) return tables.area(definition.id);
  const code = definition.geodetic?.code;
  if (code) return tables.area(code[0] === "E" ? `ESRI:${code.slice(1)}` : `EPSG:${code}`);
  return definition.geodetic?.datum.code === wgs84Datum ? [-180, -90, 180, 90] : null;
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
  return routes.filter((candidate) => touches(candidate, area)).sort(byMerit);
}

interface Candidate extends ShiftStep {
  readonly accuracy: number | null;
  readonly area: Area | null;
}

function steps(source: string, target: string, tables: Registry): Candidate[] {
  const take = (operation: RegisteredOperation, inverse: boolean): Candidate => ({ ...operation, inverse });
  return [
    ...tables
      .operations(source, target)
      .filter((operation) => operation.grid === null)
      .map((operation) => take(operation, false)),
    ...tables
      .operations(target, source)
      .filter((operation) => operation.grid === null)
      .map((operation) => take(operation, true)),
  ];
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
    steps: candidates.map(({ code, name, values, inverse }) => ({ code, name, values, inverse })),
  };
}

const touches = (candidate: Route, area: Area | null): boolean =>
  !area || !candidate.area || commonParts(candidate.area, area).length > 0;

/** As PROJ chooses among the operations whose area a position lies in: the most accurate, then the most local. */
function byMerit(p: Route, q: Route): number {
  return (
    (p.accuracy ?? Infinity) - (q.accuracy ?? Infinity) ||
    (p.area ? sizeOf(p.area) : Infinity) - (q.area ? sizeOf(q.area) : Infinity)
  );
}

/** Operations that reach only a corner of where the data may lie do not make a system transformable. */
function sufficient(routes: readonly Route[], area: Area | null): boolean {
  if (!area || routes.length === 1) return !area || coverageOf(routes, area) >= 0.25;
  return coverageOf(routes, area) >= 0.25;
}
const coverageOf = (routes: readonly Route[], area: Area): number =>
  coverage(
    area,
    routes.map((candidate) => candidate.area ?? ([-180, -90, 180, 90] as const)),
  );

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
  return { name: `TOWGS84 of the definition`, accuracy: null, area: null, steps: used };
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
  const best = usable[0]?.accuracy ?? Infinity;
  return (
    [...tables.operations(a.code, b.code), ...tables.operations(b.code, a.code)]
      .filter((operation) => operation.grid !== null && operation.accuracy !== null && operation.accuracy < best)
      .filter((operation) => !area || !operation.area || commonParts(operation.area, area).length > 0)
      .sort((p, q) => p.accuracy! - q.accuracy!)[0] ?? null
  );
}

function whyNot(
  a: Datum,
  b: Datum,
  found: readonly Route[],
  usable: readonly Route[],
  limit: number,
  better: RegisteredOperation | null,
): string {
  const grid = better ? `; the grid ${better.grid} would do it (${better.name}, ${better.accuracy} m)` : "";
  for (const datum of [a, b]) {
    if (datum.code === null && datum.toWgs84 === null)
      return `the datum "${datum.name}" is not known, nor how it lies to WGS84`;
  }
  if (found.length === 0) return `no shift between ${a.name} and ${b.name} is known${grid}`;
  if (usable.length === 0) {
    const best = found[0]!.accuracy;
    return `the best shift at hand is accurate to ${best === null ? "nobody knows what" : `${best} m`}, and --accuracy asks for ${limit} m${grid}`;
  }
  return `shifts accurate to ${limit} m reach only a small part of where it is used${grid}`;
}

function describe(
  from: Crs,
  to: Crs,
  routes: readonly Route[],
  area: Area | null,
  better: RegisteredOperation | null,
): Operation {
  const accuracy = Math.max(...routes.map((candidate) => candidate.accuracy ?? 0));
  const best = routes[0]!;
  const name = routes.length === 1 ? best.name : `${best.name} and ${routes.length - 1} more, by area`;
  const notices = [`accurate to ${accuracy} m`];
  if (routes.every(isNull)) notices.push("both datums are taken for one");
  if (area && routes.length > 1 && coverageOf(routes, area) < 1)
    notices.push("positions outside the areas of these operations are refused");
  if (better) notices.push(`${better.name}, accurate to ${better.accuracy} m, needs the grid ${better.grid}`);
  return { from, to, accuracy, name, kind: "transformation", routes, notice: `${name}: ${notices.join("; ")}` };
}

export const isNull = (candidate: Route): boolean =>
  candidate.steps.every((step) => step.values.every((value) => value === 0));

/** Chooses the geometry columns by options, names and content. */

import { formatCoordinateOptions, formatReaderOption } from "../../../../src/errors/format-reader-option.js";
import type { CoordinateCandidate, Crs } from "../../../../src/model/layer.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import { cellFlags, type FormatRules, inferNumberFormat, NotationFlag } from "../columns/column-format.js";
import { type NumberFormat, parseFormattedNumber } from "../columns/number-format.js";
import type { Notices } from "../header/first-record.js";
import type { TableOptions } from "../options.js";
import { commaByte, pointByte } from "../records/signs.js";
import {
  type CoordinatePair,
  findLoneCoordinate,
  findPairsByName,
  findPairsByValues,
  measurePair,
  type PairStatistics,
} from "./coordinate-columns.js";
import { NameStrength } from "./coordinate-names.js";
import { isAngleText, parseCoordinate, stripUnit } from "./coordinate-text.js";
import { isSurelyGeometry } from "./geometry-cell-parser.js";
import {
  findColumn,
  type GeometryColumns,
  type GeometryPlan,
  geometryFromContent,
  geometryFromOptions,
  isGeometryName,
  isMissing,
  isPositionName,
  normalizeName,
  type TableSample,
} from "./geometry-columns.js";
import { inferLetterO } from "./letter-o.js";

export interface GeometryDetection {
  readonly plan: GeometryPlan;
  readonly notices: Notices;
  /** Names of columns that may be coordinates, if there is no geometry. */
  readonly candidates: readonly CoordinateCandidate[];
}

/** Of tables with more columns, the values are not read for a remark. */
const maxRemarkedColumns = 1000;

/** Limit of the pairs evaluated. */
const maxPairs = 24;

/** A pair with the statistics of its values in the number format that fits best. */
interface EvaluatedPair {
  readonly pair: CoordinatePair;
  readonly numbers: NumberFormat;
  readonly found: PairStatistics;
}

/** Evaluates pairs of columns by their values. */
class PairEvaluator {
  constructor(
    private readonly table: TableSample,
    private readonly rules: FormatRules,
    private readonly context: ReadContext,
  ) {}

  /** The number formats possible in two columns, the likeliest first. */
  private forms(x: number, y: number): NumberFormat[] {
    const { decimal, isDecimalGiven, thousands } = this.rules;
    const plain: NumberFormat = { decimal, group: null };
    let flags = 0;
    for (const text of [...this.table.cellsOf(x), ...this.table.cellsOf(y)]) {
      const bytes = Buffer.from(stripUnit(text));
      flags |= cellFlags(bytes, 0, bytes.length, decimal);
    }
    const decided = inferNumberFormat(flags, this.rules);
    if (decided === null && (flags & NotationFlag.three) === 0) return [plain];
    const first = decided ? [decided, plain] : [plain];
    if (isDecimalGiven || thousands !== undefined) return first;
    const other = decimal === commaByte ? pointByte : commaByte;
    return [
      ...first,
      { decimal: other, group: null },
      { decimal, group: other === commaByte ? "," : "." },
      { decimal: other, group: decimal === commaByte ? "," : "." },
    ];
  }

  valuesOf(x: number, y: number, form: NumberFormat): (readonly [number, number])[] {
    const value = (text: string) => parseCoordinate(text, form);
    const ys = this.table.cellsOf(y);
    return this.table.cellsOf(x).flatMap((cell, row): (readonly [number, number])[] => {
      const other = ys[row] ?? "";
      const isNothing = (isMissing(cell) || cell === "") && (isMissing(other) || other === "");
      return isNothing ? [] : [[value(cell), value(other)]];
    });
  }

  /** Degree signs distinguish coordinates from lengths and counts. */
  private areAngles({ x, y }: CoordinatePair): boolean {
    const { cellsOf } = this.table;
    return cellsOf(x).some(isAngleText) && cellsOf(y).some(isAngleText);
  }

  async judge(pair: CoordinatePair): Promise<EvaluatedPair> {
    let best: EvaluatedPair | null = null;
    for (const numbers of this.forms(pair.x, pair.y)) {
      const values = this.valuesOf(pair.x, pair.y, numbers);
      const likely = await measurePair(values, this.table.crs, this.context);
      const found = { ...likely, isFine: likely.isFine || this.areAngles(pair) };
      const judged = { pair, numbers, found };
      const worth = ({ found }: EvaluatedPair) => found.numeric * Math.max(found.inside, found.exchanged);
      if (!best || worth(judged) > worth(best)) best = judged;
      if (worth(best) > 0.5) break;
    }
    return best!;
  }

  /** The number format of columns that an option names. */
  async numbersOf(x: number, y: number): Promise<NumberFormat> {
    const pair: CoordinatePair = { x, y, kind: "plane", strength: NameStrength.sure, rank: 0 };
    return (await this.judge(pair)).numbers;
  }
}

/** Whether names and values together are sufficient to accept a pair. */
function isAccepted({ pair: { strength }, found }: EvaluatedPair, crs: Crs | null): boolean {
  const { rows, isBlank, numeric, inside, isTested, isFine, isLarge } = found;
  if (strength === NameStrength.sure) return isBlank || rows > 0;
  // A table without rows has no values that contradict its names, if its CRS is declared.
  if (isBlank) return crs !== null;
  if (numeric < 0.5) return false;
  if (strength === NameStrength.direction && isLarge) return true;
  if (inside < 0.9) return false;
  if (crs === null) return isFine;
  return isTested || crs.kind === "geographic" || isLarge || isFine;
}

const fitsValues = ({ pair, found }: EvaluatedPair): boolean =>
  found.rows > 0 && (found.inside >= 0.5 || (pair.kind === "letters" && found.exchanged >= 0.9));

const quoteName = (name: string) => `"${name}"`;

/** The columns of a pair, swapped if only that places them in the area of use of their CRS. */
function orientAxes(
  { pair, found }: EvaluatedPair,
  { names, crs }: TableSample,
  notices: Notices,
): { x: number; y: number } {
  const { x, y, kind } = pair;
  if (kind !== "letters" || !found.isTested || crs?.kind !== "projected" || found.exchanged < 0.9) return { x, y };
  const [a, b] = [quoteName(names[x]!), quoteName(names[y]!)];
  const system = crs.id ?? crs.name;
  if (found.inside < 0.5) {
    const example = `${b} was taken for the easting and ${a} for the northing: only so do they lie in the area of use of ${system}; ${formatCoordinateOptions(names[x]!, names[y]!)} takes them the other way`;
    notices.push(["coordinate-order", undefined, example]);
    return { x: y, y: x };
  }
  const example = `${a} was taken for the easting and ${b} for the northing; swapped, they would lie in the area of use of ${system}, too: ${formatCoordinateOptions(names[y]!, names[x]!)}`;
  notices.push(["coordinate-order", undefined, example]);
  return { x, y };
}

/** The column of the third coordinate: follows the other two and is named `z`, or like them except for the letter. */
function findHeightColumn(
  { names, cellsOf }: TableSample,
  { x, y }: CoordinatePair,
  numbers: NumberFormat,
): number | null {
  const z = Math.max(x, y) + 1;
  if (Math.abs(x - y) !== 1 || z >= names.length) return null;
  const name = names[z]!.toLowerCase();
  const isNamed =
    normalizeName(name) === "z" || (name.includes("z") && name === names[x]!.toLowerCase().replace("x", "z"));
  const cells = cellsOf(z).filter((text) => text !== "" && !isMissing(text));
  const holds = cells.length === 0 || cells.some((text) => !Number.isNaN(parseFormattedNumber(text, numbers)));
  return isNamed && holds ? z : null;
}

/** A geometry before the meaning of O is inferred. */
export type GeometryWithNumbers =
  | Exclude<GeometryColumns, { readonly kind: "xy" }>
  | Omit<Extract<GeometryPlan, { readonly kind: "xy" }>, "letterO">;

/** Adds the meaning of O in the columns of the geometry. */
export function addLetterO(
  geometry: GeometryWithNumbers,
  { names, samples }: Pick<TableSample, "names" | "samples">,
  { letterO: option }: TableOptions,
): GeometryPlan {
  if (geometry.kind === "none" || geometry.kind === "text") return geometry;
  const columns = geometry.kind === "xy" ? [geometry.x, geometry.y] : [geometry.column];
  const texts = columns.flatMap((column) => samples.of(column));
  return { ...geometry, letterO: option === "auto" ? inferLetterO(texts, names) : option };
}

async function findCoordinatePair(
  table: TableSample,
  evaluator: PairEvaluator,
  notices: Notices,
): Promise<GeometryWithNumbers | null> {
  const judged: EvaluatedPair[] = [];
  for (const pair of findPairsByName(table.names).slice(0, maxPairs)) {
    const one = await evaluator.judge(pair);
    if (isAccepted(one, table.crs)) judged.push(one);
  }
  const [best] = judged.toSorted(
    (a, b) => Number(fitsValues(b)) - Number(fitsValues(a)) || Number(a.found.isBlank) - Number(b.found.isBlank),
  );
  if (!best) return null;
  const { names } = table;
  const { pair, numbers } = best;
  const own = [pair.x, pair.y];
  const rival = judged.find(
    (one) => one !== best && fitsValues(one) && !own.includes(one.pair.x) && !own.includes(one.pair.y),
  );
  const [x, y] = own.map((column) => quoteName(names[column]!));
  if (rival) {
    const [a, b] = [names[rival.pair.x]!, names[rival.pair.y]!];
    notices.push([
      "coordinates-chosen",
      undefined,
      `the geometry is from ${x} and ${y}; ${quoteName(a)} and ${quoteName(b)} would do, too: ${formatCoordinateOptions(a, b)}`,
    ]);
  } else if (pair.strength < NameStrength.sure) {
    notices.push([
      "coordinates-chosen",
      undefined,
      `${x} and ${y} were taken for coordinates, since their values could be; --in geometry=none leaves them attributes`,
    ]);
  }
  const z = findHeightColumn(table, pair, numbers);
  return { kind: "xy", ...orientAxes(best, table, notices), z, numbers };
}

/** @throws field-missing, option-invalid */
export async function detectGeometry(
  table: TableSample,
  options: TableOptions,
  rules: FormatRules,
  context: ReadContext,
): Promise<GeometryDetection> {
  const evaluator = new PairEvaluator(table, rules, context);
  const notices: Notices = [];
  const chosen = (geometry: GeometryWithNumbers): GeometryDetection => ({
    plan: addLetterO(geometry, table, options),
    notices,
    candidates: [],
  });
  const asked = geometryFromOptions(table, options);
  if (asked)
    return chosen(asked.kind === "xy" ? { ...asked, numbers: await evaluator.numbersOf(asked.x, asked.y) } : asked);
  const columns = [...table.names.keys()];
  const named = columns.filter((column) => isGeometryName(table.names[column]!));
  for (const column of named) {
    const plan = geometryFromContent(table, column);
    if (plan?.kind === "text") return chosen(plan);
  }
  const xy = await findCoordinatePair(table, evaluator, notices);
  if (xy) return chosen(options.z === undefined || xy.kind !== "xy" ? xy : { ...xy, z: findColumn(table, options.z) });
  for (const column of columns.filter((c) => named.includes(c) || isPositionName(table.names[c]!))) {
    const plan = geometryFromContent(table, column);
    if (plan) return chosen(plan);
  }
  // An empty geometry column is recognized by its name.
  const empty = columns.find((c) => /^(wkt|geom|geometry|thegeom)$/.test(normalizeName(table.names[c]!)));
  if (empty !== undefined && table.samples.of(empty).every(isMissing)) return chosen({ kind: "text", column: empty });
  const text = findGeometryText(table);
  if (text) notices.push(text);
  const candidates = await listCandidates(table, evaluator, context);
  const unreadable = candidates.length === 0 && !text ? await findUnreadablePair(table, evaluator) : null;
  if (unreadable) notices.push(unreadable);
  const other = candidates.length === 0 && notices.length === 0 && columns.length <= maxRemarkedColumns;
  const remark = other ? (describeGridReferences(table) ?? describeLoneCoordinate(table)) : null;
  if (remark) notices.push(remark);
  return { plan: { kind: "none" }, notices, candidates };
}

/** A column that holds geometries, although its name does not say so. */
function findGeometryText({ names, samples }: TableSample): Notices[number] | null {
  const column = [...names.keys()].find((each) => {
    const values = samples.of(each).filter((text) => !isMissing(text));
    return values.length > 0 && values.every(isSurelyGeometry);
  });
  if (column === undefined) return null;
  const name = names[column]!;
  const example = `"${name}" looks like geometries, and is an attribute: ${formatReaderOption("geometry", name)} reads them`;
  return ["coordinates-left-out", undefined, example];
}

/** Columns with names of coordinates in which no row has a readable position. */
async function findUnreadablePair(table: TableSample, evaluator: PairEvaluator): Promise<Notices[number] | null> {
  for (const pair of findPairsByName(table.names).slice(0, maxPairs)) {
    if (pair.strength === NameStrength.weak) continue;
    const { found } = await evaluator.judge(pair);
    if (found.isBlank || found.rows > 0) continue;
    const [x, y] = [table.names[pair.x]!, table.names[pair.y]!];
    const example = table.cellsOf(pair.x).find((text) => text !== "" && !isMissing(text)) ?? "";
    return [
      "coordinates-left-out",
      undefined,
      `"${x}" and "${y}" have names of coordinates, but no row has numbers in both, as "${example.slice(0, 40)}" is none`,
    ];
  }
  return null;
}

/** Zone, easting and northing of UTM; or a reference of the Military Grid Reference System, which divides its zones. */
const gridReferences = [
  { system: "UTM", pattern: /^\d{1,2}\s?[C-HJ-NP-X]\s+\d{6}(\.\d+)?\s+\d{7}(\.\d+)?$/i },
  { system: "MGRS", pattern: /^\d{1,2}[C-HJ-NP-X]\s?[A-HJ-NP-Z]{2}\s?\d{2,5}\s?\d{2,5}$/i },
] as const;

/** A column of texts with zone, easting and northing, which are not read. */
function describeGridReferences({ names, samples }: TableSample): Notices[number] | null {
  for (const column of names.keys()) {
    const texts = samples.of(column).filter((text) => !isMissing(text));
    const found = texts.length > 0 && gridReferences.find(({ pattern }) => texts.every((text) => pattern.test(text)));
    if (!found) continue;
    const example = `"${names[column]!}" looks like ${found.system} coordinates, such as ${texts[0]!.slice(0, 40)}, which are read as text; with eastings and northings in columns of their own, --source-crs names the system of their zone, such as EPSG:32632`;
    return ["coordinates-left-out", undefined, example];
  }
  return null;
}

/** A column with the name and the values of a coordinate, without a counterpart. */
function describeLoneCoordinate({ names, cellsOf, decimal }: TableSample): Notices[number] | null {
  const lone = findLoneCoordinate(names);
  if (!lone) return null;
  const { column, axis } = lone;
  const cells = cellsOf(column).filter((text) => text !== "" && !isMissing(text));
  const isNumeric = cells.some((text) => !Number.isNaN(parseFormattedNumber(text, { decimal, group: null })));
  if (!isNumeric) return null;
  const name = names[column]!;
  const options = axis === "x" ? formatCoordinateOptions(name, "COLUMN") : formatCoordinateOptions("COLUMN", name);
  return [
    "coordinates-left-out",
    undefined,
    `"${name}" has the name of a coordinate, but no column has a name for the other one; if there is one, name both: ${options}`,
  ];
}

/** Pairs of columns that may be coordinates but were not chosen, the likeliest first. */
async function listCandidates(
  table: TableSample,
  evaluator: PairEvaluator,
  context: ReadContext,
): Promise<GeometryDetection["candidates"]> {
  const found: (readonly [number, number, boolean])[] = [];
  for (const pair of findPairsByName(table.names).slice(0, maxPairs)) {
    const { found: of } = await evaluator.judge(pair);
    if (of.rows > 0 && (of.isLarge || of.isFine || of.inside >= 0.9)) found.push([pair.x, pair.y, true]);
  }
  const plain: NumberFormat = { decimal: table.decimal, group: null };
  const numeric: number[] = [];
  for (let column = 0; column < table.names.length; column++) {
    const texts = table.samples.of(column);
    if (texts.length > 0 && texts.every((text) => !Number.isNaN(parseFormattedNumber(text, plain))))
      numeric.push(column);
  }
  found.push(...(await findPairsByValues(numeric, (x, y) => evaluator.valuesOf(x, y, plain), table.crs, context)));
  const names = found.map(
    ([x, y, isSure]): CoordinateCandidate =>
      isSure ? [table.names[x]!, table.names[y]!] : [table.names[x]!, table.names[y]!, "order-unknown"],
  );
  return names
    .filter(([x, y], at) => names.findIndex(([a, b]) => (a === x && b === y) || (a === y && b === x)) === at)
    .slice(0, 3);
}

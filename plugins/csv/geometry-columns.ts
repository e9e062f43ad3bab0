import { fault } from "../../src/errors.js";
import { parseAngle, parseAngles } from "./angles.js";
import { looksLikeGeometry, missingWords } from "./geometry-text.js";
import type { ReaderOptions } from "./options.js";

/** Where a row's geometry comes from; numbers are columns. */
export type GeometryPlan =
  | { readonly kind: "none" }
  | { readonly kind: "xy"; readonly x: number; readonly y: number; readonly z: number | null }
  | { readonly kind: "pair"; readonly column: number; readonly latitudeFirst: boolean }
  | { readonly kind: "text"; readonly column: number };

/** A name without what people put between words. */
export const plainName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Pairs of names for x and y, the likeliest first; compared by `plainName`. */
export const coordinateNames: readonly (readonly [x: string, y: string])[] = [
  ["lon", "lat"],
  ["lng", "lat"],
  ["long", "lat"],
  ["longitude", "latitude"],
  ["lon", "latitude"],
  ["lng", "latitude"],
  ["long", "latitude"],
  ["longitude", "lat"],
  ["decimallongitude", "decimallatitude"],
  ["longitudedeg", "latitudedeg"],
  ["londd", "latdd"],
  ["longdd", "latdd"],
  ["stoplon", "stoplat"],
  ["gpslongitude", "gpslatitude"],
  ["gpslon", "gpslat"],
  ["xlong", "ylat"],
  ["xlon", "ylat"],
  ["geolon", "geolat"],
  ["geolongitude", "geolatitude"],
  ["x", "y"],
  ["easting", "northing"],
  ["eastings", "northings"],
  ["xcoord", "ycoord"],
  ["coordx", "coordy"],
  ["xcoordinate", "ycoordinate"],
  ["pointx", "pointy"],
  ["geox", "geoy"],
];
const firstPlanar = coordinateNames.findIndex(([x]) => x === "x");

/** Names of columns with WKT, WKB or GeoJSON, whole or as a word of the name. */
const geometryName =
  /(^|[^\p{L}])(wkt|wkb|ewkt|ewkb|geom|geometry|geometria|geojson|shape|thegeom|wkbgeometry|geoshape|footprint)([^\p{L}]|$)/u;
const geometryWords =
  /^(thegeom|wktgeom|wktgeometry|wkbgeometry|geomwkt|geomwkb|geoshape|geometrywkt|shapewkt|stastext|stasgeojson|geomjson)$/;

/** Names of a column with both coordinates, latitude first. */
const latitudeFirst =
  /^(latlon|latlng|latlong|latitudelongitude|location|locationcoordinates|coordinates|coordinate|coords|coord|position|geopoint|geopoint2d|gps|gpscoordinates|point|geolocation|georeference|location1)$/;
const longitudeFirst = /^(lonlat|lnglat|longlat|longitudelatitude|xy)$/;

export const isGeometryName = (name: string) =>
  geometryName.test(name.toLowerCase()) || geometryWords.test(plainName(name));
export const isPairName = (name: string) => latitudeFirst.test(plainName(name)) || longitudeFirst.test(plainName(name));

/** Whether a reader would take the column for one of coordinates in place of `lon` and `lat`, or of `x` and `y`. */
export function rivalsCoordinates(name: string, planar: boolean): boolean {
  const plain = plainName(name);
  return coordinateNames.some(([x, y], rank) => (planar || rank < firstPlanar) && (plain === x || plain === y));
}

/** Whether a column of this name may be taken for a geometry, or a part of one, when the file is read. */
export const isAnyGeometryName = (name: string) =>
  isGeometryName(name) || isPairName(name) || rivalsCoordinates(name, true);

/** A coordinate as text: a number with this decimal sign, or degrees, minutes and seconds; NaN for anything else. */
export function coordinateOf(text: string, decimal: string): number {
  const plain = text.trim();
  const number = decimal === "," ? plain.replace(",", ".") : plain;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(number)) return Number(number);
  return parseAngle(plain)?.degrees ?? Number.NaN;
}

const numberPattern = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?`;
const pair = new RegExp(
  String.raw`^[(\[]?\s*(${numberPattern})\s*(?:[,;/|]\s*|\s)\s*(${numberPattern})\s*[)\]]?$`,
  "i",
);
const commaPair = /^[([]?\s*([+-]?\d+(?:,\d+)?)\s*(?:;\s*|\s)\s*([+-]?\d+(?:,\d+)?)\s*[)\]]?$/;

/** Whether a text is two numbers, of any size. */
export function isPair(text: string): boolean {
  const plain = text.trim();
  return plain.length <= 128 && (pair.test(plain) || commaPair.test(plain));
}

/** Longitude and latitude from one text; null where it is not two of them within their ranges. */
export function parsePair(text: string, latitudeIsFirst: boolean): readonly [number, number] | null {
  const plain = text.trim();
  if (plain.length > 128) return null;
  const match = pair.exec(plain) ?? commaPair.exec(plain);
  let [first, second] = [Number.NaN, Number.NaN];
  let swap = latitudeIsFirst;
  if (match) [first, second] = [Number(match[1]!.replace(",", ".")), Number(match[2]!.replace(",", "."))];
  else {
    const angles = parseAngles(plain);
    if (!angles) return null;
    const [a, b] = angles;
    [first, second] = [a.degrees, b.degrees];
    if (a.axis ?? b.axis) swap = a.axis === "lat" || b.axis === "lon";
  }
  const [x, y] = swap ? [second, first] : [first, second];
  return Math.abs(y) <= 90 && Math.abs(x) <= 360 ? [x, y] : null;
}

/** Some values of each column, blanks left out. */
export type Samples = readonly (readonly string[])[];

const isMissing = (text: string) => missingWords.has(text.trim().toLowerCase());

interface Choice {
  readonly source: string;
  readonly names: readonly string[];
  readonly samples: Samples;
  readonly decimal: string;
}

function columnNamed(choice: Choice, name: string): number {
  const exact = choice.names.indexOf(name);
  const found = exact >= 0 ? exact : choice.names.findIndex((n) => n.toLowerCase() === name.toLowerCase());
  if (found < 0) throw fault("field-missing", { source: choice.source, field: name, fields: choice.names });
  return found;
}

function byOption(choice: Choice, options: ReaderOptions): GeometryPlan | null {
  const { x, y, z, geometry } = options;
  if (geometry !== undefined) {
    if (geometry.toLowerCase() === "none") return { kind: "none" };
    const column = columnNamed(choice, geometry);
    return columnPlan(choice, column) ?? { kind: "text", column };
  }
  if (x === undefined && y === undefined) return null;
  if (x === undefined || y === undefined) {
    const [option, other] = x === undefined ? ["y", "x"] : ["x", "y"];
    throw fault("option-invalid", {
      option,
      value: (x ?? y)!,
      expected: `enough alone: give ${other} as well`,
    });
  }
  return {
    kind: "xy",
    x: columnNamed(choice, x),
    y: columnNamed(choice, y),
    z: z === undefined ? null : columnNamed(choice, z),
  };
}

/** What the content of a column makes of it. */
function columnPlan({ names, samples }: Choice, column: number): GeometryPlan | null {
  const values = samples[column]!.filter((text) => !isMissing(text));
  const geometries = values.filter(looksLikeGeometry).length;
  if (geometries > 0 && 2 * geometries >= values.length) return { kind: "text", column };
  const latitudeIsFirst = !longitudeFirst.test(plainName(names[column]!));
  const pairs = values.length > 0 && values.every((text) => parsePair(text, latitudeIsFirst));
  return pairs ? { kind: "pair", column, latitudeFirst: latitudeIsFirst } : null;
}

function coordinatePair(choice: Choice): GeometryPlan | null {
  const { samples, decimal } = choice;
  const names = choice.names.map(plainName);
  const holds = (column: number) =>
    column >= 0 &&
    (samples[column]!.length === 0 ||
      samples[column]!.every(isMissing) ||
      samples[column]!.some((text) => !Number.isNaN(coordinateOf(text, decimal))));
  for (const [xName, yName] of coordinateNames) {
    const x = names.indexOf(xName);
    const y = names.indexOf(yName);
    if (!holds(x) || !holds(y)) continue;
    // A column `z` right behind both is the third coordinate; anywhere else it is anything.
    const z = Math.max(x, y) + 1;
    const isHeight = Math.abs(x - y) === 1 && names[z] === "z" && holds(z);
    return { kind: "xy", x, y, z: isHeight ? z : null };
  }
  return null;
}

/** By options, else by the names of the columns and what stands in them. @throws field-missing, option-invalid */
export function planGeometry(choice: Choice, options: ReaderOptions): GeometryPlan {
  const asked = byOption(choice, options);
  if (asked) return asked;
  const columns = [...choice.names.keys()];
  const named = columns.filter((column) => isGeometryName(choice.names[column]!));
  for (const column of named) {
    const plan = columnPlan(choice, column);
    if (plan?.kind === "text") return plan;
  }
  const xy = coordinatePair(choice);
  if (xy) return options.z === undefined || xy.kind !== "xy" ? xy : { ...xy, z: columnNamed(choice, options.z) };
  for (const column of columns.filter((c) => isPairName(choice.names[c]!) || named.includes(c))) {
    const plan = columnPlan(choice, column);
    if (plan) return plan;
  }
  // A geometry column without a value in sight is one by its name.
  const empty = columns.find((c) => /^(wkt|geom|geometry|thegeom)$/.test(plainName(choice.names[c]!)));
  if (empty !== undefined && choice.samples[empty]!.every(isMissing)) return { kind: "text", column: empty };
  return { kind: "none" };
}

/** The columns that a plan takes. */
export function columnsOf(plan: GeometryPlan): number[] {
  if (plan.kind === "none") return [];
  if (plan.kind === "xy") return plan.z === null ? [plan.x, plan.y] : [plan.x, plan.y, plan.z];
  return [plan.column];
}

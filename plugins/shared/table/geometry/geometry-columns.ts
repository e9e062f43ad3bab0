import { createError } from "../../../../src/errors.js";
import type { Crs } from "../../../../src/model/layer.js";
import type { NumberFormat } from "../columns/number-format.js";
import type { ColumnSamples } from "../columns/samples.js";
import type { TableOptions } from "../options.js";
import { type LetterOMeaning, parseAngles } from "./angles.js";
import { lastWrittenRank, NameStrength, parseCoordinateName } from "./coordinate-names.js";
import { looksLikeGeometry, missingWords } from "./geometry-cell-parser.js";

/** The source of a row's geometry; numbers are column indexes. */
export type GeometryPlan =
  | { readonly kind: "none" }
  | {
      readonly kind: "xy";
      readonly x: number;
      readonly y: number;
      readonly z: number | null;
      readonly numbers: NumberFormat;
      readonly letterO: LetterOMeaning;
    }
  | {
      readonly kind: "position";
      readonly column: number;
      readonly latitudeFirst: boolean;
      readonly letterO: LetterOMeaning;
    }
  | { readonly kind: "text"; readonly column: number };

type PlanOfKind<Kind extends GeometryPlan["kind"]> = Extract<GeometryPlan, { readonly kind: Kind }>;

/** The same, before the number format and the meaning of O are known. */
export type GeometryColumns =
  | PlanOfKind<"none" | "text">
  | Omit<PlanOfKind<"position">, "letterO">
  | Omit<PlanOfKind<"xy">, "numbers" | "letterO">;

/** A name without separators, in lower case. */
export const normalizeName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Names of columns with WKT, WKB or GeoJSON, as the whole name or one word of it. */
const geometryName =
  /(^|[^\p{L}])(wkt|wkb|ewkt|ewkb|geom|geometry|geometria|geojson|shape|thegeom|wkbgeometry|geoshape|footprint)([^\p{L}]|$)/u;
const geometryWords =
  /^(thegeom|wktgeom|wktgeometry|wkbgeometry|geomwkt|geomwkb|geoshape|geometrywkt|shapewkt|stastext|stasgeojson|geomjson)$/;

/** Names of a column with both coordinates, latitude first. */
const latitudeFirst =
  /^(latlon|latlng|latlong|latitudelongitude|location|locationcoordinates|coordinates|coordinate|coords|coord|position|geopoint|geopoint2d|gps|gpscoordinates|point|geolocation|georeference|location1|koordinaten|koordinate|koordinater|koordinaatit|coordonnees|coordonnées|coordenadas|coordenada|coordinata|coördinaten|współrzędne|souřadnice|координаты|坐标|座標|좌표)$/;
const longitudeFirst = /^(lonlat|lnglat|longlat|longitudelatitude|xy)$/;

export const isGeometryName = (name: string) =>
  geometryName.test(name.toLowerCase()) || geometryWords.test(normalizeName(name));
export const isPositionName = (name: string) =>
  latitudeFirst.test(normalizeName(name)) || longitudeFirst.test(normalizeName(name));

/** Whether a reader would take the column for a coordinate in place of `lon` and `lat`, or of `x` and `y`. */
export const conflictsWithCoordinates = (name: string, planar: boolean): boolean =>
  parseCoordinateName(name)?.readings.some(
    ({ strength, rank }) =>
      strength === NameStrength.sure && rank <= (planar ? lastWrittenRank.plane : lastWrittenRank.degrees),
  ) ?? false;

/** Whether a reader may take a column with this name for a geometry or a part of one. */
export const couldBeGeometryName = (name: string) =>
  isGeometryName(name) ||
  isPositionName(name) ||
  (parseCoordinateName(name)?.readings.some(({ strength }) => strength > NameStrength.weak) ?? false);

const numberPattern = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?`;
const pairPattern = new RegExp(
  String.raw`^[(\[]?\s*(${numberPattern})\s*(?:[,;/|]\s*|\s)\s*(${numberPattern})\s*[)\]]?$`,
  "i",
);
const commaPairPattern = /^[([]?\s*([+-]?\d+(?:,\d+)?)\s*(?:;\s*|\s)\s*([+-]?\d+(?:,\d+)?)\s*[)\]]?$/;

/** Whether a text is two numbers, of any size. */
export function isPositionText(text: string): boolean {
  const plain = text.trim();
  return plain.length <= 128 && (pairPattern.test(plain) || commaPairPattern.test(plain));
}

/** Longitude and latitude from one text; null if it does not hold two numbers in range. */
export function parsePositionText(
  text: string,
  latitudeIsFirst: boolean,
  letterO: LetterOMeaning,
): readonly [number, number] | null {
  const plain = text.trim();
  if (plain.length > 128) return null;
  const match = pairPattern.exec(plain) ?? commaPairPattern.exec(plain);
  let [first, second] = [Number.NaN, Number.NaN];
  let swap = latitudeIsFirst;
  if (match) [first, second] = [Number(match[1]!.replace(",", ".")), Number(match[2]!.replace(",", "."))];
  else {
    const angles = parseAngles(plain, letterO);
    if (!angles) return null;
    const [a, b] = angles;
    [first, second] = [a.degrees, b.degrees];
    if (a.axis ?? b.axis) swap = a.axis === "lat" || b.axis === "lon";
  }
  const [x, y] = swap ? [second, first] : [first, second];
  return Math.abs(y) <= 90 && Math.abs(x) <= 360 ? [x, y] : null;
}

export const isMissing = (text: string) => missingWords.has(text.trim().toLowerCase());

export interface TableSample {
  readonly source: string;
  readonly names: readonly string[];
  readonly samples: ColumnSamples;
  /** The cells of a column in the first rows, including blank ones. */
  readonly cellsOf: (column: number) => readonly string[];
  readonly decimal: number;
  /** The declared CRS of the coordinates. */
  readonly crs: Crs | null;
}

export function findColumn(choice: TableSample, name: string): number {
  const exact = choice.names.indexOf(name);
  const found = exact >= 0 ? exact : choice.names.findIndex((n) => n.toLowerCase() === name.toLowerCase());
  if (found < 0) throw createError("field-missing", { source: choice.source, field: name, fields: choice.names });
  return found;
}

/** The geometry that options select; null if no option does. @throws field-missing, option-invalid */
export function geometryFromOptions(choice: TableSample, options: TableOptions): GeometryColumns | null {
  const { x, y, z, geometry } = options;
  if (geometry !== undefined) {
    if (geometry.toLowerCase() === "none") return { kind: "none" };
    const column = findColumn(choice, geometry);
    return geometryFromContent(choice, column) ?? { kind: "text", column };
  }
  if (x === undefined && y === undefined) return null;
  if (x === undefined || y === undefined) {
    const [option, other] = x === undefined ? ["y", "x"] : ["x", "y"];
    throw createError("option-invalid", {
      option,
      value: (x ?? y)!,
      expected: `enough alone: give ${other} as well`,
    });
  }
  return {
    kind: "xy",
    x: findColumn(choice, x),
    y: findColumn(choice, y),
    z: z === undefined ? null : findColumn(choice, z),
  };
}

/** The geometry that a column's content indicates. */
export function geometryFromContent(
  { names, samples }: TableSample,
  column: number,
): PlanOfKind<"text"> | Omit<PlanOfKind<"position">, "letterO"> | null {
  const values = samples.of(column).filter((text) => !isMissing(text));
  const geometries = values.filter(looksLikeGeometry).length;
  if (geometries > 0 && 2 * geometries >= values.length) return { kind: "text", column };
  const latitudeIsFirst = !longitudeFirst.test(normalizeName(names[column]!));
  const pairs = values.filter((text) => parsePositionText(text, latitudeIsFirst, "east")).length;
  return pairs > 0 && 2 * pairs >= values.length ? { kind: "position", column, latitudeFirst: latitudeIsFirst } : null;
}

/** The columns that a plan uses. */
export function geometryColumnIndexes(plan: GeometryPlan): number[] {
  if (plan.kind === "none") return [];
  if (plan.kind === "xy") return plan.z === null ? [plan.x, plan.y] : [plan.x, plan.y, plan.z];
  return [plan.column];
}

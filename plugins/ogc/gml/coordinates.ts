/** Positions of GML geometries (OGC 07-036r1, 10.1.4; OGC 03-105r1, clause 9). */

import type { CurvePoints } from "../../shared/curves.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { attributeOf, type GmlElement } from "./element.js";

/** How the coordinates of a geometry are written. */
export interface CoordinateSettings {
  readonly isNorthFirst: boolean;
  /** The number of coordinates of a position, if an element around it says it. */
  readonly dimension: number | null;
}

export const malformed = (reason: string): GeometryParseError => new GeometryParseError(reason, 0);

/** XML Schema's doubles without its special values, which no position has. */
const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function parseNumber(text: string): number {
  if (!numberPattern.test(text)) throw malformed(`"${text.slice(0, 40)}" is not a coordinate`);
  return Number(text);
}

/** The settings within an element: it may declare the dimension. @throws GeometryParseError */
export function settingsWithin(element: GmlElement, settings: CoordinateSettings): CoordinateSettings {
  const declared = attributeOf(element, "srsDimension") ?? attributeOf(element, "dimension");
  if (declared === null) return settings;
  const dimension = Number(declared);
  if (!Number.isInteger(dimension) || dimension < 2 || dimension > 4)
    throw malformed(`a position of ${declared.slice(0, 20)} coordinates (srsDimension) is not supported`);
  return dimension === settings.dimension ? settings : { ...settings, dimension };
}

function push(points: CurvePoints, first: number, second: number, height: number, isNorthFirst: boolean): void {
  if (isNorthFirst) points.push(second, first, height, Number.NaN);
  else points.push(first, second, height, Number.NaN);
}

const numbersOf = (text: string): number[] => {
  const trimmed = text.trim();
  return trimmed === "" ? [] : trimmed.split(/[\s]+/).map(parseNumber);
};

function addPos(points: CurvePoints, element: GmlElement, { isNorthFirst }: CoordinateSettings): void {
  const numbers = numbersOf(element.text);
  // An element `pos` holds one position, so `srsDimension` of an element around it cannot change its length.
  if (numbers.length < 2 || numbers.length > 3) throw malformed(`a position (pos) has ${numbers.length} coordinates`);
  push(points, numbers[0]!, numbers[1]!, numbers[2] ?? Number.NaN, isNorthFirst);
}

function addPosList(points: CurvePoints, element: GmlElement, settings: CoordinateSettings): void {
  const { dimension, isNorthFirst } = settingsWithin(element, settings);
  const numbers = numbersOf(element.text);
  const count = attributeOf(element, "count");
  // Without a declaration, the number of positions may decide the dimension (OGC 07-036r1, 10.1.4.2).
  const size = dimension ?? (count !== null && Number(count) * 3 === numbers.length ? 3 : 2);
  if (numbers.length % size !== 0)
    throw malformed(
      `a list of positions (posList) has ${numbers.length} numbers, which is not a multiple of ${size}${dimension === null ? "; it may lack srsDimension" : ""}`,
    );
  for (let k = 0; k < numbers.length; k += size)
    push(points, numbers[k]!, numbers[k + 1]!, size > 2 ? numbers[k + 2]! : Number.NaN, isNorthFirst);
}

/** GML 2 and 3.1: tuples, with separators of their own (OGC 02-069, 4.3.1). */
function addCoordinates(points: CurvePoints, element: GmlElement, { isNorthFirst }: CoordinateSettings): void {
  const decimal = attributeOf(element, "decimal") ?? ".";
  const between = attributeOf(element, "cs") ?? ",";
  const tuples = attributeOf(element, "ts") ?? " ";
  let text = element.text.trim();
  if (text === "") return;
  // White space around a comma is usual, although the specification has none there.
  if (between.trim() !== "") text = text.replace(new RegExp(`\\s*${escapeRegExp(between)}\\s*`, "g"), between);
  const list = tuples.trim() === "" ? text.split(/\s+/) : text.split(tuples).filter((tuple) => tuple.trim() !== "");
  for (const tuple of list) {
    const parts = between.trim() === "" ? tuple.trim().split(/\s+/) : tuple.trim().split(between);
    const numbers = parts.map((part) => parseNumber(decimal === "." ? part.trim() : part.trim().replace(decimal, ".")));
    if (numbers.length < 2 || numbers.length > 3)
      throw malformed(`a tuple (coordinates) has ${numbers.length} numbers`);
    push(points, numbers[0]!, numbers[1]!, numbers[2] ?? Number.NaN, isNorthFirst);
  }
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function addCoord(points: CurvePoints, element: GmlElement, { isNorthFirst }: CoordinateSettings): void {
  const value = (name: string) => element.children.find(({ local }) => local === name)?.text.trim();
  const [x, y, z] = [value("X"), value("Y"), value("Z")];
  if (x === undefined || y === undefined) throw malformed("a position (coord) lacks X or Y");
  push(points, parseNumber(x), parseNumber(y), z === undefined ? Number.NaN : parseNumber(z), isNorthFirst);
}

/** Whether the element holds positions. */
export const isPositions = ({ local }: GmlElement): boolean =>
  local === "pos" || local === "posList" || local === "coordinates" || local === "coord";

/** Adds the positions of an element for which `isPositions` holds. @throws GeometryParseError */
export function addPositions(points: CurvePoints, element: GmlElement, settings: CoordinateSettings): void {
  if (element.local === "pos") addPos(points, element, settings);
  else if (element.local === "posList") addPosList(points, element, settings);
  else if (element.local === "coordinates") addCoordinates(points, element, settings);
  else addCoord(points, element, settings);
}

/**
 * Canonical text of a feature for comparisons: equal for features with the same content, regardless of formatting.
 * Coordinates are rounded, negative zero becomes zero, names are sorted, and a null property equals a missing one.
 */
import { hash } from "node:crypto";
import type { Geometry, Position } from "../model/geometry.js";
import { canonicalValue } from "./canonical-json.js";

/** Decimals of longitudes and latitudes in degrees, and of heights in metres. */
export interface Rounding {
  readonly degrees: number;
  readonly metres: number;
}

/** About a centimetre at the equator and a millimetre of height: the precision that geoferry writes. */
export const defaultRounding: Rounding = { degrees: 7, metres: 3 };

/** The compared parts of a feature. */
export interface ComparableFeature {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** The canonical text of a feature, without its id. */
export function canonicalFeature({ geometry, properties }: ComparableFeature, rounding: Rounding): string {
  return `${canonicalGeometry(geometry, rounding)}\n${canonicalProperties(properties ?? {})}`;
}

/** The non-null properties, sorted by name (by UTF-16 code units). */
export function canonicalProperties(properties: Readonly<Record<string, unknown>>): string {
  let members = "";
  for (const { name, quoted } of sortedNames(Object.keys(properties))) {
    const value = properties[name];
    if (value === null || value === undefined) continue;
    members += `${members === "" ? "" : ","}${quoted}:${canonicalValue(value)}`;
  }
  return `{${members}}`;
}

interface SortedName {
  readonly name: string;
  /** The name as a JSON string. */
  readonly quoted: string;
}

/** Cache of the last sorted names: consecutive features mostly have the same properties. */
let lastSortedNames: { readonly names: readonly string[]; readonly sorted: readonly SortedName[] } = {
  names: [],
  sorted: [],
};

function sortedNames(names: readonly string[]): readonly SortedName[] {
  const { names: lastNames, sorted } = lastSortedNames;
  if (names.length === lastNames.length && names.every((name, i) => name === lastNames[i])) return sorted;
  lastSortedNames = { names, sorted: [...names].sort().map((name) => ({ name, quoted: JSON.stringify(name) })) };
  return lastSortedNames.sorted;
}

/** The type and rounded positions; other members, such as `bbox`, carry no content. */
export function canonicalGeometry(geometry: Geometry | null, rounding: Rounding): string {
  if (geometry === null) return "null";
  if (geometry.type === "GeometryCollection")
    return `${geometry.type}(${geometry.geometries.map((part) => canonicalGeometry(part, rounding)).join(";")})`;
  const degrees = 10 ** rounding.degrees;
  const metres = 10 ** rounding.metres;
  return `${geometry.type}${canonicalPositions(geometry.coordinates, degrees, metres)}`;
}

type NestedPositions = Position | readonly NestedPositions[];

function canonicalPositions(nested: NestedPositions, degrees: number, metres: number): string {
  if (typeof nested[0] !== "number") {
    let text = "[";
    for (const part of nested as readonly NestedPositions[]) text += canonicalPositions(part, degrees, metres);
    return `${text}]`;
  }
  // Integers in units of the last decimal.
  const position = nested as Position;
  let text = `(${Math.round(position[0]! * degrees)} ${Math.round(position[1]! * degrees)}`;
  for (let i = 2; i < position.length; i++) text += ` ${Math.round(position[i]! * metres)}`;
  return `${text})`;
}

/** Digest of a canonical text: the first half of its SHA-256, in hexadecimal, as bytes cost more in JavaScript. */
export const digestText = (canonical: string): string => hash("sha256", canonical, "hex").slice(0, 32);

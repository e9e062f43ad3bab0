/**
 * What two features are compared by: a text that is the same for features that say the same, however they are written.
 * Coordinates are rounded, negative zero is zero, names are sorted, and a property that is null is as good as none.
 */
import { hash } from "node:crypto";
import type { Geometry, Position } from "../../model/geometry.js";

/** Decimals of longitude and latitude in degrees, and of heights in metres. */
export interface Rounding {
  readonly degrees: number;
  readonly metres: number;
}

/** A centimetre at the equator, and a millimetre of height: what geoferry writes. */
export const defaultRounding: Rounding = { degrees: 7, metres: 3 };

/** Of what is compared, all that counts. */
export interface ComparableFeature {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** The canonical text of a feature; its id is no part of it. */
export function canonicalFeature({ geometry, properties }: ComparableFeature, rounding: Rounding): string {
  return `${canonicalGeometry(geometry, rounding)}\n${canonicalProperties(properties ?? {})}`;
}

/** The properties that have a value, sorted by name (by UTF-16 code units). */
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
  /** As JSON. */
  readonly quoted: string;
}

/** Names as they stood in the last feature, and sorted: in the next one they are mostly the same. */
let lastSortedNames: { readonly names: readonly string[]; readonly sorted: readonly SortedName[] } = {
  names: [],
  sorted: [],
};

function sortedNames(names: readonly string[]): readonly SortedName[] {
  const { names: known, sorted } = lastSortedNames;
  if (names.length === known.length && names.every((name, i) => name === known[i])) return sorted;
  lastSortedNames = { names, sorted: [...names].sort().map((name) => ({ name, quoted: JSON.stringify(name) })) };
  return lastSortedNames.sorted;
}

/** A JSON value with the names of its objects sorted; within it, null is a value like others. */
export function canonicalValue(value: unknown): string {
  // Zero is written as such, be it negative.
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(",")}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalValue(object[name])}`);
  return `{${members.join(",")}}`;
}

/** Its type and rounded positions; further members, such as `bbox`, say nothing of their own. */
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
  // Units of the last decimal.
  const position = nested as Position;
  let text = `(${Math.round(position[0]! * degrees)} ${Math.round(position[1]! * degrees)}`;
  for (let i = 2; i < position.length; i++) text += ` ${Math.round(position[i]! * metres)}`;
  return `${text})`;
}

/** What stands for a canonical text: the first half of its SHA-256, hexadecimal, as bytes cost more in JavaScript. */
export const digestText = (canonical: string): string => hash("sha256", canonical, "hex").slice(0, 32);

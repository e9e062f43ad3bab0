/**
 * What two features are compared by: a text that is the same for features that say the same, however they are written.
 * Coordinates are rounded, negative zero is zero, names are sorted, and a property that is null is as good as none.
 */
import { hash } from "node:crypto";
import type { Geometry, Position } from "../model/geometry.js";

/** Decimals of longitude and latitude in degrees, and of heights in metres. */
export interface Rounding {
  readonly degrees: number;
  readonly metres: number;
}

/** A centimetre at the equator, and a millimetre of height: what geoferry writes. */
export const usualRounding: Rounding = { degrees: 7, metres: 3 };

/** Of what is compared, all that counts. */
export interface Comparable {
  readonly geometry: Geometry | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

/** The canonical text of a feature; its id is no part of it. */
export function canonicalFeature({ geometry, properties }: Comparable, rounding: Rounding): string {
  return `${canonicalGeometry(geometry, rounding)}\n${canonicalProperties(properties ?? {})}`;
}

/** The properties that have a value, sorted by name (by UTF-16 code units). */
export function canonicalProperties(properties: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(properties).filter((name) => properties[name] !== null && properties[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalValue(properties[name])}`)
    .join(",")}}`;
}

/** A JSON value with the names of its objects sorted; within it, null is a value like others. */
export function canonicalValue(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(Object.is(value, -0) ? 0 : (value ?? null));
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
  return `${geometry.type}${positions(geometry.coordinates, degrees, metres)}`;
}

type Nested = Position | readonly Nested[];

function positions(nested: Nested, degrees: number, metres: number): string {
  if (typeof nested[0] !== "number") {
    let text = "[";
    for (const part of nested as readonly Nested[]) text += positions(part, degrees, metres);
    return `${text}]`;
  }
  // Units of the last decimal; adding 0 makes zero of negative zero.
  const [x, y, ...rest] = nested as Position;
  let text = `(${Math.round(x! * degrees) + 0} ${Math.round(y! * degrees) + 0}`;
  for (const value of rest) text += ` ${Math.round(value * metres) + 0}`;
  return `${text})`;
}

/** 16 bytes that stand for a canonical text: the first half of its SHA-256. */
export const digestOf = (canonical: string): Buffer => hash("sha256", canonical, "buffer").subarray(0, 16);

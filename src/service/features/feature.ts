/**
 * Validates a feature (RFC 7946, and what both stores give back unchanged) and makes the JSON text that is kept. The
 * first mistake is told with its path below the feature.
 */
import { memberPath } from "../path.js";
import type { Failure } from "../store/contract.js";

type Members = Readonly<Record<string, unknown>>;

/** Which parts must be there: all for a new feature; for a change only what is changed. */
export type Demand = "whole" | "change";

export type Checked = { readonly geometry?: string; readonly properties?: string; readonly failure?: Failure };

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const failure = (path: string, message: string): Failure => ({ path, message });

export function checkFeature(feature: unknown, demand: Demand): Checked {
  if (!isObject(feature)) return { failure: failure("", "A feature is an object of GeoJSON.") };
  const { type, geometry, properties } = feature;
  const change = demand === "change";
  if (type !== "Feature" && !(change && type === undefined))
    return { failure: failure("type", 'The type of a feature is "Feature".') };
  const checkGeometry = !(change && geometry === undefined);
  const checkProperties = !(change && properties === undefined);
  const inGeometry = checkGeometry ? mistakeInGeometry(geometry, "geometry") : null;
  if (inGeometry) return { failure: inGeometry };
  const text = checkProperties ? JSON.stringify(properties) : undefined;
  const inProperties = checkProperties ? mistakeInProperties(properties, text) : null;
  if (inProperties) return { failure: inProperties };
  return {
    geometry: checkGeometry ? geometryText(geometry as Members | null) : undefined,
    properties: text,
  };
}

// ---- geometry -------------------------------------------------------------------------------------------------------

/** How deep positions lie in `coordinates`, and how many positions the innermost array has at least. */
const shapes: Readonly<Record<string, { readonly depth: number; readonly positions: number; readonly ring?: true }>> = {
  Point: { depth: 0, positions: 0 },
  MultiPoint: { depth: 1, positions: 0 },
  LineString: { depth: 1, positions: 2 },
  MultiLineString: { depth: 2, positions: 2 },
  Polygon: { depth: 2, positions: 4, ring: true },
  MultiPolygon: { depth: 3, positions: 4, ring: true },
};
type Shape = (typeof shapes)[string];

const geometryNames = [...Object.keys(shapes), "GeometryCollection"].join(", ");

function mistakeInGeometry(geometry: unknown, path: string): Failure | null {
  if (geometry === null && path === "geometry") return null;
  if (!isObject(geometry))
    return failure(path, path === "geometry" ? "A geometry is an object, or null." : "A geometry is an object.");
  const { type, coordinates, geometries } = geometry;
  if (type === "GeometryCollection") {
    if (!Array.isArray(geometries))
      return failure(`${path}.geometries`, "A GeometryCollection has an array of geometries.");
    return firstOf(geometries, (member, i) => mistakeInGeometry(member, `${path}.geometries[${i}]`));
  }
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (!shape) return failure(`${path}.type`, `The type of a geometry is one of ${geometryNames}.`);
  // RFC 7946, 3.1: a geometry without positions has an empty array.
  if (Array.isArray(coordinates) && coordinates.length === 0) return null;
  return mistakeInCoordinates(coordinates, shape.depth, shape, `${path}.coordinates`);
}

function mistakeInCoordinates(value: unknown, depth: number, shape: Shape, path: string): Failure | null {
  if (depth === 0) return isGoodPosition(value) ? null : mistakeInPosition(value, path);
  if (!Array.isArray(value))
    return failure(path, `This is an array of ${depth === 1 ? "positions" : "arrays of positions"}.`);
  if (depth > 1) {
    if (value.length === 0) return failure(path, "This may not be empty.");
    return firstOf(value, (part, i) => mistakeInCoordinates(part, depth - 1, shape, `${path}[${i}]`));
  }
  if (value.length < shape.positions) {
    return failure(path, `A ${shape.ring ? "ring" : "line"} has at least ${shape.positions} positions.`);
  }
  for (let i = 0; i < value.length; i++) {
    if (isGoodPosition(value[i])) continue;
    return mistakeInPosition(value[i], `${path}[${i}]`);
  }
  if (shape.ring && !samePosition(value[0], value.at(-1))) {
    return failure(path, "A ring ends where it begins: its last position is its first.");
  }
  return null;
}

/** The hot path: every position of every feature. */
function isGoodPosition(value: unknown): boolean {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) return false;
  const [longitude, latitude, height] = value;
  return (
    typeof longitude === "number" &&
    typeof latitude === "number" &&
    longitude >= -180 &&
    longitude <= 180 &&
    latitude >= -90 &&
    latitude <= 90 &&
    (value.length === 2 || (typeof height === "number" && mistakeInNumber(height) === null))
  );
}

const axes = [
  { name: "longitude", most: 180 },
  { name: "latitude", most: 90 },
  { name: "height", most: Number.MAX_VALUE },
] as const;

function mistakeInPosition(value: unknown, path: string): Failure | null {
  if (!Array.isArray(value))
    return failure(path, "A position is [longitude, latitude] or [longitude, latitude, height].");
  if (value.length < 2 || value.length > 3)
    return failure(path, `A position has two or three numbers, not ${value.length}.`);
  return firstOf(value, (number: unknown, i) => {
    const { name, most } = axes[i]!;
    const place = `${path}[${i}]`;
    if (typeof number !== "number") return failure(place, `The ${name} is a number.`);
    if (!Number.isFinite(number)) return failure(place, `The ${name} is finite.`);
    if (Math.abs(number) > most)
      return failure(place, `The ${name} ${number} is not between -${most} and ${most} degrees.`);
    const mistake = mistakeInNumber(number);
    return mistake === null ? null : failure(place, mistake);
  });
}

function samePosition(one: unknown, other: unknown): boolean {
  const [a, b] = [one as number[], other as number[]];
  return a.length === b.length && a.every((number, i) => number === b[i]);
}

/** JSON as it is kept. A point of two numbers, as most features have, is put together by hand: a third of the time. */
function geometryText(geometry: Members | null): string {
  if (geometry?.type === "Point") {
    const coordinates = geometry.coordinates as readonly number[];
    // A number's text is the same in JSON and in a template.
    if (coordinates.length === 2) return `{"type":"Point","coordinates":[${coordinates[0]},${coordinates[1]}]}`;
  }
  return JSON.stringify(plainGeometry(geometry));
}

/** Without foreign members, `bbox` and `crs`; type first. */
function plainGeometry(geometry: Members | null): object | null {
  if (geometry === null) return null;
  const { type, coordinates, geometries } = geometry;
  return Array.isArray(geometries) && type === "GeometryCollection"
    ? { type, geometries: geometries.map(plainGeometry) }
    : { type, coordinates };
}

// ---- properties -----------------------------------------------------------------------------------------------------

/**
 * What JSON text has where a value may not be kept: an escape by number for a text, sixteen digits for an integer of
 * 2^53 and more, and null for a number that is not finite. Most texts have none, and need not be gone through.
 */
const suspicious = /\\u|\d{16}|null/;

/** `text`: the properties as JSON. */
function mistakeInProperties(properties: unknown, text = ""): Failure | null {
  if (!isObject(properties)) return failure("properties", "The properties of a feature are an object.");
  return suspicious.test(text) ? mistakeInValue(properties, "properties") : null;
}

function mistakeInValue(value: unknown, path: string): Failure | null {
  if (typeof value === "string") return located(mistakeInText(value), path);
  if (typeof value === "number") return located(mistakeInNumber(value), path);
  if (Array.isArray(value)) return firstOf(value, (one, i) => mistakeInValue(one, `${path}[${i}]`));
  if (!isObject(value)) return null;
  for (const name of Object.keys(value)) {
    const inName = mistakeInText(name);
    if (inName !== null) return failure(path, inName);
    const one = value[name];
    if (one === null || typeof one === "boolean") continue;
    const found = mistakeInValue(one, memberPath(path, name));
    if (found) return found;
  }
  return null;
}

const located = (message: string | null, path: string): Failure | null =>
  message === null ? null : failure(path, message);

/** PostgreSQL cannot hold U+0000; a lone surrogate is no character (Unicode 3.9, D75) and UTF-8 has no form for it. */
const unkeepable = /[\0\p{Surrogate}]/u;

function mistakeInText(text: string): string | null {
  const at = text.search(unkeepable);
  if (at < 0) return null;
  return text.charCodeAt(at) === 0
    ? "A text with U+0000 cannot be kept."
    : "A text with half of a surrogate pair is not Unicode.";
}

/** JSON's numbers are doubles here: what was rounded in reading can only be told by its size (RFC 7493, 2.2). */
function mistakeInNumber(number: number): string | null {
  if (!Number.isFinite(number)) return "The number is larger than a double can be; send it as text.";
  if (Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21) {
    return "An integer of 2^53 or more cannot be kept exactly; send it as text.";
  }
  return null;
}

function firstOf<T>(values: readonly T[], mistakeIn: (value: T, index: number) => Failure | null): Failure | null {
  for (let i = 0; i < values.length; i++) {
    const found = mistakeIn(values[i]!, i);
    if (found) return found;
  }
  return null;
}

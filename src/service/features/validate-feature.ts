/**
 * Validates a feature (RFC 7946, and the values that both stores return unchanged) and serializes the JSON text to
 * store. Reports the first error with its path below the feature.
 */
import { memberPath } from "../json/member-path.js";
import { findTextProblem } from "../json/storable-text.js";
import type { FeatureFailure } from "../store/contract.js";

type JsonObject = Readonly<Record<string, unknown>>;

/** `whole` requires all members of a new feature; `change` only validates the members that are present. */
export type ValidationMode = "whole" | "change";

export type FeatureCheck = {
  readonly geometry?: string;
  readonly properties?: string;
  readonly failure?: FeatureFailure;
};

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const createFailure = (path: string, message: string): FeatureFailure => ({ path, message });

export function validateFeature(feature: unknown, mode: ValidationMode): FeatureCheck {
  if (!isObject(feature)) return { failure: createFailure("", "A feature must be a GeoJSON object.") };
  const { type, geometry, properties } = feature;
  const change = mode === "change";
  if (type !== "Feature" && !(change && type === undefined))
    return { failure: createFailure("type", 'The type of a feature must be "Feature".') };
  const checkGeometry = !(change && geometry === undefined);
  const checkProperties = !(change && properties === undefined);
  const inGeometry = checkGeometry ? validateGeometry(geometry, "geometry") : null;
  if (inGeometry) return { failure: inGeometry };
  const text = checkProperties ? JSON.stringify(properties) : undefined;
  const inProperties = checkProperties ? validateProperties(properties, text) : null;
  if (inProperties) return { failure: inProperties };
  return {
    geometry: checkGeometry ? serializeGeometry(geometry as JsonObject | null) : undefined,
    properties: text,
  };
}

// ---- geometry -------------------------------------------------------------------------------------------------------

/** Nesting of positions in `coordinates`, and minimum number of positions in the innermost array. */
const geometryShapes: Readonly<
  Record<string, { readonly depth: number; readonly positions: number; readonly ring?: true }>
> = {
  Point: { depth: 0, positions: 0 },
  MultiPoint: { depth: 1, positions: 0 },
  LineString: { depth: 1, positions: 2 },
  MultiLineString: { depth: 2, positions: 2 },
  Polygon: { depth: 2, positions: 4, ring: true },
  MultiPolygon: { depth: 3, positions: 4, ring: true },
};
type GeometryShape = (typeof geometryShapes)[string];

const geometryNames = [...Object.keys(geometryShapes), "GeometryCollection"].join(", ");

function validateGeometry(geometry: unknown, path: string): FeatureFailure | null {
  if (geometry === null && path === "geometry") return null;
  if (!isObject(geometry))
    return createFailure(
      path,
      path === "geometry" ? "A geometry must be an object or null." : "A geometry must be an object.",
    );
  const { type, coordinates, geometries } = geometry;
  if (type === "GeometryCollection") {
    if (!Array.isArray(geometries))
      return createFailure(`${path}.geometries`, "A GeometryCollection must have an array of geometries.");
    return firstFailure(geometries, (member, i) => validateGeometry(member, `${path}.geometries[${i}]`));
  }
  const shape = typeof type === "string" && Object.hasOwn(geometryShapes, type) ? geometryShapes[type] : undefined;
  if (!shape) return createFailure(`${path}.type`, `The type of a geometry must be one of ${geometryNames}.`);
  // An empty geometry has an empty array (RFC 7946, 3.1).
  if (Array.isArray(coordinates) && coordinates.length === 0) return null;
  return validateCoordinates(coordinates, shape.depth, shape, `${path}.coordinates`);
}

function validateCoordinates(value: unknown, depth: number, shape: GeometryShape, path: string): FeatureFailure | null {
  if (depth === 0) return isValidPosition(value) ? null : validatePosition(value, path);
  if (!Array.isArray(value))
    return createFailure(path, `This must be an array of ${depth === 1 ? "positions" : "arrays of positions"}.`);
  if (depth > 1) {
    if (value.length === 0) return createFailure(path, "This must not be empty.");
    return firstFailure(value, (part, i) => validateCoordinates(part, depth - 1, shape, `${path}[${i}]`));
  }
  if (value.length < shape.positions) {
    return createFailure(path, `A ${shape.ring ? "ring" : "line"} must have at least ${shape.positions} positions.`);
  }
  for (let i = 0; i < value.length; i++) {
    if (isValidPosition(value[i])) continue;
    return validatePosition(value[i], `${path}[${i}]`);
  }
  if (shape.ring && !samePosition(value[0], value.at(-1))) {
    return createFailure(path, "A ring must be closed: its last position must equal its first.");
  }
  return null;
}

/** Hot path: runs for each position of each feature. */
function isValidPosition(value: unknown): boolean {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) return false;
  const [longitude, latitude, height] = value;
  return (
    typeof longitude === "number" &&
    typeof latitude === "number" &&
    longitude >= -180 &&
    longitude <= 180 &&
    latitude >= -90 &&
    latitude <= 90 &&
    (value.length === 2 || (typeof height === "number" && findNumberProblem(height) === null))
  );
}

const positionAxes = [
  { name: "longitude", max: 180 },
  { name: "latitude", max: 90 },
  { name: "height", max: Number.MAX_VALUE },
] as const;

function validatePosition(value: unknown, path: string): FeatureFailure | null {
  if (!Array.isArray(value))
    return createFailure(path, "A position must be [longitude, latitude] or [longitude, latitude, height].");
  if (value.length < 2 || value.length > 3)
    return createFailure(path, `A position must have two or three numbers, not ${value.length}.`);
  return firstFailure(value, (number: unknown, i) => {
    const { name, max } = positionAxes[i]!;
    const place = `${path}[${i}]`;
    if (typeof number !== "number") return createFailure(place, `The ${name} must be a number.`);
    if (!Number.isFinite(number)) return createFailure(place, `The ${name} must be finite.`);
    if (Math.abs(number) > max)
      return createFailure(place, `The ${name} ${number} is not between -${max} and ${max} degrees.`);
    const problem = findNumberProblem(number);
    return problem === null ? null : createFailure(place, problem);
  });
}

function samePosition(one: unknown, other: unknown): boolean {
  const [a, b] = [one as number[], other as number[]];
  return a.length === b.length && a.every((number, i) => number === b[i]);
}

/**
 * JSON text to store. A point with two coordinates, the most common geometry, is concatenated in a third of the time.
 */
function serializeGeometry(geometry: JsonObject | null): string {
  if (geometry?.type === "Point") {
    const coordinates = geometry.coordinates as readonly number[];
    // Numbers have the same text in JSON and in a template literal.
    if (coordinates.length === 2) return `{"type":"Point","coordinates":[${coordinates[0]},${coordinates[1]}]}`;
  }
  return JSON.stringify(withoutForeignMembers(geometry));
}

/** Drops foreign members, `bbox` and `crs`; writes `type` first. */
function withoutForeignMembers(geometry: JsonObject | null): object | null {
  if (geometry === null) return null;
  const { type, coordinates, geometries } = geometry;
  return Array.isArray(geometries) && type === "GeometryCollection"
    ? { type, geometries: geometries.map(withoutForeignMembers) }
    : { type, coordinates };
}

// ---- properties -----------------------------------------------------------------------------------------------------

/**
 * Matches JSON text that may contain an unstorable value: a \\u escape in a string, sixteen digits of an integer from
 * 2^53 on, or null for a non-finite number. Most texts do not match and need no traversal.
 */
const needsValueCheck = /\\u|\d{16}|null/;

/** @param text the properties as JSON */
function validateProperties(properties: unknown, text = ""): FeatureFailure | null {
  if (!isObject(properties)) return createFailure("properties", "The properties of a feature must be an object.");
  return needsValueCheck.test(text) ? validateValue(properties, "properties") : null;
}

function validateValue(value: unknown, path: string): FeatureFailure | null {
  if (typeof value === "string") return failureAt(findTextProblem(value), path);
  if (typeof value === "number") return failureAt(findNumberProblem(value), path);
  if (Array.isArray(value)) return firstFailure(value, (one, i) => validateValue(one, `${path}[${i}]`));
  if (!isObject(value)) return null;
  for (const name of Object.keys(value)) {
    const inName = findTextProblem(name);
    if (inName !== null) return createFailure(path, inName);
    const one = value[name];
    if (one === null || typeof one === "boolean") continue;
    const found = validateValue(one, memberPath(path, name));
    if (found) return found;
  }
  return null;
}

const failureAt = (message: string | null, path: string): FeatureFailure | null =>
  message === null ? null : createFailure(path, message);

/** JSON numbers are parsed as doubles: only the magnitude shows that a value may have been rounded (RFC 7493, 2.2). */
function findNumberProblem(number: number): string | null {
  if (!Number.isFinite(number)) return "The number cannot be stored exactly; send it as text.";
  if (Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21) {
    return "An integer of 2^53 or more cannot be stored exactly; send it as text.";
  }
  return null;
}

function firstFailure<T>(
  values: readonly T[],
  validate: (value: T, index: number) => FeatureFailure | null,
): FeatureFailure | null {
  for (let i = 0; i < values.length; i++) {
    const found = validate(values[i]!, i);
    if (found) return found;
  }
  return null;
}

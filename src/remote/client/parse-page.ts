/** Validates a page of a map (Map Features Service Interface, 4.2) once, so that callers can rely on its types. */
import type { Geometry } from "../../model/geometry.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import { hasNonFiniteNumber } from "../snapshot/non-finite-numbers.js";
import { type Properties, pageSize, type WireFeature } from "../wire.js";

/** The page is malformed. The message completes a sentence that starts with "page 3 of map …". */
export class InvalidPage extends Error {
  override readonly name = "InvalidPage";
}

/** @throws InvalidPage */
export function parsePage({ json, headers }: ServiceResponse): WireFeature[] {
  if (!isObject(json) || json.type !== "FeatureCollection" || !Array.isArray(json.features))
    throw new InvalidPage("is not a FeatureCollection");
  const features: readonly unknown[] = json.features;
  if (features.length > pageSize.max)
    throw new InvalidPage(`has ${features.length} features, more than the ${pageSize.max} requested`);
  // Clients treat a short page as the last one (4.2).
  if (features.length < pageSize.max && /\brel="?next\b/.test(headers.link?.toString() ?? ""))
    throw new InvalidPage(`has ${features.length} features, not ${pageSize.max}, although another page follows`);
  const ids = new Set<string>();
  return features.map((feature, i) => {
    const read = parseFeature(feature, i + 1);
    if (ids.has(read.id)) throw new InvalidPage(`has two features with the id ${read.id}`);
    ids.add(read.id);
    return read;
  });
}

/** Maximum nesting of objects and arrays in a feature; protects recursive consumers from stack overflow. */
const maxNesting = 200;

function exceedsDepth(value: unknown, maxDepth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (maxDepth === 0) return true;
  for (const inner of Object.values(value)) if (exceedsDepth(inner, maxDepth - 1)) return true;
  return false;
}

/**
 * Whether GeometryCollections are nested too deeply. Coordinates need no check: `isGeometry` descends only to the depth
 * of the geometry type.
 */
function isCollectionTooDeep(geometry: unknown): boolean {
  let parts: readonly unknown[] = [geometry];
  for (let depth = 0; parts.length > 0; depth++) {
    if (depth > maxNesting) return true;
    parts = parts.flatMap((part) => (isObject(part) && Array.isArray(part.geometries) ? part.geometries : []));
  }
  return false;
}

function parseFeature(feature: unknown, number: number): WireFeature {
  if (!isObject(feature) || feature.type !== "Feature")
    throw new InvalidPage(`has something other than a Feature at position ${number}`);
  const { id, geometry = null, properties } = feature;
  if (typeof id !== "string" || id === "") throw new InvalidPage(`has no string id on its feature ${number}`);
  if (isObject(geometry) && geometry.type === "GeometryCollection" && isCollectionTooDeep(geometry))
    throw new InvalidPage(`has a geometry nested deeper than ${maxNesting} levels in feature ${id}`);
  if (isObject(properties) && exceedsDepth(properties, maxNesting))
    throw new InvalidPage(`has properties nested deeper than ${maxNesting} levels in feature ${id}`);
  if (geometry !== null && !isGeometry(geometry))
    throw new InvalidPage(`has no valid GeoJSON geometry in feature ${id}`);
  if (hasNonFiniteNumber(properties) || (geometry !== null && positionsIn(geometry).some(hasNonFiniteNumber)))
    throw new InvalidPage(`has a number beyond the range of a double (1.8e308) in feature ${id}`);
  if (!isProperties(properties)) throw new InvalidPage(`has properties that are not an object in feature ${id}`);
  return { type: "Feature", id, geometry, properties: properties ?? {} };
}

/** The coordinates of a geometry, or those of its parts. */
const positionsIn = (geometry: Geometry): readonly unknown[] =>
  geometry.type === "GeometryCollection" ? geometry.geometries.flatMap(positionsIn) : [geometry.coordinates];

const isProperties = (value: unknown): value is Properties | null | undefined =>
  value === null || value === undefined || isObject(value);

/** Nesting depth of positions in `coordinates` (RFC 7946, 3.1). */
const coordinateDepths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** Whether the value has the structure of an RFC 7946 geometry; rings are not validated. */
function isGeometry(value: unknown): value is Geometry {
  if (!isObject(value)) return false;
  const { type, coordinates, geometries } = value;
  if (type === "GeometryCollection") return Array.isArray(geometries) && geometries.every(isGeometry);
  if (typeof type !== "string" || !Object.hasOwn(coordinateDepths, type) || !Array.isArray(coordinates)) return false;
  return coordinates.length === 0 || arePositions(coordinates, coordinateDepths[type]!);
}

function arePositions(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false;
  if (depth > 0) {
    for (const part of value) if (!arePositions(part, depth - 1)) return false;
    return true;
  }
  for (const number of value) if (typeof number !== "number") return false;
  return value.length >= 2;
}

/** A page of a map (Map Features Service Interface, 4.2), checked once so that nobody has to do it again. */
import type { Geometry } from "../../model/geometry.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import { hasNonFiniteNumber } from "../snapshot/non-finite-numbers.js";
import { type Properties, pageSize, type WireFeature } from "../wire.js";

/** What is wrong with an answer, to follow "the page 3". */
export class InvalidPage extends Error {
  override readonly name = "OddPage";
}

/** @throws OddPage */
export function parsePage({ json, headers }: ServiceResponse): WireFeature[] {
  if (!isObject(json) || json.type !== "FeatureCollection" || !Array.isArray(json.features))
    throw new InvalidPage("is no FeatureCollection");
  const features: readonly unknown[] = json.features;
  if (features.length > pageSize.most)
    throw new InvalidPage(`has ${features.length} features, more than the ${pageSize.most} that were asked for`);
  // It would be taken for the last one (4.2).
  if (features.length < pageSize.most && /\brel="?next\b/.test(headers.link?.toString() ?? ""))
    throw new InvalidPage(`has ${features.length} features, not ${pageSize.most}, though another one follows`);
  const ids = new Set<string>();
  return features.map((feature, i) => {
    const read = parseFeature(feature, i + 1);
    if (ids.has(read.id)) throw new InvalidPage(`has two features with the id ${read.id}`);
    ids.add(read.id);
    return read;
  });
}

/** How deep objects and lists may lie in a feature: programs that walk through them call themselves at each. */
const maxNesting = 200;

function exceedsDepth(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  for (const inner of Object.values(value)) if (exceedsDepth(inner, most - 1)) return true;
  return false;
}

/** Whether collections lie in one another so deep; coordinates are only looked at as deep as their type has them. */
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
    throw new InvalidPage(`has no Feature as its feature ${number}`);
  const { id, geometry = null, properties } = feature;
  if (typeof id !== "string" || id === "") throw new InvalidPage(`has no text as the id of its feature ${number}`);
  if (isObject(geometry) && geometry.type === "GeometryCollection" && isCollectionTooDeep(geometry))
    throw new InvalidPage(`has a geometry nested deeper than ${maxNesting} levels in the feature ${id}`);
  if (isObject(properties) && exceedsDepth(properties, maxNesting))
    throw new InvalidPage(`has properties nested deeper than ${maxNesting} levels in the feature ${id}`);
  if (geometry !== null && !isGeometry(geometry))
    throw new InvalidPage(`has no geometry of GeoJSON in the feature ${id}`);
  if (hasNonFiniteNumber(properties) || (geometry !== null && positionsIn(geometry).some(hasNonFiniteNumber)))
    throw new InvalidPage(`has a number that no program reads (beyond 1.8e308) in the feature ${id}`);
  if (!isProperties(properties)) throw new InvalidPage(`has no object as the properties of the feature ${id}`);
  return { type: "Feature", id, geometry, properties: properties ?? {} };
}

/** Its coordinates, or those of its parts. */
const positionsIn = (geometry: Geometry): readonly unknown[] =>
  geometry.type === "GeometryCollection" ? geometry.geometries.flatMap(positionsIn) : [geometry.coordinates];

const isProperties = (value: unknown): value is Properties | null | undefined =>
  value === null || value === undefined || isObject(value);

/** How deep positions lie in `coordinates` (RFC 7946, 3.1). */
const coordinateDepths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** Whether it has the shape of one of RFC 7946; what its rings are like is not asked. */
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

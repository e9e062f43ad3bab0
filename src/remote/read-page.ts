/** A page of a map (Map Features Service Interface, 4.2), checked once so that nobody has to do it again. */
import type { Geometry } from "../model/geometry.js";
import type { Answer } from "./exchange.js";
import { isObject } from "./told.js";
import { type Properties, pageSize, type WireFeature } from "./wire.js";

/** What is wrong with an answer, to follow "the page 3". */
export class OddPage extends Error {
  override readonly name = "OddPage";
}

/** @throws OddPage */
export function featuresOf({ json, headers }: Answer): WireFeature[] {
  if (!isObject(json) || json.type !== "FeatureCollection" || !Array.isArray(json.features))
    throw new OddPage("is no FeatureCollection");
  const features: readonly unknown[] = json.features;
  if (features.length > pageSize.most)
    throw new OddPage(`has ${features.length} features, more than the ${pageSize.most} that were asked for`);
  // It would be taken for the last one (4.2).
  if (features.length < pageSize.most && /\brel="?next\b/.test(headers.link?.toString() ?? ""))
    throw new OddPage(`has ${features.length} features, not ${pageSize.most}, though another one follows`);
  const ids = new Set<string>();
  return features.map((feature, i) => {
    const read = featureOf(feature, i + 1);
    if (ids.has(read.id)) throw new OddPage(`has two features with the id ${read.id}`);
    ids.add(read.id);
    return read;
  });
}

/** How deep objects and lists may lie in a feature: programs that walk through them call themselves at each. */
const mostDepth = 200;

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, most - 1)) return true;
  return false;
}

/** Whether collections lie in one another so deep; coordinates are only looked at as deep as their type has them. */
function isDeep(geometry: unknown): boolean {
  let parts: readonly unknown[] = [geometry];
  for (let depth = 0; parts.length > 0; depth++) {
    if (depth > mostDepth) return true;
    parts = parts.flatMap((part) => (isObject(part) && Array.isArray(part.geometries) ? part.geometries : []));
  }
  return false;
}

function featureOf(feature: unknown, number: number): WireFeature {
  if (!isObject(feature) || feature.type !== "Feature") throw new OddPage(`has no Feature as its feature ${number}`);
  const { id, geometry = null, properties } = feature;
  if (typeof id !== "string" || id === "") throw new OddPage(`has no text as the id of its feature ${number}`);
  if (isObject(geometry) && geometry.type === "GeometryCollection" && isDeep(geometry))
    throw new OddPage(`has a geometry nested deeper than ${mostDepth} levels in the feature ${id}`);
  if (isObject(properties) && isDeeper(properties, mostDepth))
    throw new OddPage(`has properties nested deeper than ${mostDepth} levels in the feature ${id}`);
  if (geometry !== null && !isGeometry(geometry)) throw new OddPage(`has no geometry of GeoJSON in the feature ${id}`);
  if (!isProperties(properties)) throw new OddPage(`has no object as the properties of the feature ${id}`);
  return { type: "Feature", id, geometry, properties: properties ?? {} };
}

const isProperties = (value: unknown): value is Properties | null | undefined =>
  value === null || value === undefined || isObject(value);

/** How deep positions lie in `coordinates` (RFC 7946, 3.1). */
const depths: Readonly<Record<string, number>> = {
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
  if (typeof type !== "string" || !Object.hasOwn(depths, type) || !Array.isArray(coordinates)) return false;
  return coordinates.length === 0 || arePositions(coordinates, depths[type]!);
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

/** What a feature of the map shall be: the source's values over the map's own, and what that changes. */
import { canonicalGeometry, canonicalValue, type Rounding } from "../../remote/snapshot/canonical-feature.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { MapFeature, PlannedFeature, SyncKey } from "../plan/plan.js";

export interface MergedFeature {
  /** "geometry", and names of properties as `properties.name`; empty where both say the same. */
  readonly changed: readonly string[];
  readonly feature: PlannedFeature;
}

export interface MergeSettings {
  readonly rounding: Rounding;
  /** Properties that only the map has are dropped. */
  readonly replaceProperties: boolean;
}

/** Null is as good as absent, within a value it is one. */
const isSameValue = (one: unknown, other: unknown): boolean => canonicalValue(one) === canonicalValue(other);

const ownProperty = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/**
 * The properties with one of them set, in its place where it is there. Made of entries, since `__proto__` is a name like
 * others.
 */
export function withProperty(properties: Properties, name: string, value: unknown): Properties {
  if (ownProperty(properties, name) === value) return properties;
  return Object.fromEntries(new Map([...Object.entries(properties), [name, value]]));
}

/** The source's feature with its key in the type that the map has. */
export function withKey(feature: PlannedFeature, key: SyncKey | null, value: RemoteKey | null): PlannedFeature {
  const { type, geometry } = feature;
  if (key?.by === "property" && value !== null) {
    return { type, geometry, properties: withProperty(feature.properties, key.name, value) };
  }
  return key?.by === "id" && typeof value === "string"
    ? { type, id: value, geometry, properties: feature.properties }
    : { type, geometry, properties: feature.properties };
}

/** @param source with its key in the type that the map has */
export function mergeFeature(source: PlannedFeature, held: MapFeature, settings: MergeSettings): MergedFeature {
  const changed: string[] = [];
  const sameGeometry =
    canonicalGeometry(source.geometry, settings.rounding) === canonicalGeometry(held.geometry, settings.rounding);
  if (!sameGeometry) changed.push("geometry");
  const properties = settings.replaceProperties
    ? source.properties
    : Object.fromEntries(new Map([...Object.entries(held.properties), ...Object.entries(source.properties)]));
  for (const name of new Set([...Object.keys(source.properties), ...Object.keys(held.properties)])) {
    if (!isSameValue(ownProperty(properties, name), ownProperty(held.properties, name)))
      changed.push(`properties.${name}`);
  }
  // As the map writes it, where rounding is the only difference.
  const geometry = sameGeometry ? held.geometry : source.geometry;
  return { changed, feature: { ...source, geometry, properties } };
}

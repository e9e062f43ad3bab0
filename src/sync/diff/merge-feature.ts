/** Merges the source's values into a map feature and lists the changes. */
import { canonicalGeometry, type Rounding } from "../../canonical/canonical-feature.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { MapFeature, PlannedFeature, SyncKey } from "../plan/plan.js";

export interface MergedFeature {
  /** "geometry", and properties as `properties.name`; empty if both are equal. */
  readonly changed: readonly string[];
  /** Whether the feature has properties that only the map has. */
  readonly keepsMapProperties: boolean;
  readonly feature: PlannedFeature;
}

export interface MergeSettings {
  readonly rounding: Rounding;
  /** Removes properties that only the map has. */
  readonly replaceProperties: boolean;
}

/** Null equals absent; null within a value is a value. */
const isSameValue = (one: unknown, other: unknown): boolean => canonicalValue(one) === canonicalValue(other);

const ownProperty = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/**
 * Sets a property and keeps its position if it exists. Uses entries, so that `__proto__` is treated like any other
 * name.
 */
export function withProperty(properties: Properties, name: string, value: unknown): Properties {
  if (ownProperty(properties, name) === value) return properties;
  return Object.fromEntries(new Map([...Object.entries(properties), [name, value]]));
}

/** The source feature with its key in the map's type. */
export function withKey(feature: PlannedFeature, key: SyncKey | null, value: RemoteKey | null): PlannedFeature {
  const { type, geometry } = feature;
  if (key?.by === "property" && value !== null) {
    return { type, geometry, properties: withProperty(feature.properties, key.name, value) };
  }
  return key?.by === "id" && typeof value === "string"
    ? { type, id: value, geometry, properties: feature.properties }
    : { type, geometry, properties: feature.properties };
}

/** @param source has its key in the map's type */
export function mergeFeature(source: PlannedFeature, mapFeature: MapFeature, settings: MergeSettings): MergedFeature {
  const changed: string[] = [];
  const sameGeometry =
    canonicalGeometry(source.geometry, settings.rounding) === canonicalGeometry(mapFeature.geometry, settings.rounding);
  if (!sameGeometry) changed.push("geometry");
  const properties = settings.replaceProperties
    ? source.properties
    : Object.fromEntries(new Map([...Object.entries(mapFeature.properties), ...Object.entries(source.properties)]));
  for (const name of new Set([...Object.keys(source.properties), ...Object.keys(mapFeature.properties)])) {
    if (!isSameValue(ownProperty(properties, name), ownProperty(mapFeature.properties, name)))
      changed.push(`properties.${name}`);
  }
  // Keeps the map's coordinates if only rounding differs.
  const geometry = sameGeometry ? mapFeature.geometry : source.geometry;
  const keepsMapProperties = Object.keys(properties).some(
    (name) => !Object.hasOwn(source.properties, name) && (properties[name] ?? null) !== null,
  );
  return { changed, keepsMapProperties, feature: { ...source, geometry, properties } };
}

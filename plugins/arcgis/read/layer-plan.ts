/** What is needed to decode the features of a layer. */
import type { Crs, GeometryType } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { type FieldOptions, type FieldsPlan, planFields } from "../fields/field-plan.js";
import { readSpatialReference } from "../fields/spatial-reference.js";
import type { Dimensions } from "../geometry/parse-geometry.js";

/** Plain data. */
export interface EsriLayerPlan {
  readonly crs: Crs | null;
  /** Null: only the features show their fields. */
  readonly fields: FieldsPlan | null;
  readonly dimensions: Dimensions;
  /** Types that features can have; null if the layer does not say. */
  readonly geometryTypes: readonly GeometryType[] | null;
}

/** Types of a layer by its `geometryType` (ArcGIS REST API, "Geometry objects"); a polygon may have several shells. */
const geometryTypes: Readonly<Record<string, readonly GeometryType[]>> = {
  esriGeometryPoint: ["Point"],
  esriGeometryMultipoint: ["MultiPoint"],
  esriGeometryPolyline: ["LineString", "MultiLineString"],
  esriGeometryPolygon: ["Polygon", "MultiPolygon"],
  esriGeometryEnvelope: ["Polygon"],
};

/** The types of a layer by name; null if it is unknown, and none for a table. */
export function geometryTypesOf(name: unknown): readonly GeometryType[] | null {
  return typeof name === "string" && Object.hasOwn(geometryTypes, name) ? geometryTypes[name]! : null;
}

/**
 * Plans the reading of a feature set, or of a layer by its metadata.
 * @param reference the spatial reference of its geometries
 */
export async function planLayer(
  layer: Json,
  reference: unknown,
  options: FieldOptions,
  context: PluginContext,
): Promise<EsriLayerPlan> {
  return {
    crs: await readSpatialReference(reference, context),
    fields: planFields(layer, options, context),
    dimensions: {
      hasZ: typeof layer.hasZ === "boolean" ? layer.hasZ : null,
      hasM: typeof layer.hasM === "boolean" ? layer.hasM : null,
    },
    geometryTypes: geometryTypesOf(layer.geometryType),
  };
}

/** The spatial reference of a feature set: its own, or that of its first geometry. */
export function featureSetReference(layer: Json, firstFeature: unknown): unknown {
  if (isObject(layer.spatialReference)) return layer.spatialReference;
  const geometry = isObject(firstFeature) ? firstFeature.geometry : null;
  return isObject(geometry) ? geometry.spatialReference : undefined;
}

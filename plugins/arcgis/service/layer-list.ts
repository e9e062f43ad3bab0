/** The layers and tables of a service, with what is needed to read them. */
import { type LayerMetadata, type OmittedContent, uniqueName } from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import { integerOf, isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import { layerMetadata } from "../fields/column-metadata.js";
import type { FieldOptions } from "../fields/field-plan.js";
import { spatialReferenceKey } from "../fields/spatial-reference.js";
import { type EsriLayerPlan, planLayer } from "../read/layer-plan.js";
import type { ServiceClient } from "./service-client.js";

/** Plain data. */
export interface ServiceLayer {
  readonly id: number;
  readonly name: string;
  readonly plan: EsriLayerPlan;
  readonly metadata: LayerMetadata | undefined;
  /** The spatial reference that the layer declares; "" if it has none. */
  readonly referenceKey: string;
  readonly featureCount: number | null;
  /** The field with the object ids; null if there is none. */
  readonly idField: string | null;
  /** Most features of an answer. */
  readonly maxRecordCount: number;
  readonly supportsPagination: boolean;
  readonly hasZ: boolean;
  readonly hasM: boolean;
  readonly hasAttachments: boolean;
  /** Whether the service says when the layer was edited last. */
  readonly hasEditDate: boolean;
}

export interface LayerList {
  readonly layers: readonly ServiceLayer[];
  readonly omitted: readonly OmittedContent[];
}

/** What a service does not say about the size of its answers. */
const defaultMaxRecordCount = 1000;
const readableTypes = /^(Feature Layer|Table|Annotation Layer|Dimension Layer|Utility Network Layer)$/i;
/** Capabilities with which features can be asked for: of feature services, and of map services. */
const queryCapabilities = /\b(Query|Data)\b/i;
/** Requests for metadata at the same time. */
const maxConcurrent = 4;

/** @throws feature-service-refused, feature-service-forbidden, unsupported and what the host's client throws */
export async function readLayerList(
  client: ServiceClient,
  options: FieldOptions,
  context: ReadContext,
): Promise<LayerList> {
  const { layer } = client.address;
  const service = layer === null ? await client.get("") : {};
  const listed = layer === null ? [...objectsOf(service.layers), ...objectsOf(service.tables)] : [{ id: layer }];
  const ids = listed.flatMap((each) => {
    const isGroup = Array.isArray(each.subLayerIds) || /^Group Layer$/i.test(String(each.type));
    const id = integerOf(each.id);
    return id === null || isGroup ? [] : [id];
  });
  if (layer === null && !("layers" in service) && !("tables" in service))
    throw createError("feature-service-refused", {
      source: client.source,
      reason: "its response lists no layers or tables; check that the address is one of a feature or map service",
    });
  const found: Json[] = [];
  for (let from = 0; from < ids.length; from += maxConcurrent) {
    const some = ids.slice(from, from + maxConcurrent);
    found.push(...(await Promise.all(some.map((id) => client.get(`/${id}`)))));
  }
  const layers: ServiceLayer[] = [];
  const omitted: OmittedContent[] = [];
  const taken = new Set<string>();
  for (const [n, metadata] of found.entries()) {
    const id = ids[n]!;
    const reason = incapability(metadata);
    const name = textOf(metadata.name)?.trim() || `layer ${id}`;
    if (reason === null) {
      const unique = uniqueName(name, taken);
      taken.add(unique);
      layers.push(await planServiceLayer(id, unique, { ...service, ...metadata }, client, options, context));
    } else if (layer !== null) throw createError("unsupported", { source: client.source, reason });
    else omitted.push({ kind: "loss", code: "layer-left-out", count: 1, example: `${name} (${id}): ${reason}` });
  }
  return { layers, omitted };
}

/** Why the features of a layer cannot be read; null if they can. */
function incapability({ type, capabilities, subLayers, id }: Json): string | null {
  if (id === undefined && type === undefined) return "its response does not describe a layer";
  if (typeof type === "string" && !readableTypes.test(type)) {
    const children = objectsOf(subLayers).flatMap((each) => integerOf(each.id) ?? []);
    const advice = children.length > 0 ? `; its layers are ${children.join(", ")}` : "";
    return `it is a ${type}, which has no features${advice}`;
  }
  if (typeof capabilities === "string" && !queryCapabilities.test(capabilities))
    return "the service does not allow queries of it";
  return null;
}

async function planServiceLayer(
  id: number,
  name: string,
  layer: Json,
  client: ServiceClient,
  options: FieldOptions,
  context: ReadContext,
): Promise<ServiceLayer> {
  const reference = referenceOf(layer);
  const plan = await planLayer(layer, reference, options, context);
  const advanced = isObject(layer.advancedQueryCapabilities) ? layer.advancedQueryCapabilities : {};
  const counted = await client.get(`/${id}/query`, { where: "1=1", returnCountOnly: "true" });
  const editing = isObject(layer.editingInfo) ? layer.editingInfo : {};
  const limit = integerOf(layer.maxRecordCount) ?? 0;
  return {
    id,
    name,
    plan: { ...plan, geometryTypes: layer.type === "Table" ? [] : plan.geometryTypes },
    metadata: layerMetadata(layer, plan.fields),
    referenceKey: spatialReferenceKey(reference),
    featureCount: integerOf(counted.count),
    idField: plan.fields?.idAttribute ?? null,
    maxRecordCount: limit > 0 ? limit : defaultMaxRecordCount,
    supportsPagination: advanced.supportsPagination === true || layer.supportsPagination === true,
    hasZ: layer.hasZ === true,
    hasM: layer.hasM === true,
    hasAttachments: layer.hasAttachments === true,
    hasEditDate: editDate({ editingInfo: editing }) !== null,
  };
}

/**
 * The spatial reference of answers to a query that names none: that of the layer, or of the map in a map service, which `extent` has.
 */
function referenceOf(layer: Json): unknown {
  if (layer.type === "Table") return undefined;
  const extent = isObject(layer.extent) ? layer.extent.spatialReference : undefined;
  return extent ?? layer.spatialReference ?? layer.sourceSpatialReference;
}

/** When the data of a layer was edited last, in milliseconds since 1970; null if the service does not say it. */
export function editDate({ editingInfo }: Json): number | null {
  if (!isObject(editingInfo)) return null;
  return integerOf(editingInfo.dataLastEditDate) ?? integerOf(editingInfo.lastEditDate);
}

/** The feature types of a WFS, with what is needed to read them. */
import { type Crs, type Extent, type FieldType, type GeometryType, uniqueName } from "../../../src/model/index.js";
import { createError, type ReadContext } from "../../../src/plugin/index.js";
import type { GmlField } from "../gml/plan.js";
import type { DeclaredProperty } from "../gml/schema.js";
import { resolveSrsName } from "../gml/srs-name.js";
import { parameterOf } from "../service/address.js";
import { type OgcClient, RequestRefused } from "../service/service-client.js";
import { type Capabilities, type FeatureTypeEntry, readCapabilities, type WfsVersion } from "./capabilities.js";
import { countFeatures } from "./feature-pages.js";
import { describeFeatureType } from "./feature-type.js";

/** Plain data. */
export interface WfsLayer {
  readonly name: string;
  readonly typeName: string;
  readonly description: string | null;
  readonly crs: Crs | null;
  /** West, south, east, north in degrees, if the service says it. */
  readonly bounds: Extent | null;
  /** The name that the service has for the reference system; null for none. */
  readonly srsName: string | null;
  readonly properties: readonly DeclaredProperty[] | null;
  /** The fields, if each property is a geometry or one value; else they are known after the features. */
  readonly fields: readonly GmlField[] | null;
  readonly geometryProperty: string | null;
  readonly geometryTypes: readonly GeometryType[] | null;
  readonly featureCount: number | null;
  /** Formats of answers that only this type has. */
  readonly formats: readonly string[];
}

/** Plain data. */
export interface WfsList {
  readonly capabilities: Capabilities;
  readonly layers: readonly WfsLayer[];
}

export interface ListOptions {
  readonly types: "auto" | "text";
  readonly geometry?: string | undefined;
  readonly version: "auto" | WfsVersion;
}

/** With more feature types, their fields and numbers are not requested before they are read. */
const maxDescribed = 40;
/** Requests for metadata at the same time. */
const maxConcurrent = 4;

const geometryTypesByProperty: Readonly<Record<string, readonly GeometryType[]>> = {
  PointPropertyType: ["Point"],
  LineStringPropertyType: ["LineString"],
  CurvePropertyType: ["LineString"],
  PolygonPropertyType: ["Polygon"],
  SurfacePropertyType: ["Polygon", "MultiPolygon"],
  MultiPointPropertyType: ["MultiPoint"],
  MultiLineStringPropertyType: ["MultiLineString"],
  MultiPolygonPropertyType: ["MultiPolygon"],
};

const localOf = (name: string): string => name.replace(/^.*:/, "");

/** @throws feature-service-refused, feature-service-forbidden and what the client throws */
export async function readLayerList(client: OgcClient, options: ListOptions, context: ReadContext): Promise<WfsList> {
  const { searchParams } = client.base;
  const given = parameterOf(searchParams, "version");
  const fromAddress = given === "1.1.0" || given === "2.0.0" ? given : null;
  const capabilities = await readCapabilities(
    client,
    options.version === "auto" ? fromAddress : options.version,
    context,
  );
  const types = selectTypes(client, capabilities.types);
  const isDescribed = types.length <= maxDescribed;
  const taken = new Set<string>();
  const names = types.map(({ name }) => {
    const unique = uniqueName(localOf(name), taken);
    taken.add(unique);
    return unique;
  });
  const layers: WfsLayer[] = [];
  for (let from = 0; from < types.length; from += maxConcurrent) {
    const some = types.slice(from, from + maxConcurrent);
    const found = some.map((type, k) =>
      planLayer(client, capabilities, type, names[from + k]!, isDescribed, options, context),
    );
    layers.push(...(await Promise.all(found)));
  }
  return { capabilities, layers };
}

/** The types that the address names, else all. @throws feature-service-refused */
function selectTypes(client: OgcClient, types: readonly FeatureTypeEntry[]): readonly FeatureTypeEntry[] {
  const { searchParams } = client.base;
  const named = parameterOf(searchParams, "typenames") ?? parameterOf(searchParams, "typename");
  if (!named) return types;
  return named.split(",").map((name) => {
    const found =
      types.find((type) => type.name === name) ?? types.find((type) => localOf(type.name) === localOf(name.trim()));
    if (!found) throw client.refused(`it has no feature type "${name}"`);
    return found;
  });
}

async function planLayer(
  client: OgcClient,
  capabilities: Capabilities,
  type: FeatureTypeEntry,
  name: string,
  isDescribed: boolean,
  options: ListOptions,
  context: ReadContext,
): Promise<WfsLayer> {
  const { version } = capabilities;
  const base = new URL(capabilities.getFeature ?? client.base.href);
  for (const [key, value] of client.base.searchParams)
    if (!base.searchParams.has(key)) base.searchParams.append(key, value);
  const { properties, isSimple } = isDescribed
    ? await describeFeatureType(client, base, version, type.name, context)
    : { properties: null, isSimple: false };
  const geometries = properties?.filter(({ isGeometry }) => isGeometry) ?? [];
  const geometry = geometries.find((each) => each.name === options.geometry) ?? geometries[0];
  const { crs, srsName } = await chooseSystem(type, context);
  const isFixed = properties !== null && isSimple;
  return {
    name,
    typeName: type.name,
    description: type.description ?? (type.title === name ? null : type.title),
    crs: isFixed && !geometry ? null : crs,
    bounds: type.bounds,
    srsName,
    formats: type.formats,
    properties,
    fields: isFixed ? fieldsOf(properties, options.types) : null,
    geometryProperty: geometry?.name ?? null,
    geometryTypes: isFixed ? geometryTypesOf(geometries, geometry, options) : null,
    featureCount: isDescribed ? await countOrNull(client, capabilities, base, type.name, context) : null,
  };
}

/** Null if they are not known: a feature may have any of several geometries. */
function geometryTypesOf(
  all: readonly DeclaredProperty[],
  chosen: DeclaredProperty | undefined,
  { geometry }: ListOptions,
): readonly GeometryType[] | null {
  if (!chosen) return [];
  if (all.length > 1 && geometry === undefined) return null;
  return geometryTypesByProperty[chosen.typeName] ?? null;
}

async function countOrNull(
  client: OgcClient,
  { version, hasPaging }: Capabilities,
  base: URL,
  typeName: string,
  context: ReadContext,
): Promise<number | null> {
  const query = { base, version, typeName, srsName: null, bbox: null, hasPaging, pageSize: 1, sortable: [] };
  try {
    return await countFeatures(client, query, context);
  } catch (error) {
    if (error instanceof RequestRefused) return null;
    throw error;
  }
}

/** The default system, else the first that is known. */
async function chooseSystem(
  { name, systems }: FeatureTypeEntry,
  context: ReadContext,
): Promise<{ readonly crs: Crs | null; readonly srsName: string | null }> {
  for (const srsName of systems) {
    const { crs } = await resolveSrsName(srsName, "auto", context.crs);
    if (crs !== null) return { crs, srsName };
  }
  const [first] = systems;
  if (first !== undefined)
    context.reportNotice("crs-unreadable", undefined, `"${name}": "${first.slice(0, 120)}" is not a known system`);
  return { crs: null, srsName: first ?? null };
}

function fieldsOf(properties: readonly DeclaredProperty[], types: "auto" | "text"): GmlField[] {
  return properties
    .filter(({ isGeometry }) => !isGeometry)
    .map(({ name, type, width }) => {
      const fieldType: FieldType = types === "text" ? "text" : type!;
      const field = { name, type: fieldType, ...(width !== undefined && fieldType === "text" && { width }) };
      return { field, property: name, path: name, isList: false, isDeclared: true };
    });
}

/** Refuses features in another system than the layer declares. @throws unsupported */
export function refuseOtherSystem(source: string, layer: WfsLayer, found: string): never {
  throw createError("unsupported", {
    source,
    reason: `the layer "${layer.name}" declares ${layer.crs?.id ?? layer.srsName ?? "no reference system"}, but its features are in ${found.slice(0, 80)}; name that with --source-crs`,
  });
}

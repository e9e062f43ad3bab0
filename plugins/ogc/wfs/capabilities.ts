/** What a WFS offers (OGC 04-094, 13; OGC 09-025r2, 8.3). */
import type { Extent } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { attributeOf, childOf, type GmlElement } from "../gml/element.js";
import { memoryFile, readXmlTree } from "../gml/schema.js";
import { checkXml, type OgcClient } from "../service/service-client.js";

export type WfsVersion = "1.1.0" | "2.0.0";

/** Plain data. */
export interface FeatureTypeEntry {
  /** With its prefix, as the service names it. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  /** West, south, east, north in degrees, if the service says it. */
  readonly bounds: Extent | null;
  /** The default reference system, then the others. */
  readonly systems: readonly string[];
  /** Formats of answers that only this type has. */
  readonly formats: readonly string[];
}

export interface Capabilities {
  readonly version: WfsVersion;
  readonly types: readonly FeatureTypeEntry[];
  /** Whether pages can begin anywhere (`ImplementsResultPaging`). */
  readonly hasPaging: boolean;
  /** The address of GetFeature, if it is on the same server. */
  readonly getFeature: string | null;
  /** Values of `outputFormat` for all types. */
  readonly formats: readonly string[];
}

/** Parameters that the reader sets itself; others belong to the service. */
const ownParameters =
  /^(service|version|acceptversions|request|type_?names?|namespaces?|srsname|outputformat|bbox|count|maxfeatures|startindex|resulttype|sortby|filter|propertyname|featureid|resourceid)$/i;

/** The address of an operation with its parameters, beside those of the service. */
export function operationUrl(base: URL, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  for (const name of [...url.searchParams.keys()]) if (ownParameters.test(name)) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

export const xmlMedia = "application/gml+xml, application/xml, text/xml;q=0.9, */*;q=0.5";

const textOf = (element: GmlElement, name: string): string | null => childOf(element, name)?.text.trim() || null;

/** @param version to request; null for the newest that both know @throws feature-service-refused and what the client throws */
export async function readCapabilities(
  client: OgcClient,
  version: WfsVersion | null,
  context: ReadContext,
): Promise<Capabilities> {
  const asked = version ?? "2.0.0";
  const url = operationUrl(client.base, {
    SERVICE: "WFS",
    REQUEST: "GetCapabilities",
    VERSION: asked,
    ACCEPTVERSIONS: version ?? "2.0.0,1.1.0",
  });
  const { body } = await client.get(url, xmlMedia, checkXml(/^WFS_Capabilities$/));
  const root = await readXmlTree(memoryFile(body), client.source, context);
  const found = attributeOf(root, "version") ?? "";
  if (!found.startsWith("2.0") && !found.startsWith("1.1"))
    throw client.refused(`it offers WFS ${found || "of an unknown version"}; geoferry reads 1.1.0 and 2.0.0`);
  const operations = childOf(root, "OperationsMetadata");
  return {
    version: found.startsWith("2.0") ? "2.0.0" : "1.1.0",
    types: (childOf(root, "FeatureTypeList")?.children ?? [])
      .filter(({ local }) => local === "FeatureType")
      .flatMap((type) => readType(type) ?? []),
    hasPaging: operations !== undefined && constraintOf(operations, "ImplementsResultPaging"),
    getFeature: operations === undefined ? null : getAddress(operations, client.base),
    formats: operations === undefined ? [] : formatsOf(operations),
  };
}

const textsOf = (element: GmlElement | undefined, name: string): string[] =>
  (element?.children ?? []).filter(({ local }) => local === name).map(({ text }) => text.trim());

/** The values of `outputFormat` (OGC 04-094, table 3; OGC 09-025r2, table 12), directly or in AllowedValues. */
function formatsOf(operations: GmlElement): string[] {
  return [operations, ...operations.children.filter((child) => attributeOf(child, "name") === "GetFeature")]
    .flatMap(({ children }) => children)
    .filter((child) => child.local === "Parameter" && attributeOf(child, "name") === "outputFormat")
    .flatMap((child) => [...textsOf(child, "Value"), ...textsOf(childOf(child, "AllowedValues"), "Value")]);
}

function readType(type: GmlElement): FeatureTypeEntry | null {
  const name = textOf(type, "Name");
  if (name === null) return null;
  const systems = type.children
    .filter(({ local }) => /^(Default|Other)(CRS|SRS)$/.test(local))
    .sort((a, b) => Number(b.local.startsWith("Default")) - Number(a.local.startsWith("Default")))
    .map(({ text }) => text.trim())
    .filter((text) => text !== "");
  return {
    name,
    title: textOf(type, "Title"),
    description: textOf(type, "Abstract"),
    bounds: boundsOf(type),
    systems,
    formats: textsOf(childOf(type, "OutputFormats"), "Format"),
  };
}

/** WGS84BoundingBox (OGC 06-121r9, 10.2.2), longitude first. */
function boundsOf(type: GmlElement): Extent | null {
  const box = childOf(type, "WGS84BoundingBox");
  const corner = (name: string) => (box && textOf(box, name)?.split(/\s+/).map(Number)) ?? [];
  const [west, south] = corner("LowerCorner");
  const [east, north] = corner("UpperCorner");
  const found = [west, south, east, north];
  return found.every((value) => Number.isFinite(value)) ? (found as unknown as Extent) : null;
}

/** Whether a constraint of the service or of GetFeature is true (OGC 09-025r2, table 14). */
function constraintOf(operations: GmlElement, name: string): boolean {
  const constraints = [
    operations,
    ...operations.children.filter((child) => attributeOf(child, "name") === "GetFeature"),
  ]
    .flatMap(({ children }) => children)
    .filter((child) => child.local === "Constraint" && attributeOf(child, "name") === name);
  return constraints.some((constraint) => {
    const value = textOf(constraint, "DefaultValue") ?? textOf(constraint, "Value");
    return /^true$/i.test(value ?? "");
  });
}

/** The address for GET of GetFeature. One on another server is often an internal name, and must not get a password. */
function getAddress(operations: GmlElement, base: URL): string | null {
  const operation = operations.children.find((child) => attributeOf(child, "name") === "GetFeature");
  const dcp = operation && childOf(operation, "DCP");
  const http = dcp && childOf(dcp, "HTTP");
  const get = http && childOf(http, "Get");
  const href = get && attributeOf(get, "href");
  if (!href || !URL.canParse(href, base.href)) return null;
  const url = new URL(href, base.href);
  return url.origin === base.origin ? url.href : null;
}

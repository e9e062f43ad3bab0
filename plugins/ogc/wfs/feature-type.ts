/** The fields of a feature type by DescribeFeatureType (OGC 04-094, 8; OGC 09-025r2, 9). */
import type { ReadContext } from "../../../src/plugin/index.js";
import { ApplicationSchema, type DeclaredProperty, memoryFile, readXmlTree } from "../gml/schema.js";
import { checkXml, type OgcClient, RequestRefused } from "../service/service-client.js";
import { operationUrl, type WfsVersion, xmlMedia } from "./capabilities.js";

export interface FeatureTypeDescription {
  /** The properties in their order; null if the service does not describe them. */
  readonly properties: readonly DeclaredProperty[] | null;
  /** Whether each property is a geometry or one value, so that the fields are known before the features. */
  readonly isSimple: boolean;
}

const unknown: FeatureTypeDescription = { properties: null, isSimple: false };

const localOf = (name: string): string => name.replace(/^.*:/, "");

/** @throws what the client throws, except a refusal */
export async function describeFeatureType(
  client: OgcClient,
  base: URL,
  version: WfsVersion,
  name: string,
  context: ReadContext,
): Promise<FeatureTypeDescription> {
  const url = operationUrl(base, {
    SERVICE: "WFS",
    VERSION: version,
    REQUEST: "DescribeFeatureType",
    ...(version === "2.0.0" ? { TYPENAMES: name, TYPENAME: name } : { TYPENAME: name }),
  });
  let body: Buffer;
  try {
    ({ body } = await client.request(url, xmlMedia, checkXml(/^schema$/)));
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const example = `the service does not describe "${name}", so its fields are inferred from the values: ${error.message}`;
    context.reportNotice("schema-unreadable", undefined, example);
    return unknown;
  }
  const schema = new ApplicationSchema();
  schema.add(await readXmlTree(memoryFile(body), client.source, context));
  const properties = schema.propertiesOf(localOf(name));
  if (properties === null || properties.length === 0) return unknown;
  // Measures have units as attributes, links have addresses, and dates may have a zone ("2024-01-02Z").
  const isPlain = ({ type, typeName }: DeclaredProperty): boolean =>
    type !== null && type !== "date" && type !== "time" && !/Type$/.test(typeName);
  const isSimple = properties.every((property) => property.isGeometry || isPlain(property));
  return { properties, isSimple };
}

/** The collections of an OGC API (OGC 17-069r4, 7.13 to 7.15; OGC 18-058r1, 6.2). */
import { type Crs, type Extent, type OmittedContent, uniqueName } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { integerOf, isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import { resolveSrsName } from "../gml/srs-name.js";
import { decode } from "../service/address.js";
import { type OgcClient, RequestRefused } from "../service/service-client.js";
import { getJson, linkOf, requestJson } from "./json-client.js";

/** A field that the service can filter by. Plain data. */
export interface Queryable {
  readonly name: string;
  readonly type: "number" | "integer" | "string";
}

/** Plain data. */
export interface Collection {
  readonly name: string;
  readonly id: string;
  readonly description: string | null;
  /** The address of the features. */
  readonly items: string;
  readonly crs: Crs;
  /** The reference system to request; null for longitude and latitude. */
  readonly crsUri: string | null;
  readonly isNorthFirst: boolean;
  readonly featureCount: number | null;
  readonly queryables: readonly Queryable[];
  /** West, south, east, north in degrees, if the service says it. */
  readonly bounds: Extent | null;
}

/** Plain data. */
export interface CollectionList {
  readonly collections: readonly Collection[];
  readonly omitted: readonly OmittedContent[];
}

const crsConformance = /\/ogcapi-features-2\/1\.\d\/conf\/crs$/i;
const filterConformance = /\/ogcapi-features-3\/1\.\d\/conf\/(features-)?filter$/i;
const cqlConformance = /\/(cql2|ogcapi-features-3)\/[\d.]+\/conf\/cql2-text$/i;
const maxConcurrent = 4;

/** Parameters that select features or a form of the answer, and are set by the reader. */
const ownParameters = /^(f|limit|offset|startindex|bbox|bbox-crs|crs|filter|filter-lang|filter-crs|next|cursor)$/i;

const collectionsPath = /^(.*?)\/collections(?:\/([^/]+)(?:\/items)?)?\/?$/i;

/** A resource below the landing page, with the parameters of the address that belong to the service. */
function resourceOf(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = path;
  for (const name of [...url.searchParams.keys()]) if (ownParameters.test(name)) url.searchParams.delete(name);
  return url;
}

/** @throws feature-service-refused, feature-service-forbidden and what the client throws */
export async function readCollections(client: OgcClient, context: ReadContext): Promise<CollectionList> {
  const { base } = client;
  const path = collectionsPath.exec(base.pathname);
  const root = path ? path[1]! : base.pathname.replace(/\/+$/, "");
  const isLanding = !path;
  const landingUrl = resourceOf(base, isLanding ? base.pathname : root || "/");
  const landing = isLanding ? (await getJson(client, landingUrl, "links")).json : null;
  const conformance = await readConformance(
    client,
    (landing && linkOf(landing, /(^|\/)conformance$/, landingUrl)) ?? resourceOf(base, `${root}/conformance`),
  );
  const found: [Json, URL][] = [];
  if (path?.[2] !== undefined) {
    const url = resourceOf(base, `${root}/collections/${path[2]}`);
    found.push([(await getJson(client, url, "links")).json, url]);
  } else {
    const listed = (landing && linkOf(landing, /(^|\/)data$/, landingUrl)) ?? resourceOf(base, `${root}/collections`);
    for await (const each of listCollections(client, listed)) found.push(each);
  }
  const collections: Collection[] = [];
  const omitted: OmittedContent[] = [];
  const taken = new Set<string>();
  for (let from = 0; from < found.length; from += maxConcurrent) {
    const some = found.slice(from, from + maxConcurrent);
    const planned = await Promise.all(
      some.map(([json, url]) => planCollection(client, json, url, conformance, context)),
    );
    for (const [k, each] of planned.entries()) {
      if (typeof each === "string") {
        const example = `${String(some[k]![0].id).slice(0, 80)}: ${each}`;
        if (path?.[2] !== undefined) throw client.refused(each);
        omitted.push({ kind: "loss", code: "layer-left-out", count: 1, example });
        continue;
      }
      const name = uniqueName(each.name, taken);
      taken.add(name);
      collections.push({ ...each, name });
    }
  }
  return { collections, omitted };
}

/** A service may divide the list of its collections into pages. */
const maxListPages = 1000;

async function* listCollections(client: OgcClient, first: URL): AsyncGenerator<[Json, URL]> {
  let url: URL | null = first;
  for (let page = 0; url !== null && page < maxListPages; page++) {
    const { json } = await getJson(client, url, "collections");
    for (const each of objectsOf(json.collections)) yield [each, url];
    const next = linkOf(json, /^next$/, url);
    url = next === null || next.href === url.href ? null : next;
  }
}

/** The conformance classes; none if the service does not list them. */
async function readConformance(client: OgcClient, url: URL): Promise<readonly string[]> {
  try {
    const { json } = await requestJson(client, url, "conformsTo");
    return Array.isArray(json.conformsTo) ? json.conformsTo.filter((each) => typeof each === "string") : [];
  } catch (error) {
    if (error instanceof RequestRefused) return [];
    throw error;
  }
}

/** @returns the collection, or why its features cannot be read */
async function planCollection(
  client: OgcClient,
  json: Json,
  listUrl: URL,
  conformance: readonly string[],
  context: ReadContext,
): Promise<Collection | string> {
  const id = textOf(json.id);
  if (id === null) return "it has no id";
  const itemType = textOf(json.itemType);
  if (itemType !== null && itemType !== "feature")
    return `its items are of the type "${itemType.slice(0, 40)}", not features`;
  const ofId = `${listUrl.pathname.replace(/(\/collections)(\/.*)?$/i, "$1")}/${encodeURIComponent(id)}/items`;
  const items =
    linkOf(json, /^(items|http:\/\/www\.opengis\.net\/def\/rel\/ogc\/1\.0\/items)$/, listUrl) ??
    resourceOf(listUrl, ofId);
  const wanted = conformance.some((each) => crsConformance.test(each)) ? await storageSystem(json, context) : null;
  const bounds = boundsOf(json);
  let sample = wanted && (await readSample(client, items, wanted.uri));
  // A service that does not answer in the system that it has is read in longitude and latitude.
  const isAccepted = sample !== null && sample.crs === wanted?.uri;
  if (!isAccepted) sample = await readSample(client, items, null);
  if (sample === null) return "the service rejects requests for its items";
  if (sample.crs !== null && !isAccepted && !/CRS:?84h?$/i.test(sample.crs))
    return `its features are in ${sample.crs.slice(0, 80)} instead of longitude and latitude`;
  const canFilter =
    conformance.some((each) => filterConformance.test(each)) && conformance.some((each) => cqlConformance.test(each));
  return {
    ...{ id, name: decode(id), description: descriptionOf(json) },
    items: items.href,
    crs: isAccepted ? wanted!.crs : context.crs.wgs84,
    crsUri: isAccepted ? wanted!.uri : null,
    isNorthFirst: isAccepted && wanted!.isNorthFirst,
    featureCount: sample.matched,
    queryables: canFilter ? await readQueryables(client, json, items) : [],
    bounds,
  };
}

/** The description, else the title if it says more than the id; null for none. */
function descriptionOf({ id, title, description }: Json): string | null {
  const [described, titled] = [textOf(description)?.trim(), textOf(title)?.trim()];
  if (described) return described;
  return titled && titled !== id ? titled : null;
}

/** The system in which the service stores the features, if it is one to request; null for longitude and latitude. */
async function storageSystem(
  { storageCrs, crs }: Json,
  context: ReadContext,
): Promise<{ readonly uri: string; readonly crs: Crs; readonly isNorthFirst: boolean } | null> {
  const uri = textOf(storageCrs);
  const offered = Array.isArray(crs) ? crs : [];
  // "#/crs" refers to the list of all collections.
  if (uri === null || (offered.length > 0 && !offered.includes(uri) && !offered.includes("#/crs"))) return null;
  const found = await resolveSrsName(uri, "auto", context.crs);
  if (found.crs === null || found.crs.id === context.crs.wgs84.id) return null;
  return { uri, crs: found.crs, isNorthFirst: found.isNorthFirst };
}

/** The name of the reference system of an answer (OGC 18-058r1, 6.4): `<http://…>`. */
export const contentCrs = (headers: Readonly<Record<string, string | string[] | undefined>>): string | null => {
  const header = headers["content-crs"];
  return typeof header === "string" ? header.trim().replace(/^<|>$/g, "") : null;
};

/** The number of features, and the system they come in; null if the service refuses the request. */
async function readSample(client: OgcClient, items: URL, crs: string | null) {
  const url = new URL(items);
  url.searchParams.set("limit", "1");
  if (crs !== null) url.searchParams.set("crs", crs);
  try {
    const { json, headers } = await requestJson(client, url, "features");
    return { matched: integerOf(json.numberMatched), crs: contentCrs(headers) };
  } catch (error) {
    if (error instanceof RequestRefused) return null;
    throw error;
  }
}

/** The first box of the extent, longitude first. */
function boundsOf({ extent }: Json): Extent | null {
  const spatial = isObject(extent) && isObject(extent.spatial) ? extent.spatial : null;
  const box = spatial && Array.isArray(spatial.bbox) ? (spatial.bbox[0] as unknown) : null;
  if (!Array.isArray(box) || !box.every((value) => Number.isFinite(value))) return null;
  const [a, b, c, d, e] = box as number[];
  if (box.length === 4) return [a!, b!, c!, d!];
  return box.length === 6 ? [a!, b!, d!, e!] : null;
}

/** OGC 19-079r2, 6.2 */
async function readQueryables(client: OgcClient, json: Json, items: URL): Promise<Queryable[]> {
  const own = new URL(items);
  own.pathname = own.pathname.replace(/\/items\/?$/, "/queryables");
  const url = linkOf(json, /(^|\/)queryables$/, items) ?? own;
  try {
    const { properties } = (await requestJson(client, url, "properties")).json;
    if (!isObject(properties)) return [];
    return Object.entries(properties).flatMap(([name, schema]): Queryable[] => {
      const type = isObject(schema) ? textOf(schema.type) : null;
      return type === "number" || type === "integer" || type === "string" ? [{ name, type }] : [];
    });
  } catch (error) {
    if (error instanceof RequestRefused) return [];
    throw error;
  }
}

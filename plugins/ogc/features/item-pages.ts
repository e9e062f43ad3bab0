/** Requests the pages of a collection, which are linked by `next` (OGC 17-069r4, 7.15). */
import { stringifyExactly } from "../../../src/model/index.js";
import { integerOf, isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import { type Page, type PageSource, PagesIncomplete } from "../service/complete-download.js";
import type { PageRequests } from "../service/page-requests.js";
import { type OgcClient, RequestRefused } from "../service/service-client.js";
import { type Collection, contentCrs } from "./collections.js";
import { type JsonResponse, linkOf, requestJson, toWebUrl } from "./json-client.js";

/** Parameters that select features; every request of a reading has the same ones. */
export type Selection = Readonly<Record<string, string>>;

/** Pages in a row without features. */
const maxEmptyPages = 3;
/** How often a page is requested whose number of features is not the one that it announces. */
const maxPageTries = 3;

const features = ({ features: list }: Json): Json[] => (Array.isArray(list) ? list.filter(isObject) : []);

const keyOf = ({ id, geometry, properties }: Json) => ({
  id: typeof id === "string" || typeof id === "number" ? String(id) : null,
  content: stringifyExactly([geometry, properties]),
});

/** The next page: by a link in the body, or else in the header `Link` (RFC 8288). @throws PagesIncomplete if it has no usable address */
function nextPage(json: Json, { link }: JsonResponse["headers"], url: URL): URL | null {
  const inHeader = nextInHeader([link ?? ""].flat().join(", "));
  const next = linkOf(json, /^next$/i, url) ?? (inHeader === null ? null : toWebUrl(inHeader, url));
  const isAnnounced = inHeader !== null || objectsOf(json.links).some(({ rel }) => /^next$/i.test(textOf(rel) ?? ""));
  if (next === null && isAnnounced)
    throw new PagesIncomplete("a page announces another one, but its link has no address that can be requested");
  if (next !== null) checkNext(url, next);
  return next;
}

/** Parameters that select features, or say how they are written. */
const selectingParameters = ["crs", "bbox", "bbox-crs", "filter", "filter-crs", "filter-lang", "datetime"];
const collectionIn = ({ pathname }: URL): string | undefined => /\/collections\/([^/]+)\/items\/?$/.exec(pathname)?.[1];

/** @throws PagesIncomplete if the next page is of another collection or selection */
function checkNext(url: URL, next: URL): void {
  const [own, other] = [collectionIn(url), collectionIn(next)];
  if (own !== undefined && other !== undefined && own !== other)
    throw new PagesIncomplete(`the link to the next page leads to another collection, "${decodeURIComponent(other)}"`);
  for (const name of selectingParameters) {
    const [before, value] = [url.searchParams.get(name), next.searchParams.get(name)];
    // A service may write a box or filter in another way, and the default system.
    const isDefault = name === "crs" && before === null && /CRS:?84h?$/i.test(value ?? "");
    const isOther = name === "crs" ? value !== before : before === null;
    if (value !== null && isOther && !isDefault)
      throw new PagesIncomplete(
        `the link to the next page asks for ${name}=${value.slice(0, 80)}, which was not requested`,
      );
  }
}

/** The address of the next page in a header `Link`; null without one. */
function nextInHeader(header: string): string | null {
  for (const [, address, parameters] of header.matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*"?\s*([^";]*\s)?next(\s[^";]*)?"?\s*(;|,|$)/i.test(parameters!)) return address!;
  return null;
}

export class ItemPages implements PageSource<readonly Json[]> {
  constructor(
    private readonly client: OgcClient,
    private readonly collection: Collection,
    private readonly selection: Selection,
    private readonly pageSize: number,
    /** @throws PagesIncomplete if the coordinates of a page cannot be right */
    private readonly checkPlace: (features: readonly Json[]) => Promise<void>,
  ) {}

  private address(limit: number): URL {
    const { items, crsUri } = this.collection;
    const url = new URL(items);
    url.searchParams.set("limit", String(limit));
    if (crsUri !== null) url.searchParams.set("crs", crsUri);
    for (const [name, value] of Object.entries(this.selection)) url.searchParams.set(name, value);
    return url;
  }

  async count(): Promise<number | null> {
    try {
      const { json } = await requestJson(this.client, this.address(1), "features");
      return integerOf(json.numberMatched);
    } catch (error) {
      if (error instanceof RequestRefused) throw this.client.refused(error.message);
      throw error;
    }
  }

  /** The address of the first page. */
  get first(): string {
    return this.address(this.pageSize).href;
  }

  async *pages(
    expected: number | null,
    _attempt: number,
    requests: PageRequests,
  ): AsyncGenerator<Page<readonly Json[]>> {
    const seen = new Set<string>();
    let url: URL | null = this.address(this.pageSize);
    for (let empty = 0; url !== null; ) {
      if (seen.has(url.href)) throw new PagesIncomplete("the link to the next page leads back to an earlier one");
      seen.add(url.href);
      const { json, headers, losses } = await this.readPage(url, expected, requests);
      const content = features(json);
      if (content.length > 0) {
        empty = 0;
        await this.checkPlace(content);
        yield { keys: content.map(keyOf), content, losses };
      } else if (++empty > maxEmptyPages) throw new PagesIncomplete(`${empty} pages in a row have no features`);
      url = nextPage(json, headers, url);
    }
  }

  private async readPage(url: URL, expected: number | null, requests: PageRequests): Promise<JsonResponse> {
    const { client } = this;
    for (let tries = 1; ; tries++) {
      try {
        const page = await requestJson(requests, url, "features");
        this.checkSystem(contentCrs(page.headers));
        const flaw = flawOf(page.json, expected);
        if (flaw === null) return page;
        if (tries === maxPageTries) throw new PagesIncomplete(flaw);
      } catch (error) {
        if (error instanceof RequestRefused) throw client.refused(error.message);
        throw error;
      }
    }
  }

  /** @throws PagesIncomplete for a page in another system than the one that was requested */
  private checkSystem(found: string | null): void {
    const { crsUri } = this.collection;
    const isExpected = crsUri === null ? found === null || /CRS:?84h?$/i.test(found) : found === crsUri;
    if (!isExpected)
      throw new PagesIncomplete(
        `a page has the reference system ${(found ?? "that is the default").slice(0, 80)}, which was not requested`,
      );
  }
}

/** What shows that a page lacks features, or that the collection changed; null if nothing does. */
function flawOf(json: Json, expected: number | null): string | null {
  if (!Array.isArray(json.features)) return "a page has no list of features";
  const count = json.features.length;
  const stray = json.features.findIndex((each) => !isObject(each));
  if (stray >= 0) return "a page has a feature that is not an object";
  const returned = integerOf(json.numberReturned);
  if (returned !== null && returned !== count) return `a page declares ${returned} features but has ${count}`;
  const matched = integerOf(json.numberMatched);
  if (matched !== null && expected !== null && matched !== expected)
    return `a page declares ${matched} features in all, but ${expected} were counted`;
  if (textOf(json.type) !== "FeatureCollection") return "a page is not a FeatureCollection";
  return null;
}

/** Requests the pages of a feature type (OGC 04-094, 9; OGC 09-025r2, 11). */
import { GeoferryError } from "../../../src/errors.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { type Page, type PageSource, PagesIncomplete } from "../service/complete-download.js";
import type { PageRequests } from "../service/page-requests.js";
import { checkXml, type OgcClient, RequestRefused } from "../service/service-client.js";
import { operationUrl, type WfsVersion, xmlMedia } from "./capabilities.js";
import type { PageFormat, ParsedPage } from "./page-format.js";
import { parsePage } from "./page-parser.js";

/** What selects the features of all requests of a reading. */
export interface WfsQuery {
  readonly base: URL;
  readonly version: WfsVersion;
  readonly typeName: string;
  /** The reference system to request; null for the default. */
  readonly srsName: string | null;
  /** The value of the parameter BBOX; null for all features. */
  readonly bbox: string | null;
  readonly hasPaging: boolean;
  readonly pageSize: number;
  /** Names of properties that the pages can be sorted by, if their order is not stable. */
  readonly sortable: readonly string[];
}

/** How often a page is requested that cannot be parsed or has no features, although there are more. */
const maxPageTries = 3;
const checkCollection = checkXml(/FeatureCollection$/);

function parametersOf({ version, typeName, srsName, bbox }: WfsQuery): Record<string, string> {
  return {
    SERVICE: "WFS",
    VERSION: version,
    REQUEST: "GetFeature",
    ...(version === "2.0.0" ? { TYPENAMES: typeName } : { TYPENAME: typeName }),
    ...(srsName !== null && { SRSNAME: srsName }),
    ...(bbox !== null && { BBOX: bbox }),
  };
}

export const addressOf = (query: WfsQuery, more: Readonly<Record<string, string>>): URL =>
  operationUrl(query.base, { ...parametersOf(query), ...more });

/** The number of features that the query selects; null if the service does not say it. @throws as `OgcClient.request` */
export async function countFeatures(client: OgcClient, query: WfsQuery, context: ReadContext): Promise<number | null> {
  const { body } = await client.request(addressOf(query, { RESULTTYPE: "hits" }), xmlMedia, checkCollection);
  const { attributes } = await parsePage(client.source, body, context);
  const text = attributes.get("numberMatched") ?? attributes.get("numberOfFeatures") ?? "";
  return /^\d+$/.test(text) ? Number(text) : null;
}

export class WfsPages<Content> implements PageSource<Content> {
  constructor(
    private readonly client: OgcClient,
    private readonly query: WfsQuery,
    private readonly format: PageFormat<Content>,
    private readonly context: ReadContext,
  ) {}

  async count(): Promise<number | null> {
    try {
      return await countFeatures(this.client, this.query, this.context);
    } catch (error) {
      if (error instanceof RequestRefused) throw this.client.refused(error.message);
      throw error;
    }
  }

  /** The address of the first page. */
  get first(): string {
    return addressOf(this.query, { COUNT: String(this.query.pageSize), ...this.format.parameters }).href;
  }

  async *pages(expected: number | null, attempt: number, requests: PageRequests): AsyncGenerator<Page<Content>> {
    const { query } = this;
    const { hasPaging, pageSize, sortable, version } = query;
    const size = hasPaging ? pageSize : null;
    // The order of the pages is only declared stable if it is requested.
    const [first] = sortable;
    const sort: Record<string, string> = attempt > 1 && first !== undefined ? { SORTBY: first } : {};
    let start = 0;
    let next: string | null = null;
    for (;;) {
      const isFirst = start === 0;
      const paging: Record<string, string> = {
        ...(size !== null && (version === "2.0.0" ? { COUNT: String(size) } : { MAXFEATURES: String(size) })),
        ...(isFirst ? {} : { STARTINDEX: String(start) }),
        ...(isFirst && hasPaging && { STARTINDEX: "0" }),
        ...this.format.parameters,
      };
      const url: URL =
        next !== null && !hasPaging ? new URL(next, query.base) : addressOf(query, { ...paging, ...sort });
      const remaining = expected === null ? null : expected - start;
      const page = await this.readPage(url, remaining, isFirst, requests);
      if (page === null) return;
      const count = page.keys.length;
      if (count > 0) yield page;
      start += count;
      next = page.next;
      // A page that is not full is the last one, unless the service sends fewer features at once than requested.
      const isFull = size !== null && count >= size;
      const isAll = expected === null ? !isFull && next === null : start >= expected;
      if (isAll && !isFull && next === null) return;
      if (count === 0) return;
      if (expected !== null && start - count > expected)
        throw new PagesIncomplete(`it reports ${expected} features but sends ${start} or more`);
    }
  }

  /** Some features from the beginning. @throws RequestRefused, PagesIncomplete */
  async sample(): Promise<ParsedPage<Content>> {
    const body = await this.sampleBody();
    return this.format.parse(this.client.source, body, this.context);
  }

  /** @throws RequestRefused */
  async sampleBody(): Promise<Buffer> {
    const { client, format, query } = this;
    const size = { [query.version === "2.0.0" ? "COUNT" : "MAXFEATURES"]: String(query.pageSize) };
    const url = addressOf(query, { ...size, ...format.parameters });
    return (await client.request(url, format.accept, format.check)).body;
  }

  /** @returns null behind the last page, where a service may refuse to go @throws PagesIncomplete */
  private async readPage(
    url: URL,
    remaining: number | null,
    isFirst: boolean,
    requests: PageRequests,
  ): Promise<ParsedPage<Content> | null> {
    const { client, format } = this;
    for (let tries = 1; ; tries++) {
      let problem: string;
      try {
        const { body } = await requests.request(url, format.accept, format.check);
        const page = await format.parse(client.source, body, this.context);
        const found = flawOf(page, remaining);
        if (found === null) return page;
        problem = found;
      } catch (error) {
        if (error instanceof RequestRefused) {
          if (!isFirst && remaining !== null && remaining <= 0) return null;
          throw client.refused(error.message);
        }
        if (!(error instanceof GeoferryError) || error.kind !== "input" || error.code.startsWith("feature-"))
          throw error;
        problem = `a page cannot be read: ${error.message}`;
      }
      if (tries === maxPageTries) throw new PagesIncomplete(problem);
    }
  }
}

/** What shows that a page lacks features; null if nothing does. */
function flawOf({ announced, keys }: ParsedPage<unknown>, remaining: number | null): string | null {
  if (announced !== null && announced !== keys.length)
    return `a page declares ${announced} features but has ${keys.length}`;
  if (keys.length === 0 && remaining !== null && remaining > 0)
    return `a page has no features, although ${remaining} are still missing`;
  return null;
}

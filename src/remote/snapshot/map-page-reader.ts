import { createHash } from "node:crypto";
import { asGeoferryError, createError } from "../../errors.js";
import type { MapClient, MapPage } from "../client/map-client.js";
import { pageSize, type WireFeature } from "../wire.js";

const emptyPage: MapPage = { features: [], etag: null };

/** Requests for pages under way at once, where it is known that there are so many. */
const concurrentRequests = 4;

/** From this page on the service is asked how many features the map has. */
const featureCountCheckPage = 200;
/** Pages of a map where the service does not say how many features it has. */
const maxPages = 100_000;

export interface NumberedPage extends MapPage {
  /** Counted from 1. */
  readonly number: number;
}

/**
 * One reading of a map: its pages in increasing order until one with fewer features than asked for (Map Features
 * Service Interface, 4.2), so that n features take ⌊n / 500⌋ + 1 requests. The next page is on its way while one is
 * worked on.
 */
export class MapPageReader {
  /** Pages that were read. */
  pages = 0;
  private readonly etags = new Set<string | null>();
  private readonly seen = new Set<string>();
  private firstTag: string | null = null;

  /** @param knownEtag pages that the map had when it was read before: so many are asked for without waiting for each */
  constructor(
    private readonly client: MapClient,
    private readonly knownEtag = 1,
  ) {}

  /** Whether no write can have come between two pages, since there is one or all say that they are of one state. */
  get isSteady(): boolean {
    return this.pages === 1 || this.etag !== null;
  }

  /** Of the map: of its only page, or that which all pages have; null where there is none. */
  get etag(): string | null {
    return this.etags.size === 1 ? this.firstTag : null;
  }

  /**
   * Beyond its last page a service may answer with the last page again: pages that have been there are passed over, and
   * the second of them in a row is the end. One alone may be what others' writes have shifted.
   * @param first the first page, where it was read already
   */
  async *read(first?: MapPage): AsyncGenerator<NumberedPage> {
    const underWay: Promise<MapPage>[] = first ? [Promise.resolve(first)] : [];
    let asked = underWay.length;
    let [repeated, most] = [0, maxPages];
    const ask = () => {
      const answer = this.page(++asked);
      // Whoever waits for it meets its failure; nobody may, where an earlier page fails.
      answer.catch(() => {});
      underWay.push(answer);
    };
    for (let number = 1; ; number++) {
      while (asked < number || (asked < this.knownEtag && underWay.length < concurrentRequests)) ask();
      const page = await underWay.shift()!;
      this.pages = number;
      this.record(page.etag, number);
      const isLast = page.features.length < pageSize.most;
      repeated = !isLast && this.isRepeated(page.features) ? repeated + 1 : 0;
      if (repeated === 2) return;
      if (!isLast && asked === number) ask();
      if (repeated === 0) yield { ...page, number };
      if (isLast) return;
      if (number === featureCountCheckPage) most = await this.maxPages();
      if (number >= most) throw this.endlessPagesError(number);
    }
  }

  /** Twice as many as the service says the map has, which others may write to meanwhile. */
  private async maxPages(): Promise<number> {
    const announced = await this.client.pageCount?.();
    if (typeof announced !== "number") return maxPages;
    return Math.max(featureCountCheckPage, Math.ceil((announced * 2) / pageSize.most)) + featureCountCheckPage;
  }

  private endlessPagesError(number: number) {
    const reason = `page ${number} of map ${this.client.id} is not the last one, and the service says that the map has far fewer features, or nothing of them`;
    return createError("remote-protocol-error", { service: this.client.url, reason });
  }

  /** A page that is not there has no features: beyond the last one a service may say so with 404. */
  private async page(number: number): Promise<MapPage> {
    const page = await this.client.page(number).catch((error: unknown) => {
      if (number > 1 && asGeoferryError(error).code === "remote-map-missing") return emptyPage;
      throw error;
    });
    if (page === null)
      throw createError("remote-protocol-error", {
        service: this.client.url,
        reason: "it says that a page is unchanged, unasked",
      });
    return page;
  }

  private record(etag: string | null, number: number): void {
    if (number === 1) this.firstTag = etag;
    this.etags.add(etag === null ? null : weakTag(etag));
  }

  private isRepeated(features: readonly WireFeature[]): boolean {
    const hash = createHash("sha256");
    // Whatever their order.
    for (const id of features.map(({ id }) => id).sort()) hash.update(id);
    const mark = hash.digest("base64");
    if (this.seen.has(mark)) return true;
    this.seen.add(mark);
    return false;
  }
}

/** What two tags of one state have in common, be they weak or strong (RFC 9110, 8.8.3.2: weak comparison). */
const weakTag = (etag: string): string => etag.replace(/^W\//, "");

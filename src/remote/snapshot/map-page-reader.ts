import { createHash } from "node:crypto";
import { asGeoferryError, createError } from "../../errors.js";
import type { MapClient, MapPage } from "../client/map-client.js";
import { pageSize, type WireFeature } from "../wire.js";

const emptyPage: MapPage = { features: [], etag: null };

/** Concurrent page requests if the number of pages is known. */
const concurrentRequests = 4;

/** After this page, the reader requests the feature count of the map. */
const featureCountCheckPage = 200;
/** Maximum pages of a map whose feature count the service does not report. */
const maxPages = 100_000;

/**
 * Usual limits of services that return fewer features per page than they are asked for, against the interface (section 8):
 * a first page of as many may not be the last.
 */
const otherPageSizes = new Set([10, 20, 25, 50, 100, 200, 250]);

export interface NumberedPage extends MapPage {
  /** Page number, from 1. */
  readonly number: number;
}

/**
 * Reads a map once: pages in order up to the first short one (Map Features Service Interface, 4.2), so that n features
 * take ⌊n / 500⌋ + 1 requests, and one more if the first page has a usual number of features (`otherPageSizes`). Requests
 * the next page while the caller processes the current one.
 */
export class MapPageReader {
  /** Number of pages read. */
  pages = 0;
  private readonly etags = new Set<string | null>();
  private readonly seen = new Set<string>();
  private firstTag: string | null = null;
  private hasWeakTag = false;
  private mayRepeat = false;
  /** Features of a page that is not the last. */
  private fullPage: number = pageSize.max;

  /** @param knownEtag number of pages at the previous reading: up to that page, requests are sent concurrently */
  constructor(
    private readonly client: MapClient,
    private readonly knownEtag = 1,
  ) {}

  /** Whether no write can have occurred between two pages: there is one page, or all have the same entity tag. */
  get isSteady(): boolean {
    return this.pages === 1 || this.etag !== null;
  }

  /** Entity tag of the map: that of its only page, or the one that all pages share; null if there is none. */
  get etag(): string | null {
    return this.etags.size === 1 ? this.firstTag : null;
  }

  /** Whether all pages have the same strong entity tag, so that the service declares them parts of one state without repetition. */
  get isOneState(): boolean {
    return this.etag !== null && !this.hasWeakTag && !this.mayRepeat;
  }

  /**
   * Yields the pages. A service may repeat its last page beyond the end, so repeated pages are skipped, and two in a
   * row end the reading. A single one can be the result of concurrent writes.
   * @param first the first page, if it was already read
   */
  async *read(first?: MapPage): AsyncGenerator<NumberedPage> {
    const inFlight: Promise<MapPage>[] = first ? [Promise.resolve(first)] : [];
    let requestedPages = inFlight.length;
    let [repeated, pageLimit] = [0, maxPages];
    const requestNext = () => {
      const response = this.page(++requestedPages);
      // The consumer receives the failure; if an earlier page fails, no consumer awaits this one.
      response.catch(() => {});
      inFlight.push(response);
    };
    for (let number = 1; ; number++) {
      while (requestedPages < number || (requestedPages < this.knownEtag && inFlight.length < concurrentRequests))
        requestNext();
      const page = await inFlight.shift()!;
      this.pages = number;
      this.record(page, number);
      if (number === 1 && otherPageSizes.has(page.features.length)) this.fullPage = page.features.length;
      const isLast = page.features.length < this.fullPage && page.hasNext !== true;
      repeated = !isLast && this.isRepeated(page.features) ? repeated + 1 : 0;
      if (repeated === 2) return;
      if (!isLast && requestedPages === number) requestNext();
      if (repeated === 0) yield { ...page, number };
      if (isLast) return;
      if (number === featureCountCheckPage) pageLimit = await this.maxPages();
      if (number >= pageLimit) throw this.endlessPagesError(number);
    }
  }

  /** Twice the reported number, since other clients may write to the map meanwhile. */
  private async maxPages(): Promise<number> {
    const reportedCount = await this.client.pageCount?.();
    if (typeof reportedCount !== "number") return maxPages;
    return Math.max(featureCountCheckPage, Math.ceil((reportedCount * 2) / pageSize.max)) + featureCountCheckPage;
  }

  private endlessPagesError(number: number) {
    const reason = `page ${number} of map ${this.client.id} is not the last one, although the service reports far fewer features or no count`;
    return createError("remote-protocol-error", { service: this.client.url, reason });
  }

  /** Treats a missing page as empty: a service may return 404 beyond the last page. */
  private async page(number: number): Promise<MapPage> {
    const page = await this.client.page(number).catch((error: unknown) => {
      if (number > 1 && asGeoferryError(error).code === "remote-map-missing") return emptyPage;
      throw error;
    });
    if (page === null)
      throw createError("remote-protocol-error", {
        service: this.client.url,
        reason: "it returned 304 Not Modified to an unconditional request",
      });
    return page;
  }

  private record({ etag, continues = false }: MapPage, number: number): void {
    this.mayRepeat ||= continues;
    if (number === 1) this.firstTag = etag;
    this.hasWeakTag ||= etag?.startsWith("W/") ?? false;
    this.etags.add(etag === null ? null : weakTag(etag));
  }

  private isRepeated(features: readonly WireFeature[]): boolean {
    const hash = createHash("sha256");
    // Independent of the order.
    for (const id of features.map(({ id }) => id).sort()) hash.update(id);
    const digest = hash.digest("base64");
    if (this.seen.has(digest)) return true;
    this.seen.add(digest);
    return false;
  }
}

/** The common part of weak and strong tags of one state (RFC 9110, 8.8.3.2: weak comparison). */
const weakTag = (etag: string): string => etag.replace(/^W\//, "");

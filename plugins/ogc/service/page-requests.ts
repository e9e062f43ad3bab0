/** Requests for pages, some of which are sent before the page in front of them is parsed. */
import type { HttpResponse } from "../../../src/plugin/index.js";
import { type NextRequest, ReadAhead } from "../../shared/read-ahead.js";
import type { ResponseCheck } from "./service-client.js";

export interface PageRequests {
  /** As `OgcClient.request` */
  request(url: URL, accept: string, check: (response: HttpResponse) => ResponseCheck): Promise<HttpResponse>;
}

/** Parameters that say at which feature a page begins. */
const startNames = /^(offset|startindex|start)$/i;
/** After so many wrong predictions, no request is sent ahead. */
const maxWrong = 2;

/** The parameter in which two pages that follow each other differ, and by how much. */
interface Step {
  readonly name: string;
  readonly size: number;
}

/** Null unless only the start differs, so that opaque links are never guessed. */
export function stepBetween(earlier: URL, later: URL): Step | null {
  if (earlier.origin !== later.origin || earlier.pathname !== later.pathname) return null;
  const [before, after] = [earlier, later].map(({ searchParams }) => new Map(searchParams)) as [
    Map<string, string>,
    Map<string, string>,
  ];
  const changed = [...after].filter(([name, value]) => before.get(name) !== value);
  const [first, other] = changed;
  if (!first || other || [...before.keys()].some((name) => !after.has(name))) return null;
  const [name, value] = first;
  const from = before.get(name) ?? "0";
  if (!startNames.test(name) || !/^\d+$/.test(value) || !/^\d+$/.test(from)) return null;
  const size = Number(value) - Number(from);
  return size > 0 ? { name, size } : null;
}

/** Sends requests for pages ahead, as long as each page begins as far behind the one before it. */
export class AheadRequests implements PageRequests {
  private readonly ahead: ReadAhead<HttpResponse>;
  private previous: URL | null = null;
  private wrong = 0;

  /**
   * @param parallel most requests at once
   * @param expected the number of features, behind which no page begins; null: unknown, no request is sent ahead
   */
  constructor(
    private readonly requests: PageRequests,
    parallel: number,
    private readonly expected: number | null,
  ) {
    this.ahead = new ReadAhead(expected === null ? 1 : parallel);
  }

  async request(url: URL, accept: string, check: (response: HttpResponse) => ResponseCheck): Promise<HttpResponse> {
    const send = (page: URL): NextRequest<HttpResponse> => ({
      key: page.href,
      send: () => this.requests.request(page, accept, check),
    });
    const step = this.previous === null ? null : stepBetween(this.previous, url);
    const isRepeated = this.previous?.href === url.href;
    if (!isRepeated && this.ahead.hasWaiting && !this.ahead.expects(url.href)) {
      this.wrong++;
      this.ahead.drop();
    }
    this.previous = url;
    const isPredictable = step !== null && this.wrong < maxWrong;
    return this.ahead.get(send(url), () => (isPredictable ? this.following(url, step, send) : []));
  }

  private *following<T>(url: URL, { name, size }: Step, send: (page: URL) => T): Generator<T> {
    // Replaced in the text: all else stays as the service wrote it.
    const parameter = new RegExp(`([?&]${name}=)(\\d+)`);
    for (let from = Number(url.searchParams.get(name)) + size; from < this.expected!; from += size)
      yield send(new URL(url.href.replace(parameter, `$1${from}`)));
  }

  close(): Promise<void> {
    return this.ahead.close();
  }
}

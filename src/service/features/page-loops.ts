/**
 * Clients that read a map page by page, by numbers (Map Features Service Interface, 4.2). A page that follows one which
 * was read a moment ago begins where that one ended, so that features which others delete meanwhile shift nothing.
 */
import type { Bearer, PageEnd, PageEndStore, PageFacts, PageLoop, PageQuestion } from "../store/contract.js";
import { endToGoOnFrom } from "../store/page-ends.js";

/** A page as it is read in a loop. */
export interface PageInLoop {
  readonly question: PageQuestion;
  readonly page: number;
  readonly loop: PageLoop;
  /** Of the page before; null where it was not read lately. */
  readonly end: PageEnd | null;
}

export class PageLoops {
  readonly #store: PageEndStore;
  readonly #milliseconds: number;
  readonly #now: () => number;

  /** @param seconds for so long the end of a page counts */
  constructor(store: PageEndStore, seconds: number, now: () => number) {
    this.#store = store;
    this.#milliseconds = seconds * 1000;
    this.#now = now;
  }

  /** Where the page of a number begins for a client. */
  async find(map: string, size: number, page: number, { credential, expires }: Bearer): Promise<PageInLoop> {
    const loop = { map, size, credential, token: expires };
    const byNumber = { question: { map, size, page }, page, loop, end: null };
    if (page === 1) return byNumber;
    const now = this.#now();
    const ends = await this.#store.pageEnds({ loop, page: page - 1, since: now - this.#milliseconds });
    const end = endToGoOnFrom(ends, loop, now);
    return end ? { ...byNumber, question: { map, size, after: end.after }, end } : byNumber;
  }

  /** After a page was read: where the next one begins. A page alone, not the first, begins nothing. */
  async keep({ page, loop, end }: PageInLoop, facts: PageFacts, follows: number | null): Promise<void> {
    const now = this.#now();
    if (page > 1 && end === null) return;
    const isFull = facts.count === loop.size;
    if (page === 1 && !isFull) return;
    const { version, last } = facts;
    const kept = isFull && { token: loop.token, after: last!, version, isExact: follows === null, at: now };
    await this.#store.keepPageEnd({ loop, page, end: kept || null, now });
  }
}

/**
 * The place behind which a page begins where it is another one than its number alone gives in its state of the map;
 * null where it is the same.
 * @param measured version of the map at which its place was found
 */
export function placeFollowed({ page, end }: PageInLoop, facts: PageFacts, measured: string): number | null {
  if (page === 1) return null;
  if (end) return end.isExact && end.version === facts.version ? null : end.after;
  return measured === facts.version || facts.first === null ? null : facts.first - 1;
}

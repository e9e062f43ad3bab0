/**
 * Clients that read a map page by page, by numbers (Map Features Service Interface, 4.2). A page that follows one which
 * was read a moment ago begins where that one ended, so that features which others delete meanwhile shift nothing.
 */
import type {
  Bearer,
  PageMetadata,
  PageRequest,
  PaginationCursor,
  PaginationCursorStore,
  PaginationSession,
} from "../store/contract.js";
import { chooseCursor } from "../store/pagination-cursors.js";

/** A page as it is read in a loop. */
export interface TrackedPage {
  readonly request: PageRequest;
  readonly page: number;
  readonly session: PaginationSession;
  /** Of the page before; null where it was not read lately. */
  readonly end: PaginationCursor | null;
}

export class PaginationTracker {
  readonly #store: PaginationCursorStore;
  readonly #milliseconds: number;
  readonly #now: () => number;

  /** @param seconds for so long the end of a page counts */
  constructor(store: PaginationCursorStore, seconds: number, now: () => number) {
    this.#store = store;
    this.#milliseconds = seconds * 1000;
    this.#now = now;
  }

  /** Where the page of a number begins for a client. */
  async find(map: string, size: number, page: number, { credential, expires }: Bearer): Promise<TrackedPage> {
    const session = { map, size, credential, token: expires };
    const byNumber = { request: { map, size, page }, page, session, end: null };
    if (page === 1) return byNumber;
    const now = this.#now();
    const ends = await this.#store.findCursors({ loop: session, page: page - 1, since: now - this.#milliseconds });
    const end = chooseCursor(ends, session, now);
    return end ? { ...byNumber, request: { map, size, after: end.after }, end } : byNumber;
  }

  /** After a page was read: where the next one begins. A page alone, not the first, begins nothing. */
  async save({ page, session, end }: TrackedPage, facts: PageMetadata, follows: number | null): Promise<void> {
    const now = this.#now();
    if (page > 1 && end === null) return;
    const isFull = facts.count === session.size;
    if (page === 1 && !isFull) return;
    const { version, last } = facts;
    const kept = isFull && { token: session.token, after: last!, version, isExact: follows === null, at: now };
    await this.#store.saveCursor({ loop: session, page, end: kept || null, now });
  }
}

/**
 * The place behind which a page begins where it is another one than its number alone gives in its state of the map;
 * null where it is the same.
 * @param measured version of the map at which its place was found
 */
export function continuationPosition({ page, end }: TrackedPage, facts: PageMetadata, measured: string): number | null {
  if (page === 1) return null;
  if (end) return end.isExact && end.version === facts.version ? null : end.after;
  return measured === facts.version || facts.first === null ? null : facts.first - 1;
}

/**
 * Keeps pagination by page number stable (Map Features Service Interface, 4.2). A page that follows one which the same
 * client read recently starts after the last feature of that page, so that concurrent deletions shift nothing.
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

/** A page request in a pagination session. */
export interface TrackedPage {
  readonly request: PageRequest;
  readonly page: number;
  readonly session: PaginationSession;
  /** Cursor of the previous page; null if it was not read recently. */
  readonly end: PaginationCursor | null;
}

export class PaginationTracker {
  readonly #store: PaginationCursorStore;
  readonly #milliseconds: number;
  readonly #now: () => number;

  /** @param seconds lifetime of a cursor */
  constructor(store: PaginationCursorStore, seconds: number, now: () => number) {
    this.#store = store;
    this.#milliseconds = seconds * 1000;
    this.#now = now;
  }

  /** Resolves a page number to a position for this client. */
  async find(map: string, size: number, page: number, { credential, expires }: Bearer): Promise<TrackedPage> {
    const session = { map, size, credential, token: expires };
    const byNumber = { request: { map, size, page }, page, session, end: null };
    if (page === 1) return byNumber;
    const now = this.#now();
    const ends = await this.#store.findCursors({ session, page: page - 1, since: now - this.#milliseconds });
    const end = chooseCursor(ends, session, now);
    return end ? { ...byNumber, request: { map, size, after: end.after }, end } : byNumber;
  }

  /**
   * Saves the end of a page as the start of the next. A page other than the first without a known predecessor saves
   * nothing.
   */
  async save({ page, session, end }: TrackedPage, metadata: PageMetadata, startsAfter: number | null): Promise<void> {
    const now = this.#now();
    if (page > 1 && end === null) return;
    const isFull = metadata.count === session.size;
    if (page === 1 && !isFull) return;
    const { version, last } = metadata;
    const kept = isFull && { token: session.token, after: last!, version, isExact: startsAfter === null, at: now };
    await this.#store.saveCursor({ session, page, end: kept || null, now });
  }
}

/**
 * The position after which the page starts if it differs from the position that its number alone gives in this version
 * of the map; null otherwise.
 * @param measured version of the map when the page was located
 */
export function continuationPosition(
  { page, end }: TrackedPage,
  metadata: PageMetadata,
  measured: string,
): number | null {
  if (page === 1) return null;
  if (end) return end.isExact && end.version === metadata.version ? null : end.after;
  return measured === metadata.version || metadata.first === null ? null : metadata.first - 1;
}

import type { PaginationCursor, PaginationCursorStore, PaginationSession } from "./contract.js";

/** How long an older end of a page remains valid after a newer one was saved, in milliseconds. */
export const cursorOverlapMs = 5000;

/** Maximum number of cursors in memory, about 200 bytes each; the oldest are dropped. */
const maxCursors = 20_000;

/**
 * Chooses where the next page starts among the known ends of the previous page. Several clients may share a token: the
 * first of their ends makes none of them miss a feature. Ends of other tokens count only if there is none of this
 * token, since a client gets a new token each hour.
 */
export function chooseCursor(
  ends: readonly PaginationCursor[],
  { token }: PaginationSession,
  now: number,
): PaginationCursor | null {
  const own = ends.filter((end) => end.token === token);
  const known = own.length > 0 ? own : ends;
  const newest = Math.max(...known.map(({ at }) => at));
  const [first] = known
    .filter(({ at }) => at === newest || at > now - cursorOverlapMs)
    .sort((one, other) => one.after - other.after || Number(other.isExact) - Number(one.isExact));
  return first ?? null;
}

/** Cursors in memory, for a store that a single process uses. */
export class MemoryPaginationCursorStore implements PaginationCursorStore {
  /** By session without its token, and page number; the most recently changed is last. */
  readonly #ends = new Map<string, readonly PaginationCursor[]>();
  #count = 0;

  async findCursors({
    session,
    page,
    since,
  }: Parameters<PaginationCursorStore["findCursors"]>[0]): Promise<readonly PaginationCursor[]> {
    return (this.#ends.get(cursorKey(session, page)) ?? []).filter(({ at }) => at > since);
  }

  async saveCursor({ session, page, end, now }: Parameters<PaginationCursorStore["saveCursor"]>[0]): Promise<void> {
    if (page > 2) this.#forgetLast(session, page - 2);
    if (!end) {
      if (page > 1) this.#forgetLast(session, page - 1);
      return;
    }
    const name = cursorKey(session, page);
    const before = this.#ends.get(name) ?? [];
    // First pages of abandoned sessions.
    const isOver = ({ token, at }: PaginationCursor) =>
      page === 1 && token === session.token && at <= now - cursorOverlapMs;
    this.#set(name, [...before.filter((one) => !isOver(one)), end]);
    for (const oldest of this.#ends.keys()) {
      if (this.#count <= maxCursors) break;
      this.#set(oldest, []);
    }
  }

  /** Drops the furthest end among sessions with the token; the others serve each of them as well. */
  #forgetLast(session: PaginationSession, page: number): void {
    const name = cursorKey(session, page);
    const ends = this.#ends.get(name) ?? [];
    const own = ends.filter(({ token }) => token === session.token);
    if (own.length === 0) return;
    const last = own.reduce((one, other) => (other.after > one.after ? other : one));
    this.#set(
      name,
      ends.filter((end) => end !== last),
    );
  }

  #set(name: string, ends: readonly PaginationCursor[]): void {
    this.#count += ends.length - (this.#ends.get(name)?.length ?? 0);
    this.#ends.delete(name);
    if (ends.length > 0) this.#ends.set(name, ends);
  }
}

const cursorKey = ({ map, size, credential }: PaginationSession, page: number): string =>
  `${credential} ${map} ${size} ${page}`;

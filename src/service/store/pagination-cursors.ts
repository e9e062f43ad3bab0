import type { PaginationCursor, PaginationCursorStore, PaginationSession } from "./contract.js";

/** Milliseconds that the end of a page counts once a newer one of the same page number is known. */
export const cursorOverlapMs = 5000;

/** Ends that are kept in memory, of about 200 bytes each; the oldest go for new ones. */
const maxCursors = 20_000;

/**
 * Where the next page of a loop begins, of the ends that are known of the page before. Which of several loops with one
 * token asks is not known: the first of their ends is the one behind which none of them misses a feature. Ends of other
 * tokens count where there is none of the token, as a client gets a new one every hour.
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

/** Ends of pages in the memory of the one process that has the store. */
export class MemoryPaginationCursorStore implements PaginationCursorStore {
  /** By loop without its token and number of the page, the one that changed last at the end. */
  readonly #ends = new Map<string, readonly PaginationCursor[]>();
  #count = 0;

  async findCursors({
    loop,
    page,
    since,
  }: Parameters<PaginationCursorStore["findCursors"]>[0]): Promise<readonly PaginationCursor[]> {
    return (this.#ends.get(cursorKey(loop, page)) ?? []).filter(({ at }) => at > since);
  }

  async saveCursor({ loop, page, end, now }: Parameters<PaginationCursorStore["saveCursor"]>[0]): Promise<void> {
    if (page > 2) this.#forgetLast(loop, page - 2);
    if (!end) {
      if (page > 1) this.#forgetLast(loop, page - 1);
      return;
    }
    const name = cursorKey(loop, page);
    const before = this.#ends.get(name) ?? [];
    // Loops that were given up after their first page.
    const isOver = ({ token, at }: PaginationCursor) =>
      page === 1 && token === loop.token && at <= now - cursorOverlapMs;
    this.#set(name, [...before.filter((one) => !isOver(one)), end]);
    for (const oldest of this.#ends.keys()) {
      if (this.#count <= maxCursors) break;
      this.#set(oldest, []);
    }
  }

  /** Of the loops with the token, the end that is furthest on: the others are as good for each of them. */
  #forgetLast(loop: PaginationSession, page: number): void {
    const name = cursorKey(loop, page);
    const ends = this.#ends.get(name) ?? [];
    const own = ends.filter(({ token }) => token === loop.token);
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

import type { PageEnd, PageEndStore, PageLoop } from "./contract.js";

/** Milliseconds that the end of a page counts once a newer one of the same page number is known. */
export const pageEndOverlap = 5000;

/** Ends that are kept in memory, of about 200 bytes each; the oldest go for new ones. */
const most = 20_000;

/**
 * Where the next page of a loop begins, of the ends that are known of the page before. Which of several loops with one
 * token asks is not known: the first of their ends is the one behind which none of them misses a feature. Ends of other
 * tokens count where there is none of the token, as a client gets a new one every hour.
 */
export function endToGoOnFrom(ends: readonly PageEnd[], { token }: PageLoop, now: number): PageEnd | null {
  const own = ends.filter((end) => end.token === token);
  const known = own.length > 0 ? own : ends;
  const newest = Math.max(...known.map(({ at }) => at));
  const [first] = known
    .filter(({ at }) => at === newest || at > now - pageEndOverlap)
    .sort((one, other) => one.after - other.after || Number(other.isExact) - Number(one.isExact));
  return first ?? null;
}

/** Ends of pages in the memory of the one process that has the store. */
export class PageEndsInMemory implements PageEndStore {
  /** By loop without its token and number of the page, the one that changed last at the end. */
  readonly #ends = new Map<string, readonly PageEnd[]>();
  #count = 0;

  async pageEnds({ loop, page, since }: Parameters<PageEndStore["pageEnds"]>[0]): Promise<readonly PageEnd[]> {
    return (this.#ends.get(nameOf(loop, page)) ?? []).filter(({ at }) => at > since);
  }

  async keepPageEnd({ loop, page, end, now }: Parameters<PageEndStore["keepPageEnd"]>[0]): Promise<void> {
    if (page > 2) this.#forgetLast(loop, page - 2);
    if (!end) {
      if (page > 1) this.#forgetLast(loop, page - 1);
      return;
    }
    const name = nameOf(loop, page);
    const before = this.#ends.get(name) ?? [];
    // Loops that were given up after their first page.
    const isOver = ({ token, at }: PageEnd) => page === 1 && token === loop.token && at <= now - pageEndOverlap;
    this.#set(name, [...before.filter((one) => !isOver(one)), end]);
    for (const oldest of this.#ends.keys()) {
      if (this.#count <= most) break;
      this.#set(oldest, []);
    }
  }

  /** Of the loops with the token, the end that is furthest on: the others are as good for each of them. */
  #forgetLast(loop: PageLoop, page: number): void {
    const name = nameOf(loop, page);
    const ends = this.#ends.get(name) ?? [];
    const own = ends.filter(({ token }) => token === loop.token);
    if (own.length === 0) return;
    const last = own.reduce((one, other) => (other.after > one.after ? other : one));
    this.#set(
      name,
      ends.filter((end) => end !== last),
    );
  }

  #set(name: string, ends: readonly PageEnd[]): void {
    this.#count += ends.length - (this.#ends.get(name)?.length ?? 0);
    this.#ends.delete(name);
    if (ends.length > 0) this.#ends.set(name, ends);
  }
}

const nameOf = ({ map, size, credential }: PageLoop, page: number): string => `${credential} ${map} ${size} ${page}`;

import { expect, test } from "vitest";
import type { PaginationCursor } from "../../../src/service/store/contract.js";
import { chooseCursor, MemoryPaginationCursorStore } from "../../../src/service/store/pagination-cursors.js";

const session = { map: "m", size: 10, credential: "c", token: 1 };
const end = (after: number, more: Partial<PaginationCursor> = {}): PaginationCursor => ({
  token: 1,
  after,
  version: "v",
  isExact: true,
  at: 0,
  ...more,
});

test("a page continues from the first valid cursor of the token, or else of another token", () => {
  expect(chooseCursor([], session, 0)).toBeNull();
  expect(chooseCursor([end(7), end(5), end(9)], session, 0)).toEqual(end(5));
  expect(chooseCursor([end(7), end(5, { token: 2 })], session, 0)).toEqual(end(7));
  expect(chooseCursor([end(7, { token: 3 }), end(5, { token: 2 })], session, 0)).toEqual(end(5, { token: 2 }));
  expect(chooseCursor([end(5, { isExact: false }), end(5)], session, 0)).toEqual(end(5));
});

test("an older cursor is valid for five seconds after a newer one, the newest without limit", () => {
  const ends = [end(5), end(7, { at: 3000 })];
  expect(chooseCursor(ends, session, 4999)?.after).toBe(5);
  expect(chooseCursor(ends, session, 5000)?.after).toBe(7);
  expect(chooseCursor(ends, session, 60_000)?.after).toBe(7);
});

test("memory holds 20,000 cursors; those of the least recently used sessions are dropped", async () => {
  const ends = new MemoryPaginationCursorStore();
  const of = (i: number) => ({ ...session, credential: String(i) });
  for (let i = 0; i < 20_010; i++) await ends.saveCursor({ session: of(i), page: 1, end: end(i), now: 0 });
  const known = async (i: number) => (await ends.findCursors({ session: of(i), page: 1, since: -1 })).length;
  expect([await known(0), await known(9), await known(10), await known(20_009)]).toEqual([0, 0, 1, 1]);
});

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PaginationCursor, PaginationSession } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import { testTime } from "../store-fixture.js";

const newLoop = (): PaginationSession => ({
  map: randomUUID(),
  size: 10,
  credential: randomUUID(),
  token: testTime + 1,
});
const end = (after: number, more: Partial<PaginationCursor> = {}): PaginationCursor => ({
  token: testTime + 1,
  after,
  version: `1-${"0".repeat(16)}`,
  isExact: true,
  at: testTime,
  ...more,
});
const sortByPosition = (ends: readonly PaginationCursor[]) =>
  ends.map(({ after }) => after).sort((one, other) => one - other);

export function describePaginationCursors(open: OpenStore): void {
  describe("pagination cursors", () => {
    test("are found by credential, map, size and page, with any token, since a time", async () => {
      const store = await open();
      const session = newLoop();
      const other = end(30, { token: testTime + 2, isExact: false, at: testTime + 9 });
      await store.saveCursor({ session, page: 1, end: end(20), now: testTime });
      await store.saveCursor({ session: { ...session, token: testTime + 2 }, page: 1, end: other, now: testTime });
      const find = (change: Partial<PaginationSession> = {}, page = 1, since = testTime - 1) =>
        store.findCursors({ session: { ...session, ...change }, page, since });
      const found = [...(await find())].sort((one, two) => one.after - two.after);
      expect(found).toEqual([end(20), other]);
      expect(await find({}, 1, testTime)).toEqual([other]);
      for (const change of [{ map: randomUUID() }, { size: 11 }, { credential: randomUUID() }])
        expect(await find(change)).toEqual([]);
      expect(await find({}, 2)).toEqual([]);
    });

    test("are dropped two pages later, among sessions with one token the furthest first, and after the last page", async () => {
      const store = await open();
      const session = newLoop();
      const found = async (page: number) => sortByPosition(await store.findCursors({ session, page, since: 0 }));
      for (const after of [20, 24, 22]) await store.saveCursor({ session, page: 1, end: end(after), now: testTime });
      await store.saveCursor({ session: { ...session, token: 7 }, page: 1, end: end(99, { token: 7 }), now: testTime });
      await store.saveCursor({ session, page: 2, end: end(40), now: testTime });
      expect([await found(1), await found(2)]).toEqual([[20, 22, 24, 99], [40]]);
      await store.saveCursor({ session, page: 3, end: end(60), now: testTime });
      expect([await found(1), await found(2), await found(3)]).toEqual([[20, 22, 99], [40], [60]]);
      await store.saveCursor({ session, page: 4, end: null, now: testTime });
      expect([await found(1), await found(2), await found(3), await found(4)]).toEqual([[20, 22, 99], [], [], []]);
    });

    test("of a first page are dropped when it is read again some seconds later", async () => {
      const store = await open();
      const session = newLoop();
      for (const [after, at] of [
        [20, testTime],
        [21, testTime + 4000],
        [22, testTime + 6000],
      ] as const)
        await store.saveCursor({ session, page: 1, end: end(after, { at }), now: at });
      expect(sortByPosition(await store.findCursors({ session, page: 1, since: 0 }))).toEqual([21, 22]);
    });
  });
}

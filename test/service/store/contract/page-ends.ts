import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PageEnd, PageLoop } from "../../../../src/service/store/contract.js";
import type { Opening } from "../contract.js";
import { noon } from "../subject.js";

const newLoop = (): PageLoop => ({ map: randomUUID(), size: 10, credential: randomUUID(), token: noon + 1 });
const end = (after: number, more: Partial<PageEnd> = {}): PageEnd => ({
  token: noon + 1,
  after,
  version: `1-${"0".repeat(16)}`,
  isExact: true,
  at: noon,
  ...more,
});
const byPlace = (ends: readonly PageEnd[]) => ends.map(({ after }) => after).sort((one, other) => one - other);

export function describePageEnds(open: Opening): void {
  describe("ends of pages", () => {
    test("are found by credential, map, size and page, with any token, since a time", async () => {
      const store = await open();
      const loop = newLoop();
      const other = end(30, { token: noon + 2, isExact: false, at: noon + 9 });
      await store.keepPageEnd({ loop, page: 1, end: end(20), now: noon });
      await store.keepPageEnd({ loop: { ...loop, token: noon + 2 }, page: 1, end: other, now: noon });
      const find = (change: Partial<PageLoop> = {}, page = 1, since = noon - 1) =>
        store.pageEnds({ loop: { ...loop, ...change }, page, since });
      const found = [...(await find())].sort((one, two) => one.after - two.after);
      expect(found).toEqual([end(20), other]);
      expect(await find({}, 1, noon)).toEqual([other]);
      for (const change of [{ map: randomUUID() }, { size: 11 }, { credential: randomUUID() }])
        expect(await find(change)).toEqual([]);
      expect(await find({}, 2)).toEqual([]);
    });

    test("are forgotten two pages later, of loops with one token the furthest first, and behind the last page", async () => {
      const store = await open();
      const loop = newLoop();
      const found = async (page: number) => byPlace(await store.pageEnds({ loop, page, since: 0 }));
      for (const after of [20, 24, 22]) await store.keepPageEnd({ loop, page: 1, end: end(after), now: noon });
      await store.keepPageEnd({ loop: { ...loop, token: 7 }, page: 1, end: end(99, { token: 7 }), now: noon });
      await store.keepPageEnd({ loop, page: 2, end: end(40), now: noon });
      expect([await found(1), await found(2)]).toEqual([[20, 22, 24, 99], [40]]);
      await store.keepPageEnd({ loop, page: 3, end: end(60), now: noon });
      expect([await found(1), await found(2), await found(3)]).toEqual([[20, 22, 99], [40], [60]]);
      await store.keepPageEnd({ loop, page: 4, end: null, now: noon });
      expect([await found(1), await found(2), await found(3), await found(4)]).toEqual([[20, 22, 99], [], [], []]);
    });

    test("of a first page go when it is read again some seconds later", async () => {
      const store = await open();
      const loop = newLoop();
      for (const [after, at] of [
        [20, noon],
        [21, noon + 4000],
        [22, noon + 6000],
      ] as const)
        await store.keepPageEnd({ loop, page: 1, end: end(after, { at }), now: at });
      expect(byPlace(await store.pageEnds({ loop, page: 1, since: 0 }))).toEqual([21, 22]);
    });
  });
}

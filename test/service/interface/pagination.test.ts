/** Reading by page number (4.2) while others write: pages in increasing order, until one is not full. */
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, type Person, point, type TestResponse } from "../service-fixture.js";

const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, i) => point({ n: from + i }));
const numbersIn = ({ json }: TestResponse): number[] =>
  (json.features as unknown as { properties: { n: number } }[]).map(({ properties }) => properties.n);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("reading page by page", () => {
  describeOnEveryStore((service) => {
    const get = (page: number, headers = {}, as: Person = service().ann) =>
      service().send("GET", `${service().path}?per_page=10&page=${page}`, { headers, as });
    const remove = (ids: readonly string[]) => service().features("DELETE", { features: ids.map((id) => ({ id })) });
    /** Reads page by page, and pauses after each. */
    async function* loop(as?: Person): AsyncGenerator<number[]> {
      for (let page = 1; ; page++) {
        const numbers = numbersIn(await get(page, {}, as));
        yield numbers;
        if (numbers.length < 10) return;
      }
    }
    const rest = async (pages: AsyncGenerator<number[]>): Promise<number[]> => {
      const found: number[] = [];
      for await (const page of pages) found.push(...page);
      return found;
    };

    test("4.2 reading by page number returns each remaining feature once while others create and delete", async () => {
      const ids = await service().create(...numbered(95));
      const found: number[] = [];
      let turn = 0;
      for await (const page of loop()) {
        found.push(...page);
        // Features that were already read, and features still to be read.
        if (turn < 6) await remove([...ids.slice(turn * 4, turn * 4 + 4), ids[60 + turn]!]);
        if (turn < 3) await service().create(...numbered(3, 96 + 3 * turn));
        turn++;
      }
      expect(found).toEqual([...range(1, 60), ...found.filter((n) => n > 60 && n <= 66), ...range(67, 104)]);
    });

    test("4.2 reading by page number returns full pages while a synchronization replaces the whole map", async () => {
      const ids = await service().create(...numbered(30));
      const pages = loop();
      expect((await pages.next()).value).toEqual(range(1, 10));
      const kept = ids.slice(15, 20).map((id, i) => ({ ...point({ n: 16 + i }), id }));
      await service().features("PUT", { type: "FeatureCollection", features: [...kept, ...numbered(20, 101)] });
      expect((await pages.next()).value).toEqual([...range(16, 20), ...range(101, 105)]);
      expect(await rest(pages)).toEqual(range(106, 120));
    });

    test("4.2 reading by page number continues after a full last page with later features", async () => {
      const ids = await service().create(...numbered(20));
      const pages = loop();
      await pages.next();
      await pages.next();
      await remove(ids.slice(0, 5));
      await service().create(...numbered(2, 21));
      expect(await rest(pages)).toEqual([21, 22]);
    });

    test("4.2 reading by page number starts each time with the current state", async () => {
      const ids = await service().create(...numbered(45));
      for (let turn = 0; turn < 3; turn++) {
        expect(await rest(loop())).toEqual(range(1 + 5 * turn, 45));
        await remove(ids.slice(5 * turn, 5 * turn + 5));
      }
    });

    test("4.2 reading by page number misses no feature if several clients share a token", async () => {
      const ids = await service().create(...numbered(60));
      const [first, second, third] = [loop(), loop(), loop()];
      const found: number[][] = [[], [], []];
      const step = async (pages: AsyncGenerator<number[]>, into: number[]) => {
        const { value } = await pages.next();
        into.push(...((value as number[] | undefined) ?? []));
      };
      await step(first, found[0]!);
      await remove(ids.slice(0, 3));
      await step(second, found[1]!);
      await remove(ids.slice(3, 6));
      await step(third, found[2]!);
      await remove(ids.slice(6, 9));
      await step(second, found[1]!);
      await step(third, found[2]!);
      await remove(ids.slice(9, 12));
      await step(first, found[0]!);
      for (const [i, pages] of [first, third, second].entries()) found[[0, 2, 1][i]!]!.push(...(await rest(pages)));
      for (const numbers of found) expect([...new Set(numbers)].filter((n) => n > 12)).toEqual(range(13, 60));
    });

    test("4.2 a page number without a recently read predecessor is counted from the start", async () => {
      const ids = await service().create(...numbered(40));
      await get(1);
      await remove(ids.slice(0, 2));
      expect(numbersIn(await get(3))).toEqual(range(23, 32));
      expect(numbersIn(await get(2, {}, service().bob))).toEqual(range(13, 22));
      service().now += 61_000;
      expect(numbersIn(await get(2))).toEqual(range(13, 22));
    });

    test("4.2 a page can be read again", async () => {
      const ids = await service().create(...numbered(40));
      await get(1);
      await remove(ids.slice(0, 2));
      for (let i = 0; i < 3; i++) expect(numbersIn(await get(2))).toEqual(range(11, 20));
      await remove(ids.slice(2, 4));
      expect(numbersIn(await get(2))).toEqual(range(11, 20));
      expect(numbersIn(await get(3))).toEqual(range(21, 30));
    });

    test("4.2 reading by page number continues with a new token of the client", async () => {
      const { ann, store, now } = service();
      const ids = await service().create(...numbered(30));
      await get(1);
      await remove(ids.slice(0, 5));
      const token = "gft_another";
      const hash = (await import("../../../src/service/auth/secrets.js")).hashSecret(token);
      await store.addToken({ hash, credential: ann.credential, created: now, expires: now + 3600 * 1000 });
      expect(numbersIn(await get(2, {}, { ...ann, token }))).toEqual(range(11, 20));
    });

    test("4.2 a page whose start differs from its number has its own ETag (RFC 9110, 8.8.1)", async () => {
      const ids = await service().create(...numbered(30));
      const first = await get(1);
      expect((await get(2)).headers.etag).toBe(first.headers.etag);
      await get(1);
      await remove(ids.slice(0, 5));
      const shifted = await get(2);
      const byNumber = await get(2, {}, service().bob);
      expect(numbersIn(byNumber)).toEqual(range(16, 25));
      expect(shifted.headers.etag).not.toBe(byNumber.headers.etag);
      expect(shifted.headers.etag).toContain(byNumber.headers.etag!.slice(1, -1));
      expect((await get(2, { "if-none-match": shifted.headers.etag })).status).toBe(304);
      const other = await get(2, { "if-none-match": byNumber.headers.etag });
      expect([other.status, numbersIn(other)]).toEqual([200, range(11, 20)]);
      expect((await get(2, { "if-none-match": byNumber.headers.etag }, service().bob)).status).toBe(304);
      // The tag denotes the same state of the map as the other.
      const change = { features: [{ id: ids[7], properties: { n: 8, more: true } }] };
      const sent = { headers: { "if-match": shifted.headers.etag! } };
      expect((await service().features("PATCH", change, sent)).status).toBe(200);
      expect((await service().features("PATCH", change, sent)).status).toBe(412);
    });

    test("4.2 reading by page number continues after pages that return 304", async () => {
      const ids = await service().create(...numbered(35));
      const tags: string[] = [];
      for (const page of [1, 2, 3, 4]) tags.push((await get(page)).headers.etag!);
      for (const page of [1, 2]) expect((await get(page, { "if-none-match": tags[page - 1] })).status).toBe(304);
      await remove(ids.slice(0, 5));
      expect(numbersIn(await get(3, { "if-none-match": tags[2] }))).toEqual(range(21, 30));
    });

    test("4.2 the Link header continues where the page ended", async () => {
      const ids = await service().create(...numbered(30));
      await get(1);
      await remove(ids.slice(0, 5));
      const { link = "" } = (await get(2)).headers;
      const next = new URL(/^<([^>]+)>; rel="next"$/.exec(link)![1]!);
      expect(numbersIn(await service().send("GET", next.pathname + next.search))).toEqual(range(21, 30));
      expect((await service().send("HEAD", `${service().path}?per_page=10&page=2`)).headers.link).toBe(link);
    });

    test("4.2 reading by page number returns 404 after the map was deleted", async () => {
      await service().create(...numbered(30));
      await get(1);
      await service().send("DELETE", `/api/v1/maps/${service().map}`);
      expect((await get(2)).status).toBe(404);
    });
  });
});

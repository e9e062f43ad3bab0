/** Map Features Service Interface, section 4.2: reading the features of a map. */
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point, type TestResponse } from "../service-fixture.js";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => point({ n: i + 1 }));

const numbersOf = ({ json }: TestResponse): number[] =>
  (json.features as unknown as { properties: { n: number } }[]).map(({ properties }) => properties.n);

describe("reading", () => {
  describeOnEveryStore((service) => {
    const get = (query = "", headers = {}) => service().send("GET", service().path + query, { headers });
    const nextOf = ({ headers }: TestResponse): string | undefined =>
      /^<([^>]+)>; rel="next"$/.exec(headers.link ?? "")?.[1];

    test("4.2 GET returns the first 200 features by creation time by default", async () => {
      await service().create(...numbered(201));
      const answer = await get();
      expect(numbersOf(answer)).toEqual(numbered(200).map(({ properties }) => (properties as { n: number }).n));
      expect(numbersOf(await get("?page=2"))).toEqual([201]);
    });

    test("4.2 GET returns pages of the requested size", async () => {
      await service().create(...numbered(5));
      expect(numbersOf(await get("?per_page=2"))).toEqual([1, 2]);
      expect(numbersOf(await get("?per_page=2&page=2"))).toEqual([3, 4]);
      expect(numbersOf(await get("?page=3&per_page=2"))).toEqual([5]);
      // Forms send empty fields like this.
      expect(numbersOf(await get("?page=&per_page="))).toEqual(numbersOf(await get()));
    });

    test("4.2 GET returns up to 500 features per page", async () => {
      await service().create(...numbered(501));
      expect(numbersOf(await get("?per_page=500"))).toHaveLength(500);
    });

    test.each(["0", "501", "-1", "1.5", "1e2", "x", "%2B1", "1&per_page=2", "9999999999999999999999"])(
      "4.2 GET rejects per_page=%s instead of clamping it",
      async (text) => {
        const { status, json } = await get(`?per_page=${text}`);
        expect([status, json.code]).toEqual([400, "bad-query"]);
      },
    );

    test.each(["0", "-1", "1.5", "x", "1&page=2"])("4.2 GET rejects page=%s", async (text) => {
      const { status, json } = await get(`?page=${text}`);
      expect([status, json.code]).toEqual([400, "bad-query"]);
    });

    test("4.2 GET returns no features on a page after the last one", async () => {
      await service().create(point());
      for (const page of ["2", "3", "9007199254740991", "99999999999999999999999999"]) {
        const { status, text } = await get(`?page=${page}`);
        expect([status, text]).toEqual([200, '{"type":"FeatureCollection","features":[]}']);
      }
    });

    test("4.2 GET returns each feature once in pages of increasing number until one is not full", async () => {
      await service().create(...numbered(7));
      const found: number[] = [];
      for (let page = 1; ; page++) {
        const numbers = numbersOf(await get(`?per_page=3&page=${page}`));
        found.push(...numbers);
        if (numbers.length < 3) break;
      }
      expect(found).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    test("4.2 GET keeps the order when features are updated and deleted", async () => {
      const ids = await service().create(...numbered(4));
      await service().features("PATCH", { features: [{ id: ids[0], properties: { n: 10 } }] });
      await service().features("DELETE", { features: [{ id: ids[1] }] });
      await service().create(point({ n: 5 }));
      expect(numbersOf(await get())).toEqual([10, 3, 4, 5]);
      expect(numbersOf(await get("?per_page=2&page=2"))).toEqual([4, 5]);
    });

    test("4.2 GET links to the next page, except on the last one", async () => {
      await service().create(...numbered(5));
      const first = await get("?per_page=2", { host: "maps.example.org" });
      const next = nextOf(first)!;
      expect(next).toMatch(new RegExp(`^http://maps\\.example\\.org${service().path}\\?after=\\d+&per_page=2$`));
      const second = await service().send("GET", next.replace("http://maps.example.org", ""));
      expect(numbersOf(second)).toEqual([3, 4]);
      const third = await service().send("GET", new URL(nextOf(second)!).pathname + new URL(nextOf(second)!).search);
      expect(numbersOf(third)).toEqual([5]);
      expect(nextOf(third)).toBeUndefined();
    });

    test("4.2 GET links to a next page that concurrent writes do not shift", async () => {
      const ids = await service().create(...numbered(4));
      const next = new URL(nextOf(await get("?per_page=2"))!);
      await service().features("DELETE", { features: [{ id: ids[0] }] });
      expect(numbersOf(await service().send("GET", next.pathname + next.search))).toEqual([3, 4]);
    });

    test.each(["after=-1", "after=x", "after=1&page=1"])("4.2 GET rejects an invalid position: %s", async (query) => {
      expect((await get(`?${query}`)).status).toBe(400);
    });

    test("4.2 GET ignores unknown parameters", async () => {
      expect((await get("?colour=red&__proto__=1&constructor=2")).status).toBe(200);
    });

    test("4.2 GET returns the same ETag until something changes, and 304 for a matching If-None-Match (RFC 9110, 13.1.2)", async () => {
      const empty = (await get()).headers.etag!;
      expect(empty).toMatch(/^"[^"]+"$/);
      expect((await get("?page=2")).headers.etag).toBe(empty);
      const [id] = await service().create(point({ a: 1 }));
      const one = await get("", { "if-none-match": empty });
      expect([one.status, one.headers.etag === empty]).toEqual([200, false]);
      const again = await get("", { "if-none-match": `W/"x", ${one.headers.etag}` });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, "", one.headers.etag]);
      expect((await get("", { "if-none-match": "*" })).status).toBe(304);
      await service().features("PATCH", { features: [{ id, properties: { a: 1 } }] });
      expect((await get("", { "if-none-match": one.headers.etag })).status).toBe(304);
    });

    test("4.2 GET with If-Match reads only that version (RFC 9110, 13.1.1)", async () => {
      const { etag } = (await get()).headers;
      expect((await get("", { "if-match": etag })).status).toBe(200);
      await service().create(point());
      const { status, json, headers } = await get("", { "if-match": etag });
      expect([status, json.code]).toEqual([412, "precondition-failed"]);
      expect(headers.etag).toBe((await get()).headers.etag);
    });

    test("4.2 GET compresses responses on request, with a separate ETag (RFC 9110, 8.8.3.3)", async () => {
      await service().create(...numbered(50));
      const plain = await get("", { "accept-encoding": "identity" });
      const small = await get("", { "accept-encoding": "br, gzip;q=0.5" });
      expect(small.headers).toMatchObject({
        "content-encoding": "gzip",
        vary: expect.stringMatching(/accept-encoding/i),
      });
      expect(small.bytes.length).toBeLessThan(plain.bytes.length / 4);
      expect(gunzipSync(small.bytes)).toEqual(plain.bytes);
      expect(plain.headers.vary).toMatch(/accept-encoding/i);
      expect(small.headers.etag).not.toBe(plain.headers.etag);
      for (const tag of [small.headers.etag, plain.headers.etag]) {
        expect((await get("", { "if-none-match": tag, "accept-encoding": "gzip" })).status).toBe(304);
        const written = await service().features("PATCH", { features: [] }, { headers: { "if-match": tag! } });
        expect(written.status).toBe(200);
      }
    });

    test.each(["br", "zstd", "deflate"])(
      "4.2 an ETag with a suffix appended by a proxy is accepted",
      async (coding) => {
        await service().create(point());
        const etag = (await get()).headers.etag!.replace(/"$/, `-${coding}"`);
        expect((await get("", { "if-none-match": etag })).status).toBe(304);
        const change = { features: [point({ changed: coding })] };
        const { status } = await service().features("PUT", change, { headers: { "if-match": etag } });
        expect(status).toBe(200);
        const again = await service().features("PUT", change, { headers: { "if-match": etag } });
        expect(again.status).toBe(412);
      },
    );

    test("4.2 HEAD returns the headers of GET without the body", async () => {
      await service().create(point());
      const whole = await get();
      const head = await service().send("HEAD", service().path);
      expect([head.status, head.text]).toEqual([200, ""]);
      expect(head.headers).toMatchObject({
        etag: whole.headers.etag,
        "content-type": "application/geo+json",
        "content-length": String(whole.bytes.length),
      });
    });

    test("4.2 GET responses may only be cached privately and must be revalidated", async () => {
      expect((await get()).headers["cache-control"]).toBe("private, no-cache");
    });
  });
});

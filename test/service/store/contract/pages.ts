import { randomUUID } from "node:crypto";
import { mkdtemp, open as openFile, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Store } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import {
  decodeText,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  parseFeatures,
  readAllByCursor,
  readAllByNumber,
  writeOrFail,
} from "../store-fixture.js";

const refs = (features: readonly { readonly properties: Readonly<Record<string, unknown>> }[]) =>
  features.map(({ properties }) => properties.ref);

/** Creates features whose `ref` is their number, a thousand per request. */
async function fill(store: Store, map: string, count: number, from = 0): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1000) {
    const request = makeWriteRequest(map, "create", numberedFeatures(Math.min(1000, count - i), from + i));
    ids.push(...(await writeOrFail(store, request)).success.map(({ id }) => id));
  }
  return ids;
}

async function remove(store: Store, map: string, ids: readonly string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += 1000) {
    const named = ids.slice(i, i + 1000).map((id) => ({ id }));
    await writeOrFail(store, makeWriteRequest(map, "delete", named));
  }
}

export function describePages(open: OpenStore): void {
  describe("pages", () => {
    test("return the texts of features as stored, byte by byte", async () => {
      const store = await open();
      const map = await insertMap(store);
      const id = randomUUID();
      const geometry = '{"type":"Point","coordinates":[-0.1,1e-7,12.50]}';
      const properties =
        '{"b":1,"a":"\\u0001 \\"quoted\\" \\\\ é \u{1f5fa} \u2028","__proto__":{"x":[]},"constructor":null,"":1e+21}';
      const stub = randomUUID();
      const request = makeWriteRequest(map, "synchronize", [{ id }, { id: stub }]);
      const items = request.items.map((item) => ({ ...item, geometry: "null", properties: "{}" }));
      items[0] = { ...items[0]!, geometry, properties };
      await writeOrFail(store, { ...request, items });
      const page = (await store.page({ map, size: 500, page: 1 }))!;
      expect(decodeText(page.text)).toBe(
        `{"type":"Feature","id":"${id}","geometry":${geometry},"properties":${properties}},` +
          `{"type":"Feature","id":"${stub}","geometry":null,"properties":{}}`,
      );
      expect(page).toMatchObject({ count: 2, more: false, revision: 1 });
    });

    test("of an empty map and after the last one are empty", async () => {
      const store = await open();
      const map = await insertMap(store);
      const empty = (revision: number) => ({ count: 0, last: null, more: false, revision });
      for (const range of [{ page: 1 }, { page: 7 }, { after: 0 }]) {
        const page = (await store.page({ map, size: 10, ...range }))!;
        expect(page).toMatchObject(empty(0));
        expect(page.text).toHaveLength(0);
      }
      await fill(store, map, 20);
      for (const range of [{ page: 3 }, { page: Number.MAX_SAFE_INTEGER }, { after: 1e9 }, { after: 2 ** 40 }]) {
        expect(await store.page({ map, size: 10, ...range })).toMatchObject(empty(1));
      }
      expect(await store.page({ map: randomUUID(), size: 10, page: 1 })).toBeNull();
    });

    test("report whether more features follow, and continue after their end", async () => {
      const store = await open();
      const map = await insertMap(store);
      await fill(store, map, 25);
      const first = (await store.page({ map, size: 10, page: 1 }))!;
      expect(first).toMatchObject({ count: 10, more: true });
      const second = (await store.page({ map, size: 10, after: first.last! }))!;
      expect(second).toEqual(await store.page({ map, size: 10, page: 2 }));
      expect(second.more).toBe(true);
      expect(await store.page({ map, size: 10, page: 3 })).toMatchObject({ count: 5, more: false });
      expect(await store.page({ map, size: 5, page: 5 })).toMatchObject({ count: 5, more: false });
      expect(await store.page({ map, size: 25, page: 1 })).toMatchObject({ count: 25, more: false });
    });

    test("of one map contain nothing of adjacent maps", async () => {
      const store = await open();
      const maps = [await insertMap(store), await insertMap(store), await insertMap(store)];
      for (const [i, map] of maps.entries()) await fill(store, map, 30, 100 * i);
      for (const [i, map] of maps.entries()) {
        expect(refs(await readAllByCursor(store, map, 7))).toEqual(Array.from({ length: 30 }, (_, k) => 100 * i + k));
        expect(refs(await readAllByNumber(store, map, 7))).toEqual(Array.from({ length: 30 }, (_, k) => 100 * i + k));
      }
    });

    test("at any depth equal those of a full scan, after deletions across the map", async () => {
      const store = await open();
      const map = await insertMap(store);
      const ids = await fill(store, map, 5200);
      // All of one bucket of 1024, most of another, every third of the rest, and the first and the last.
      const isRemoved = (i: number) =>
        i === 0 || i === 5199 || (i >= 1023 && i < 2047) || (i >= 2100 && i < 3000) || (i > 3000 && i % 3 === 0);
      await remove(
        store,
        map,
        ids.filter((_, i) => isRemoved(i)),
      );
      await fill(store, map, 300, 5200);
      const expected = Array.from({ length: 5500 }, (_, i) => i).filter((i) => i >= 5200 || !isRemoved(i));
      expect(refs(await readAllByCursor(store, map))).toEqual(expected);
      expect((await store.map(map))?.features).toBe(expected.length);
      for (const size of [1, 7, 200, 500]) {
        const pages = Math.ceil(expected.length / size);
        const asked = size > 7 ? Array.from({ length: pages + 1 }, (_, i) => i + 1) : [1, 2, pages - 1, pages, 1000];
        for (const number of asked) {
          const page = (await store.page({ map, size, page: number }))!;
          const wanted = expected.slice((number - 1) * size, number * size);
          expect(refs(parseFeatures(page.text))).toEqual(wanted);
          expect(page).toMatchObject({ count: wanted.length, more: number * size < expected.length });
        }
      }
    });

    test("above 256 MiB are rejected, with advice to request smaller ones", async () => {
      const store = await open();
      const map = await insertMap(store);
      const fitting = 26;
      const properties = JSON.stringify({ text: "x".repeat(10_000_000) });
      for (let i = 0; i <= fitting; i++) {
        const request = makeWriteRequest(map, "create", [{ geometry: null }]);
        await writeOrFail(store, { ...request, items: [{ ...request.items[0]!, properties }] });
      }
      // 27 features of 10,000,000 bytes exceed 268,435,456 bytes; 26 do not.
      for (const range of [{ page: 1 }, { after: 0 }]) {
        const asked = store.page({ map, size: 500, ...range });
        await expect(asked).rejects.toMatchObject({ code: "bad-query", message: expect.stringContaining("per_page") });
      }
      expect(await store.page({ map, size: fitting, page: 1 })).toMatchObject({ count: fitting, more: true });
    }, 60_000);

    test("that are too large for memory are spooled to a file, byte by byte as otherwise", async () => {
      const store = await open();
      const map = await insertMap(store);
      // Chunks of many features, a feature larger than a chunk, and one that ends with it.
      const sizes = [10, 1_000_000, 100, 3_000_000, 1 << 20, 5, 700_000, 700_000];
      const request = makeWriteRequest(map, "create", numberedFeatures(sizes.length));
      const items = request.items.map((item, i) => ({
        ...item,
        properties: JSON.stringify({ text: "é".repeat(sizes[i]! / 2) }),
      }));
      await writeOrFail(store, { ...request, items });
      const whole = (await store.page({ map, size: 500, page: 1 }))!;
      expect(whole.text.length).toBe(whole.bytes);
      const { text, ...facts } = (await store.page({ map, size: 500, page: 1, maxBytes: whole.bytes - 1 }))!;
      expect(text).toHaveLength(0);
      expect(facts).toMatchObject({ count: 8, bytes: whole.bytes, first: whole.first, last: whole.last });
      const fitting = (await store.page({ map, size: 500, page: 1, maxBytes: whole.bytes }))!;
      expect(Buffer.compare(fitting.text, whole.text)).toBe(0);

      const folder = await mkdtemp(join(tmpdir(), "geoferry-test-"));
      const file = await openFile(join(folder, "page"), "wx+");
      const range = { map, size: 500, after: facts.first! - 1, maxBytes: whole.bytes };
      expect(await store.spool({ ...range, maxBytes: whole.bytes - 1 }, file.fd)).toEqual(facts);
      expect((await file.stat()).size).toBe(0);
      expect(await store.spool(range, file.fd)).toEqual(facts);
      expect(Buffer.compare(await readFile(join(folder, "page")), whole.text)).toBe(0);
      expect(await store.spool({ ...range, after: facts.last! }, file.fd)).toMatchObject({ count: 0, bytes: 0 });
      expect(await store.spool({ ...range, map: randomUUID() }, file.fd)).toBeNull();
      await file.close();
      await rm(folder, { recursive: true });
    });

    test("keep the creation order when features change", async () => {
      const store = await open();
      const map = await insertMap(store);
      const ids = await fill(store, map, 50);
      await writeOrFail(store, makeWriteRequest(map, "update", [{ id: ids[40]!, properties: { ref: "later" } }]));
      await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: ids[3]! }]));
      await fill(store, map, 1, 50);
      const order = (await readAllByCursor(store, map, 9)).map(({ id }) => id);
      expect(order.slice(0, -1)).toEqual(ids.filter((_, i) => i !== 3));
      expect(order).toHaveLength(50);
    });
  });
}

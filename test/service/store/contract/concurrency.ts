import { describe, expect, test } from "vitest";
import type { OpenStore } from "../contract.js";
import {
  type DoneOutcome,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  parseFeatures,
  readAllByCursor,
  readAllByNumber,
  writeOrFail,
} from "../store-fixture.js";

export function describeConcurrency(open: OpenStore): void {
  describe("concurrent writes to one map", () => {
    test("are serialized: each revision is returned once, and nothing is lost", async () => {
      const store = await open();
      const map = await insertMap(store);
      const requests = Array.from({ length: 24 }, (_, i) =>
        makeWriteRequest(map, "create", numberedFeatures(20, 100 * i)),
      );
      const outcomes = await Promise.all(requests.map((request) => writeOrFail(store, request)));
      const revisions = outcomes.map(({ revision }) => revision).sort((a, b) => a - b);
      expect(revisions).toEqual(requests.map((_, i) => i + 1));
      const stored = await readAllByCursor(store, map);
      expect(stored).toHaveLength(24 * 20);
      expect(await readAllByNumber(store, map, 50)).toEqual(stored);
      // By revision, each complete.
      const inOrder = [...outcomes].sort((a, b) => a.revision - b.revision);
      expect(stored.map(({ id }) => id)).toEqual(inOrder.flatMap(({ success }) => success.map(({ id }) => id)));
    });

    test("that replace everything leave the content of one of them", async () => {
      const store = await open();
      const map = await insertMap(store);
      const put = (i: number) =>
        makeWriteRequest(
          map,
          "synchronize",
          Array.from({ length: 30 }, (_, ref) => ({
            geometry: null,
            properties: { ref: `${ref % (i + 1)}/${ref}`, by: i },
          })),
          { remoteField: "ref" },
        );
      const outcomes: DoneOutcome[] = await Promise.all(
        Array.from({ length: 12 }, (_, i) => i).map((i) => writeOrFail(store, put(i))),
      );
      const last = outcomes.reduce((a, b) => (a.revision > b.revision ? a : b));
      const stored = await readAllByCursor(store, map);
      expect(new Set(stored.map(({ properties }) => properties.by))).toEqual(new Set([outcomes.indexOf(last)]));
      expect(stored).toHaveLength(30);
    });

    test("with the same required version succeed only once", async () => {
      const store = await open();
      const map = await insertMap(store);
      const { version } = (await store.map(map))!;
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () =>
          store.write(makeWriteRequest(map, "create", numberedFeatures(1), { versions: [version] })),
        ),
      );
      expect(outcomes.filter(({ kind }) => kind === "done")).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === "other-version")).toHaveLength(7);
    });

    test("are visible to concurrent reads completely or not at all", async () => {
      const store = await open();
      const map = await insertMap(store);
      const put = (by: number) =>
        makeWriteRequest(
          map,
          "synchronize",
          numberedFeatures(300).map((one) => ({ ...one, properties: { ref: one.properties, by } })),
        );
      await writeOrFail(store, put(0));
      let writes = true;
      const writer = (async () => {
        for (let by = 1; by <= 12; by++) await writeOrFail(store, put(by));
        writes = false;
      })();
      const seen = new Map<number, unknown>();
      while (writes) {
        const page = (await store.page({ map, size: 500, page: 1 }))!;
        const authors = new Set(parseFeatures(page.text).map(({ properties }) => properties.by));
        expect(page.count).toBe(300);
        expect(authors.size).toBe(1);
        const [author] = authors;
        if (seen.has(page.revision)) expect(seen.get(page.revision)).toBe(author);
        seen.set(page.revision, author);
      }
      await writer;
    });
  });
}

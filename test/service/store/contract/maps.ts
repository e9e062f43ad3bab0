import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { MapListRequest } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import {
  insertAccount,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  parseFeatures,
  readAllByCursor,
  testTime,
  writeOrFail,
} from "../store-fixture.js";

export function describeMaps(open: OpenStore): void {
  describe("maps", () => {
    test("start empty, at revision 0", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const id = randomUUID();
      await store.addMap({ id, owner: ada, name: "Orte", private: true, created: testTime });
      expect(await store.map(id)).toEqual({
        id,
        owner: ada,
        ownerEmail: "ada@example.org",
        ownerName: "",
        name: "Orte",
        private: true,
        created: testTime,
        features: 0,
        revision: 0,
        version: expect.stringMatching(/^0-[0-9a-f]{16}$/),
      });
      expect(await store.map(randomUUID())).toBeNull();
    });

    test("are listed by the bytes of their names, then by id: own maps, and readable ones of others", async () => {
      const store = await open();
      const [ada, bob] = [await insertAccount(store, "ada"), await insertAccount(store, "bob")];
      const add = async (owner: string, name: string, hidden: boolean) => {
        const id = randomUUID();
        await store.addMap({ id, owner, name, private: hidden, created: testTime });
        return id;
      };
      const hers = [await add(ada, "b", true), await add(ada, "Z", false)];
      const [shared, hidden] = [await add(bob, "ä", false), await add(bob, "a", true)];
      const twins = [await add(ada, "a", true), await add(ada, "a", true)].sort();
      const listed = async (account: string, scope: MapListRequest["scope"]) =>
        (await store.maps({ account, scope })).map(({ id }) => id);
      expect(await listed(ada, "own")).toEqual([hers[1], ...twins, hers[0]]);
      expect(await listed(ada, "others")).toEqual([shared]);
      expect(await listed(ada, "readable")).toEqual([hers[1], ...twins, hers[0], shared]);
      expect(await listed(bob, "readable")).toEqual([hers[1], hidden, shared]);
      expect(await listed(randomUUID(), "readable")).toEqual([hers[1], shared]);
    });

    test("are at most as many per account as the limit says", async () => {
      const store = await open();
      const [ada, bob] = [await insertAccount(store, "ada"), await insertAccount(store, "bob")];
      const add = (owner: string, limit: number) =>
        store.addMap({ id: randomUUID(), owner, name: "a", private: true, created: testTime, limit });
      expect(await add(ada, 2)).toBe(true);
      expect(await add(ada, 2)).toBe(true);
      expect(await add(ada, 2)).toBe(false);
      expect(await add(bob, 2)).toBe(true);
      expect(await add(ada, 3)).toBe(true);
      expect(await store.maps({ account: ada, scope: "own" })).toHaveLength(3);
    });

    test("are listed in parts, by the number of maps to skip or after a position", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const ids: string[] = [];
      for (const name of ["a", "b", "b", "b", "ä"]) ids.push(await insertMap(store, ada, name));
      const all = await store.maps({ account: ada, scope: "own" });
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids));
      const part = (question: object) => store.maps({ account: ada, scope: "readable", ...question });
      expect(await part({ size: 2 })).toEqual(all.slice(0, 2));
      expect(await part({ size: 2, skip: 3 })).toEqual(all.slice(3));
      expect(await part({ size: 2, skip: 5 })).toEqual([]);
      for (const [i, after] of all.entries()) {
        expect(await part({ size: 2, after })).toEqual(all.slice(i + 1, i + 3));
      }
      // The position stays valid after its map is deleted.
      await store.deleteMap(all[1]!.id);
      expect(await part({ after: all[1] })).toEqual(all.slice(2));
    });

    test("never have the same version twice, although revisions repeat after a restore from a backup", async () => {
      const store = await open();
      const [one, other] = [await insertMap(store), await insertMap(store)];
      const versions = [];
      for (const id of [one, other]) {
        versions.push((await store.map(id))!.version);
        const { revision, version } = await writeOrFail(store, makeWriteRequest(id, "create", numberedFeatures(1)));
        expect([revision, version]).toEqual([1, (await store.map(id))!.version]);
        expect((await store.page({ map: id, size: 1, page: 1 }))!.version).toBe(version);
        versions.push(version, (await store.changeMap({ id, name: "Lieux" }))!.version);
      }
      expect(versions.map((version) => version.split("-")[0])).toEqual(["0", "1", "2", "0", "1", "2"]);
      expect(new Set(versions).size).toBe(6);
    });

    test("increment their revision with each change only", async () => {
      const store = await open();
      const id = await insertMap(store);
      expect(await store.changeMap({ id, name: "Lieux", private: true })).toMatchObject({
        name: "Lieux",
        private: true,
        revision: 1,
      });
      expect(await store.changeMap({ id, name: "Lieux" })).toMatchObject({ private: true, revision: 1 });
      expect(await store.changeMap({ id, private: false })).toMatchObject({ name: "Lieux", revision: 2 });
      expect(await store.changeMap({ id })).toMatchObject({ private: false, revision: 2 });
      expect(await store.changeMap({ id: randomUUID(), name: "x" })).toBeNull();
    });

    test("are deleted with all their data, and leave others unchanged", async () => {
      const store = await open();
      const ada = await insertAccount(store);
      const [gone, next] = [await insertMap(store, ada), await insertMap(store, ada)];
      const upsert = { remoteField: "ref" } as const;
      await writeOrFail(store, makeWriteRequest(gone, "upsert", numberedFeatures(30), upsert));
      await writeOrFail(store, makeWriteRequest(next, "upsert", numberedFeatures(30), upsert));
      expect(await store.deleteMap(gone)).toBe(true);
      expect(await store.deleteMap(gone)).toBe(false);
      expect(await store.map(gone)).toBeNull();
      expect(await store.page({ map: gone, size: 10, page: 1 })).toBeNull();
      expect(await store.page({ map: gone, size: 10, after: 0 })).toBeNull();
      expect(await store.write(makeWriteRequest(gone, "create", numberedFeatures(1)))).toEqual({ kind: "no-map" });
      expect((await readAllByCursor(store, next)).map(({ properties }) => properties.ref)).toEqual(
        numberedFeatures(30).map((_, i) => i),
      );
      // The next map does not contain remains of the previous one.
      const fresh = await insertMap(store, ada);
      expect(
        (await writeOrFail(store, makeWriteRequest(fresh, "upsert", numberedFeatures(3), upsert))).success,
      ).toMatchObject([{ what: "created" }, { what: "created" }, { what: "created" }]);
      expect(parseFeatures((await store.page({ map: fresh, size: 10, page: 1 }))!.text)).toHaveLength(3);
    });
  });
}

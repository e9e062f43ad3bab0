import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createMapVersion } from "../../../../src/service/store/map-version.js";
import type { OpenStore } from "../contract.js";
import {
  type DoneOutcome,
  type FeatureInput,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  readAllByCursor,
  writeOrFail,
} from "../store-fixture.js";

const nil = "00000000-0000-0000-0000-000000000000";
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const point = (x: number) => ({ type: "Point", coordinates: [x, 1] });
const named = (id: string, title: string, x = 1): FeatureInput => ({ id, geometry: point(x), properties: { title } });
const wrong = { path: "geometry.coordinates[1]", message: "The latitude is 95." };

const whats = ({ success }: DoneOutcome) => success.map(({ index, what }) => `${index} ${what}`);
const failures = (outcome: { readonly failed: DoneOutcome["failed"] }) =>
  outcome.failed.map(({ index, id }) => [index, id]);

export function describeWrites(open: OpenStore): void {
  describe("POST", () => {
    test("creates each feature with an id of version 7, ignoring ids in the request, and increments the revision once", async () => {
      const store = await open();
      const map = await insertMap(store);
      const sent = randomUUID();
      const outcome = await writeOrFail(
        store,
        makeWriteRequest(map, "create", [named(sent, "a"), named(sent, "b"), {}]),
      );
      expect(outcome).toMatchObject({ failed: [], deleted: 0, revision: 1, replayed: false });
      expect(whats(outcome)).toEqual(["0 created", "1 created", "2 created"]);
      const stored = await readAllByCursor(store, map);
      expect(stored.map(({ id }) => id)).toEqual(outcome.success.map(({ id }) => id));
      for (const { id } of stored) expect(id).toMatch(uuid7);
      expect(stored[2]).toMatchObject({ geometry: null, properties: {} });
      expect(await store.map(map)).toMatchObject({ features: 3, revision: 1 });
    });

    test("creates the valid features of a request and reports the others by index", async () => {
      const store = await open();
      const map = await insertMap(store);
      const id = randomUUID();
      const outcome = await writeOrFail(
        store,
        makeWriteRequest(map, "create", [
          { failure: wrong },
          named(id, "good"),
          { id, failure: { path: "", message: "None." } },
        ]),
      );
      expect(whats(outcome)).toEqual(["1 created"]);
      expect(outcome.failed).toEqual([
        { index: 0, id: nil, ...wrong },
        { index: 2, id, path: "", message: "None." },
      ]);
    });

    test("changes nothing if all features fail", async () => {
      const store = await open();
      const map = await insertMap(store);
      const outcome = await writeOrFail(store, makeWriteRequest(map, "create", [{ failure: wrong }]));
      expect(outcome).toMatchObject({ success: [], revision: 0 });
      expect(await store.map(map)).toMatchObject({ features: 0, revision: 0 });
    });
  });

  describe("PUT", () => {
    test("creates, updates and deletes by id; an unknown id is used for the new feature", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(b, "b")]));
      const outcome = await writeOrFail(
        store,
        makeWriteRequest(map, "synchronize", [
          named(c, "c"),
          named(b, "b, changed", 7),
          { properties: { title: "new" } },
        ]),
      );
      expect(whats(outcome)).toEqual(["0 created", "1 updated", "2 created"]);
      expect(outcome).toMatchObject({ deleted: 1, revision: 2 });
      expect((await readAllByCursor(store, map)).map(({ id, properties }) => [id, properties.title])).toEqual([
        [b, "b, changed"],
        [c, "c"],
        [outcome.success[2]!.id, "new"],
      ]);
      expect((await readAllByCursor(store, map))[0]!.geometry).toEqual(point(7));
    });

    test("changes neither features nor revision if repeated", async () => {
      const store = await open();
      const map = await insertMap(store);
      const request = makeWriteRequest(map, "synchronize", [named(randomUUID(), "a"), named(randomUUID(), "b")]);
      await writeOrFail(store, request);
      const again = await writeOrFail(store, request);
      expect(whats(again)).toEqual(["0 updated", "1 updated"]);
      expect(again).toMatchObject({ deleted: 0, revision: 1 });
      expect((await store.map(map))?.revision).toBe(1);
    });

    test("of no features empties the map once", async () => {
      const store = await open();
      const map = await insertMap(store);
      await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1000)));
      const empty = makeWriteRequest(map, "synchronize", [], { remoteField: "ref" });
      expect(await writeOrFail(store, empty)).toMatchObject({ deleted: 1000, revision: 2, success: [], failed: [] });
      expect(await writeOrFail(store, empty)).toMatchObject({ deleted: 0, revision: 2 });
      expect(await readAllByCursor(store, map)).toEqual([]);
      await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(2)));
      expect(await store.page({ map, size: 1, page: 2 })).toMatchObject({ count: 1, more: false });
    });

    test("keeps the stored feature of a failed one", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(b, "b"), named(c, "c")]));
      const request = makeWriteRequest(map, "synchronize", [
        { id: a, failure: wrong },
        named(c, "c2"),
        { failure: wrong },
      ]);
      const outcome = await writeOrFail(store, request);
      expect(whats(outcome)).toEqual(["1 updated"]);
      expect(outcome.deleted).toBe(1);
      expect(outcome.failed).toEqual([
        { index: 0, id: a, ...wrong },
        { index: 2, id: nil, ...wrong },
      ]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties.title)).toEqual(["a", "c2"]);
    });

    test("deletes nothing if all features fail", async () => {
      const store = await open();
      const map = await insertMap(store);
      await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(3)));
      const outcome = await writeOrFail(store, makeWriteRequest(map, "synchronize", [{ failure: wrong }]));
      expect(outcome).toMatchObject({ success: [], deleted: 0, revision: 1 });
      expect(await readAllByCursor(store, map)).toHaveLength(3);
    });

    test("fails all copies of an id and keeps the stored feature", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, b] = [randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(b, "b")]));
      const outcome = await writeOrFail(
        store,
        makeWriteRequest(map, "synchronize", [named(a, "x"), named(b, "b2"), named(a, "y"), { id: a, failure: wrong }]),
      );
      expect(whats(outcome)).toEqual(["1 updated"]);
      expect(failures(outcome)).toEqual([
        [0, a],
        [2, a],
        [3, a],
      ]);
      expect(outcome.failed.map(({ path }) => path)).toEqual(["id", "id", wrong.path]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties.title)).toEqual(["a", "b2"]);
    });

    test("does not affect other maps, where an id may occur again", async () => {
      const store = await open();
      const [map, other] = [await insertMap(store), await insertMap(store)];
      const id = randomUUID();
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(id, "here")]));
      await writeOrFail(store, makeWriteRequest(other, "synchronize", [named(id, "there")]));
      await writeOrFail(store, makeWriteRequest(map, "synchronize", []));
      expect((await readAllByCursor(store, other)).map((feature) => feature.id)).toEqual([id]);
    });
  });

  describe("PATCH", () => {
    test("merges properties one level deep: a value replaces, null removes, others keep their order", async () => {
      const store = await open();
      const map = await insertMap(store);
      const id = randomUUID();
      const properties = { title: "a", kind: { x: 1, y: 2 }, gone: 1, last: [1] };
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [{ id, geometry: point(1), properties }]));
      const change = { kind: { y: 3 }, gone: null, absent: null, added: "é" };
      const outcome = await writeOrFail(store, makeWriteRequest(map, "update", [{ id, properties: change }]));
      expect(whats(outcome)).toEqual(["0 updated"]);
      const [stored] = await readAllByCursor(store, map);
      expect(JSON.stringify(stored!.properties)).toBe('{"title":"a","kind":{"y":3},"last":[1],"added":"é"}');
      expect(stored!.geometry).toEqual(point(1));
    });

    test("treats `__proto__` and `constructor` as ordinary names", async () => {
      const store = await open();
      const map = await insertMap(store);
      const request = makeWriteRequest(map, "synchronize", [{ id: randomUUID() }]);
      const with_ = (properties: string) => ({ ...request, items: [{ ...request.items[0]!, properties }] });
      await writeOrFail(store, with_('{"__proto__":{"a":1},"constructor":1,"toString":2}'));
      const change = {
        ...with_('{"__proto__":{"b":2},"constructor":null,"hasOwnProperty":3}'),
        kind: "update",
      } as const;
      await writeOrFail(store, change);
      const page = (await store.page({ map, size: 1, page: 1 }))!;
      expect(new TextDecoder().decode(page.text)).toContain(
        '"properties":{"__proto__":{"b":2},"toString":2,"hasOwnProperty":3}}',
      );
    });

    test("replaces a whole geometry, also by null, and keeps it if none is sent", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(b, "b"), named(c, "c")]));
      await writeOrFail(
        store,
        makeWriteRequest(map, "update", [{ id: a, geometry: point(9) }, { id: b, geometry: null }, { id: c }]),
      );
      expect((await readAllByCursor(store, map)).map(({ geometry }) => geometry)).toEqual([point(9), null, point(1)]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual(
        ["a", "b", "c"].map((title) => ({ title })),
      );
    });

    test("neither creates nor deletes, and keeps the revision if nothing changes", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, unknown] = [randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(randomUUID(), "b")]));
      const outcome = await writeOrFail(
        store,
        makeWriteRequest(map, "update", [
          { id: unknown, properties: { title: "c" } },
          { id: a, properties: { title: "a" } },
        ]),
      );
      expect(whats(outcome)).toEqual(["1 updated"]);
      expect(failures(outcome)).toEqual([[0, unknown]]);
      expect(outcome.failed[0]).toMatchObject({ path: "id", message: "The map has no feature with this id." });
      expect(outcome.revision).toBe(1);
      expect(await readAllByCursor(store, map)).toHaveLength(2);
    });
  });

  describe("DELETE", () => {
    test("deletes by id, and reports missing features", async () => {
      const store = await open();
      const map = await insertMap(store);
      const [a, b, unknown] = [randomUUID(), randomUUID(), randomUUID()];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a"), named(b, "b")]));
      const outcome = await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: unknown }, { id: a }]));
      expect(whats(outcome)).toEqual(["1 deleted"]);
      expect(failures(outcome)).toEqual([[0, unknown]]);
      expect(outcome).toMatchObject({ deleted: 0, revision: 2 });
      expect((await readAllByCursor(store, map)).map(({ id }) => id)).toEqual([b]);
      const again = await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: a }]));
      expect(again).toMatchObject({ success: [], revision: 2 });
    });

    test("treats copies of an id as one", async () => {
      const store = await open();
      const map = await insertMap(store);
      const a = randomUUID();
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a")]));
      const outcome = await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: a }, { id: a }]));
      expect(failures(outcome)).toEqual([]);
      expect(outcome.success).toMatchObject([{ index: 0, id: a, what: "deleted" }]);
      expect(await readAllByCursor(store, map)).toEqual([]);
    });
  });

  describe("a write with handling=strict", () => {
    test("is applied completely or not at all", async () => {
      const store = await open();
      const map = await insertMap(store);
      const a = randomUUID();
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "a")]));
      const strict = { strict: true } as const;
      const refused = [
        makeWriteRequest(map, "create", [named(randomUUID(), "b"), { failure: wrong }], strict),
        makeWriteRequest(map, "synchronize", [named(randomUUID(), "b"), { failure: wrong }], strict),
        makeWriteRequest(map, "update", [{ id: a, properties: { title: "b" } }, { id: nil }], strict),
        makeWriteRequest(map, "delete", [{ id: a }, { id: nil }], strict),
      ];
      for (const request of refused) {
        const outcome = await store.write(request);
        expect(outcome).toMatchObject({ kind: "refused", failed: [{ index: 1, id: nil }] });
      }
      expect(await store.map(map)).toMatchObject({ features: 1, revision: 1 });
      expect((await readAllByCursor(store, map))[0]!.properties).toEqual({ title: "a" });
      await writeOrFail(store, makeWriteRequest(map, "update", [{ id: a, properties: { title: "b" } }], strict));
      expect((await readAllByCursor(store, map))[0]!.properties).toEqual({ title: "b" });
    });
  });

  describe("a write with required versions", () => {
    test("is applied only to one of them", async () => {
      const store = await open();
      const map = await insertMap(store);
      const create = (versions: string[]) =>
        store.write(makeWriteRequest(map, "create", numberedFeatures(1), { versions }));
      const { version: before } = (await store.map(map))!;
      expect(await create([before])).toMatchObject({ kind: "done", revision: 1 });
      const { version } = (await store.map(map))!;
      expect(await create([before])).toEqual({ kind: "other-version", version });
      expect(await create([])).toEqual({ kind: "other-version", version });
      expect(await create([createMapVersion(1)])).toEqual({ kind: "other-version", version });
      expect(await create([before, version])).toMatchObject({ kind: "done", revision: 2 });
      expect((await store.map(map))?.features).toBe(2);
    });
  });

  describe("the audit log", () => {
    test("has an entry for each write that changed something, with its counts", async () => {
      const store = await open();
      const map = await insertMap(store);
      const account = randomUUID();
      const audit = { account, action: "features-written", address: "192.0.2.7" };
      const [a, b] = [randomUUID(), randomUUID()];
      const features = [named(a, "a"), named(b, "b"), { failure: wrong }];
      await writeOrFail(store, makeWriteRequest(map, "synchronize", features, { audit, now: 5 }));
      await writeOrFail(store, makeWriteRequest(map, "synchronize", features, { audit, now: 6 }));
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [named(a, "z")], { audit, now: 7 }));
      await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: a }], { audit, now: 8 }));
      const entry = { account, map, action: "features-written", address: "192.0.2.7" };
      expect(await store.auditEntries({ map, limit: 10 })).toEqual([
        { ...entry, at: 8, detail: { created: 0, updated: 0, deleted: 1, failed: 0 } },
        { ...entry, at: 7, detail: { created: 0, updated: 1, deleted: 1, failed: 0 } },
        { ...entry, at: 5, detail: { created: 2, updated: 0, deleted: 0, failed: 1 } },
      ]);
    });
  });
}

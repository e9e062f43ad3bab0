import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { digestRemoteKey } from "../../../../src/service/identifiers/remote-key.js";
import type { Store, WriteKind } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import {
  type DoneOutcome,
  type FeatureInput,
  insertMap,
  makeWriteRequest,
  parseFeatures,
  readAllByCursor,
  writeOrFail,
} from "../store-fixture.js";

const whats = ({ success }: DoneOutcome) => success.map(({ index, what }) => `${index} ${what}`);
const kept = (properties: Record<string, unknown>): FeatureInput => ({ geometry: null, properties });

export function describeKeys(open: OpenStore): void {
  /** A map with features of these properties, and a function that writes to it by a field. */
  const prepared = async (...properties: Record<string, unknown>[]) => {
    const store = await open();
    const map = await insertMap(store);
    const ids = (await writeOrFail(store, makeWriteRequest(map, "create", properties.map(kept)))).success.map(
      ({ id }) => id,
    );
    const by = (field: string, kind: WriteKind, ...sent: FeatureInput[]) =>
      writeOrFail(store, makeWriteRequest(map, kind, sent, { remoteField: field }));
    return { store, map, ids, by };
  };

  describe("a remote field", () => {
    test("finds features that existed before its first use, and those written later in other ways", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a" }, { ref: "b" }, { other: 1 });
      const first = await by("ref", "upsert", kept({ ref: "b", n: 1 }), kept({ ref: "c" }));
      expect(whats(first)).toEqual(["0 updated", "1 created"]);
      expect(first.success[0]!.id).toBe(ids[1]);
      const [later] = (await writeOrFail(store, makeWriteRequest(map, "create", [kept({ ref: "d" })]))).success;
      const put = randomUUID();
      const all = (await readAllByCursor(store, map)).map(({ id, properties }) => ({ id, geometry: null, properties }));
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [...all, { id: put, properties: { ref: "e" } }]));
      const second = await by("ref", "update", kept({ ref: "d", n: 2 }), kept({ ref: "e", n: 3 }));
      expect(second.success.map(({ id }) => id)).toEqual([later!.id, put]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([
        { ref: "a" },
        { ref: "b", n: 1 },
        { other: 1 },
        { ref: "c" },
        { ref: "d", n: 2 },
        { ref: "e", n: 3 },
      ]);
    });

    test("follows a key that is changed by id: the old key matches nothing", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a" }, { ref: "b" });
      await by("ref", "update", kept({ ref: "a" }));
      await writeOrFail(store, makeWriteRequest(map, "update", [{ id: ids[0]!, properties: { ref: "z" } }]));
      await writeOrFail(store, makeWriteRequest(map, "update", [{ id: ids[1]!, properties: { ref: null } }]));
      const outcome = await by("ref", "update", kept({ ref: "a" }), kept({ ref: "z" }), kept({ ref: "b" }));
      expect(whats(outcome)).toEqual(["1 updated"]);
      expect(outcome.failed.map(({ index, path }) => `${index} ${path}`)).toEqual([
        "0 properties.ref",
        "2 properties.ref",
      ]);
      await writeOrFail(store, makeWriteRequest(map, "synchronize", [{ id: ids[1]!, properties: { ref: "a" } }]));
      expect(whats(await by("ref", "delete", kept({ ref: "a" })))).toEqual(["0 deleted"]);
      expect(await readAllByCursor(store, map)).toEqual([]);
    });

    test("distinguishes strings from numbers, and has one zero", async () => {
      const { ids, by } = await prepared({ ref: "7" }, { ref: 7 }, { ref: "07" }, { ref: 0 }, { ref: 2 ** 53 - 1 });
      const outcome = await by(
        "ref",
        "update",
        kept({ ref: 7 }),
        kept({ ref: "7" }),
        kept({ ref: -0 }),
        kept({ ref: 2 ** 53 - 1 }),
        kept({ ref: "0" }),
      );
      expect(outcome.success.map(({ id }) => id)).toEqual([ids[1], ids[0], ids[3], ids[4]]);
      expect(outcome.failed.map(({ index }) => index)).toEqual([4]);
    });

    test("does not match values that are no keys: null, true, arrays, fractions, empty strings, nested names", async () => {
      const values = [null, true, ["a"], { ref: "a" }, 1.5, "", 2 ** 53];
      const { store, map, by } = await prepared(...values.map((ref) => ({ ref })), {
        deep: { ref: "a" },
        "a.ref": "a",
      });
      const outcome = await by("ref", "upsert", kept({ ref: "a" }), kept({ ref: "true" }), kept({ ref: 1 }));
      expect(whats(outcome)).toEqual(["0 created", "1 created", "2 created"]);
      expect(await readAllByCursor(store, map)).toHaveLength(values.length + 4);
    });

    test.each(["__proto__", "constructor", "toString", "$.a[0]", "a.b", 'quote"', "ключ", "%_", "'; --", " "])(
      "may have the name %j",
      async (name) => {
        const store = await open();
        const map = await insertMap(store);
        const text = (value: string) => `{${JSON.stringify(name)}:${JSON.stringify(value)},"n":1}`;
        const request = (kind: WriteKind, ...values: string[]) => {
          const plain = makeWriteRequest(
            map,
            kind,
            values.map(() => ({})),
          );
          const items = plain.items.map((item, i) => ({
            ...item,
            key: digestRemoteKey(values[i]!),
            geometry: "null",
            properties: text(values[i]!),
          }));
          return { ...plain, remoteField: name, items };
        };
        await writeOrFail(store, { ...request("create", "a", "b"), remoteField: null });
        await writeOrFail(store, makeWriteRequest(map, "create", [kept({ n: 1 })]));
        expect(whats(await writeOrFail(store, request("synchronize", "b", "c")))).toEqual(["0 updated", "1 created"]);
        const page = (await store.page({ map, size: 10, page: 1 }))!;
        const stored = parseFeatures(page.text);
        expect(stored.map(({ properties }) => Object.entries(properties))).toEqual([
          [
            [name, "b"],
            ["n", 1],
          ],
          [
            [name, "c"],
            ["n", 1],
          ],
        ]);
        expect(whats(await writeOrFail(store, request("delete", "c", "b")))).toEqual(["0 deleted", "1 deleted"]);
      },
    );

    test("with a duplicate key in a request fails for all copies, and protects their match", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a" }, { ref: "b" }, { ref: "c" });
      for (const kind of ["upsert", "update", "synchronize"] as const) {
        const outcome = await by("ref", kind, kept({ ref: "a", n: 1 }), kept({ ref: "b" }), kept({ ref: "a", n: 2 }));
        expect(outcome.failed.map(({ index, id, path }) => [index, id, path])).toEqual([
          [0, ids[0], "properties.ref"],
          [2, ids[0], "properties.ref"],
        ]);
      }
      const stored = (await readAllByCursor(store, map)).map(({ properties }) => properties);
      expect(stored).toEqual([{ ref: "a" }, { ref: "b" }]);
    });

    test("with a duplicate key in a DELETE counts as one", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a" }, { ref: "b" });
      const { success, failed } = await by("ref", "delete", kept({ ref: "a" }), kept({ ref: "a" }));
      expect([success.map(({ id }) => id), failed]).toEqual([[ids[0]], []]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([{ ref: "b" }]);
    });

    test("with a duplicate key on the map: PUT updates the oldest and deletes the others", async () => {
      const { store, map, ids, by } = await prepared(
        { ref: "a", n: 1 },
        { ref: "b" },
        { ref: "a", n: 2 },
        { ref: "a" },
      );
      const outcome = await by("ref", "synchronize", kept({ ref: "a", n: 9 }), kept({ ref: "b" }));
      expect(outcome.success.map(({ id }) => id)).toEqual([ids[0], ids[1]]);
      expect(outcome.deleted).toBe(2);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([
        { ref: "a", n: 9 },
        { ref: "b" },
      ]);
    });

    test("with a duplicate key on the map: PATCH and POST fail, DELETE deletes all", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a", n: 1 }, { ref: "b" }, { ref: "a", n: 2 });
      for (const kind of ["update", "upsert"] as const) {
        const outcome = await by("ref", kind, kept({ ref: "a", n: 9 }), kept({ ref: "b" }));
        expect(whats(outcome)).toEqual(["1 updated"]);
        expect(outcome.failed).toMatchObject([{ index: 0, id: ids[0], path: "properties.ref" }]);
        expect(outcome.failed[0]!.message).toContain("2 features");
      }
      const outcome = await by("ref", "delete", kept({ ref: "a" }));
      expect(outcome.success).toEqual([
        { index: 0, id: ids[0], what: "deleted" },
        { index: 0, id: ids[2], what: "deleted" },
      ]);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([{ ref: "b" }]);
    });

    test("with a duplicate key on the map protects all its features if a feature fails", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a", n: 1 }, { ref: "b" }, { ref: "a", n: 2 });
      const failure = { path: "geometry", message: "None." };
      const outcome = await by("ref", "synchronize", { ...kept({ ref: "a" }), failure }, kept({ ref: "c" }));
      expect(outcome.failed).toEqual([{ index: 0, id: ids[0], ...failure }]);
      expect(outcome.deleted).toBe(1);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([
        { ref: "a", n: 1 },
        { ref: "a", n: 2 },
        { ref: "c" },
      ]);
    });

    test("matches if ids are sent, too: a new feature gets the id if it is free, existing ones keep theirs", async () => {
      const { store, map, ids, by } = await prepared({ ref: "a" }, { ref: "b" });
      const free = randomUUID();
      const sent = [
        { id: free, ...kept({ ref: "c" }) },
        { id: ids[1]!, ...kept({ ref: "a" }) },
        { id: ids[0]!, ...kept({ ref: "d" }) },
        { id: free, ...kept({ ref: "e" }) },
      ];
      const outcome = await by("ref", "synchronize", ...sent);
      expect(whats(outcome)).toEqual(["0 created", "1 updated", "2 created", "3 created"]);
      const stored = await readAllByCursor(store, map);
      expect(stored.map(({ properties }) => properties.ref)).toEqual(["a", "c", "d", "e"]);
      expect(stored.slice(0, 2).map(({ id }) => id)).toEqual([ids[0], free]);
      for (const { id } of stored.slice(2)) expect([...ids, free]).not.toContain(id);
      const again = await by("ref", "synchronize", ...sent);
      expect(again).toMatchObject({ deleted: 0, revision: outcome.revision });
    });

    test("is indexed again after it was evicted", async () => {
      const names = Array.from({ length: 12 }, (_, i) => `field ${i}`);
      const properties = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
      const { store, map, ids, by } = await prepared(properties(1), properties(2));
      const found = async (name: string, value: number, id: string) => {
        const outcome = await by(name, "update", kept({ [name]: value }));
        expect(outcome.success.map((one) => one.id)).toEqual([id]);
      };
      for (const name of names) await found(name, 1, ids[0]!);
      // The keys change while some of the fields are not indexed.
      const changed = { id: ids[0]!, properties: properties(3) };
      await writeOrFail(store, makeWriteRequest(map, "update", [changed]));
      for (const name of [...names].reverse()) await found(name, 3, ids[0]!);
      for (const name of names) await found(name, 2, ids[1]!);
      const [first] = names as [string];
      const none = await store.write(makeWriteRequest(map, "update", [kept({ [first]: 1 })], { remoteField: first }));
      expect(none).toMatchObject({ kind: "done", success: [] });
    });

    test("evicts the least recently used field if it is the ninth, and names it", async () => {
      const names = Array.from({ length: 9 }, (_, i) => `field ${i}`);
      const properties = Object.fromEntries(names.map((name) => [name, 1]));
      const { by } = await prepared(properties);
      const dropped = async (name: string) => (await by(name, "update", kept({ [name]: 1 }))).droppedField;
      for (const name of names.slice(0, 8)) expect(await dropped(name)).toBeUndefined();
      expect(await dropped("field 0")).toBeUndefined();
      expect(await dropped("field 8")).toBe("field 1");
      expect(await dropped("field 1")).toBe("field 2");
    });

    test("of one map matches nothing on another", async () => {
      const { store, by } = await prepared({ ref: "a" });
      await by("ref", "update", kept({ ref: "a" }));
      const other = await insertMap(store);
      const outcome = await store.write(
        makeWriteRequest(other, "update", [kept({ ref: "a" })], { remoteField: "ref" }),
      );
      expect(outcome).toMatchObject({ kind: "done", success: [] });
    });

    test("is indexed on a map of several thousand features", async () => {
      const store = await open();
      const map = await insertMap(store);
      await fillByRef(store, map, 3500);
      const refs = [0, 999, 1000, 1001, 1999, 2000, 3499, 3500];
      const sent = refs.map((ref) => kept({ ref }));
      const outcome = await writeOrFail(store, makeWriteRequest(map, "delete", sent, { remoteField: "ref" }));
      expect(outcome.success.map(({ index }) => refs[index])).toEqual(refs.slice(0, -1));
      expect(outcome.failed.map(({ index }) => refs[index])).toEqual([3500]);
    });
  });
}

async function fillByRef(store: Store, map: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1000) {
    const sent = Array.from({ length: Math.min(1000, count - i) }, (_, k) => kept({ ref: i + k }));
    await writeOrFail(store, makeWriteRequest(map, "create", sent));
  }
}

import { describe, expect, test, vi } from "vitest";
import type { Store, WriteRequest } from "../../../../src/service/store/contract.js";
import type { OpenStore } from "../contract.js";
import { insertMap, makeWriteRequest, readAllByCursor, writeOrFail } from "../store-fixture.js";

/** Batches of this many features, after each of which a request fails with a retry hint. */
export const noWaitSettings = { batchSize: 10, maxWaitMs: 0, isExclusive: false } as const;

const kept = (properties: Record<string, unknown>) => ({ geometry: null, properties });
const rejectedProblem = {
  code: "reading-keys",
  statusCode: 503,
  headers: { "retry-after": expect.stringMatching(/^\d+$/) },
};

/** Counts the retries until a write succeeds. */
async function writeUntilDone(store: Store, request: WriteRequest): Promise<{ times: number; ids: readonly string[] }> {
  for (let times = 0; ; times++) {
    const outcome = await store.write(request).catch((error: unknown) => error);
    if (outcome instanceof Error) {
      expect(outcome).toMatchObject(rejectedProblem);
      continue;
    }
    const { success, failed } = outcome as Awaited<ReturnType<typeof writeOrFail>>;
    expect(failed).toEqual([]);
    return { times, ids: success.map(({ id }) => id) };
  }
}

/** The same, but indexing continues between requests. */
export const backgroundSettings = { ...noWaitSettings, isExclusive: true } as const;

/**
 * @param open opens a store with `noWaitSettings`
 * @param openWithBackgroundIndexing with `backgroundSettings`
 */
export function describeKeyIndex(open: OpenStore, openWithBackgroundIndexing: OpenStore): void {
  describe("a remote field that is new to a large map", () => {
    const prepared = async (count: number) => {
      const store = await open();
      const map = await insertMap(store);
      const sent = Array.from({ length: count }, (_, i) => kept(i % 5 === 4 ? { none: i } : { ref: `r${i}` }));
      const { success } = await writeOrFail(store, makeWriteRequest(map, "create", sent));
      return { store, map, ids: success.map(({ id }) => id) };
    };
    const byRef = (map: string, kind: WriteRequest["kind"], ...refs: (string | number)[]) =>
      makeWriteRequest(
        map,
        kind,
        refs.map((ref) => kept({ ref, seen: true })),
        { remoteField: "ref" },
      );

    test("is indexed in batches; a rejected request has changed nothing, and succeeds after retries", async () => {
      const { store, map, ids } = await prepared(35);
      const update = byRef(map, "update", "r0", "r33", "r10");
      await expect(store.write(update)).rejects.toMatchObject(rejectedProblem);
      expect(await store.map(map)).toMatchObject({ revision: 1, features: 35 });
      // Batches end at the 10th, 20th and 30th feature; the fourth is the last.
      expect(await writeUntilDone(store, update)).toEqual({ times: 2, ids: [ids[0], ids[33], ids[10]] });
      expect(await writeUntilDone(store, byRef(map, "update", "r20"))).toEqual({ times: 0, ids: [ids[20]] });
    });

    test("is indexed in the background, and reports progress", async () => {
      const store = await openWithBackgroundIndexing();
      const map = await insertMap(store);
      const sent = Array.from({ length: 500 }, (_, i) => kept({ ref: `r${i}` }));
      const { success } = await writeOrFail(store, makeWriteRequest(map, "create", sent));
      const update = byRef(map, "update", "r499");
      await expect(store.write(update)).rejects.toMatchObject({
        ...rejectedProblem,
        message: expect.stringMatching(/being indexed \(\d+ %\)/),
      });
      // Features written between batches are stored at once, and found.
      await writeOrFail(
        store,
        makeWriteRequest(map, "update", [{ id: success[498]!.id, properties: { ref: "moved" } }]),
      );
      await vi.waitFor(async () => void (await writeOrFail(store, update)), 30_000);
      expect((await writeUntilDone(store, byRef(map, "update", "moved", "r3"))).ids).toEqual([
        success[498]!.id,
        success[3]!.id,
      ]);
    });

    test("is indexed at once if the map has fewer features than a batch, or none", async () => {
      const { store, map, ids } = await prepared(9);
      expect(await writeUntilDone(store, byRef(map, "update", "r8"))).toEqual({ times: 0, ids: [ids[8]] });
      const empty = await prepared(0);
      expect((await writeUntilDone(empty.store, byRef(empty.map, "upsert", "a"))).times).toBe(0);
    });

    test("has the current keys after writes between batches, before and after their position", async () => {
      const { store, map, ids } = await prepared(45);
      const update = byRef(map, "update", "moved 1", "moved 31", "new", "r0", "r40", "gained");
      await expect(store.write(update)).rejects.toMatchObject(rejectedProblem);
      const change = (i: number, ref: string | null) => ({ id: ids[i]!, properties: { ref } });
      const changes = [change(1, "moved 1"), change(31, "moved 31"), change(2, null), change(32, null)];
      await writeOrFail(store, makeWriteRequest(map, "update", [...changes, change(44, "gained")]));
      await expect(store.write(update)).rejects.toMatchObject(rejectedProblem);
      await writeOrFail(store, makeWriteRequest(map, "delete", [{ id: ids[3]! }, { id: ids[33]! }]));
      const [added] = (await writeOrFail(store, makeWriteRequest(map, "create", [kept({ ref: "new" })]))).success;
      const { ids: found } = await writeUntilDone(store, update);
      expect(found).toEqual([ids[1], ids[31], added!.id, ids[0], ids[40], ids[44]]);
      const gone = await store.write(byRef(map, "update", "r1", "r31", "r2", "r32", "r3", "r33"));
      expect(gone).toMatchObject({ kind: "done", success: [] });
    });

    test("is indexed completely if a synchronization by ids replaced all features between batches", async () => {
      const { store, map, ids } = await prepared(30);
      const update = byRef(map, "update", "r5", "other");
      await expect(store.write(update)).rejects.toMatchObject(rejectedProblem);
      const rest = [{ id: ids[5]!, ...kept({ ref: "r5" }) }, kept({ ref: "other" })];
      expect(await writeOrFail(store, makeWriteRequest(map, "synchronize", rest))).toMatchObject({ deleted: 29 });
      await writeUntilDone(store, update);
      expect((await readAllByCursor(store, map)).map(({ properties }) => properties)).toEqual([
        { ref: "r5", seen: true },
        { ref: "other", seen: true },
      ]);
    });

    test("is indexed once for concurrent requests, and distinguishes strings from numbers", async () => {
      const store = await open();
      const map = await insertMap(store);
      const sent = Array.from({ length: 40 }, (_, i) => kept({ ref: i % 2 === 0 ? i : String(i - 1) }));
      const { success } = await writeOrFail(store, makeWriteRequest(map, "create", sent));
      const requests = Array.from({ length: 6 }, (_, i) => byRef(map, "update", i * 2, String(i * 2)));
      const found = await Promise.all(requests.map((request) => writeUntilDone(store, request)));
      expect(found.map(({ ids }) => ids)).toEqual(requests.map((_, i) => [success[i * 2]!.id, success[i * 2 + 1]!.id]));
    });
  });
}

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { idempotencyLifetimeMs } from "../../../../src/service/store/contract.js";
import { createMapVersion } from "../../../../src/service/store/map-version.js";
import type { OpenStore } from "../contract.js";
import {
  hashOf,
  insertMap,
  makeWriteRequest,
  numberedFeatures,
  readAllByCursor,
  testTime,
  writeOrFail,
} from "../store-fixture.js";

export function describeIdempotency(open: OpenStore): void {
  const prepared = async () => {
    const store = await open();
    const map = await insertMap(store);
    const scope = randomUUID();
    const asked = { scope, key: "key 1", fingerprint: hashOf("POST one") };
    return { store, map, asked };
  };

  describe("a request with an Idempotency-Key", () => {
    test("that is repeated gets the same outcome, and changes nothing", async () => {
      const { store, map, asked } = await prepared();
      const wrong = { path: "geometry", message: "None." };
      const features = [...numberedFeatures(2), { failure: wrong }];
      const { version } = (await store.map(map))!;
      const request = makeWriteRequest(map, "create", features, { idempotency: asked, versions: [version] });
      const first = await writeOrFail(store, request);
      expect(first).toMatchObject({ replayed: false, revision: 1, failed: [wrong] });
      await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1)));
      expect(await store.write({ ...request, now: testTime + idempotencyLifetimeMs - 1 })).toEqual({
        ...first,
        replayed: true,
      });
      expect(await readAllByCursor(store, map)).toHaveLength(3);
      expect((await store.map(map))?.revision).toBe(2);
    });

    test("with another payload is rejected; keys of other accounts are separate", async () => {
      const { store, map, asked } = await prepared();
      const create = (idempotency: typeof asked) =>
        store.write(makeWriteRequest(map, "create", numberedFeatures(1), { idempotency }));
      await create(asked);
      expect(await create({ ...asked, fingerprint: hashOf("POST other") })).toEqual({ kind: "key-used-otherwise" });
      expect(await create({ ...asked, scope: randomUUID() })).toMatchObject({ kind: "done", replayed: false });
      expect(await create({ ...asked, key: "key 2" })).toMatchObject({ kind: "done", replayed: false });
      expect(await readAllByCursor(store, map)).toHaveLength(3);
    });

    test("is applied again after a day", async () => {
      const { store, map, asked } = await prepared();
      const create = (now: number, fingerprint = asked.fingerprint) =>
        store.write(
          makeWriteRequest(map, "create", numberedFeatures(1), { idempotency: { ...asked, fingerprint }, now }),
        );
      await create(testTime);
      const late = testTime + idempotencyLifetimeMs;
      expect(await create(late, hashOf("other"))).toMatchObject({ kind: "done", replayed: false });
      expect(await create(late + 1, hashOf("other"))).toMatchObject({ kind: "done", replayed: true });
      await store.purge(late + 1);
      expect(await create(late + 2, hashOf("other"))).toMatchObject({ replayed: true });
      await store.purge(late + idempotencyLifetimeMs);
      expect(await create(late + 2, hashOf("other"))).toMatchObject({ replayed: false });
    });

    test("that was not applied may be repeated", async () => {
      const { store, map, asked } = await prepared();
      const failure = { path: "", message: "None." };
      const strict = makeWriteRequest(map, "create", [{ failure }], { idempotency: asked, strict: true });
      expect(await store.write(strict)).toMatchObject({ kind: "refused" });
      const stale = makeWriteRequest(map, "create", numberedFeatures(1), {
        idempotency: asked,
        versions: [createMapVersion(0)],
      });
      expect(await store.write(stale)).toMatchObject({ kind: "other-version" });
      const good = makeWriteRequest(map, "create", numberedFeatures(1), {
        idempotency: { ...asked, fingerprint: hashOf("mended") },
      });
      expect(await store.write(good)).toMatchObject({ kind: "done", replayed: false });
    });

    test("that arrives while the first is in progress is rejected, or gets its outcome", async () => {
      const { store, map, asked } = await prepared();
      const request = makeWriteRequest(map, "create", numberedFeatures(500), { idempotency: asked });
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => store.write(request)));
      const fresh = outcomes.filter((outcome) => outcome.kind === "done" && !outcome.replayed);
      const others = outcomes.filter((outcome) => !fresh.includes(outcome));
      expect(fresh).toHaveLength(1);
      for (const other of others) {
        if (other.kind === "done") expect(other).toEqual({ ...fresh[0], replayed: true });
        else expect(other).toEqual({ kind: "key-in-flight" });
      }
      expect(await readAllByCursor(store, map)).toHaveLength(500);
      expect(await store.write(request)).toEqual({ ...fresh[0], replayed: true });
    });
  });
}

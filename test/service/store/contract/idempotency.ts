import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { idempotencyLifetime } from "../../../../src/service/store/contract.js";
import { newVersion } from "../../../../src/service/store/version.js";
import type { Opening } from "../contract.js";
import { aMap, carriedOut, hashOf, noon, numbered, scan, writing } from "../subject.js";

export function describeIdempotency(open: Opening): void {
  const prepared = async () => {
    const store = await open();
    const map = await aMap(store);
    const scope = randomUUID();
    const asked = { scope, key: "key 1", fingerprint: hashOf("POST one") };
    return { store, map, asked };
  };

  describe("a request with an Idempotency-Key", () => {
    test("that comes again is answered as before, and changes nothing", async () => {
      const { store, map, asked } = await prepared();
      const wrong = { path: "geometry", message: "None." };
      const features = [...numbered(2), { failure: wrong }];
      const { version } = (await store.map(map))!;
      const request = writing(map, "create", features, { idempotency: asked, versions: [version] });
      const first = await carriedOut(store, request);
      expect(first).toMatchObject({ replayed: false, revision: 1, failed: [wrong] });
      await carriedOut(store, writing(map, "create", numbered(1)));
      expect(await store.write({ ...request, now: noon + idempotencyLifetime - 1 })).toEqual({
        ...first,
        replayed: true,
      });
      expect(await scan(store, map)).toHaveLength(3);
      expect((await store.map(map))?.revision).toBe(2);
    });

    test("with another payload is told so; of another account the key is another", async () => {
      const { store, map, asked } = await prepared();
      const create = (idempotency: typeof asked) => store.write(writing(map, "create", numbered(1), { idempotency }));
      await create(asked);
      expect(await create({ ...asked, fingerprint: hashOf("POST other") })).toEqual({ kind: "key-used-otherwise" });
      expect(await create({ ...asked, scope: randomUUID() })).toMatchObject({ kind: "done", replayed: false });
      expect(await create({ ...asked, key: "key 2" })).toMatchObject({ kind: "done", replayed: false });
      expect(await scan(store, map)).toHaveLength(3);
    });

    test("is carried out anew a day later", async () => {
      const { store, map, asked } = await prepared();
      const create = (now: number, fingerprint = asked.fingerprint) =>
        store.write(writing(map, "create", numbered(1), { idempotency: { ...asked, fingerprint }, now }));
      await create(noon);
      const late = noon + idempotencyLifetime;
      expect(await create(late, hashOf("other"))).toMatchObject({ kind: "done", replayed: false });
      expect(await create(late + 1, hashOf("other"))).toMatchObject({ kind: "done", replayed: true });
      await store.purge(late + 1);
      expect(await create(late + 2, hashOf("other"))).toMatchObject({ replayed: true });
      await store.purge(late + idempotencyLifetime);
      expect(await create(late + 2, hashOf("other"))).toMatchObject({ replayed: false });
    });

    test("that was not carried out may come again", async () => {
      const { store, map, asked } = await prepared();
      const failure = { path: "", message: "None." };
      const strict = writing(map, "create", [{ failure }], { idempotency: asked, strict: true });
      expect(await store.write(strict)).toMatchObject({ kind: "refused" });
      const stale = writing(map, "create", numbered(1), { idempotency: asked, versions: [newVersion(0)] });
      expect(await store.write(stale)).toMatchObject({ kind: "other-version" });
      const good = writing(map, "create", numbered(1), {
        idempotency: { ...asked, fingerprint: hashOf("mended") },
      });
      expect(await store.write(good)).toMatchObject({ kind: "done", replayed: false });
    });

    test("that comes while the same is being carried out is told so, or answered as it", async () => {
      const { store, map, asked } = await prepared();
      const request = writing(map, "create", numbered(500), { idempotency: asked });
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => store.write(request)));
      const fresh = outcomes.filter((outcome) => outcome.kind === "done" && !outcome.replayed);
      const others = outcomes.filter((outcome) => !fresh.includes(outcome));
      expect(fresh).toHaveLength(1);
      for (const other of others) {
        if (other.kind === "done") expect(other).toEqual({ ...fresh[0], replayed: true });
        else expect(other).toEqual({ kind: "key-in-flight" });
      }
      expect(await scan(store, map)).toHaveLength(500);
      expect(await store.write(request)).toEqual({ ...fresh[0], replayed: true });
    });
  });
}

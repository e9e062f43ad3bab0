/** Applies plans to maps of the real service without faults. */
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const kinds = await findStoreKinds();

const many = (count: number, more: (n: number) => object = () => ({})): FeatureInput[] =>
  Array.from({ length: count }, (_, n) => pointFeature(n / 1000, 47, { ref: n + 1, ...more(n + 1) }));

const refs = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe.each(kinds.map((kind) => [kind.name, kind] as const))("on %s", (_name, kind) => {
  let service: ProxiedService;
  beforeAll(async () => {
    service = await ProxiedService.start(kind);
  });

  describe("full mode", () => {
    test("creates all features on an empty map, then updates and deletes", async () => {
      const target = await service.newTarget();
      const first = await target.sync(many(2500));
      expect(first).toMatchObject({
        created: 2500,
        updated: 0,
        deleted: 0,
        failed: 0,
        put: false,
        backup: expect.stringContaining("-backup-"),
        error: null,
      });
      expect((await target.properties()).map(({ ref }) => ref)).toEqual(refs(2500));
      expect(service.proxy.count("POST")).toBe(3);

      service.proxy.calm();
      const second = await target.sync(many(2490, (n) => (n <= 1500 ? { name: `no ${n}` } : {})));
      expect(second).toMatchObject({ created: 0, updated: 1500, deleted: 10, failed: 0, rejects: null, error: null });
      expect(await target.properties()).toEqual(
        refs(2490).map((ref) => (ref <= 1500 ? { ref, name: `no ${ref}` } : { ref })),
      );
      // The first update is sent alone.
      expect(["POST", "PATCH", "DELETE"].map((method) => service.proxy.count(method))).toEqual([0, 3, 1]);
      const kept = JSON.parse(readFileSync(second.backup!, "utf8"));
      expect(kept.features).toHaveLength(1510);
      expect(kept.geoferry).toMatchObject({ backup: 5, map: target.id, key: { by: "property", name: "ref" } });
    });

    test("full mode sends one PUT for a small map", async () => {
      const target = await service.newTarget();
      await target.put(...many(5));
      const report = await target.sync([...many(3, () => ({ name: "new" })), pointFeature(1, 1, { ref: "x" })]);
      expect(report).toMatchObject({ created: 1, updated: 3, deleted: 2, put: true, error: null });
      expect((await target.properties()).map(({ ref }) => ref)).toEqual([1, 2, 3, "x"]);
      expect(["POST", "PATCH", "PUT", "DELETE"].map((method) => service.proxy.count(method))).toEqual([0, 0, 1, 0]);
      expect(existsSync(report.backup!)).toBe(true);
    });
  });

  test("incremental mode deletes nothing", async () => {
    const target = await service.newTarget();
    await target.put(...many(3));
    const report = await target.sync([pointFeature(5, 5, { ref: 3 }), pointFeature(6, 6, { ref: 4 })], {
      mode: "incremental",
    });
    expect(report).toMatchObject({ created: 1, updated: 1, deleted: 0, put: false, withheld: null });
    expect((await target.properties()).map(({ ref }) => ref)).toEqual([1, 2, 3, 4]);
  });
});

/** Applies plans despite network faults in each kind of request: the map ends as planned, with each feature once. */
import { beforeAll, describe, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxyFault } from "../../support/servers/fault-proxy.js";
import * as faults from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { type MapFixture, ProxiedService } from "../map-fixture.js";

const kinds = await findStoreKinds();

const some = (first: number, last: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: last - first + 1 }, (_, n) => pointFeature((first + n) / 1000, 47, { ref: first + n, ...more }));

const passing: readonly ProxyFault[] = [
  faults.cutBeforeRequest,
  faults.cutInRequest,
  faults.cutAfterCommit,
  faults.cutInAnswer,
  faults.truncatedBody,
  faults.delayedCommit,
  faults.respondAfterCommit(500),
  faults.respondBeforeCommit(503),
  faults.respondBeforeCommit(429, 0),
  faults.expiredTokenFault,
];
/** The second of two requests; a token that expires at once again is no passing fault. */
const again = (fault: ProxyFault): ProxyFault => (fault === faults.expiredTokenFault ? faults.cutAfterCommit : fault);
/** All on one store; on the others those after which it is open what was done. */
const faultsOn = (store: string) =>
  passing
    .filter((fault) => store === "SQLite" || fault === faults.cutAfterCommit || fault.name === "done late")
    .map((fault) => [fault.name, fault] as const);

describe.each(kinds.map((kind) => [kind.name, kind] as const))("on %s", (store, kind) => {
  let service: ProxiedService;
  let bare: ProxiedService;
  beforeAll(async () => {
    service = await ProxiedService.start(kind);
    bare = await ProxiedService.start(kind);
    bare.proxy.always(faults.withoutHeaders("etag", "if-match", "idempotency-key"));
  });
  const shapes = [
    ["with entity tags and Idempotency-Keys", () => service],
    ["without", () => bare],
  ] as const;

  const expectRefs = async (target: MapFixture, ...refs: readonly number[]) =>
    expect((await target.properties()).map(({ ref }) => ref)).toEqual(refs);
  const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

  describe.each(shapes)("%s", (_shape, of) => {
    test.each(faultsOn(store))("%s: features are created once", async (_fault, fault) => {
      const target = await of().newTarget();
      of().proxy.on("POST", 1, fault).on("POST", 2, again(fault));
      const report = await target.sync(some(1, 1200), { mode: "incremental" });
      expect(report).toMatchObject({ created: 1200, failed: 0, unknown: 0, error: null });
      await expectRefs(target, ...range(1, 1200));
    });

    test.each(faultsOn(store))("%s: features are updated, the first and the others", async (_fault, fault) => {
      const target = await of().newTarget();
      await target.put(...some(1, 30, { extra: true }));
      of().proxy.on("PATCH", 1, fault).on("PATCH", 4, fault);
      const report = await target.sync(some(1, 20, { name: "new" }), { mode: "incremental" });
      expect(report).toMatchObject({ updated: 20, failed: 0, error: null });
      expect(await target.properties()).toEqual(
        range(1, 30).map((ref) => ({ ref, extra: true, ...(ref <= 20 && { name: "new" }) })),
      );
    });

    test.each(faultsOn(store))("%s: features are deleted", async (_fault, fault) => {
      const target = await of().newTarget();
      await target.put(...some(1, 1200));
      of().proxy.on("DELETE", 1, fault).on("DELETE", 2, again(fault));
      const report = await target.sync(some(1, 20), { complete: false });
      // A fault after the map was read changes its entity tag: the next request fails, and a new run continues.
      if (report.error?.code === "map-changed" && fault === faults.delayedCommit)
        expect(await target.sync(some(1, 20), { complete: false })).toMatchObject({ error: null });
      else expect(report).toMatchObject({ deleted: 1180, failed: 0, withheld: null, error: null });
      await expectRefs(target, ...range(1, 20));
    });

    test.each(faultsOn(store))("%s: one PUT replaces the map", async (_fault, fault) => {
      const target = await of().newTarget();
      await target.put(...some(1, 20));
      of().proxy.on("PUT", 1, fault);
      const report = await target.sync(some(11, 30, { name: "new" }));
      expect(report).toMatchObject({ created: 10, updated: 10, deleted: 10, put: true, error: null });
      expect(await target.properties()).toEqual(range(11, 30).map((ref) => ({ ref, name: "new" })));
    });
  });
});

/**
 * Jobs that share a map, each with a scope, may use the same keys: of two features with one key, a run changes only the
 * one in its scope, under any faults.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SyncRequest } from "../../../src/sync/request.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import * as faults from "../../support/servers/proxy-faults.js";
import { startProxiedFixture } from "../../support/sync/proxied-fixture.js";
import { createPlace, type Place } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

const { world, proxy } = await startProxiedFixture();

type Job = "roads" | "rivers";

const places = (job: Job, from: number, to: number, title: string): Place[] =>
  Array.from({ length: to - from }, (_, i) => createPlace(`k${from + i}`, { job, title }));

/** Features of a map as "k7 roads old", sorted. */
const shown = (all: readonly Pick<Place, "properties">[]): readonly string[] =>
  all.map(({ properties: { ref, job, title } }) => `${ref} ${job} ${title}`).sort();

const scope = { property: "job", value: "roads" };

/** A map with features of another job that have the same keys. */
async function begun(held: readonly Place[]) {
  const map = await world.newMap();
  const twins = places("rivers", 0, 30, "the other's");
  await world.fill(map, [...twins, ...held]);
  proxy.calm();
  const sync = (source: readonly Place[], request: Partial<SyncRequest> = {}) =>
    runSyncInProcess({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source: world.source(source) },
      request: { mode: "full", guards: noGuards, scope, ...request },
    });
  return { map, twins, sync, shown: async () => shown(await world.features(map)) };
}

describe("within its scope", () => {
  test("a full sync creates, updates and deletes only features in its scope", async () => {
    const { sync, shown: now, twins } = await begun(places("roads", 0, 20, "old"));
    const source = [...places("roads", 5, 10, "new"), ...places("roads", 10, 25, "old")];
    expect((await sync(source)).end).toBe("done");
    expect(await now()).toEqual(shown([...twins, ...source]));
    const { end, report } = await sync(source);
    expect([end, report]).toEqual(["done", null]);
  });

  test("lost requests are sent again, although another job's features have the same keys", async () => {
    const { sync, shown: now, twins } = await begun([]);
    proxy.on("POST", 1, faults.cutInRequest);
    const source = places("roads", 0, 20, "new");
    expect((await sync(source)).end).toBe("done");
    expect(await now()).toEqual(shown([...twins, ...source]));
  });

  test("deleted features that were to be recreated are created by the next run", async () => {
    const { sync, shown: now, twins } = await begun(places("roads", 0, 12, "old"));
    const source = places("roads", 0, 12, "new");
    proxy.on("POST", 1, faults.cutBeforeRequest, 100);
    expect((await sync(source, { updateWith: "delete-create" })).end).not.toBe("done");
    expect(await now()).toEqual(shown(twins));
    proxy.calm();
    expect((await sync(source, { updateWith: "delete-create" })).end).toBe("done");
    expect(await now()).toEqual(shown([...twins, ...source]));
  });

  test.each([
    ["by one PUT", []],
    ["one by one", ["etag"]],
  ])("restore reverts updates and deletes %s, next to features with the same keys", async (_how, headers) => {
    await using own = (await FaultProxy.start(world.url)).always(faults.withoutHeaders(...headers));
    const held = places("roads", 0, 12, "old");
    const { map, sync, shown: now, twins } = await begun(held);
    const { report } = await sync([...places("roads", 0, 3, "new"), ...places("roads", 3, 6, "old")]);
    expect(report).toMatchObject({ updated: 3, deleted: 6 });
    expect(await now()).not.toEqual(shown([...twins, ...held]));
    const kept = join(world.folder, `${map}-again.geojson`);
    const restored = await world.geoferry(["restore", report!.backup!, "--backup", kept], { url: own.url });
    expect(restored.status, restored.stderr).toBe(0);
    expect(await now()).toEqual(shown([...twins, ...held]));
  });

  test("delete mode deletes only features in its scope", async () => {
    const { map, shown: now, twins } = await begun(places("roads", 0, 12, "old"));
    const list = world.source(places("roads", 0, 4, "gone"));
    const args = [
      "delete",
      list,
      "--map",
      map,
      "--remote-field",
      "ref",
      "--scope",
      "job=roads",
      "--max-delete",
      "100%",
    ];
    expect(await world.geoferry(args)).toMatchObject({ status: 0 });
    expect(await now()).toEqual(shown([...twins, ...places("roads", 4, 12, "old")]));
  });
});

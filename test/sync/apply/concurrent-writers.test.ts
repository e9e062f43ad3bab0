/** Clients on several machines push to one map at once: no feature is lost or duplicated. */
import { beforeAll, describe, expect, it } from "vitest";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { respondBeforeCommit, withoutHeaders } from "../../support/servers/proxy-faults.js";
import {
  type ConcurrentPush,
  findViolations,
  placesOfClient,
  pushConcurrently,
} from "../../support/sync/concurrent-pushes.js";
import { describeOnEveryFixture, type Place, type SyncFixture } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

const same = (clients: number, features: number): Place[][] => {
  const places = placesOfClient(0, 0, features);
  return Array.from({ length: clients }, () => places);
};

/** Each client starts an eighth after the previous one, and has other versions of the shared features. */
const overlapping = (clients: number, features: number): Place[][] =>
  Array.from({ length: clients }, (_, n) => placesOfClient(n, (n * features) / 8, (n * features) / 8 + features));

const rounds: readonly (readonly [string, "incremental" | "full", Place[][]])[] = [
  ["two with the same source", "incremental", same(2, 2400)],
  ["five with the same source", "incremental", same(5, 1200)],
  ["two with the same source, full", "full", same(2, 2400)],
  ["two with the same source, full, in one request", "full", same(2, 800)],
  ["two with sources that overlap", "incremental", overlapping(2, 2400)],
  ["five with sources that overlap", "incremental", overlapping(5, 1200)],
  ["two with sources that overlap, full", "full", overlapping(2, 2400)],
];

await describeOnEveryFixture((kind) => {
  let world: SyncFixture;
  beforeAll(async () => {
    world = await kind.start();
  }, 120_000);

  it("a run stops polling a stable map even if the service ignores If-None-Match", async () => {
    const map = await world.newMap();
    await using proxy = await FaultProxy.start(world.url);
    proxy.always(withoutHeaders("if-none-match")).on("POST", 1, respondBeforeCommit(412));
    const { end } = await runSyncInProcess({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map },
      source: world.source(placesOfClient(0, 0, 10)),
      request: { guards: noGuards },
    });
    expect({ end, wrong: findViolations(await world.features(map), same(1, 10), "incremental") }).toEqual({
      end: "done",
      wrong: [],
    });
    // Two readings of the map and two polls.
    expect(proxy.count("GET")).toBeLessThan(10);
  });

  describe.each(rounds)("%s", (_name, mode, sources) => {
    it("leaves each feature once on the map", { timeout: 120_000 }, async () => {
      const map = await world.newMap();
      const round: ConcurrentPush = {
        ...{ urls: [world.url], as: world.ada, folder: world.folder, map, sources },
        write: (places) => world.source(places),
        request: { mode },
      };
      const ends = (await pushConcurrently(round)).map(({ end }) => end);
      expect({ ends, wrong: findViolations(await world.features(map), sources, mode) }).toEqual({
        ends: sources.map(() => "done"),
        wrong: [],
      });
    });
  });
});

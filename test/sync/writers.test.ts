/** Clients on several machines that push to one map at once: no feature is lost, and none is there twice. */
import { beforeAll, describe, expect, it } from "vitest";
import { answeredBefore, stripped } from "../support/chaos-faults.js";
import { ChaosProxy } from "../support/chaos-proxy.js";
import { type CrowdRound, placesOf, pushAtOnce, wrongWith } from "../support/crowd.js";
import { drive, unguarded } from "../support/sync-drive.js";
import { onEveryWorld, type Place, type SyncWorld } from "../support/sync-world.js";

const same = (clients: number, features: number): Place[][] => {
  const places = placesOf(0, 0, features);
  return Array.from({ length: clients }, () => places);
};

/** Each begins an eighth behind the one before it, and has what both have in another version. */
const overlapping = (clients: number, features: number): Place[][] =>
  Array.from({ length: clients }, (_, n) => placesOf(n, (n * features) / 8, (n * features) / 8 + features));

const rounds: readonly (readonly [string, "incremental" | "full", Place[][]])[] = [
  ["two with the same source", "incremental", same(2, 2400)],
  ["five with the same source", "incremental", same(5, 1200)],
  ["two with the same source, full", "full", same(2, 2400)],
  ["two with the same source, full, in one request", "full", same(2, 800)],
  ["two with sources that overlap", "incremental", overlapping(2, 2400)],
  ["five with sources that overlap", "incremental", overlapping(5, 1200)],
  ["two with sources that overlap, full", "full", overlapping(2, 2400)],
];

await onEveryWorld((kind) => {
  let world: SyncWorld;
  beforeAll(async () => {
    world = await kind.start();
  }, 120_000);

  it("looks no longer at a map that is quiet where the service answers no If-None-Match", async () => {
    const map = await world.newMap();
    await using proxy = await ChaosProxy.start(world.url);
    proxy.always(stripped("if-none-match")).on("POST", 1, answeredBefore(412));
    const { end } = await drive({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map },
      source: world.source(placesOf(0, 0, 10)),
      request: { guards: unguarded },
    });
    expect({ end, wrong: wrongWith(await world.features(map), same(1, 10), "incremental") }).toEqual({
      end: "done",
      wrong: [],
    });
    // Two readings of the map and two looks.
    expect(proxy.count("GET")).toBeLessThan(10);
  });

  describe.each(rounds)("%s", (_name, mode, sources) => {
    it("leaves each feature once on the map", { timeout: 120_000 }, async () => {
      const map = await world.newMap();
      const round: CrowdRound = {
        ...{ urls: [world.url], as: world.ada, folder: world.folder, map, sources },
        write: (places) => world.source(places),
        request: { mode },
      };
      const ends = (await pushAtOnce(round)).map(({ end }) => end);
      expect({ ends, wrong: wrongWith(await world.features(map), sources, mode) }).toEqual({
        ends: sources.map(() => "done"),
        wrong: [],
      });
    });
  });
});

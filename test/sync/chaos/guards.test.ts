/**
 * A tripped guard prevents every request that could change the map, under random faults of reads. GEOFERRY_TEST_RUNS
 * sets the number of scenarios, GEOFERRY_TEST_SEED the seed.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceRequest, SyncRequest } from "../../../src/sync/request.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { atRandom, concurrentWriter, withoutHeaders } from "../../support/servers/proxy-faults.js";
import { scenarioRuns } from "../../support/sync/scenario-runs.js";
import { createPlace, findFixtureKinds, type Place, type SyncFixture } from "../../support/sync/sync-fixture.js";
import { defaultTestRequest, runSyncInProcess } from "../../support/sync/sync-runner.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

const places = (from: number, to: number, title = "old"): Place[] =>
  Array.from({ length: to - from }, (_, n) => createPlace(`k${from + n}`, { title }));
const nameless: Place = { ...createPlace("x"), properties: { title: "by hand" } };
const keyless = { ...createPlace("x"), properties: { ref: "k1" } };

interface Trap {
  /** Code of the error that stops the run. */
  readonly code: string;
  readonly held: readonly Place[];
  readonly source: readonly object[];
  readonly request: Partial<SyncRequest>;
  readonly reading?: Partial<SourceRequest>;
}

const { guards } = defaultTestRequest;
const full = { mode: "full" } as const;

/** Cases that one guard each stops; with creates, updates and deletes if possible. */
const traps: Readonly<Record<string, Trap>> = {
  "many deletes": {
    code: "guard-sync",
    held: places(0, 40),
    source: [...places(5, 8, "new"), ...places(8, 45)],
    request: full,
  },
  "many updates": {
    code: "guard-sync",
    held: places(0, 40),
    source: [...places(0, 3, "new"), ...places(3, 41)],
    request: { guards: { ...guards, maxUpdate: { text: "2", count: 2, share: 1 } } },
  },
  "lost geometries": {
    code: "guard-sync",
    held: places(0, 20),
    source: [{ ...createPlace("k0"), geometry: null }, ...places(1, 22)],
    request: {},
  },
  "an empty source": { code: "guard-sync", held: places(0, 5), source: [], request: full },
  "features without a key": {
    code: "guard-sync",
    held: [...places(0, 20), nameless],
    source: places(1, 21),
    request: full,
  },
  "a source that was not read to its end": {
    code: "guard-sync",
    held: places(0, 20),
    source: places(0, 22),
    request: full,
    reading: { limit: 21 },
  },
  "rejects without a known key": {
    code: "guard-sync",
    held: places(0, 20),
    source: [...places(1, 21), { type: "Feature", geometry: null, properties: [] }],
    request: full,
  },
  "a kept row without a key": {
    code: "key-invalid",
    held: places(0, 20),
    source: [...places(1, 21), { ...createPlace("x"), geometry: { type: "Nothing" }, properties: {} }],
    request: full,
  },
  "rejects that are too many": {
    code: "guard-rejects",
    held: places(0, 20),
    source: [...places(0, 21, "new"), { ...createPlace("x"), properties: {} }, { ...createPlace("y"), properties: {} }],
    request: { onMissingKey: "reject" },
    reading: { maxRejects: "1" },
  },
  "a key that matches nothing": {
    code: "key-matches-nothing",
    held: places(0, 20),
    source: places(50, 70),
    request: {},
  },
  "a key in other letters": {
    code: "key-case-mismatch",
    held: places(0, 20),
    source: [...places(0, 20), createPlace("K1"), createPlace(" k21")].filter(
      ({ properties }) => properties.ref !== "k1",
    ),
    request: {},
  },
  "a key that is on the map twice": {
    code: "duplicate-key-on-map",
    held: [...places(0, 20), keyless],
    source: places(0, 22, "new"),
    request: {},
  },
  "filters that would delete": {
    code: "filters-delete",
    held: places(0, 20),
    source: places(0, 21, "new"),
    request: full,
    reading: { where: "ref <> 'k1'" },
  },
};

/** Allowed errors of a run that could not read enough to reach a guard. */
const unread = ["remote-unavailable", "remote-changed-during-read", "remote-protocol-error", "remote-credentials"];

interface Scenario {
  readonly trap: string;
  readonly seed: number;
  readonly share: number;
  /** Whether another writer adds features while the map is read. */
  readonly others: boolean;
  readonly bare: boolean;
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  trap: fc.constantFrom(...Object.keys(traps)),
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  share: fc.constantFrom(0.1, 0.3, 0.6),
  others: fc.boolean(),
  bare: fc.boolean(),
});

const proxies: FaultProxy[] = [];
afterAll(() => Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]())));

async function begun(trap: Trap) {
  const map = await world.newMap();
  await world.fill(map, trap.held);
  const lines = trap.source.map((one) => JSON.stringify(one));
  const source = world.file(`${map}.geojson`, `{"type":"FeatureCollection","features":[${lines.join()}]}`);
  const proxy = await FaultProxy.start(world.url);
  proxies.push(proxy);
  const run = async () => {
    const { end } = await runSyncInProcess({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source },
      request: { guards, ...trap.request },
      ...(trap.reading && { reading: trap.reading }),
    });
    return end;
  };
  return { map, proxy, run };
}

async function play({ trap: name, seed, share, others, bare }: Scenario): Promise<void> {
  const trap = traps[name]!;
  const { map, proxy, run } = await begun(trap);
  if (bare) proxy.always(withoutHeaders("etag", "if-match", "if-none-match", "idempotency-key"));
  const before = await world.features(map);
  let added = 0;
  const add = concurrentWriter("before", () =>
    world.fill(map, [createPlace(`other${added++}`, { title: "another's" })]),
  );
  for (let night = 0; night < 2; night++) {
    proxy.calm().choose(atRandom(seed + night, share));
    if (others) proxy.on("GET", 2, add);
    const end = await run();
    expect([trap.code, ...unread], name).toContain(end);
    expect(proxy.writes, `${name} ended with ${end}`).toBe(0);
  }
  const after = await world.features(map);
  expect(after.filter(({ properties }) => properties.title !== "another's")).toEqual(before);
}

test.each(Object.keys(traps))("%s stop a run before anything is sent", async (name) => {
  const { proxy, run } = await begun(traps[name]!);
  expect(await run()).toBe(traps[name]!.code);
  expect(proxy.writes).toBe(0);
});

test("nothing is sent under random faults", { timeout: 3_600_000 }, async () => {
  await fc.assert(fc.asyncProperty(scenarios, play), {
    numRuns: scenarioRuns(40),
    endOnFailure: true,
  });
});

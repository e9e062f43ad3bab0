/**
 * Append mode cannot identify features: under random faults, none is created twice, and each that may be missing is
 * reported. GEOFERRY_TEST_RUNS sets the number of scenarios, GEOFERRY_TEST_SEED the seed.
 */
import { existsSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { asGeoferryError } from "../../../src/errors.js";
import { createServiceClient, defaultTraffic } from "../../../src/remote/client/service-client.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { atRandom, withoutHeaders } from "../../support/servers/proxy-faults.js";
import { scenarioRuns } from "../../support/sync/scenario-runs.js";
import { createPlace, findFixtureKinds, type SyncFixture } from "../../support/sync/sync-fixture.js";
import { MapFixture } from "../map-fixture.js";

interface Scenario {
  readonly count: number;
  /** Whether the service replays requests with an Idempotency-Key. */
  readonly replays: boolean;
  readonly seed: number;
  readonly share: number;
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  count: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 30 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1001, max: 2500 }) },
  ),
  replays: fc.boolean(),
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  share: fc.constantFrom(0.1, 0.4, 0.7),
});

async function play(world: SyncFixture, scenario: Scenario): Promise<void> {
  const map = await world.newMap();
  await using proxy = await FaultProxy.start(world.url);
  if (!scenario.replays) proxy.always(withoutHeaders("idempotency-key"));
  const direct = createServiceClient(
    { url: world.url, ...world.ada },
    defaultTraffic,
    new AbortController().signal,
  ).map(map);
  const target = new MapFixture(map, { url: proxy.url, ...world.ada }, direct);
  const source = Array.from({ length: scenario.count }, (_, n) => createPlace(n));
  const once = () =>
    target
      .sync(source, {
        mode: "append",
        key: null,
        fingerprint: "same",
        traffic: { retries: 2, firstRetryDelay: 1, timeout: 5000 },
        request: { settleTime: 60 },
      })
      .then(
        ({ error, failed }) => error?.code ?? (failed > 0 ? "failed" : "done"),
        (error: unknown) => asGeoferryError(error).code,
      );
  /** Keys on the map, each once, and keys reported as unknown. */
  const look = async () => {
    const keys = (await world.features(map)).map(({ properties }) => properties.ref);
    const rejected = existsSync(target.rejects) ? await target.rejected() : [];
    const unknown = rejected.map((line) => (line.properties as { ref: unknown }).ref);
    expect(new Set(keys).size, "twice").toBe(keys.length);
    return new Set([...keys, ...unknown]);
  };

  proxy.choose(atRandom(scenario.seed, scenario.share));
  const outcomes = [await once()];
  await proxy.quiet();
  const known = await look();
  if (["done", "outcome-unknown"].includes(outcomes[0]!)) expect(known.size, outcomes.join()).toBe(scenario.count);
  if (outcomes[0] === "done") return;
  // The next run repeats neither completed nor uncertain creates.
  proxy.calm();
  if (outcomes[0] === "outcome-unknown") return;
  outcomes.push(await once());
  expect(["done", "outcome-unknown"], outcomes.join()).toContain(outcomes[1]);
  expect((await look()).size, outcomes.join()).toBe(scenario.count);
}

describe.each(await findFixtureKinds())("on $name", (kind) => {
  let world: SyncFixture;
  beforeAll(async () => {
    world = await kind.start();
  });

  test("creates nothing twice, and reports everything that may be missing", { timeout: 3_600_000 }, async () => {
    const numRuns = scenarioRuns(25, kind.name);
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => play(world, scenario)),
      { numRuns, endOnFailure: true },
    );
  });
});

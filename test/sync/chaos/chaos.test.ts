/**
 * Under random faults, a repeated run leaves the intended map: nothing is lost, duplicated or deleted too early.
 * Scenarios are generated; a failure prints the seed and the scenario. GEOFERRY_TEST_RUNS sets their number,
 * GEOFERRY_TEST_SEED the seed.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { WireFeature } from "../../../src/remote/wire.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { atRandom, concurrentWriter } from "../../support/servers/proxy-faults.js";
import { scenarioRuns } from "../../support/sync/scenario-runs.js";
import { createPlace, findFixtureKinds, type SyncFixture } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";
import {
  type ConcurrentWrite,
  findViolationsAfter,
  findViolationsDuring,
  isOtherJobFeature,
  type Scenario,
  scenarios,
  serviceBehaviors,
} from "../../support/sync/sync-scenario.js";

/** Keys that the other writer changed. */
interface Others {
  readonly keys: Set<unknown>;
}

/** The other writer's connection, which bypasses the proxy. */
function intruder(world: SyncFixture, map: string, { held }: Scenario, { what }: ConcurrentWrite, others: Others) {
  let times = 0;
  return async () => {
    const key =
      what === "add" || held.length === 0 ? `other${times++}` : held[(times++ * 7) % held.length]!.properties.ref;
    others.keys.add(key);
    if (what === "add" || held.length === 0) await world.fill(map, [createPlace(String(key), { title: "another's" })]);
    else if (what === "change")
      await world
        .write("PATCH", map, { remoteField: "ref", features: [{ properties: { ref: key, touched: times } }] })
        .catch(() => {});
    else {
      const stub = { type: "Feature", geometry: null, properties: { ref: key } };
      await world.write("DELETE", map, { type: "FeatureCollection", remoteField: "ref", features: [stub] });
    }
  };
}

const idsByKey = (features: readonly WireFeature[]): Map<unknown, string> =>
  new Map(features.map(({ id, properties }) => [properties.ref, id]));

async function play(world: SyncFixture, scenario: Scenario): Promise<void> {
  const { mode, source, held, twins, scope, share, disturbed, concurrency, intrusion } = scenario;
  const map = await world.newMap();
  await world.fill(map, [...twins, ...held]);
  const path = world.source(source);
  /** Map features except duplicates, which must not change. */
  const features = async () => {
    const all = await world.features(map);
    expect(all.filter(isOtherJobFeature).map(({ properties }) => properties)).toEqual(
      twins.map(({ properties }) => properties),
    );
    return all.filter((one) => !isOtherJobFeature(one));
  };
  const ids = idsByKey(await features());
  await using proxy = (await FaultProxy.start(world.url)).always(...serviceBehaviors[scenario.manner]!);
  const others: Others = { keys: new Set() };
  const once = async () => {
    const { end } = await runSyncInProcess({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source: path },
      request: { mode, guards: noGuards, scope },
      traffic: { concurrency },
    });
    return end;
  };
  const outcomes: string[] = [];
  const act = intrusion && concurrentWriter(intrusion.when, intruder(world, map, scenario, intrusion, others));
  for (let run = 0; run < disturbed; run++) {
    proxy.calm().choose(atRandom(scenario.seed + run, share));
    if (act) proxy.on(intrusion!.method, intrusion!.nth, act);
    outcomes.push(await once());
    await proxy.quiet();
    expect(findViolationsDuring(scenario, await features(), others.keys), outcomes.join()).toEqual([]);
  }
  proxy.calm();
  for (let run = 0; run < 3 && (run === 0 || outcomes.at(-1) !== "done"); run++) outcomes.push(await once());
  expect(outcomes.at(-1), outcomes.join()).toBe("done");
  const after = await features();
  expect(findViolationsAfter(scenario, after, ids, others.keys), outcomes.join()).toEqual([]);

  proxy.calm();
  outcomes.push(await once());
  expect([outcomes.at(-1), proxy.writes]).toEqual(["done", 0]);
  expect(await features()).toEqual(after);
}

describe.each(await findFixtureKinds())("on $name", (kind) => {
  let world: SyncFixture;
  beforeAll(async () => {
    world = await kind.start();
  });
  test("every scenario leaves the intended map", { timeout: 3_600_000 }, async () => {
    const numRuns = scenarioRuns(25, kind.name);
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => play(world, scenario)),
      { numRuns, endOnFailure: true },
    );
  });
});

/**
 * Whatever happens between geoferry and a service, a synchronisation that is run again ends with the map that it shall
 * make: nothing is lost on the way, nothing is there twice, nothing is deleted too early. Scenarios are generated; a
 * failure prints the seed and the scenario. GEOFERRY_TEST_RUNS says how many there are, GEOFERRY_TEST_SEED which.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { WireFeature } from "../../src/remote/wire.js";
import { byChance, meanwhile } from "../support/chaos-faults.js";
import { ChaosProxy } from "../support/chaos-proxy.js";
import { scenarioRuns } from "../support/scenario-runs.js";
import { drive, unguarded } from "../support/sync-drive.js";
import {
  complaintsAfter,
  complaintsMeanwhile,
  type Intrusion,
  isTwin,
  manners,
  type Scenario,
  scenarios,
} from "../support/sync-scenario.js";
import { place, type SyncWorld, worldKinds } from "../support/sync-world.js";

/** Keys of what the other writer did. */
interface Others {
  readonly keys: Set<unknown>;
}

/** Another writer's way around the proxy. */
function intruder(world: SyncWorld, map: string, { held }: Scenario, { what }: Intrusion, others: Others) {
  let times = 0;
  return async () => {
    const key =
      what === "add" || held.length === 0 ? `other${times++}` : held[(times++ * 7) % held.length]!.properties.ref;
    others.keys.add(key);
    if (what === "add" || held.length === 0) await world.fill(map, [place(String(key), { title: "another's" })]);
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

async function play(world: SyncWorld, scenario: Scenario): Promise<void> {
  const { mode, source, held, twins, scope, share, disturbed, concurrency, intrusion } = scenario;
  const map = await world.newMap();
  await world.fill(map, [...twins, ...held]);
  const path = world.source(source);
  /** Features of the map, but for the twins, which are as they were. */
  const features = async () => {
    const all = await world.features(map);
    expect(all.filter(isTwin).map(({ properties }) => properties)).toEqual(twins.map(({ properties }) => properties));
    return all.filter((one) => !isTwin(one));
  };
  const ids = idsByKey(await features());
  await using proxy = (await ChaosProxy.start(world.url)).always(...manners[scenario.manner]!);
  const others: Others = { keys: new Set() };
  const once = async () => {
    const { end } = await drive({
      ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source: path },
      request: { mode, guards: unguarded, scope },
      traffic: { concurrency },
    });
    return end;
  };
  const told: string[] = [];
  const act = intrusion && meanwhile(intrusion.when, intruder(world, map, scenario, intrusion, others));
  for (let run = 0; run < disturbed; run++) {
    proxy.calm().choose(byChance(scenario.seed + run, share));
    if (act) proxy.on(intrusion!.method, intrusion!.nth, act);
    told.push(await once());
    await proxy.quiet();
    expect(complaintsMeanwhile(scenario, await features(), others.keys), told.join()).toEqual([]);
  }
  proxy.calm();
  for (let run = 0; run < 3 && (run === 0 || told.at(-1) !== "done"); run++) told.push(await once());
  expect(told.at(-1), told.join()).toBe("done");
  const after = await features();
  expect(complaintsAfter(scenario, after, ids, others.keys), told.join()).toEqual([]);

  proxy.calm();
  told.push(await once());
  expect([told.at(-1), proxy.writes]).toEqual(["done", 0]);
  expect(await features()).toEqual(after);
}

describe.each(await worldKinds())("on $name", (kind) => {
  let world: SyncWorld;
  beforeAll(async () => {
    world = await kind.start();
  });
  test("every scenario ends well", { timeout: 3_600_000 }, async () => {
    const numRuns = scenarioRuns(25, kind.name);
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => play(world, scenario)),
      { numRuns, endOnFailure: true },
    );
  });
});

/**
 * Under random faults with a service that implements only the interface, a repeated run leaves the intended map.
 * GEOFERRY_TEST_RUNS sets the number of scenarios, GEOFERRY_TEST_SEED the seed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { ServiceBehavior } from "../../support/servers/alternative-map.js";
import { AlternativeService } from "../../support/servers/alternative-service.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { atRandom } from "../../support/servers/proxy-faults.js";
import { scenarioRuns } from "../../support/sync/scenario-runs.js";
import type { Place } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";
import { findViolationsAfter, type Scenario, scenarios } from "../../support/sync/sync-scenario.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-chaos-odd-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manners: fc.Arbitrary<Partial<ServiceBehavior>> = fc.record({
  beyondLast: fc.constantFrom<ServiceBehavior["beyondLast"]>("empty", 404),
  upsertBy: fc.constantFrom(null, "ref"),
  putAnswer: fc.constantFrom<ServiceBehavior["putAnswer"]>("result", "sentence"),
  bodyBytes: fc.constantFrom(1 << 20, 20_000),
});

let files = 0;

function fileOf(places: readonly Place[]): string {
  const path = join(folder, `places-${files++}.geojsonl`);
  writeFileSync(path, places.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

async function play(scenario: Scenario, behind: Partial<ServiceBehavior>): Promise<void> {
  const { mode, share, disturbed, concurrency } = scenario;
  await using service = await AlternativeService.start(behind);
  await using proxy = await FaultProxy.start(service.url);
  const map = service.newMap();
  const run = async (url: string, source: string) => {
    const { end } = await runSyncInProcess({
      ...{ url, as: service, folder, map, source },
      // The service has no PATCH.
      request: { mode, guards: noGuards, updateWith: "delete-create" },
      traffic: { concurrency },
    });
    return end;
  };
  const found = () => service.featuresOf(map).map((one) => ({ type: "Feature" as const, ...one }));
  const twice = () => {
    const keys = found().map(({ properties }) => properties.ref);
    return keys.filter((key, n) => keys.indexOf(key) !== n);
  };
  if (scenario.held.length > 0) expect(await run(service.url, fileOf(scenario.held))).toBe("done");
  const source = fileOf(scenario.source);
  const outcomes: string[] = [];
  for (let night = 0; night < disturbed; night++) {
    proxy.calm().choose(atRandom(scenario.seed + night, share));
    outcomes.push(await run(proxy.url, source));
    await proxy.quiet();
    expect(twice(), outcomes.join()).toEqual([]);
  }
  proxy.calm();
  for (let night = 0; night < 3 && (night === 0 || outcomes.at(-1) !== "done"); night++)
    outcomes.push(await run(proxy.url, source));
  expect(outcomes.at(-1), outcomes.join()).toBe("done");
  const after = found();
  const rounded = { ...scenario, manner: "six decimals" };
  expect(findViolationsAfter(rounded, after, new Map(), new Set()), outcomes.join()).toEqual([]);

  proxy.calm();
  expect([await run(proxy.url, source), proxy.writes]).toEqual(["done", 0]);
  expect(found()).toEqual(after);
}

test("every scenario leaves the intended map", { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, manners, (scenario, behind) => play(scenario, behind)),
    { numRuns: scenarioRuns(25), endOnFailure: true },
  );
});

/** Resumes a run that was killed between deleting and recreating features. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { openRecreations, saveRecreations } from "../../../src/sync/journal/recreations.js";
import type { PlanHeader } from "../../../src/sync/plan/plan.js";
import { ensureMapFolder } from "../../../src/sync/state/state-folder.js";
import { findFixtureKinds, type Place, type SyncFixture } from "../../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

const place = (ref: string, longitude: number): Place => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [longitude, 50] },
  properties: { ref },
});

test("rejected recreations are reported, saved in a file, and end the run with exit status 5", async () => {
  const map = await world.newMap();
  const source = world.source([place("a", 1)]);
  const ofMap = ["--map", map, "--remote-field", "ref"];
  expect(await world.geoferry(["plan", source, ...ofMap, "-o", "earlier.plan"])).toMatchObject({ status: 0 });
  const header = JSON.parse(readFileSync(join(world.folder, "earlier.plan"), "utf8").split("\n", 1)[0]!) as PlanHeader;
  const folder = ensureMapFolder(join(world.folder, "state", "geoferry"), world.url, map);
  const recreated = (ref: string, longitude: number, id: string) => {
    const feature = { ...place(ref, longitude), id };
    const before = { ...place(ref, 3), id };
    const agreement = { name: ref, sent: "00".repeat(16) };
    return { action: "update", id, key: ref, page: 1, changed: [], before, feature, agreement } as const;
  };
  await saveRecreations(folder, { ...header, settings: { ...header.settings, settleTime: 0 } }, [
    recreated("b", 2, "018f6c1e-0000-7000-8000-000000000001"),
    // An invalid longitude: the service rejects it, and the original is restored.
    recreated("c", 200, "018f6c1e-0000-7000-8000-000000000002"),
  ]);

  const push = await world.geoferry(["push", source, ...ofMap]);
  expect(push.status).toBe(5);
  const file = `${map}-unfinished.rejects.geojsonl`;
  expect(push.stderr).toContain(`1 feature failed; ${file} contains them with the reasons`);
  const kept = readFileSync(join(world.folder, file), "utf8").trim().split("\n");
  expect(kept.map((line) => JSON.parse(line).properties.ref)).toEqual(["c"]);
  const held = (await world.features(map)).map(({ properties, geometry }) => [properties.ref, geometry]);
  expect(held.sort()).toEqual([
    ["a", { type: "Point", coordinates: [1, 50] }],
    ["b", { type: "Point", coordinates: [2, 50] }],
    ["c", { type: "Point", coordinates: [3, 50] }],
  ]);

  expect(await world.geoferry(["push", source, ...ofMap])).toMatchObject({ status: 0 });
});

test("a value may contain separators of lines and paragraphs", async () => {
  const folder = join(world.folder, "separators");
  mkdirSync(folder);
  const feature = { ...place("a", 1), properties: { ref: "a", note: "one\u2028two\u2029three" } };
  const before = { ...feature, id: "018f6c1e-0000-7000-8000-000000000001" };
  const agreement = { name: "a", sent: "00".repeat(16) };
  const action = {
    action: "update",
    id: before.id,
    key: "a",
    page: 1,
    changed: [],
    before,
    feature,
    agreement,
  } as const;
  await saveRecreations(folder, { service: world.url, map: "m" } as PlanHeader, [action]);
  const found = [];
  for await (const one of (await openRecreations(folder))!.actions()) found.push(one);
  expect(found).toEqual([action]);
});

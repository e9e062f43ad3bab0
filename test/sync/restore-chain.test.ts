/** Undoes several runs, newest first, on a map that is too large for one PUT: restores recreate features with new ids. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WireFeature } from "../../src/remote/wire.js";
import { createPlace, findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [kind] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await kind!.start();
}, 120_000);

const folder = mkdtempSync(join(tmpdir(), "geoferry-chain-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newPath = (name: string) => join(folder, `${files++}-${name}`);

/** @returns the backup of the push */
async function push(map: string, features: readonly object[], ...args: readonly string[]): Promise<string> {
  const source = newPath("source.geojsonl");
  writeFileSync(source, features.map((one) => `${JSON.stringify({ type: "Feature", ...one })}\n`).join(""));
  const backup = newPath("backup.geojson");
  const full = ["--mode", "full", "--max-delete", "100%", "--backup", backup, "--yes"];
  const ran = await world.geoferry(["push", source, "--map", map, ...full, ...args]);
  expect(ran.status, ran.stderr).toBe(0);
  return backup;
}

const restore = (backup: string, ...args: readonly string[]) =>
  world.geoferry(["restore", backup, "--yes", "--max-delete", "100%", "--max-update", "100%", ...args]);

async function restored(backup: string): Promise<void> {
  const ran = await restore(backup);
  expect(ran.status, ran.stderr).toBe(0);
}

const contents = (features: readonly Pick<WireFeature, "geometry" | "properties">[]): string[] =>
  features.map(({ geometry, properties }) => JSON.stringify([geometry, Object.entries(properties).sort()])).sort();

const places = (count: number) => Array.from({ length: count }, (_, n) => createPlace(`p${n}`, { v: 1 }));
const size = 1060;
const byRef = ["--remote-field", "ref"];

test.each([
  ["by key", byRef],
  ["by id", ["--match", "id"]],
] as const)("four runs are undone, newest first, %s", async (_title, match) => {
  const map = await world.newMap();
  const states: string[][] = [[]];
  const backups: string[] = [];
  const run = async (features: readonly object[]) => {
    backups.push(await push(map, features, ...match));
    states.push(contents(await world.features(map)));
  };
  await run(places(size));
  const held = await world.features(map);
  const added = Array.from({ length: 12 }, (_, n) => createPlace(`n${n}`, { v: 1 }));
  await run([...held, ...added]);
  const all = await world.features(map);
  await run(
    all.map((one) => ({
      ...one,
      properties: { ...one.properties, v: /^.(5|1)/.test(String(one.properties.ref)) ? 2 : 1 },
    })),
  );
  const edited = await world.features(map);
  await run(edited.filter(({ properties: { ref } }) => !/^(n|p5)/.test(String(ref))));
  for (let n = backups.length - 1; n >= 0; n--) {
    await restored(backups[n]!);
    expect(contents(await world.features(map)), `run ${n}`).toEqual(states[n]);
  }
});

test.each([
  ["by key", byRef, "have other ids"],
  ["by id", ["--match", "id"], "may be on the map with new ids"],
] as const)("a restore without the record of new ids stops, %s", async (_title, match, reason) => {
  const map = await world.newMap();
  const created = await push(map, places(size), ...match);
  const held = await world.features(map);
  const deleted = await push(map, held.slice(20), ...match);
  await restored(deleted);
  const stopped = await restore(created, "--state", newPath("state"));
  expect([stopped.status, stopped.stderr]).toEqual([7, expect.stringContaining(reason)]);
  expect(await world.features(map)).toHaveLength(size);
  await restored(created);
  expect(await world.features(map)).toEqual([]);
});

test("updated features that a later restore recreated are not created twice from another state folder", async () => {
  const map = await world.newMap();
  await world.fill(map, places(size));
  const held = await world.features(map);
  const edited = held.map((one, n) => ({ ...one, properties: { ...one.properties, v: n < 20 ? 2 : 1 } }));
  const updated = await push(map, edited, "--match", "id");
  const deleted = await push(map, edited.slice(15), "--match", "id");
  await restored(deleted);
  const stopped = await restore(updated, "--state", newPath("state"));
  expect([stopped.status, stopped.stderr]).toEqual([7, expect.stringContaining("15 features to create may be on")]);
  await restored(updated);
  expect(contents(await world.features(map))).toEqual(contents(held));
});

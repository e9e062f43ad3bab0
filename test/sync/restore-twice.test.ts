/**
 * Runs the same `geoferry restore` twice where only ids identify features: on maps that are too large for one PUT, and
 * with a service without entity tags.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WireFeature } from "../../src/remote/wire.js";
import type { CommandResult } from "../support/command.js";
import { AlternativeService } from "../support/servers/alternative-service.js";
import { createPlace, findFixtureKinds, type Place, type SyncFixture } from "../support/sync/sync-fixture.js";

type Features = readonly Pick<WireFeature, "id" | "geometry" | "properties">[];

/** A service and the commands that use it. */
interface Service {
  newMap(held: readonly Place[]): Promise<string>;
  fill(map: string, places: readonly Place[]): Promise<unknown>;
  remove(map: string, ids: readonly string[]): Promise<unknown>;
  features(map: string): Promise<Features>;
  geoferry(args: readonly string[]): Promise<CommandResult>;
}

const [kind] = await findFixtureKinds();
let world: SyncFixture;
let alternative: AlternativeService;
beforeAll(async () => {
  world = await kind!.start();
  alternative = await AlternativeService.start();
}, 120_000);
afterAll(() => alternative[Symbol.asyncDispose]());

const folder = mkdtempSync(join(tmpdir(), "geoferry-twice-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const embedded: Service = {
  async newMap(held) {
    const map = await world.newMap();
    await world.fill(map, held);
    return map;
  },
  fill: (map, places) => world.fill(map, places),
  remove: (map, ids) => world.write("DELETE", map, { features: ids.map((id) => ({ id })) }),
  features: (map) => world.features(map),
  geoferry: (args) => world.geoferry(args),
};

const withoutTags: Service = {
  async newMap(held) {
    const map = alternative.newMap();
    alternative.fill(map, held);
    return map;
  },
  fill: async (map, places) => alternative.fill(map, places),
  remove: async (map, ids) => alternative.remove(map, ids),
  features: async (map) => alternative.featuresOf(map),
  geoferry: (args) => world.geoferry(args, { url: alternative.url, as: alternative }),
};

const places = (count: number): Place[] => Array.from({ length: count }, (_, n) => createPlace(`p${n}`));
const same = (count: number): Place[] => Array.from({ length: count }, () => createPlace("same"));

/** The contents of features, sorted. */
const contents = (features: Features | readonly Place[]): string[] =>
  features.map(({ geometry, properties }) => JSON.stringify([geometry, Object.entries(properties).sort()])).sort();

let files = 0;
const newPath = (name: string) => join(folder, `${files++}-${name}`);

function fileOf(features: readonly object[]): string {
  const path = newPath("source.geojsonl");
  writeFileSync(path, features.map((one) => `${JSON.stringify({ type: "Feature", ...one })}\n`).join(""));
  return path;
}

const quick = ["--yes", "--settle-time", "20"];

const services = [
  ["a map that is too large for one PUT", () => embedded, 1060],
  ["a service without entity tags", () => withoutTags, 60],
] as const;

describe.each(services)("on %s", (_title, service, size) => {
  const run = (...args: readonly string[]) => service().geoferry([...args, ...quick]);

  /** A map from which a command deleted the features that `isGone` selects, by their ids. */
  async function deleted(held: readonly Place[], isGone: (ref: unknown, index: number) => boolean) {
    const map = await service().newMap(held);
    const before = await service().features(map);
    const list = before.filter(({ properties }, index) => isGone(properties.ref, index));
    const backup = newPath("backup.geojson");
    const args = ["--map", map, "--match", "id", "--max-delete", "100%", "--backup", backup];
    const ran = await run("delete", fileOf(list), ...args);
    expect(ran.status, ran.stderr).toBe(0);
    expect(await service().features(map)).toHaveLength(held.length - list.length);
    return { map, before, list, backup };
  }

  async function restored(backup: string, ...args: readonly string[]) {
    const ran = await run("restore", backup, ...args);
    expect(ran.status, ran.stderr).toBe(0);
    return ran;
  }

  async function expectNothingToDo(map: string, backup: string, ...args: readonly string[]) {
    const before = await service().features(map);
    expect((await restored(backup, ...args)).stderr).toContain("nothing to do");
    expect(await service().features(map)).toEqual(before);
  }

  test("a second restore of a push by id has nothing to do", async () => {
    const map = await service().newMap(places(size));
    const before = await service().features(map);
    const backup = newPath("backup.geojson");
    const args = ["--mode", "full", "--match", "id", "--max-delete", "100%", "--backup", backup];
    const pushed = await run("push", fileOf(before.slice(0, size - 40)), "--map", map, ...args);
    expect(pushed.status, pushed.stderr).toBe(0);
    const first = await restored(backup);
    expect(first.stderr).toContain("40 features missing from the map will be created with new ids");
    expect(contents(await service().features(map))).toEqual(contents(before));
    await expectNothingToDo(map, backup);
  });

  test("the undo of a restore by id deletes what it recreated, but not what was edited since", async () => {
    const { map, before, list, backup } = await deleted(places(size), (_, index) => index % 20 === 0);
    const undo = newPath("undo.geojson");
    await restored(backup, "--backup", undo);
    const recreated = (await service().features(map)).filter(({ id }) => !before.some((one) => one.id === id));
    expect(recreated).toHaveLength(list.length);
    const edited = { ...recreated[0]!, properties: { ...recreated[0]!.properties, note: "edited" } };
    // The other service has no PATCH.
    const how =
      service() === embedded ? ["--match", "id"] : ["--remote-field", "ref", "--update-with", "delete-create"];
    const push = await run("push", fileOf([edited]), "--map", map, ...how);
    expect(push.status, push.stderr).toBe(0);
    await restored(undo, "--max-delete", String(list.length));
    const stay = before.filter((one) => !list.includes(one));
    expect(contents(await service().features(map))).toEqual(contents([...stay, edited]));
  });

  test("a second restore from another state folder has nothing to do", async () => {
    const { map, backup } = await deleted(places(size), (_, index) => index < 30);
    await restored(backup);
    await expectNothingToDo(map, backup, "--state", newPath("state"));
  });

  test("a second restore creates only what is missing again", async () => {
    const { map, before, list, backup } = await deleted(places(size), (_, index) => index < 30);
    await restored(backup);
    const ids = new Set(before.map(({ id }) => id));
    const recreated = (await service().features(map)).filter(({ id }) => !ids.has(id));
    expect(recreated).toHaveLength(list.length);
    await service().remove(
      map,
      recreated.slice(0, 4).map(({ id }) => id),
    );
    expect((await restored(backup)).stderr).toContain("4 features missing from the map will be created");
    expect(contents(await service().features(map))).toEqual(contents(before));
    await expectNothingToDo(map, backup);
  });

  test("equal features are recreated as often as they were deleted, next to equal ones that stayed", async () => {
    let gone = 0;
    const held = [...places(size - 5), ...same(5)];
    const { map, before, backup } = await deleted(held, (ref) => ref === "same" && gone++ < 3);
    expect((await restored(backup)).stderr).toContain("3 features missing from the map will be created");
    expect(contents(await service().features(map))).toEqual(contents(before));
    await expectNothingToDo(map, backup);
    await expectNothingToDo(map, backup, "--state", newPath("state"));
  });

  test("duplicates that dedupe deleted are recreated once", async () => {
    const held = [...places(size - 3), ...same(3)];
    const map = await service().newMap(held);
    const backup = newPath("backup.geojson");
    const ran = await run("dedupe", "--map", map, "--remote-field", "ref", "--backup", backup);
    expect(ran.status, ran.stderr).toBe(0);
    expect((await restored(backup)).stderr).toContain("2 features missing from the map will be created");
    expect(await service().features(map)).toHaveLength(size);
    await expectNothingToDo(map, backup);
  });

  test("features without the key property are recreated once", async () => {
    const unkeyed = Array.from({ length: 12 }, (_, n): Place => {
      const { ref, ...properties } = createPlace(`u${n}`, { name: `u${n}` }).properties;
      return { ...createPlace(`u${n}`), properties };
    });
    const held = places(size - 12);
    const map = await service().newMap([...held, ...unkeyed]);
    const before = await service().features(map);
    const backup = newPath("backup.geojson");
    const full = ["--mode", "full", "--delete-unmanaged", "--max-delete", "100%", "--backup", backup];
    const pushed = await run("push", fileOf(held), "--map", map, "--remote-field", "ref", ...full);
    expect(pushed.status, pushed.stderr).toBe(0);
    await restored(backup);
    expect(contents(await service().features(map))).toEqual(contents(before));
    await expectNothingToDo(map, backup);
  });

  test.each([
    ["some", 2, []],
    ["some", 2, ["--state"]],
    ["all", 30, []],
  ] as const)("a restore stops if %s recreated features were edited: %i of 30, %j", async (_some, count, other) => {
    const { map, before, backup } = await deleted(places(size), (_, index) => index < 30);
    await restored(backup);
    const ids = new Set(before.map(({ id }) => id));
    const edited = (await service().features(map)).filter(({ id }) => !ids.has(id)).slice(0, count);
    await service().remove(
      map,
      edited.map(({ id }) => id),
    );
    await service().fill(
      map,
      edited.map(({ geometry, properties }) => ({
        ...{ type: "Feature", geometry },
        properties: { ...properties, note: "edited" },
      })),
    );
    const args = other.flatMap((flag) => [flag, newPath("state")]);
    const stopped = await run("restore", backup, ...args);
    expect(stopped.status, stopped.stderr).toBe(7);
    expect(stopped.stderr).toContain(`${count} features to create may be on the map already`);
    expect(await service().features(map)).toHaveLength(size);
    await restored(backup, "--overwrite-edits", ...args);
    expect(await service().features(map)).toHaveLength(size + count);
    await expectNothingToDo(map, backup, ...args);
  });

  test("new features of other clients do not stop a first restore", async () => {
    const { map, before, backup } = await deleted(places(size), (_, index) => index < 30);
    const added = Array.from({ length: 7 }, (_, n) => createPlace(`new ${n}`));
    await service().fill(map, added);
    await restored(backup);
    expect(await service().features(map)).toHaveLength(before.length + 7);
    await expectNothingToDo(map, backup);
  });

  test("a restore of a version 3 backup stops if equal features are on the map", async () => {
    const { map, before, backup } = await deleted(places(size), (_, index) => index < 30);
    const text = readFileSync(backup, "utf8");
    const old = newPath("version-3.geojson");
    writeFileSync(
      old,
      text
        .replace('"backup":5', '"backup":3')
        .replace(/"(sha256|createdSha256)":"[0-9a-f]{64}",/g, "")
        .replace(/"untouched":\d+,/, "")
        .replace('],"equal":[\n', ""),
    );
    await restored(old);
    expect(contents(await service().features(map))).toEqual(contents(before));
    // The own state folder knows the new ids.
    const stopped = await run("restore", old, "--state", newPath("state"));
    expect([stopped.status, stopped.stderr]).toEqual([7, expect.stringContaining("30 features to create may be")]);
    expect(stopped.stderr).toContain("changes to it cannot be detected");
    expect(await service().features(map)).toHaveLength(size);
  });
});

test("the backup of a restore by one PUT matches by the property of the push", async () => {
  const held = places(60);
  const map = await embedded.newMap(held);
  const source = [...held.slice(0, 40), ...Array.from({ length: 10 }, (_, n) => createPlace(`n${n}`))];
  const [pushed, restored] = [newPath("push.geojson"), newPath("restore.geojson")];
  const full = ["--mode", "full", "--max-delete", "100%", "--backup", pushed];
  const run = (...args: readonly string[]) => embedded.geoferry([...args, ...quick]);
  expect(await run("push", fileOf(source), "--map", map, "--remote-field", "ref", ...full)).toMatchObject({
    status: 0,
  });
  const undo = ["--max-delete", "100%"];
  const undone = await run("restore", pushed, ...undo, "--backup", restored);
  expect([undone.status, undone.stderr]).toEqual([0, expect.stringContaining("with their old ids")]);
  const { geoferry, creates } = JSON.parse(readFileSync(restored, "utf8"));
  expect(geoferry).toMatchObject({ key: { by: "property", name: "ref" } });
  expect(creates.map(([key]: readonly [unknown]) => key).sort()).toEqual(
    held
      .slice(40)
      .map(({ properties }) => properties.ref)
      .sort(),
  );

  // Undoing the restore recreates the features of the push; the map is too large for one PUT now.
  await embedded.fill(
    map,
    Array.from({ length: 1000 }, (_, n) => createPlace(`other ${n}`)),
  );
  expect(await run("restore", restored, ...undo)).toMatchObject({ status: 0 });
  const after = await embedded.features(map);
  expect(after).toHaveLength(1050);
  const again = await run("restore", restored, ...undo);
  expect([again.status, again.stderr]).toEqual([0, expect.stringContaining("nothing to do")]);
  expect(await embedded.features(map)).toEqual(after);
  const [edited] = after.filter(({ properties }) => properties.ref === "n3");
  await world.write("PATCH", map, { features: [{ ...edited, properties: { ref: "n3", note: "edited" } }] });
  const stopped = await run("restore", restored, ...undo);
  expect([stopped.status, stopped.stderr]).toEqual([7, expect.stringContaining("1 feature was edited after the run")]);
});

test("a restore that keeps all features that the run created does not call the map as before the run", async () => {
  const map = await embedded.newMap([]);
  const backup = newPath("backup.geojson");
  const pushed = await embedded.geoferry([
    "push",
    fileOf(places(5)),
    "--map",
    map,
    "--remote-field",
    "ref",
    "--backup",
    backup,
  ]);
  expect(pushed.status, pushed.stderr).toBe(0);
  const edits = places(5).map((place) => ({ ...place, properties: { ...place.properties, title: "edited" } }));
  await world.write("PATCH", map, { remoteField: "ref", features: edits });
  const { status, stderr } = await embedded.geoferry(["restore", backup, "--yes"]);
  expect([status, stderr]).toEqual([0, expect.stringContaining("5 features that the run created will be kept")]);
  expect(stderr).toContain("nothing to do: apart from the features that are kept, it has the state before the run");
  expect(await embedded.features(map)).toHaveLength(5);
});

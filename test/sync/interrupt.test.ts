import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultProxy } from "../support/servers/fault-proxy.js";
import { interrupting, rejectPatch } from "../support/servers/proxy-faults.js";
import { createPlace, findFixtureKinds, type Place, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
let proxy: FaultProxy;
let withoutPatch: FaultProxy;
beforeAll(async () => {
  world = await sqlite!.start();
  proxy = await FaultProxy.start(world.url);
  withoutPatch = (await FaultProxy.start(world.url)).always(rejectPatch(405));
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await withoutPatch[Symbol.asyncDispose]();
});

const held = Array.from({ length: 1300 }, (_, n) => createPlace(`k${n}`, { title: "old", note: "of the map" }));
/** Five deletes, more updates than one request can contain, and five creates. */
const changed = (n: number): Place => createPlace(`k${n}`, { title: n < 1290 ? "new" : "old" });
const source = Array.from({ length: 1300 }, (_, n) => changed(n + 5));

const shown = (all: readonly Pick<Place, "properties">[]): readonly string[] =>
  all.map(({ properties: { ref, title, note } }) => `${ref} ${title} ${note ?? "-"}`).sort();

interface Story {
  readonly name: string;
  readonly behind: () => FaultProxy;
  readonly args: readonly string[];
  /** The request during which geoferry is interrupted. */
  readonly method: string;
  readonly nth: number;
  /** Map-only properties that updated features keep. */
  readonly note: string | null;
}

const full = ["--mode", "full", "--max-delete", "10"];
const recreating = [...full, "--update-with", "delete-create"];
const stories: readonly Story[] = [
  { name: "at the first update", behind: () => proxy, args: full, method: "PATCH", nth: 1, note: "of the map" },
  { name: "between two updates", behind: () => proxy, args: full, method: "PATCH", nth: 2, note: "of the map" },
  {
    name: "at an update that drops what only the map has",
    behind: () => proxy,
    args: [...full, "--replace-properties"],
    method: "PATCH",
    nth: 2,
    note: null,
  },
  {
    name: "while features are deleted to be recreated",
    behind: () => withoutPatch,
    args: recreating,
    method: "DELETE",
    nth: 1,
    note: "of the map",
  },
  {
    name: "while features are recreated",
    behind: () => withoutPatch,
    args: recreating,
    // The first one creates the new features.
    method: "POST",
    nth: 2,
    note: "of the map",
  },
];

describe.each(stories)("interrupted $name", ({ behind, args, method, nth, note }) => {
  test("an interrupted run ends, and the next one continues", async () => {
    const through = behind();
    const map = await world.newMap();
    await world.fill(map, held);
    const line = ["push", world.source(source), "--map", map, "--remote-field", "ref", "--settle-time", "50"];
    line.push("--concurrency", "1", ...args);
    through.calm();
    const first = await world.geoferry(line, {
      url: through.url,
      watch: (child) => {
        const interrupt = interrupting(child);
        through.on(method, nth, interrupt);
      },
    });
    expect(first.status, first.stderr).toBe(130);
    expect(first.stderr).toMatch(/interrupted; changes sent to map .* so far remain; run the command again to resume/);
    expect(through.count(method)).toBe(nth);
    const wanted = source.map(({ properties }) => ({
      properties: { ...properties, note: Number(String(properties.ref).slice(1)) < 1300 ? note : null },
    }));
    expect(shown(await world.features(map))).not.toEqual(shown(wanted));

    through.calm();
    const second = await world.geoferry(line, { url: through.url });
    expect(second.status, second.stderr).toBe(0);
    expect(shown(await world.features(map))).toEqual(shown(wanted));

    through.calm();
    expect((await world.geoferry(line, { url: through.url })).status).toBe(0);
    expect(through.writes).toBe(0);
  });
});

/**
 * Kills geoferry (SIGKILL) at each write request, before the service receives it and after it was applied but before
 * the response: the next run leaves the map equal to the source.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ConnectionCut, type ProxyFault } from "../support/servers/fault-proxy.js";
import { startProxiedFixture } from "../support/sync/proxied-fixture.js";
import type { Place } from "../support/sync/sync-fixture.js";
import { placeVersion } from "../support/sync/sync-scenario.js";

const { world, proxy } = await startProxiedFixture();

/** When the process is killed, from the perspective of the service. */
const moments = ["before it", "after it"] as const;
type Moment = (typeof moments)[number];

const kill = (child: ChildProcess, moment: Moment): ProxyFault => ({
  name: `killed ${moment}`,
  async around(request, upstream) {
    if (moment === "after it") await upstream.send(request);
    await killed(child);
    throw new ConnectionCut();
  },
});

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const isWrite = (method: string): boolean => !["GET", "token"].includes(method);

const many = (from: number, to: number, v: number): Place[] =>
  Array.from({ length: to - from }, (_, i) => placeVersion(from + i, v));

interface Story {
  readonly name: string;
  readonly held: readonly Place[];
  readonly source: readonly Place[];
  readonly args: readonly string[];
  /** Expected number of write requests, counted by hand. */
  readonly writes: readonly string[];
  /** Whether updated features keep their ids. */
  readonly keepsIds: boolean;
}

const stories: readonly Story[] = [
  {
    name: "creates, updates and deletes",
    held: many(0, 30, 0),
    // 10 unchanged, 10 changed, 10 deleted, and more creates than one PUT can contain.
    source: [...many(0, 10, 0), ...many(10, 20, 1), ...many(30, 1130, 1)],
    args: ["--mode", "full", "--max-delete", "100%"],
    // The first update is sent alone, and so is the first that removes a member from a nested value.
    writes: ["POST", "POST", "PATCH", "PATCH", "PATCH", "DELETE"],
    keepsIds: true,
  },
  {
    name: "one PUT",
    held: many(0, 30, 0),
    source: [...many(0, 10, 0), ...many(10, 20, 1), ...many(30, 40, 1)],
    args: ["--mode", "full", "--max-delete", "100%"],
    writes: ["PUT"],
    keepsIds: true,
  },
  {
    name: "deletes before recreating",
    held: many(0, 12, 0),
    source: many(0, 8, 1),
    args: ["--update-with", "delete-create"],
    writes: ["DELETE", "POST"],
    keepsIds: false,
  },
];

const shown = (places: readonly Pick<Place, "geometry" | "properties">[]): readonly string[] =>
  places
    .map(({ geometry, properties }) => {
      const there = Object.entries(properties).filter(([, value]) => value !== null);
      return JSON.stringify([Object.fromEntries(there.sort(([a], [b]) => (a < b ? -1 : 1))), geometry]);
    })
    .sort();

describe.each(stories)("$name", ({ held, source, args, writes, keepsIds }) => {
  const push = (map: string, path: string, watch?: (child: ChildProcess) => void) => {
    const line = ["push", path, "--map", map, "--remote-field", "ref", "--settle-time", "50", "--yes", ...args];
    return world.geoferry(line, { url: proxy.url, ...(watch && { watch }) });
  };
  /** The expected content of the map. */
  const wanted = args.includes("full") ? source : [...source, ...held.slice(source.length)];

  async function begun() {
    const map = await world.newMap();
    await world.fill(map, held);
    const ids = new Map((await world.features(map)).map(({ id, properties }) => [properties.ref, id]));
    proxy.calm();
    return { map, ids, path: world.source(source) };
  }

  test("a run sends the expected number of writes", async () => {
    const { map, path } = await begun();
    expect(await push(map, path)).toMatchObject({ status: 0 });
    expect(proxy.passed.map(({ method }) => method).filter(isWrite)).toEqual(writes);
    expect(shown(await world.features(map))).toEqual(shown(wanted));
  });

  // A request that was not applied leaves the map as the applied one before it did, except where the kind of write changes.
  const points = writes.flatMap((method, i) =>
    moments
      .filter((moment) => moment === "after it" || method !== writes[i - 1])
      .map((moment) => [i + 1, method, moment] as const),
  );
  test.each(points)("the next run completes one killed at write %i (%s), %s", async (nth, _method, moment) => {
    const { map, ids, path } = await begun();
    let seen = 0;
    const cutOff = await push(map, path, (child) => {
      proxy.choose(({ method }) => (isWrite(method) && ++seen === nth ? kill(child, moment) : null));
    });
    expect(cutOff.status).toBeNull();
    const counts = (await world.features(map)).map(({ properties }) => properties.ref);
    expect(new Set(counts).size).toBe(counts.length);

    proxy.choose(() => null);
    const again = await push(map, path);
    expect(again.status, again.stderr).toBe(0);
    const after = await world.features(map);
    expect(shown(after)).toEqual(shown(wanted));
    if (keepsIds)
      for (const { id, properties } of after) if (ids.has(properties.ref)) expect(id).toBe(ids.get(properties.ref));
    const last = await push(map, path);
    expect(last.status, last.stderr).toBe(0);
    expect(last.stderr).toMatch(/nothing to do|create 0, update 0, delete 0/);
  });
});

test("a run waits for requests of a killed run", async () => {
  const map = await world.newMap();
  proxy.calm();
  const args = ["push", world.source(many(0, 12, 1)), "--map", map, "--remote-field", "ref", "--settle-time", "6000"];
  let late: Promise<unknown> = Promise.resolve();
  const first = await world.geoferry(args, {
    url: proxy.url,
    watch: (child) =>
      proxy.on("POST", 1, {
        name: "killed while it is on its way",
        async around(request, upstream) {
          await killed(child);
          // Long after a run that does not wait would read the map, and before the settle time is over.
          late = sleep(4000).then(() => upstream.send(request));
          throw new ConnectionCut();
        },
      }),
  });
  expect(first.status).toBeNull();
  const second = await world.geoferry(args, { url: proxy.url });
  await late;
  expect(second.status, second.stderr).toBe(0);
  expect(shown(await world.features(map))).toEqual(shown(many(0, 12, 1)));
});

test("a run killed during writes has a backup of its changes", async () => {
  const map = await world.newMap();
  await world.fill(map, many(0, 12, 0));
  proxy.calm();
  const backup = join(world.folder, "kept.geojson");
  const path = world.source(many(0, 12, 1));
  await world.geoferry(["push", path, "--map", map, "--remote-field", "ref", "--backup", backup], {
    url: proxy.url,
    watch: (child) => proxy.choose(({ method }) => (isWrite(method) ? kill(child, "before it") : null)),
  });
  const { features } = JSON.parse(readFileSync(backup, "utf8")) as { readonly features: readonly Place[] };
  expect(shown(features)).toEqual(shown(many(0, 12, 0)));
});

test.each(moments)(
  "a restore by id that is killed at its second POST, %s, is completed by the next one",
  async (moment) => {
    const map = await world.newMap();
    const held = many(0, 2400, 0);
    await world.fill(map, held);
    const list = world.source((await world.features(map)).slice(100, 1300) as unknown as Place[]);
    const backup = join(world.folder, `by id ${moment}.geojson`);
    const common = ["--settle-time", "50"];
    const byId = ["--match", "id", "--max-delete", "100%", "--backup", backup];
    const gone = await world.geoferry(["delete", list, "--map", map, ...byId, ...common]);
    expect(gone.status, gone.stderr).toBe(0);
    expect(await world.features(map)).toHaveLength(1200);

    proxy.calm();
    let seen = 0;
    const cutOff = await world.geoferry(["restore", backup, "--concurrency", "1", ...common, "--url", proxy.url], {
      watch: (child) => proxy.choose(({ method }) => (method === "POST" && ++seen === 2 ? kill(child, moment) : null)),
    });
    expect(cutOff.status).toBeNull();
    proxy.choose(() => null);
    const next = await world.geoferry(["restore", backup, ...common, "--url", proxy.url]);
    expect(next.status, next.stderr).toBe(0);
    expect(shown(await world.features(map))).toEqual(shown(held));
    const last = await world.geoferry(["restore", backup, ...common, "--url", proxy.url]);
    expect([last.status, last.stderr]).toEqual([0, expect.stringContaining("nothing to do")]);
  },
);

describe("restoring a killed run", () => {
  /** The command in the summary of a run. */
  const undoing = (stderr: string): string[] => {
    const [, line = ""] = /to undo this: geoferry (.*)/.exec(stderr) ?? [];
    return [...line.split(" "), "--settle-time", "50"];
  };

  test.each(moments)("a kill at the second POST, %s, can be undone with both runs", async (moment) => {
    const map = await world.newMap();
    const held = many(0, 30, 0);
    await world.fill(map, held);
    const before = await world.features(map);
    proxy.calm();
    const path = world.source([...many(0, 20, 0), ...many(20, 1130, 1)]);
    const backup = join(world.folder, `killed ${moment}.geojson`);
    const args = ["push", path, "--map", map, "--remote-field", "ref", "--settle-time", "50", "--backup", backup];
    let seen = 0;
    const cutOff = await world.geoferry([...args, "--concurrency", "1"], {
      url: proxy.url,
      watch: (child) => proxy.choose(({ method }) => (method === "POST" && ++seen === 2 ? kill(child, moment) : null)),
    });
    expect(cutOff.status).toBeNull();
    proxy.choose(() => null);

    // The creates of the killed run are undone separately.
    const undo = ["restore", backup, "--settle-time", "50", "--max-delete", "1100"];
    const dry = await world.geoferry([...undo, "--dry-run"], { url: proxy.url });
    expect(dry.stderr).toContain(
      `${moment === "after it" ? "1,100" : "1,000"} features that the run created`.replace(",", ""),
    );
    const undone = await world.geoferry(undo, { url: proxy.url });
    expect(undone.status, undone.stderr).toBe(0);
    expect(await world.features(map)).toEqual(before);

    // The command in the summary undoes a whole run; it allows as many deletes as the run created.
    const folder = join(world.folder, `whole-${moment.split(" ")[0]}/`);
    const whole = await world.geoferry([...args.slice(0, -1), folder], { url: proxy.url });
    expect(whole.status, whole.stderr).toBe(0);
    const copied = await world.geoferry(undoing(whole.stderr), { url: proxy.url });
    expect(copied.status, copied.stderr).toBe(0);
    expect(shown(await world.features(map))).toEqual(shown(held));
  });
});

import { expect, test } from "vitest";
import type { WireFeature } from "../../src/remote/wire.js";
import type { ProxyFault } from "../support/servers/fault-proxy.js";
import {
  concurrentWriter,
  interrupting,
  LateCopy,
  pretending,
  withoutHeaders,
} from "../support/servers/proxy-faults.js";
import { startProxiedFixture } from "../support/sync/proxied-fixture.js";
import { createPlace, type Place } from "../support/sync/sync-fixture.js";

const { world, proxy } = await startProxiedFixture();

const places = (from: number, to: number, more: object = {}) =>
  Array.from({ length: to - from }, (_, n) => createPlace(`k${from + n}`, { title: "a", ...more }));

/** A map with places k0 to k2, and their features with ids. */
async function createMap(): Promise<{ readonly map: string; readonly held: readonly Place[] }> {
  const map = await world.newMap();
  await world.fill(map, places(0, 3));
  proxy.calm();
  return { map, held: (await world.features(map)) as readonly (WireFeature & Place)[] };
}

const push = (map: string, file: string, ...flags: readonly string[]) => {
  const settling = ["--settle-time", "20", "--yes", "--mode", "incremental"];
  return world.geoferry(["push", file, "--map", map, "--match", "id", ...settling, ...flags], { url: proxy.url });
};

const refsOf = async (map: string) =>
  (await world.features(map)).map(({ properties }) => String(properties.ref)).sort();

test("another writer in the middle of a run does not make it create its features again", async () => {
  const { map, held } = await createMap();
  const changed = held.map((feature) => ({ ...feature, properties: { ...feature.properties, title: "b" } }));
  const other = () => world.fill(map, [createPlace("other")]);
  proxy.on("PATCH", 1, concurrentWriter("before", other));
  const { status, stderr } = await push(map, world.source([...changed, ...places(3, 6)]));
  expect(status, stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "other"]);
});

test("a missing or foreign state makes no run create its features again", async () => {
  const { map, held } = await createMap();
  const file = world.source([...held, ...places(3, 6)]);
  for (const state of ["one", "two"]) {
    const { status, stderr } = await push(map, file, "--state", `${world.folder}/${map}-${state}`);
    expect(status, stderr).toBe(0);
  }
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

test("equal features are created as often as the input has them", async () => {
  const { map, held } = await createMap();
  const tree: Place = {
    type: "Feature",
    geometry: { type: "Point", coordinates: [8, 47] },
    properties: { kind: "tree" },
  };
  for (const count of [2, 3, 3]) {
    const state = `${world.folder}/${map}-${count}`;
    const { status, stderr } = await push(map, world.source([...held, ...Array(count).fill(tree)]), "--state", state);
    expect(status, stderr).toBe(0);
  }
  expect((await world.features(map)).filter(({ properties }) => properties.kind === "tree")).toHaveLength(3);
});

test("a list of features to delete deletes none by its content", async () => {
  const { map } = await createMap();
  const line = ["delete", world.source(places(0, 3)), "--map", map, "--match", "id", "--yes"];
  await world.geoferry(line, { url: proxy.url });
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2"]);
});

test("features without ids are not deleted by a list of the same features, even if this job created them", async () => {
  const { map } = await createMap();
  const file = world.source(places(3, 6));
  expect((await push(map, file)).status).toBe(0);
  await world.geoferry(["delete", file, "--map", map, "--match", "id", "--yes"], { url: proxy.url });
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

test("an append that continues after Ctrl+C and another job sends each batch once, under a key of its own", async () => {
  const { map } = await createMap();
  const file = world.source(Array.from({ length: 2500 }, (_, n) => createPlace(`a${n}`)));
  const line = ["push", file, "--map", map, "--mode", "append", "--yes", "--concurrency", "1"];
  const first = await world.geoferry(line, {
    url: proxy.url,
    watch: (child) => {
      proxy.on("POST", 1, interrupting(child));
    },
  });
  expect(first.status, first.stderr).toBe(130);
  // Another job.
  expect((await push(map, world.source([createPlace("other")]))).status).toBe(0);
  proxy.calm();
  const second = await world.geoferry(line, { url: proxy.url });
  expect([second.status, proxy.count("POST")], second.stderr).toEqual([0, 2]);
  const refs = await refsOf(map);
  expect([refs.length, new Set(refs).size]).toEqual([2504, 2504]);
});

test("a full push in one request that the map does not show yet is not repeated by another one", async () => {
  const { map } = await createMap();
  const late = new LateCopy();
  proxy.choose(() => withoutHeaders("etag")).choose(late.choose);
  const line = [
    "push",
    world.source(places(0, 6)),
    "--map",
    map,
    "--remote-field",
    "ref",
    "--settle-time",
    "20",
    "--yes",
  ];
  const full = await world.geoferry([...line, "--mode", "full"], { url: proxy.url });
  expect([full.status, proxy.count("PUT")], full.stderr).toEqual([10, 1]);
  const next = await world.geoferry([...line, "--mode", "incremental"], { url: proxy.url });
  expect(next.stderr).toContain("created 3 features that the map still does not show");
  late.isLate = false;
  expect((await world.geoferry([...line, "--mode", "incremental"], { url: proxy.url })).status).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

/** The service stores features in a way of its own. */
const storing = (change: (sent: Partial<WireFeature>) => Partial<WireFeature>): ProxyFault => {
  const stored = pretending((sent) => [change(sent)]);
  return {
    name: "stores features in its own way",
    async around(request, upstream) {
      let answer = await upstream.send({
        ...request,
        method: "GET",
        path: `${request.path}?page=1`,
        body: Buffer.alloc(0),
      });
      await stored.around(request, { ...upstream, send: async (one) => (answer = await upstream.send(one)) });
      return answer;
    },
  };
};

test.each<[string, (sent: Partial<WireFeature>) => Partial<WireFeature>]>([
  ["adds a property", (sent) => ({ ...sent, properties: { ...sent.properties, created: 1 } })],
  [
    "rounds coordinates",
    (sent) => {
      const [x, y] = (sent.geometry as { coordinates: number[] }).coordinates.map((c) => Number(c.toFixed(5)));
      return { ...sent, geometry: { type: "Point", coordinates: [x!, y!] } };
    },
  ],
])("a service that %s gets each feature once", async (_, change) => {
  const { map, held } = await createMap();
  proxy.choose(({ method }) => (method === "POST" ? storing(change) : null));
  const file = world.source([...held, ...places(3, 6)]);
  for (let run = 0; run < 3; run++) await push(map, file);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

/** Features without a geometry, as of a table. */
const rowsOf = (count: number, named: boolean) =>
  Array.from({ length: count }, (_, n) => ({
    type: "Feature" as const,
    geometry: null,
    properties: { ...(named && { name: `n${n}` }), date: `2026-01-${String((n % 28) + 1).padStart(2, "0")}` },
  }));

const withTimes = storing((sent) => ({
  ...sent,
  properties: { ...sent.properties, date: `${sent.properties?.date}T00:00:00Z` },
}));

test("rows whose dates the service stores as times are matched by their other values", async () => {
  const map = await world.newMap();
  proxy.calm().choose(({ method }) => (method === "POST" ? withTimes : null));
  const file = world.source(rowsOf(3, true) as never);
  for (let run = 0; run < 3; run++) expect((await push(map, file)).status).toBe(0);
  expect(await world.features(map)).toHaveLength(3);
});

test("rows that only differ in values that the service stores in its own way stop the next run", async () => {
  const map = await world.newMap();
  proxy.calm().choose(({ method }) => (method === "POST" ? withTimes : null));
  const file = world.source(rowsOf(3, false) as never);
  expect((await push(map, file)).status).toBe(0);
  for (let run = 0; run < 2; run++) {
    const { status, stderr } = await push(map, file);
    expect([status, stderr]).toEqual([10, expect.stringContaining("3 features that an earlier run created, such as")]);
  }
  expect(await world.features(map)).toHaveLength(3);
});

test("a run matches more than a hundred equal geometries to which the service adds a property, in any page order", async () => {
  const map = await world.newMap();
  let count = 0;
  const numbered = storing((sent) => ({ ...sent, properties: { ...sent.properties, created: ++count } }));
  const reversed: ProxyFault = {
    name: "lists features in reverse order",
    around(request, upstream) {
      const body = JSON.parse(request.body.toString()) as { features: unknown[] };
      const features = body.features.reverse();
      return numbered.around({ ...request, body: Buffer.from(JSON.stringify({ ...body, features })) }, upstream);
    },
  };
  proxy.calm().choose(({ method }) => (method === "POST" ? reversed : null));
  const file = world.source(rowsOf(250, true) as never);
  for (let run = 0; run < 2; run++) expect((await push(map, file)).status).toBe(0);
  expect(await world.features(map)).toHaveLength(250);
});

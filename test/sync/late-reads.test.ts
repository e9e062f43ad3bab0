/** A service whose reads lag behind its writes, or that loses what it accepts: nothing is created twice. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultProxy, type ProxiedResponse, type ProxyFault } from "../support/servers/fault-proxy.js";
import { pretending, withoutHeaders } from "../support/servers/proxy-faults.js";
import { createPlace, findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
let proxy: FaultProxy;
beforeAll(async () => {
  world = await sqlite!.start();
  proxy = await FaultProxy.start(world.url);
});
afterAll(() => proxy[Symbol.asyncDispose]());

/** Reads get the first response to the same request. */
function lagging(): ProxyFault {
  const seen = new Map<string, ProxiedResponse>();
  return {
    name: "lags behind",
    async around(request, upstream) {
      const answer = seen.get(request.path) ?? (await upstream.send(request));
      seen.set(request.path, answer);
      return answer;
    },
  };
}

const nothing = pretending(() => []);
const places = (from: number, to: number, title = "a") =>
  Array.from({ length: to - from }, (_, n) => createPlace(`k${from + n}`, { title }));

/** A map with places k0 to k2. */
async function createMap(tags: "with" | "without"): Promise<string> {
  const map = await world.newMap();
  await world.fill(map, places(0, 3));
  proxy.calm();
  if (tags === "without") proxy.choose(() => withoutHeaders("etag"));
  return map;
}

const push = (map: string, file: string, ...flags: readonly string[]) =>
  world.geoferry(["push", file, "--map", map, "--remote-field", "ref", "--settle-time", "20", "--yes", ...flags], {
    url: proxy.url,
  });

const refsOf = async (map: string) =>
  (await world.features(map)).map(({ properties }) => String(properties.ref)).sort();

describe.each(["with", "without"] as const)("%s entity tags", (tags) => {
  test("features that the map does not show yet are not created twice", async () => {
    const map = await createMap(tags);
    const late = lagging();
    let isLate = true;
    proxy.choose(({ method }) => (method === "GET" && isLate ? late : null));
    const file = world.source(places(0, 6));
    const first = await push(map, file, "--mode", "incremental");
    expect(first.status, first.stderr).toBe(10);
    expect(first.stderr).toContain("reported 3 features as created");
    const second = await push(map, file, "--mode", "incremental");
    expect(second.status, second.stderr).toBe(10);
    expect(second.stderr).toContain("an earlier run created 3 features that the map still does not show");
    const [, backup] = /geoferry restore (\S+)/.exec(first.stderr)!;
    const undone = await world.geoferry(["restore", backup!, "--yes"], { url: proxy.url });
    expect(undone.status, undone.stderr).toBe(10);
    isLate = false;
    const third = await push(map, file, "--mode", "incremental");
    expect(third.status, third.stderr).toBe(0);
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
    expect((await push(map, file, "--mode", "incremental")).status).toBe(0);
  });

  test("features that the service has lost are created again after an hour, or when the user says so", async () => {
    for (const continues of ["an hour later", "by the advice"]) {
      const map = await createMap(tags);
      proxy.on("POST", 1, nothing);
      const file = world.source(places(0, 6));
      expect((await push(map, file, "--mode", "incremental")).status).toBe(10);
      const { status, stderr } = await push(map, file, "--mode", "incremental");
      expect(status, stderr).toBe(10);
      const [, record] = /delete (\S+) to continue now/.exec(stderr)!;
      const hourAgo = new Date(Date.now() - 3_601_000).toISOString();
      if (continues === "by the advice") rmSync(record!);
      else writeFileSync(record!, readFileSync(record!, "utf8").replace(/"time":"[^"]+"/, `"time":"${hourAgo}"`));
      const again = await push(map, file, "--mode", "incremental");
      expect(again.status, `${continues}: ${again.stderr}`).toBe(0);
      expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
    }
  });
});

test("recreated features that the map does not show yet are not created twice", async () => {
  const map = await createMap("without");
  const late = lagging();
  let isLate = true;
  proxy.choose(({ method }) => (method === "GET" && isLate ? late : null));
  const file = world.source(places(0, 3, "b"));
  const flags = ["--mode", "incremental", "--update-with", "delete-create"];
  expect((await push(map, file, ...flags)).status).toBe(10);
  expect((await push(map, file, ...flags)).status).toBe(10);
  isLate = false;
  const last = await push(map, file, ...flags);
  expect(last.status, last.stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2"]);
});

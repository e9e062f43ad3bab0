/** Clients push to one map at once if the service sends no entity tags, so that no write can be conditional. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createServiceClient, defaultTraffic } from "../../../src/remote/client/service-client.js";
import { type DedupeRequest, deduplicate } from "../../../src/sync/diff/dedupe.js";
import { SyncRun } from "../../../src/sync/sync-run.js";
import { createTestHost } from "../../support/host.js";
import { AlternativeService } from "../../support/servers/alternative-service.js";
import { ConnectionCut, FaultProxy, type ProxiedRequest, type ProxyFault } from "../../support/servers/fault-proxy.js";
import { concurrentWriter, respondBeforeCommit } from "../../support/servers/proxy-faults.js";
import { createPlace, type Place } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

let odd: AlternativeService;
let proxy: FaultProxy;
let map: string;
const folder = mkdtempSync(join(tmpdir(), "geoferry-writers-"));
beforeAll(async () => {
  odd = await AlternativeService.start();
});
beforeEach(async () => {
  proxy = await FaultProxy.start(odd.url);
  map = odd.newMap();
});
afterEach(() => proxy[Symbol.asyncDispose]());
afterAll(async () => {
  await odd[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const places = (count: number, more: Place["properties"] = {}): Place[] =>
  Array.from({ length: count }, (_, n) => createPlace(`k${n}`, more));

/** Report of the last push, including its notices. */
let folderOfLast: string;

function push(
  source: readonly Place[],
  request: Parameters<typeof runSyncInProcess>[0]["request"] = {},
  machine = mkdtempSync(join(folder, "machine-")),
) {
  folderOfLast = machine;
  const path = join(machine, "source.geojsonl");
  writeFileSync(path, source.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const asked = { guards: noGuards, ...request };
  return runSyncInProcess({ url: proxy.url, as: odd, folder: machine, map, source: path, request: asked });
}

/** Ids by key, the lowest first. */
function ids(): ReadonlyMap<unknown, readonly string[]> {
  const found = new Map<unknown, string[]>();
  for (const { id, properties } of odd.featuresOf(map))
    found.set(properties.ref, [...(found.get(properties.ref) ?? []), id]);
  for (const list of found.values()) list.sort();
  return found;
}
const asSent = ({ headers, body }: ProxiedRequest) => ({
  headers: headers as Record<string, string>,
  body: Uint8Array.from(body),
});

const lowest = (of: ReturnType<typeof ids>) => new Map([...of].map(([key, [first]]) => [key, [first!]]));

async function dedupe() {
  const host = createTestHost();
  const tools = {
    host,
    traffic: defaultTraffic,
    stateRoot: folder,
    backupPath: join(folder, "dedupe.geojson"),
    onNotice() {},
  };
  const service = createServiceClient(
    { url: proxy.url, clientId: odd.clientId, clientSecret: odd.clientSecret },
    defaultTraffic,
    host.signal,
  );
  await using run = await SyncRun.open({ ...tools, service }, map);
  const request: DedupeRequest = {
    ...{ remoteField: "ref", keep: "first", orderBy: null, deleteDifferent: true, scope: null },
    ...{ precision: 7, singleRead: false, settleTime: 20, guards: noGuards },
  };
  return await deduplicate(request, run, { onPlan() {}, confirm: async () => true });
}

it("a run without entity tags keeps the lowest id of features that another writer creates at the same time", async () => {
  let both = ids();
  const other = async () => {
    odd.fill(map, places(40));
    both = ids();
  };
  proxy.on("POST", 1, concurrentWriter("after", other));
  const { end, report } = await push(places(50));
  expect([end, both.size, ids().size]).toEqual(["done", 50, 50]);
  expect(lowest(both)).toEqual(ids());
  // Ids are random: of some keys this run's feature is removed, of others that of the other writer, which does not
  // recreate it.
  expect(report).toMatchObject({ twins: 40, failed: 0, deleted: 0 });
  expect(report!.created).toBeGreaterThan(10);
  expect(report!.created).toBeLessThan(50);

  // The baseline records both sides as equal, regardless of who created the kept feature.
  const writes = proxy.writes;
  expect(await push(places(50), {}, folderOfLast)).toEqual({ end: "done", report: null });
  expect(proxy.writes).toBe(writes);
});

it("a run without entity tags recreates features if the other writer removes its copy after this run removed its own", async () => {
  let others: string[] = [];
  const creates = async () => {
    const before = new Set(odd.featuresOf(map).map(({ id }) => id));
    odd.fill(map, places(30));
    others = odd.featuresOf(map).flatMap(({ id }) => (before.has(id) ? [] : [id]));
  };
  const takesBack = async () => odd.remove(map, others);
  proxy.on("POST", 1, concurrentWriter("after", creates)).on("DELETE", 1, concurrentWriter("after", takesBack));
  const { end } = await push(places(30));
  expect([end, [...ids().values()].map((all) => all.length)]).toEqual(["done", places(30).map(() => 1)]);
});

it("a run without entity tags keeps differing features of another writer, reports them, and deletes nothing", async () => {
  const other = async () => odd.fill(map, [createPlace("k1", { v: 2 }), createPlace("k2")]);
  odd.fill(map, [createPlace("gone"), { ...createPlace("none"), properties: {} }]);
  proxy.on("POST", 1, concurrentWriter("after", other));
  const { end, report } = await push(places(4), { mode: "full", unmanaged: "keep" });
  expect(end).toBe("duplicates-created");
  expect(report!.error!.message).toContain(`geoferry dedupe --map ${map} --remote-field ref `);
  expect(report).toMatchObject({ twins: 1, withheld: { deletes: 1, why: "stopped" } });
  expect(Object.fromEntries([...ids()].map(([key, all]) => [key, all.length]))).toEqual({
    ...{ gone: 1, undefined: 1 },
    ...{ k0: 1, k1: 2, k2: 1, k3: 1 },
  });

  const first = ids().get("k1")![0];
  const found = await dedupe();
  expect([found.found.remainingKeys, found.applied?.deleted]).toEqual([0, 1]);
  expect(ids().get("k1")).toEqual([first]);
});

it("a run without entity tags reports duplicates that the service does not delete", async () => {
  proxy.on(
    "POST",
    1,
    concurrentWriter("after", async () => odd.fill(map, places(3))),
  );
  proxy.on("DELETE", 1, respondBeforeCommit(422), 100);
  const { end, report } = await push(places(3));
  expect([end, report!.created, report!.twins]).toEqual(["duplicates-created", 3, undefined]);
  expect([...ids().values()].map((all) => all.length)).toEqual([2, 2, 2]);
});

it("a run without entity tags removes features that a delayed request created after it was sent again", async () => {
  let late: ProxiedRequest | null = null;
  const held: ProxyFault = {
    name: "held back",
    async around(request) {
      late = request;
      throw new ConnectionCut();
    },
  };
  const released = async () => late && (await fetch(odd.url + late.path, { method: "POST", ...asSent(late) }));
  proxy.on("POST", 1, held).on("POST", 2, concurrentWriter("after", released));
  const { end, report } = await push(places(3));
  expect(report?.twins).toBe(3);
  expect([end, [...ids().values()].map((all) => all.length)]).toEqual(["done", [1, 1, 1]]);
});

it("a run without entity tags waits for another writer that is removing its duplicates", async () => {
  odd.fill(map, [...places(3), ...places(3)]);
  const doomed = [...ids().values()].map(([, second]) => second!);
  const other = async () => void pause(80).then(() => odd.remove(map, doomed));
  proxy.on("GET", 1, concurrentWriter("after", other));
  const { end, report } = await push(places(4));
  expect([end, report?.created]).toEqual(["done", 1]);
});

it("a run without entity tags ends if no writer removes the duplicates", async () => {
  odd.fill(map, [...places(3), ...places(3)]);
  expect(await push(places(4))).toEqual({ end: "duplicate-key-on-map", report: null });
  expect(proxy.writes).toBe(0);
});

it("a run without entity tags does not poll a map without tags sixty times", async () => {
  // Another writer changes the map before the only PUT.
  proxy.on(
    "PUT",
    1,
    concurrentWriter("before", async () => odd.fill(map, [createPlace("k9")])),
  );
  odd.fill(map, places(2, { v: 1 }));
  proxy.on(
    "GET",
    2,
    concurrentWriter("before", async () => odd.fill(map, [createPlace("k8")])),
  );
  const { end } = await push(places(3), { mode: "full" });
  expect(end).toBe("done");
  expect(proxy.count("GET")).toBeLessThan(15);
});

it("dedupe reports when a concurrent run deletes the features that it keeps", async () => {
  odd.fill(map, [...places(4), ...places(4)]);
  const firsts = [...ids().values()].map(([first]) => first!);
  const other = async () => odd.remove(map, firsts);
  proxy.on("DELETE", 1, concurrentWriter("before", other));
  const { applied } = await dedupe();
  expect(applied!.error?.code).toBe("duplicates-lost");
  expect(applied!.error?.message).toMatch(
    /another writer deleted 4 features that this run kept .*; geoferry restore \S+ restores/,
  );
});

it("where tags are weak, one PUT does not silently replace what another writer added since the map was read", async () => {
  const tagged = await AlternativeService.start({
    entityTags: { suffix: "", matches: (header, tag) => header === tag },
  });
  await using weak = await FaultProxy.start(tagged.url);
  const target = tagged.newMap();
  let reads = 0;
  const weaken: ProxyFault = {
    name: "weak tags",
    around: async (request, upstream) => {
      const answer = await upstream.send(request);
      if (request.method === "GET" && request.path.includes("/features") && reads++ === 0)
        tagged.fill(target, [createPlace("foreign")]);
      const { etag } = answer.headers;
      return etag === undefined ? answer : { ...answer, headers: { ...answer.headers, etag: `W/${etag}` } };
    },
  };
  tagged.fill(target, places(3));
  weak.choose(() => weaken);
  const machine = mkdtempSync(join(folder, "machine-"));
  const source = join(machine, "source.geojsonl");
  writeFileSync(source, `${JSON.stringify(createPlace("k0", { v: 2 }))}\n`);
  const request = { guards: noGuards, mode: "full" } as const;
  const { end, report } = await runSyncInProcess({
    url: weak.url,
    as: tagged,
    folder: machine,
    map: target,
    source,
    request,
  });
  expect([end, report!.put]).toEqual(["done", true]);
  expect(readFileSync(report!.backup!, "utf8")).toContain("foreign");
  await tagged[Symbol.asyncDispose]();
});

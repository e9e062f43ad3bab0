/** Features that are equal for a push, but not exactly: none is deleted as a duplicate. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, test } from "vitest";
import { createServiceClient, defaultTraffic } from "../../../src/remote/client/service-client.js";
import { type DedupeRequest, type Duplicates, deduplicate } from "../../../src/sync/diff/dedupe.js";
import { SyncRun } from "../../../src/sync/sync-run.js";
import { createTestHost } from "../../support/host.js";
import { AlternativeService } from "../../support/servers/alternative-service.js";
import { FaultProxy, type ProxyFault } from "../../support/servers/fault-proxy.js";
import { concurrentWriter } from "../../support/servers/proxy-faults.js";
import { createPlace, type Place } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

/** Expands texts that start with "raw", and moves a property `member` to the feature. */
const asWritten: ProxyFault = {
  name: "numbers and members as others write them",
  async around(request, upstream) {
    const answer = await upstream.send(request);
    const body = answer.body
      .toString()
      .replace(/"properties":\{"member":("[^"]*"),([^{}]*)\}/g, '"member":$1,"properties":{$2}')
      .replace(/"raw ([^"]*)"/g, "$1");
    return { ...answer, body: Buffer.from(body), headers: { "content-type": "application/json" } };
  },
};

let odd: AlternativeService;
let proxy: FaultProxy;
let map: string;
const folder = mkdtempSync(join(tmpdir(), "geoferry-exact-"));
beforeAll(async () => {
  odd = await AlternativeService.start();
});
beforeEach(async () => {
  proxy = await FaultProxy.start(odd.url);
  proxy.always(asWritten);
  map = odd.newMap();
});
afterEach(() => proxy[Symbol.asyncDispose]());
afterAll(async () => {
  await odd[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

let runs = 0;

async function dedupe(more: Partial<DedupeRequest> = {}) {
  // Runs on several machines do not see each other's locks.
  const own = join(folder, `run-${runs++}`);
  mkdirSync(own);
  const host = createTestHost();
  const account = { url: proxy.url, clientId: odd.clientId, clientSecret: odd.clientSecret };
  const service = createServiceClient(account, defaultTraffic, host.signal);
  const backupPath = join(own, "backup.geojson");
  const tools = { host, traffic: defaultTraffic, stateRoot: own, backupPath, onNotice() {}, service };
  await using run = await SyncRun.open(tools, map);
  const request: DedupeRequest = {
    ...{ remoteField: "ref", keep: "first", orderBy: null, deleteDifferent: false, scope: null },
    ...{ precision: 4, singleRead: false, settleTime: 20, guards: noGuards, ...more },
  };
  const reported: Duplicates[] = [];
  const onDuplicates = (duplicates: Duplicates) => reported.push(duplicates);
  const { found, applied } = await deduplicate(request, run, { onDuplicates, onPlan() {}, confirm: async () => true });
  return { found, reported, applied };
}

const at = (x: number): Place => ({ ...createPlace("a"), geometry: { type: "Point", coordinates: [x, 47] } });

test.each([
  [
    "an integer beyond 2^53",
    [createPlace("a", { n: "raw 9007199254740993" }), createPlace("a", { n: "raw 9007199254740992" })],
    "properties.n",
  ],
  [
    "more digits than a double has",
    [createPlace("a", { n: "raw 0.1" }), createPlace("a", { n: "raw 0.10000000000000000001" })],
    "properties.n",
  ],
  [
    "a member that GeoJSON does not know",
    [createPlace("a", { member: "one" }), createPlace("a", { member: "two" })],
    "member",
  ],
  ["decimals beyond the precision", [at(7.12341), at(7.12342)], "geometry"],
])("dedupe keeps and reports features that differ in %s", async (_name, features, differ) => {
  odd.fill(map, features);
  const ids = odd.featuresOf(map).map(({ id }) => id);
  const { found, reported } = await dedupe();
  expect(odd.featuresOf(map).map(({ id }) => id)).toEqual(ids);
  expect([found.duplicateKeys, found.differingKeys, found.remainingKeys]).toEqual([1, 1, 1]);
  expect(reported).toEqual([{ key: "a", stay: ids, go: [], differ: [differ] }]);
});

it("dedupe deletes equal features, and differing ones on request", async () => {
  const n = "raw 9007199254740993";
  odd.fill(map, [
    createPlace("a", { n }),
    createPlace("a", { n: "raw 9007199254740992" }),
    createPlace("a", { n: "raw 9.007199254740993e15" }),
  ]);
  expect((await dedupe()).found.remainingKeys).toBe(1);
  expect(odd.featuresOf(map).map(({ properties }) => properties.n)).toHaveLength(2);
  expect((await dedupe({ deleteDifferent: true })).found.remainingKeys).toBe(0);
  expect(odd.featuresOf(map)).toHaveLength(1);
});

it("a push keeps and reports differing features that another writer created concurrently", async () => {
  const source = join(folder, "source.geojsonl");
  const own = [createPlace("a", { n: 0.5 }), createPlace("b", { n: 1 })];
  writeFileSync(source, own.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const others = [createPlace("a", { n: "raw 0.50000000000000000001" }), createPlace("b", { n: "raw 1.0" })];
  const other = async () => odd.fill(map, others);
  proxy.on("POST", 1, concurrentWriter("after", other));
  const { end, report } = await runSyncInProcess({
    url: proxy.url,
    as: odd,
    folder,
    map,
    source,
    request: { guards: noGuards },
  });
  expect([end, report?.twins]).toEqual(["duplicates-created", 1]);
  expect(
    odd
      .featuresOf(map)
      .map(({ properties }) => properties.ref)
      .sort(),
  ).toEqual(["a", "a", "b"]);
});

/** Ids by key, the lowest first. */
function idsByKey(): ReadonlyMap<unknown, readonly string[]> {
  const found = new Map<unknown, string[]>();
  for (const { id, properties } of odd.featuresOf(map))
    found.set(properties.ref, [...(found.get(properties.ref) ?? []), id]);
  for (const ids of found.values()) ids.sort();
  return found;
}

it("two concurrent runs with different settings keep the same features, so that no key is lost", async () => {
  const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
  let fewest = keys.length;
  const watch = {
    name: "watched",
    around: async (...[request, upstream]: Parameters<ProxyFault["around"]>) => {
      const answer = await upstream.send(request);
      fewest = Math.min(fewest, idsByKey().size);
      return answer;
    },
  };
  proxy.always(watch);
  for (let round = 0; round < 12; round++) {
    map = odd.newMap();
    for (let n = 0; n < 3; n++)
      odd.fill(
        map,
        keys.map((key) => createPlace(key)),
      );
    const lowest = [...idsByKey()].map(([key, [first]]) => [key, [first]]);
    const orders = [{ keep: "first" }, { keep: "last" }, { keep: "last", deleteDifferent: true }] as const;
    const ends = await Promise.all(orders.slice(round % 2, 2 + (round % 2)).map((order) => dedupe(order)));
    expect(ends.map(({ applied }) => applied?.error?.code)).toEqual([undefined, undefined]);
    expect([...idsByKey()]).toEqual(lowest);
  }
  expect(fewest).toBe(keys.length);
});

it("dedupe rereads the map between requests, and keeps features whose duplicates another run deleted", async () => {
  const keys = Array.from({ length: 1100 }, (_, n) => `k${String(n).padStart(4, "0")}`);
  for (const v of [1, 2])
    odd.fill(
      map,
      keys.map((key) => createPlace(key, { v })),
    );
  const order = { deleteDifferent: true, orderBy: "v" };
  const late = odd
    .featuresOf(map)
    .flatMap(({ id, properties: { ref, v } }) => (v === 1 && ref! >= "k1050" ? [id] : []));
  proxy.on(
    "DELETE",
    1,
    concurrentWriter("after", async () => odd.remove(map, late)),
  );
  const { applied } = await dedupe(order);
  expect([idsByKey().size, applied?.error?.code, applied?.withheld]).toEqual([
    1100,
    "map-changed",
    { deletes: 50, why: "changed" },
  ]);
});

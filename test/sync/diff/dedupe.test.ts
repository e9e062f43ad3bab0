/** Removes map features with duplicate keys by `geoferry dedupe`, and restores them. */
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { defaultTraffic } from "../../../src/remote/client/map-client.js";
import { createServiceClient } from "../../../src/remote/client/service-client.js";
import { applyAndUpdateBaseline } from "../../../src/sync/apply/apply-and-update-baseline.js";
import { type DedupeRequest, planDedupe } from "../../../src/sync/diff/dedupe.js";
import { SyncRun } from "../../../src/sync/sync-run.js";
import { createTestHost } from "../../support/host.js";
import { FaultProxy } from "../../support/servers/fault-proxy.js";
import { withoutHeaders } from "../../support/servers/proxy-faults.js";
import { createPlace, describeOnEveryFixture, type Place, type SyncFixture } from "../../support/sync/sync-fixture.js";

const records = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

const places: readonly Place[] = [
  createPlace("a", { v: 1 }),
  createPlace("b", { v: 1 }),
  createPlace("a", { v: 1 }),
  createPlace("c", { v: 1 }),
  createPlace("c", { v: 2 }),
  createPlace("c", { v: 1 }),
  { ...createPlace("d"), properties: { title: "has no key" } },
];

/** Splits a command into words as a shell does, including quotes. */
const wordsOf = (command: string) =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

await describeOnEveryFixture((kind) => {
  let world: SyncFixture;
  beforeAll(async () => {
    world = await kind.start();
  }, 120_000);

  /** A map of these places, and their ids in order. */
  async function mapOf(of: readonly Place[]): Promise<{ map: string; ids: readonly string[] }> {
    const map = await world.newMap();
    await world.fill(map, of);
    return { map, ids: (await world.features(map)).map(({ id }) => id).sort() };
  }
  const idsOn = async (map: string) => (await world.features(map)).map(({ id }) => id).sort();
  const dedupe = (map: string, ...more: readonly string[]) =>
    world.geoferry(["dedupe", "--map", map, "--remote-field", "ref", ...more]);

  it("dedupe reports deletes and differences, and sends nothing with --dry-run", async () => {
    const { map, ids } = await mapOf(places);
    const { status, stdout } = await dedupe(map, "--dry-run", "--json");
    expect(status).toBe(10);
    const printed = records(stdout);
    expect(printed.filter(({ type }) => type === "duplicates")).toEqual([
      { type: "duplicates", key: "a", stay: [ids[0]], go: [ids[2]], differ: [] },
      { type: "duplicates", key: "c", stay: [ids[3], ids[4]], go: [ids[5]], differ: ["properties.v"] },
    ]);
    expect(printed).toContainEqual(expect.objectContaining({ type: "keys", repeated: 2, differing: 1, left: 1 }));
    expect(printed).toContainEqual(
      expect.objectContaining({ type: "plan", counts: expect.objectContaining({ delete: 2, same: 3 }) }),
    );
    expect(printed).toContainEqual(expect.objectContaining({ type: "error", code: "duplicates-differ" }));
    expect(await idsOn(map)).toEqual(ids);
  });

  it("deletes equal features, keeps differing ones with advice, and restore undoes it", async () => {
    const { map, ids } = await mapOf(places);
    const first = await dedupe(map, "--backup", `${map}.geojson`);
    expect(first.status).toBe(10);
    expect(first.stderr).toContain(`a: keep ${ids[0]}; delete ${ids[2]}, which is equal`);
    expect(first.stderr).toContain("--delete-different");
    expect(await idsOn(map)).toEqual([0, 1, 3, 4, 6].map((n) => ids[n]));

    const newest = ["--delete-different", "--order-by", "v", "--keep", "last"];
    const second = await dedupe(map, ...newest, "--backup", `${map}-2.geojson`);
    expect([second.status, second.stderr]).toEqual([0, expect.stringContaining("to undo this: geoferry restore")]);
    expect(await idsOn(map)).toEqual([0, 1, 4, 6].map((n) => ids[n]));

    const third = await dedupe(map);
    expect([third.status, third.stderr]).toEqual([0, expect.stringContaining("nothing to do")]);

    for (const backup of [`${map}-2.geojson`, `${map}.geojson`])
      expect((await world.geoferry(["restore", backup])).status).toBe(0);
    // Small maps are restored in one PUT, which contains ids.
    expect(await idsOn(map)).toEqual(ids);
  });

  it("dedupe keeps the last by id on request", async () => {
    const { map, ids } = await mapOf(places);
    expect((await dedupe(map, "--delete-different", "--keep", "last")).status).toBe(0);
    expect(await idsOn(map)).toEqual([1, 2, 5, 6].map((n) => ids[n]));
  });

  it("dedupe resolves duplicate keys with the command that push suggests", async () => {
    const twelve = Array.from({ length: 12 }, (_, n) => createPlace(`it's ${n}`, {}));
    const { map } = await mapOf([...twelve, ...twelve]);
    const source = world.source(twelve);
    // Only a flag gives the address of the service.
    const nowhere = { url: "http://127.0.0.1:9" };
    const own = ["--url", world.url, "--state", join(world.folder, "own state")];
    const pushed = await world.geoferry(["push", source, "--map", map, "--remote-field", "ref", ...own], nowhere);
    expect(pushed.status).toBe(10);
    const advice = /geoferry (dedupe --map \S+ --remote-field ref .*) shows/.exec(pushed.stderr)?.[1];
    const stopped = await world.geoferry(wordsOf(advice!), nowhere);
    // A half exceeds the default limit of a tenth; the message contains the flag that allows it.
    expect(stopped.status).toBe(7);
    const allowed = /--max-delete \d+/.exec(stopped.stderr)?.[0];
    expect((await world.geoferry([...wordsOf(advice!), ...allowed!.split(" ")], nowhere)).status).toBe(0);
    expect(await world.features(map)).toHaveLength(12);
    const again = await world.geoferry(["push", source, "--map", map, "--remote-field", "ref"]);
    expect([again.status, again.stderr]).toEqual([0, expect.stringContaining("create 0, update 0, delete 0")]);
  });

  it("dedupe respects the scope", async () => {
    const of = (job: string) => [createPlace("a", { job }), createPlace("a", { job })];
    const { map, ids } = await mapOf([...of("one"), ...of("two")]);
    expect((await dedupe(map, "--scope", "job=two")).status).toBe(0);
    expect(await idsOn(map)).toEqual([0, 1, 2].map((n) => ids[n]));
    const source = world.source([createPlace("a", { job: "one" })]);
    const pushed = await world.geoferry(["push", source, "--map", map, "--remote-field", "ref", "--scope", "job=one"]);
    expect(pushed.stderr).toContain(`geoferry dedupe --map ${map} --remote-field ref --scope job=one`);
  });

  it("dedupe treats a number and a text as the same key, but never as equal features", async () => {
    const { map, ids } = await mapOf([createPlace(7), createPlace("7")]);
    expect((await dedupe(map)).status).toBe(10);
    expect(await idsOn(map)).toEqual(ids);
    expect((await dedupe(map, "--delete-different")).status).toBe(0);
    expect(await idsOn(map)).toEqual([ids[0]]);
  });

  it("rejects a property that the map does not have", async () => {
    const { map } = await mapOf(places);
    const { status, stderr } = await world.geoferry(["dedupe", "--map", map, "--remote-field", "reff"]);
    expect([status, stderr]).toEqual([3, expect.stringContaining('no feature has a property "reff"')]);
  });

  it("dedupe keeps a feature if the other one of its key is deleted concurrently", async () => {
    const { map, ids } = await mapOf([createPlace("a", { v: 1 }), createPlace("a", { v: 2 })]);
    await using proxy = await FaultProxy.start(world.url);
    proxy.always(withoutHeaders("etag"));
    const host = createTestHost();
    await using run = await SyncRun.open(
      {
        ...{ host, traffic: defaultTraffic, stateRoot: join(world.folder, `state-${map}`), onNotice: () => {} },
        service: createServiceClient({ url: proxy.url, ...world.ada }, defaultTraffic, host.signal),
        backupPath: join(world.folder, `${map}-backup.geojson`),
      },
      map,
    );
    const request: DedupeRequest = {
      ...{ remoteField: "ref", keep: "first", orderBy: null, deleteDifferent: true, scope: null },
      ...{ precision: 7, singleRead: false, settleTime: 20, guards: { maxDelete: null } },
    };
    const { plan } = await planDedupe(request, run, () => {});
    expect((await dedupe(map, "--delete-different", "--keep", "last")).status).toBe(0);
    const report = await applyAndUpdateBaseline(
      plan,
      { path: join(world.folder, `${map}-rejects.geojsonl`), origin: "test" },
      run,
    );
    expect([report.deleted, report.withheld?.why, report.error?.code]).toEqual([0, "changed", "map-changed"]);
    expect(await idsOn(map)).toEqual([ids[1]]);
  });
});

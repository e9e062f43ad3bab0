/** Kills a process at every checkpoint of applying a plan; the next run leaves the map equal to the source. */
import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findUncertainRequests, readJournal } from "../../../src/sync/journal/journal-reader.js";
import { findStoreKinds } from "../../service/store-kinds.js";
import { CompiledSources } from "../../support/compiled-sources.js";
import { rejectPatch } from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { type MapFixture, ProxiedService, type SyncOptions } from "../map-fixture.js";

/** Applies a plan and is killed at the n-th checkpoint; exits with 77 if there is none. */
const script = `
import { applyPlan } from "./src/sync/apply/apply-plan.js";
import { openPlan } from "./src/sync/plan/plan-reader.js";
import { createServiceClient, defaultTraffic } from "./src/remote/client/service-client.js";
import { Spool } from "./src/io/input/spool.js";
const [connection, map, folder, deadly] = JSON.parse(process.argv[2]);
const signal = new AbortController().signal;
let points = 0;
const spool = new Spool(folder);
const report = await applyPlan(await openPlan(folder + "/plan.ndjson", spool), {
  client: createServiceClient(connection, defaultTraffic, signal).map(map),
  spool,
  stateFolder: folder,
  serviceBehavior: { patchSemantics: null, savePatchSemantics() {} },
  traffic: { concurrency: 1, retries: 1 },
  signal,
  backupPath: folder + "/killed-backup.geojson",
  rejectsFile: { path: folder + "/rejects.geojsonl", origin: "test" },
  onCheckpoint() { if (points++ === deadly) process.kill(process.pid, "SIGKILL"); },
});
process.exit(report.error ? 1 : 77);
`;

/** @returns the exit status; null if it was killed */
async function applyUntil(target: MapFixture, deadly: number): Promise<number | null> {
  const given = JSON.stringify([target.connection, target.id, target.folder, deadly]);
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [program, given], (error, _out, stderr) => {
      if (error?.code === 1) reject(new Error(stderr));
      else resolve(child.exitCode);
    });
  });
}

const [kind] = await findStoreKinds();
let program: string;
let service: ProxiedService;
let withoutPatch: ProxiedService;
beforeAll(async () => {
  const compiled = new CompiledSources([
    "src/sync/apply/apply-plan.ts",
    "src/sync/plan/plan-reader.ts",
    "src/remote/client/service-client.ts",
    "src/io/input/spool.ts",
  ]);
  afterAll(() => compiled.remove());
  program = compiled.script("apply.mjs", script);
  service = await ProxiedService.start(kind!);
  withoutPatch = await ProxiedService.start(kind!);
  withoutPatch.proxy.always(rejectPatch(405));
});

const held: FeatureInput[] = [1, 2, 3, 4].map((n) => pointFeature(n, n, { ref: n, kept: `of the map ${n}` }));
const source: FeatureInput[] = [
  pointFeature(1, 1, { ref: 1 }),
  pointFeature(2.5, 2, { ref: 2 }),
  pointFeature(3, 3, { ref: 3, name: "new" }),
  pointFeature(5, 5, { ref: 5 }),
];
const wanted = [
  { ref: 1, kept: "of the map 1" },
  { ref: 2, kept: "of the map 2" },
  { ref: 3, kept: "of the map 3", name: "new" },
  { ref: 5 },
];

const ways: readonly (readonly [string, () => ProxiedService, SyncOptions])[] = [
  ["feature by feature", () => service, { complete: false }],
  ["by one PUT", () => service, {}],
  ["by deleting and creating", () => withoutPatch, { complete: false, request: { updateWith: "delete-create" } }],
];

describe.each(ways)("%s", (_way, of, wish) => {
  test("the next run completes a run killed at any checkpoint", async () => {
    const seen = new Set<string>();
    for (let deadly = 0; ; deadly++) {
      const target = await of().newTarget();
      await target.put(...held);
      await target.plan(source, wish);
      const status = await applyUntil(target, deadly);
      const journal = await readJournal(target.folder);
      for (const { kind } of journal?.uncertain ?? []) seen.add(kind);
      if (status !== 77)
        expect((await findUncertainRequests(target.folder))?.batches ?? 0).toBe(journal?.uncertain.length ?? 0);
      const report = await target.sync(source, wish);
      expect(report.error).toBeNull();
      expect(await target.properties()).toEqual(wanted);
      const places = (await target.features()).map(({ geometry }) => geometry);
      expect(places).toContainEqual({ type: "Point", coordinates: [2.5, 2] });
      if (status === 77) break;
    }
    expect(seen.size).toBeGreaterThan(0);
  });
});

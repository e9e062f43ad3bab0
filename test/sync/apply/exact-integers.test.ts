/** Integers beyond 2^53 that only the map has keep their digits, although a double would round them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Workspace } from "../../../src/compare/workspace.js";
import { Spool } from "../../../src/io/input/spool.js";
import { createServiceClient, defaultTraffic } from "../../../src/remote/client/service-client.js";
import { applyPlan } from "../../../src/sync/apply/apply-plan.js";
import { openBackup } from "../../../src/sync/journal/backup-reader.js";
import { openRecreations, removeRecreations, saveRecreations } from "../../../src/sync/journal/recreations.js";
import type { PlanAction, PlanHeader } from "../../../src/sync/plan/plan.js";
import { planRestore } from "../../../src/sync/plan/plan-restore.js";
import type { SyncRequest } from "../../../src/sync/request.js";
import { VerbatimService } from "../../support/servers/verbatim-service.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

let service: VerbatimService;
const folder = mkdtempSync(join(tmpdir(), "geoferry-exact-"));
beforeAll(async () => {
  service = await VerbatimService.start();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const [idA, idB] = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"];
const long = '"only":9007199254740993,"nested":{"geometry":[-12345678901234567891,1]}';
const feature = (id: string, ref: string, v: number, rest = `,${long}`, point = "[1,2,3.12345]") =>
  `{"type":"Feature","id":"${id}","geometry":{"type":"Point","coordinates":${point}},"properties":{"ref":"${ref}","v":${v}${rest}}}`;
const withoutId = (text: string) => text.replace(/"id":"[^"]*",/, "");

let sources = 0;
function push(contents: readonly string[], request: Partial<SyncRequest> = {}) {
  const source = join(folder, `source-${sources++}.geojsonl`);
  writeFileSync(source, contents.map((text) => `${withoutId(text)}\n`).join(""));
  const { url, map, account: as } = service;
  return runSyncInProcess({ url, as, folder, map, source, request: { guards: noGuards, ...request } });
}

const incremental = { mode: "incremental" } as const;

test("PATCH sends integers that only the map has, and a geometry that is equal at the precision, as the map has them", async () => {
  service.fill(feature(idA, "a", 1), feature(idB, "b", 1));
  const source = [feature(idA, "a", 2, "", "[1,2,3.123]")];
  const { end, report } = await push(source, incremental);
  expect([end, report?.updated]).toEqual(["done", 1]);
  expect(service.writes).toEqual([{ method: "PATCH", body: `{"features":[${feature(idA, "a", 2)}]}` }]);
  expect(readFileSync(report!.backup!, "utf8")).toContain(`\n${feature(idA, "a", 1)}\n`);
  expect(await push(source, incremental)).toEqual({ end: "done", report: null });
});

test("features that are deleted and created again keep the integers", async () => {
  service.fill(feature(idA, "a", 1));
  await push([feature(idA, "a", 2, "")], { ...incremental, updateWith: "delete-create" });
  expect(service.writes.map(({ method }) => method)).toEqual(["DELETE", "POST"]);
  expect(service.texts.map(withoutId).join()).toContain(`"properties":{"ref":"a","v":2,${long}}`);
});

test("one PUT of the whole set has the integers of changed and kept features", async () => {
  service.fill(feature(idA, "a", 1), feature(idB, "b", 1));
  await push([feature(idA, "a", 2, ""), feature(idB, "b", 1, "")], { mode: "full" });
  expect(service.writes.map(({ method }) => method)).toEqual(["PUT"]);
  for (const properties of [`{"ref":"a","v":2,${long}}`, `{"ref":"b","v":1,${long}}`])
    expect(service.writes[0]!.body).toContain(`"properties":${properties}`);
});

test("the features of an interrupted recreation are read with the integers", async () => {
  const parsed = (n: bigint) => ({ type: "Feature", id: idA, geometry: null, properties: { n, at: [n] } }) as const;
  const [before, after] = [parsed(9007199254740993n), parsed(-12345678901234567891n)];
  const agreement = { name: "a", sent: "" };
  const update = {
    action: "update",
    id: idA,
    key: "a",
    page: 1,
    changed: [],
    before,
    feature: after,
    agreement,
  } as const;
  await saveRecreations(folder, {} as PlanHeader, [update]);
  const found: PlanAction[] = [];
  for await (const action of (await openRecreations(folder))!.actions()) found.push(action);
  expect(found).toEqual([update]);
  await removeRecreations(folder);
});

async function restore(backup: string) {
  await using spool = new Spool();
  using workspace = await Workspace.create(spool);
  const never = new AbortController().signal;
  const connection = { url: service.url, ...service.account };
  const client = createServiceClient(connection, defaultTraffic, never).map(service.map);
  const { plan } = await planRestore({
    backup: await openBackup(backup),
    client,
    workspace,
    settings: { precision: 7, singleRead: false, updateWith: "patch", guards: noGuards, settleTime: 20 },
    output: join(spool.folder(), "restore.ndjson"),
  });
  const { counts } = plan;
  await applyPlan(plan, {
    ...{ client, spool, stateFolder: folder, traffic: { concurrency: 1, retries: 1 }, signal: never },
    ...{ serviceBehavior: { patchSemantics: null, savePatchSemantics: () => {} }, backupPath: `${backup}.again` },
    rejectsFile: { path: join(folder, "restore-rejects.geojsonl"), origin: "test" },
  });
  return counts;
}

test("restore brings back the integers of changed and deleted features", async () => {
  service.fill(feature(idA, "a", 1), feature(idB, "b", 1));
  const { report } = await push([feature(idA, "a", 2, "")], { mode: "full", replaceProperties: true });
  expect(service.texts.join()).not.toContain("only");
  expect(await restore(report!.backup!)).toMatchObject({ create: 1, update: 1 });
  expect(service.texts.map(withoutId).sort()).toEqual(
    [feature(idA, "a", 1), feature(idB, "b", 1)].map((text) => withoutId(text)),
  );
});

test("restore finds a feature different whose integer has the same double", async () => {
  service.fill(feature(idA, "a", 1));
  const { report } = await push([feature(idA, "a", 2, "")], incremental);
  service.fill(feature(idA, "a", 1, `,${long.replace("993", "992")}`));
  expect(await restore(report!.backup!)).toMatchObject({ update: 1 });
  expect(service.texts).toEqual([feature(idA, "a", 1)]);
});

test("an integer from 10^21 that a double holds equals the number in the source in another notation", async () => {
  service.fill(feature(idA, "a", 1, ',"big":1000000000000000000000'));
  expect(await push([feature(idA, "a", 1, ',"big":1e21')], incremental)).toEqual({ end: "done", report: null });
});

test("a coordinate that is a long integer stays a number", async () => {
  service.fill(feature(idA, "a", 1, `,${long}`, "[1,2,9007199254740992]"));
  const { end } = await push([feature(idA, "a", 2, "", "[1,2]")], incremental);
  expect([end, service.texts]).toEqual(["done", [feature(idA, "a", 2, `,${long}`, "[1,2]")]]);
});

/** Restores a map from the backup of a run. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Workspace } from "../../../src/compare/workspace.js";
import { Spool } from "../../../src/io/input/spool.js";
import type { ApplyReport } from "../../../src/sync/apply/apply-context.js";
import { applyPlan } from "../../../src/sync/apply/apply-plan.js";
import { openBackup } from "../../../src/sync/journal/backup-reader.js";
import { findTrippedGuards } from "../../../src/sync/plan/guards.js";
import { describeRestore, findEditGuards, planRestore, type RestorePlan } from "../../../src/sync/plan/plan-restore.js";
import { findStoreKinds } from "../../service/store-kinds.js";
import { cutAfterCommit, roundedTo, withoutHeaders } from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature, request } from "../diff-scenario.js";
import { type MapFixture, ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
let service: ProxiedService;
let withoutTags: ProxiedService;
let rounding: ProxiedService;
beforeAll(async () => {
  service = await ProxiedService.start(kind!);
  withoutTags = await ProxiedService.start(kind!);
  withoutTags.proxy.always(withoutHeaders("etag"));
  rounding = await ProxiedService.start(kind!);
  rounding.proxy.always(roundedTo(6));
});

async function restore(target: MapFixture, backup: string): Promise<{ made: RestorePlan; report: ApplyReport }> {
  await using spool = new Spool();
  using workspace = await Workspace.create(spool);
  const client = target.client();
  const { precision, singleRead, updateWith, guards } = request;
  const made = await planRestore({
    backup: await openBackup(backup),
    client,
    workspace,
    settings: { precision, singleRead, updateWith, guards: { ...guards, allowEmpty: true }, settleTime: 20 },
    output: join(spool.folder(), "restore.ndjson"),
  });
  const serviceBehavior = { patchSemantics: null, savePatchSemantics: () => {} };
  const report = await applyPlan(
    made.plan,
    target.tools({ client, spool, serviceBehavior, backupPath: `${backup}.again` }),
  );
  return { made, report };
}

const held: FeatureInput[] = [1, 2, 3, 4].map((n) =>
  pointFeature(n, n, { ref: n, name: `old ${n}`, list: { a: n, b: n } }),
);
const source: FeatureInput[] = [
  pointFeature(9, 9, { ref: 1, name: "new", list: { a: 1 } }),
  pointFeature(2, 2, { ref: 2 }),
  pointFeature(5, 5, { ref: 5 }),
];
const said = (features: readonly { geometry: unknown; properties: Record<string, unknown> }[]) =>
  features
    .map(({ geometry, properties }) => ({ geometry, properties }))
    .sort((a, b) => Number(a.properties.ref) - Number(b.properties.ref));

describe.each([
  ["a small map with entity tags: one PUT gives the old ids back", () => service, "old"],
  ["without entity tags features are created with new ids", () => withoutTags, "new"],
] as const)("%s", (_title, of, ids) => {
  test("restore reverts updates, deletes and creates, and keeps features of other clients", async () => {
    const target = await of().newTarget();
    await target.put(...held);
    const before = await target.features();
    const { backup, deleted, updated } = await target.sync(source);
    expect({ deleted, updated }).toEqual({ deleted: 2, updated: 1 });
    expect(await openBackup(backup!)).toMatchObject({ features: 3, creates: 1, isEnded: true });
    await target.put(pointFeature(6, 6, { ref: 6 }));

    const { made, report } = await restore(target, backup!);
    expect(made.ids).toBe(ids);
    expect(describeRestore(made).join("\n")).toContain(`2 features missing from the map will be created with`);
    expect(describeRestore(made).join("\n")).toContain(
      "1 feature that the run created and that are unchanged since will be deleted",
    );
    expect(report).toMatchObject({ created: 2, updated: 1, deleted: 1, failed: 0, put: ids === "old", error: null });
    const after = await target.features();
    const { geometry, properties } = { geometry: { type: "Point", coordinates: [6, 6] }, properties: { ref: 6 } };
    expect(said(after)).toEqual(said([...before, { geometry, properties }]));
    const kept = before.filter(({ id }) => after.some((one) => one.id === id));
    expect(kept).toHaveLength(ids === "old" ? 4 : 2);

    const again = await restore(target, `${backup}.again`);
    expect(again.report).toMatchObject({ created: 1, updated: 1, deleted: 2, error: null });
    expect((await target.features()).map(({ properties: { ref } }) => ref).sort()).toEqual([1, 2, 5, 6]);
  });
});

describe("created features", () => {
  const refs = async (target: MapFixture) => (await target.properties()).map(({ ref }) => ref);

  test("created features are deleted only if they are unchanged since the run", async () => {
    const target = await service.newTarget();
    const { backup } = await target.sync([1, 2, 3].map((n) => pointFeature(n, n, { ref: n })));
    const [one] = (await target.features()).filter(({ properties }) => properties.ref === 2);
    await target.direct.update([JSON.stringify({ ...one, properties: { ref: 2, by: "another" } })], null, "another");
    const { made, report } = await restore(target, backup!);
    expect(made.created).toMatchObject({ count: 2, changed: 1, unknown: 0 });
    expect(report).toMatchObject({ deleted: 2, error: null });
    expect(await refs(target)).toEqual([2]);
  });

  test("created features without a key are deleted by id; equal features of other clients stay", async () => {
    const target = await service.newTarget();
    const same = pointFeature(1, 1, { name: "same" });
    await target.put(same);
    const [old] = await target.features();
    const { backup } = await target.sync([same, same, pointFeature(2, 2, { name: "other" })], {
      mode: "append",
      key: null,
    });
    expect(await target.features()).toHaveLength(4);
    expect((await restore(target, backup!)).report).toMatchObject({ deleted: 3, error: null });
    expect((await target.features()).map(({ id }) => id)).toEqual([old!.id]);
  });

  test("created features are recognized despite fewer decimals", async () => {
    const target = await rounding.newTarget();
    const { backup } = await target.sync([
      pointFeature(1.1234567, 2.7654321, { ref: 1 }),
      pointFeature(3, 4, { ref: 2 }),
    ]);
    expect((await restore(target, backup!)).report).toMatchObject({ deleted: 2, error: null });
    expect(await target.features()).toEqual([]);
  });

  test("deletes of created features are guarded", async () => {
    const target = await service.newTarget();
    const { backup } = await target.sync(Array.from({ length: 12 }, (_, n) => pointFeature(n, n, { ref: n })));
    const { made } = await restore(target, backup!);
    expect(findTrippedGuards(made.plan)).toMatchObject([{ guard: "max-delete" }]);
  });

  test("creates of a batch without a response are recognized by key", async () => {
    const target = await withoutTags.newTarget();
    await target.put(pointFeature(0, 0, { ref: 0 }));
    withoutTags.proxy.on("POST", 1, cutAfterCommit);
    const { backup, created } = await target.sync([pointFeature(0, 0, { ref: 0 }), pointFeature(1, 1, { ref: 1 })], {
      mode: "incremental",
    });
    expect(created).toBe(1);
    expect((await restore(target, backup!)).report).toMatchObject({ deleted: 1, error: null });
    expect(await refs(target)).toEqual([0]);
  });
});

describe("later edits", () => {
  /** A map on which the run updated 1, deleted 3 and kept 2. */
  async function run(of: ProxiedService) {
    const target = await of.newTarget();
    await target.put(...[1, 2, 3].map((n) => pointFeature(n, n, { ref: n, name: "old" })));
    const { backup } = await target.sync([
      pointFeature(1.1234567, 1, { ref: 1, name: "new" }),
      pointFeature(2, 2, { ref: 2, name: "old" }),
    ]);
    return { target, backup: backup! };
  }
  const edit = async (target: MapFixture, ref: number, properties: Record<string, unknown>) => {
    const [one] = (await target.features()).filter((feature) => feature.properties.ref === ref);
    await target.direct.update([JSON.stringify({ ...one, properties: { ref, ...properties } })], null, "edit");
  };

  test.each([
    ["with entity tags", () => service],
    ["without entity tags", () => withoutTags],
    ["that shows fewer decimals", () => rounding],
  ] as const)("without later edits, none are counted: a service %s", async (_title, of) => {
    const { target, backup } = await run(of());
    const { made, report } = await restore(target, backup);
    expect(made.edited).toBe(0);
    expect(findEditGuards(made, false)).toEqual([]);
    expect(report).toMatchObject({ updated: 1, error: null });
  });

  test("later edits are counted and stop the restore unless overwriting is requested", async () => {
    const { target, backup } = await run(service);
    await edit(target, 1, { name: "edited later" });
    const { made } = await restore(target, backup);
    expect(made.edited).toBe(1);
    expect(describeRestore(made).join("\n")).toContain("1 feature was edited after the run");
    expect(findEditGuards(made, false)).toMatchObject([
      { guard: "later-edits", reason: expect.stringContaining("--overwrite-edits") },
    ]);
    expect(findEditGuards(made, true)).toEqual([]);
  });

  test("features created in place of deleted ones count as edits", async () => {
    const { target, backup } = await run(service);
    await target.put(pointFeature(3, 3, { ref: 3, name: "created later" }));
    expect((await restore(target, backup)).made.edited).toBe(1);
  });

  test("features that another client reverted do not count as edits", async () => {
    const { target, backup } = await run(withoutTags);
    const [one] = (await target.features()).filter((feature) => feature.properties.ref === 1);
    const geometry = { type: "Point", coordinates: [1, 1] };
    const text = JSON.stringify({ ...one, geometry, properties: { ref: 1, name: "old" } });
    await target.direct.update([text], null, "edit");
    expect((await restore(target, backup)).made.edited).toBe(0);
  });
});

test("restores values with separators of lines and paragraphs", async () => {
  const target = await service.newTarget();
  const note = "one\u2028two\u2029three";
  await target.put(pointFeature(1, 1, { ref: 1, note }));
  const { backup } = await target.sync([pointFeature(1, 1, { ref: 1, note: "new" })]);
  expect((await restore(target, backup!)).report).toMatchObject({ updated: 1, error: null });
  expect(await target.properties()).toEqual([{ ref: 1, note }]);
});

test("restores a backup of version 1, which has no creates", async () => {
  const target = await service.newTarget();
  await target.put(pointFeature(1, 1, { ref: 1, name: "new" }), pointFeature(2, 2, { ref: 2 }));
  const [one] = (await target.features()).filter(({ properties }) => properties.ref === 1);
  const path = join(target.folder, "old.geojson");
  const header = {
    backup: 1,
    service: target.direct.url,
    map: target.id,
    key: { by: "property", name: "ref" },
    scope: null,
  };
  const old = { type: "Feature", id: one!.id, geometry: one!.geometry, properties: { ref: 1, name: "old" } };
  writeFileSync(
    path,
    `{"type":"FeatureCollection","geoferry":${JSON.stringify(header)},"features":[\n${JSON.stringify(old)}\n]}\n`,
  );
  expect((await restore(target, path)).report).toMatchObject({ updated: 1, deleted: 0, error: null });
  expect(await target.properties()).toEqual([{ ref: 1, name: "old" }, { ref: 2 }]);
});

describe("a backup that was changed", () => {
  async function backupOf(): Promise<string> {
    const target = await service.newTarget();
    await target.put(...held);
    const { backup } = await target.sync(source);
    return backup!;
  }
  const idPattern = /\["([0-9a-f]{8})(-[0-9a-f-]+)"\]/;

  test.each<[string, (text: string) => string]>([
    ["in a value", (text) => text.replace('"old 1"', '"old 7"')],
    ["in a coordinate", (text) => text.replace("[3,3]", "[3,4]")],
    ["by a line that is there twice", (text) => text.replace(/^(.*"old 3".*,)$/m, "$1\n$1")],
    ["by a line that is gone", (text) => text.replace(/^.*"old 3".*,\n/m, "")],
    ["in the header", (text) => text.replace('"untouched":1', '"untouched":2')],
    ["in an intended create", (text) => text.replace(/(\[5,"[0-9a-f]{15})[0-9a-f]"/, '$1x"')],
    ["in an id that the service assigned", (text) => text.replace(idPattern, '["00000000$2"]')],
    ["by the removal of its parts", (text) => text.replace(/\n\],"equal":\[.*$/s, "\n]}\n")],
    ["by the removal of a digest", (text) => text.replace(/"sha256":"\w+",/, "")],
    ["by the removal of the last digest", (text) => text.replace(/"createdSha256":"\w+",/, "")],
  ])("%s is refused", async (_, change) => {
    const backup = await backupOf();
    const text = readFileSync(backup, "utf8");
    expect(change(text)).not.toBe(text);
    writeFileSync(backup, change(text));
    await expect(openBackup(backup)).rejects.toMatchObject({ code: "backup-invalid" });
  });

  test("in its line endings is read", async () => {
    const backup = await backupOf();
    writeFileSync(backup, readFileSync(backup, "utf8").replaceAll("\n", "\r\n"));
    expect(await openBackup(backup)).toMatchObject({ features: 3, creates: 1, isEnded: true, isVerified: true });
  });

  test("is refused if an earlier version wrote it and a feature is there twice", async () => {
    const backup = await backupOf();
    const old = readFileSync(backup, "utf8")
      .replace('"backup":5', '"backup":4')
      .replace(/"(sha256|createdSha256)":"\w+",/g, "");
    writeFileSync(backup, old);
    expect(await openBackup(backup)).toMatchObject({ features: 3, creates: 1, isEnded: true, isVerified: false });
    writeFileSync(backup, old.replace(/^(.*"old 3".*,)$/m, "$1\n$1"));
    await expect(openBackup(backup)).rejects.toMatchObject({
      code: "backup-invalid",
      details: { reason: expect.stringContaining("is there twice") },
    });
  });
});

test.each([
  ["", 1],
  ['{"type":"FeatureCollection","features":[\n]}\n', 1],
  [
    '{"type":"FeatureCollection","geoferry":{"backup":1,"service":"https://m.example","map":"m"},"features":[\n{"type":"Feature"}\n]}\n',
    2,
  ],
])("rejects a file that is not a backup: %j", async (text, line) => {
  const path = join(new Spool().folder(), "backup.geojson");
  writeFileSync(path, text);
  await expect(openBackup(path)).rejects.toMatchObject({ code: "backup-invalid", details: { line } });
});

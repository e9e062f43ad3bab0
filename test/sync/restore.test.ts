/** A run, its backup, and the map put back as it was. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Spool } from "../../src/io/spool.js";
import { Workspace } from "../../src/remote/workspace.js";
import { applyPlan } from "../../src/sync/apply.js";
import type { ApplyReport } from "../../src/sync/apply-tools.js";
import { openBackup } from "../../src/sync/backup-reader.js";
import { describeRestoration, planRestoration, type Restoration } from "../../src/sync/restore.js";
import { storeKinds } from "../service/stores.js";
import { stripped } from "../support/chaos-faults.js";
import { RealService, type Target } from "./applying.js";
import { at, type Loose, request } from "./sides.js";

const [kind] = await storeKinds();
let service: RealService;
let withoutTags: RealService;
beforeAll(async () => {
  service = await RealService.start(kind!);
  withoutTags = await RealService.start(kind!);
  withoutTags.proxy.always(stripped("etag"));
});

async function restore(target: Target, backup: string): Promise<{ made: Restoration; report: ApplyReport }> {
  await using spool = new Spool();
  using workspace = await Workspace.create(spool);
  const client = target.client();
  const { precision, trustPages, updateWith, guards } = request;
  const made = await planRestoration({
    backup: await openBackup(backup),
    client,
    workspace,
    settings: { precision, trustPages, updateWith, guards, settle: 20 },
    output: join(spool.folder(), "restore.ndjson"),
  });
  const memory = { patchManner: null, rememberManner: () => {} };
  const report = await applyPlan(made.plan, target.tools({ client, spool, memory, backup: `${backup}.again` }));
  return { made, report };
}

const held: Loose[] = [1, 2, 3, 4].map((n) => at(n, n, { ref: n, name: `old ${n}`, list: { a: n, b: n } }));
const source: Loose[] = [at(9, 9, { ref: 1, name: "new", list: { a: 1 } }), at(2, 2, { ref: 2 }), at(5, 5, { ref: 5 })];
const said = (features: readonly { geometry: unknown; properties: Record<string, unknown> }[]) =>
  features
    .map(({ geometry, properties }) => ({ geometry, properties }))
    .sort((a, b) => Number(a.properties.ref) - Number(b.properties.ref));

describe.each([
  ["a small map with entity tags: one PUT gives the old ids back", () => service, "old"],
  ["without entity tags features are created with new ids", () => withoutTags, "new"],
] as const)("%s", (_title, of, ids) => {
  test("what was changed and deleted is as it was, and what was created since stays", async () => {
    const target = await of().newTarget();
    await target.put(...held);
    const before = await target.features();
    const { backup, deleted, updated } = await target.sync(source);
    expect({ deleted, updated }).toEqual({ deleted: 2, updated: 1 });
    expect((await openBackup(backup!)).features).toBe(3);

    const { made, report } = await restore(target, backup!);
    expect(made.ids).toBe(ids);
    expect(describeRestoration(made).join("\n")).toContain(`2 features that the map has no more will be created with`);
    expect(report).toMatchObject({ created: 2, updated: 1, deleted: 0, failed: 0, put: ids === "old", ending: null });
    const after = await target.features();
    const { geometry, properties } = { geometry: { type: "Point", coordinates: [5, 5] }, properties: { ref: 5 } };
    expect(said(after)).toEqual(said([...before, { geometry, properties }]));
    const kept = before.filter(({ id }) => after.some((one) => one.id === id));
    expect(kept).toHaveLength(ids === "old" ? 4 : 2);

    const again = await restore(target, `${backup}.again`);
    expect(again.report).toMatchObject({ created: 0, updated: 1, ending: null });
  });
});

test.each([
  ["", 1],
  ['{"type":"FeatureCollection","features":[\n]}\n', 1],
  [
    '{"type":"FeatureCollection","geoferry":{"backup":1,"service":"https://m.example","map":"m"},"features":[\n{"type":"Feature"}\n]}\n',
    2,
  ],
])("a file that is no backup is refused: %j", async (text, line) => {
  const path = join(new Spool().folder(), "backup.geojson");
  writeFileSync(path, text);
  await expect(openBackup(path)).rejects.toMatchObject({ code: "backup-invalid", details: { line } });
});

/** Updates send whole features: without entity tags, the map is checked for edits since the plan was made. */
import { beforeAll, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import { rejectPatch, respondBeforeCommit, withoutHeaders } from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { type MapFixture, ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
let service: ProxiedService;
beforeAll(async () => {
  service = await ProxiedService.start(kind!);
  service.proxy.always(withoutHeaders("etag"));
});

const some = (first: number, last: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: last - first + 1 }, (_, n) =>
    pointFeature((first + n) / 10_000, 47, { ref: first + n, ...more }),
  );

async function edit(target: MapFixture, ref: number): Promise<void> {
  const feature = (await target.features()).find(({ properties }) => properties.ref === ref)!;
  const properties = { ...feature.properties, note: "edited by another client" };
  await target.direct.update([JSON.stringify({ ...feature, properties })], null, `edit-${feature.id}`);
}

test.each(["patch", "delete-create"] as const)(
  "an edit since the plan was made stops updates by %s",
  async (updateWith) => {
    const target = await service.newTarget();
    await target.put(...some(1, 4, { n: 1 }));
    if (updateWith === "delete-create") service.proxy.choose(() => rejectPatch(405));
    const report = await target.sync(some(1, 6, { n: 2 }), {
      mode: "incremental",
      request: { updateWith },
      meanwhile: () => edit(target, 3),
    });
    expect(report).toMatchObject({ created: 0, updated: 0, hasConflict: true, error: { code: "map-changed" } });
    expect((await target.properties()).map(({ note, n }) => [n, note])).toEqual([
      [1, undefined],
      [1, undefined],
      [1, "edited by another client"],
      [1, undefined],
    ]);
  },
);

test("an edit of a feature that is not updated stops nothing", async () => {
  const target = await service.newTarget();
  await target.put(...some(1, 4, { n: 1 }));
  const report = await target.sync(some(1, 2, { n: 2 }), { mode: "incremental", meanwhile: () => edit(target, 3) });
  expect(report).toMatchObject({ updated: 2, error: null });
});

test("features that moved to another page are read there", async () => {
  const target = await service.newTarget();
  await target.put(...some(1, 600, { n: 1 }));
  const removeFirst = async () => {
    const ids = (await target.features()).slice(0, 300).map(({ id }) => id);
    await target.direct.remove({ ids });
  };
  const source = some(590, 600, { n: 2 });
  const report = await target.sync(source, { mode: "incremental", meanwhile: removeFirst });
  expect(report).toMatchObject({ updated: 11, error: null });
});

test("updates on many pages read the whole map", async () => {
  const target = await service.newTarget();
  const all = some(1, 10_501, { n: 1 });
  await target.put(...all);
  const source = all
    .filter((_, n) => n % 500 === 0)
    .map(({ properties, ...one }) => ({ ...one, properties: { ...properties, n: 2 } }));
  const report = await target.sync(source, { mode: "incremental", meanwhile: () => edit(target, 10_501) });
  expect(report).toMatchObject({ updated: 0, error: { code: "map-changed" } });
});

test("a page that no longer exists is no missing map", async () => {
  const target = await service.newTarget();
  await target.put(...some(1, 501, { n: 1 }));
  const meanwhile = async () => {
    await target.direct.remove({ ids: [(await target.features())[0]!.id] });
    // As some services answer behind the last page.
    service.proxy.choose(({ method, path }) =>
      method === "GET" && /[?&]page=2\b/.test(path) ? respondBeforeCommit(404) : null,
    );
  };
  const report = await target.sync(some(501, 501, { n: 2 }), { mode: "incremental", meanwhile });
  expect(report).toMatchObject({ updated: 1, error: null });
});

test("a map that is read once, since it changes all the time, is not compared again", async () => {
  const target = await service.newTarget();
  await target.put(...some(1, 4, { n: 1 }));
  const report = await target.sync(some(1, 4, { n: 2 }), {
    mode: "incremental",
    request: { singleRead: true },
    meanwhile: () => edit(target, 3),
  });
  expect(report).toMatchObject({ updated: 4, hasConflict: false });
});

/** Updates by deleting and creating, of which the service rejects the replacements: no feature is lost. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { ApplyCheckpoint } from "../../../src/sync/apply/apply-context.js";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxiedRequest, ProxyFault } from "../../support/servers/fault-proxy.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
let service: ProxiedService;
beforeAll(async () => {
  service = await ProxiedService.start(kind!);
});

const places = (count: number, title: (ref: number) => string): FeatureInput[] =>
  Array.from({ length: count }, (_, ref) => pointFeature(ref / 1000, 47, { ref, title: title(ref) }));

const recreating = { mode: "incremental", request: { updateWith: "delete-create" } } as const;

/** A request that creates a feature whose title is too long for the service. */
const isTooLong = ({ method, body }: ProxiedRequest): boolean =>
  method === "POST" && body.includes("too long for the service");
const tooLong = (): string => "a title that is too long for the service";

/** Answers 422, or by a gateway that finds fault with the content. */
const refusedWith = (status: number): ProxyFault => ({
  name: `refused with ${status}`,
  around: async () => ({
    status,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ message: "the title is too long" })),
  }),
});

const titlesOf = async (target: Awaited<ReturnType<ProxiedService["newTarget"]>>) =>
  (await target.properties()).map(({ title }) => title);

const codes = { 422: "write-refused", 403: "remote-forbidden", 507: "remote-full", 500: "batches-not-accepted" };

test.each([422, 403, 507, 500] as const)(
  "features whose replacements the service answers with %i are on the map again, and a corrected source is pushed",
  async (status) => {
    const target = await service.newTarget();
    await target.put(...places(30, () => "old"));
    service.proxy.choose((request) => (isTooLong(request) ? refusedWith(status) : null));
    for (let push = 1; push <= 2; push++) {
      const report = await target.sync(places(30, tooLong), recreating);
      expect(report).toMatchObject({ updated: 0, hasWritten: true, error: { code: codes[status] } });
      expect(await titlesOf(target)).toEqual(Array(30).fill("old"));
      expect(existsSync(join(target.folder, "recreate.ndjson"))).toBe(false);
    }
    expect(
      await target.sync(
        places(30, () => "new"),
        recreating,
      ),
    ).toMatchObject({ updated: 30, error: null });
    expect(await titlesOf(target)).toEqual(Array(30).fill("new"));
  },
);

test("features that an interrupted run left deleted are on the map again, although the service refuses the replacements", async () => {
  const target = await service.newTarget();
  await target.put(...places(30, () => "old"));
  const aborter = new AbortController();
  // The features are deleted, and not yet replaced.
  const onCheckpoint = (point: ApplyCheckpoint) => {
    if (point === "answered") aborter.abort();
  };
  const first = await target.sync(places(30, tooLong), {
    ...recreating,
    tools: { signal: aborter.signal, onCheckpoint },
  });
  expect(first.error).toMatchObject({ code: "sync-interrupted" });
  expect(await target.features()).toEqual([]);
  service.proxy.calm().choose((request) => (isTooLong(request) ? refusedWith(422) : null));
  const second = await target.sync(
    places(30, () => "corrected"),
    recreating,
  );
  expect(second).toMatchObject({ updated: 30, error: null });
  expect(await titlesOf(target)).toEqual(Array(30).fill("corrected"));
});

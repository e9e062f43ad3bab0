/** Reports runs that cannot complete, without guessing outcomes and without deletes. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readJournal } from "../../../src/sync/journal/journal-reader.js";
import { findStoreKinds } from "../../service/store-kinds.js";
import * as faults from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
const services: Record<"real" | "bare" | "deep" | "without", ProxiedService> = {} as never;
beforeAll(async () => {
  services.real = await ProxiedService.start(kind!);
  services.bare = await ProxiedService.start(kind!);
  services.bare.proxy.always(faults.withoutHeaders("etag", "idempotency-key"));
  services.deep = await ProxiedService.start(kind!);
  services.deep.proxy.always(faults.deepPatch);
  services.without = await ProxiedService.start(kind!);
  services.without.proxy.always(faults.rejectPatch(405));
});

const some = (first: number, last: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: last - first + 1 }, (_, n) => pointFeature((first + n) / 1000, 47, { ref: first + n, ...more }));

describe("rejected features", () => {
  test("a full push that fits one PUT deletes nothing if a feature fails, which may have a new key", async () => {
    const target = await services.real.newTarget();
    await target.put(...some(1, 3));
    const report = await target.sync([...some(1, 2), pointFeature(3, 3, { ref: 30, name: "a\0" }), ...some(4, 4)], {
      mode: "full",
    });
    expect(report).toMatchObject({
      created: 1,
      deleted: 0,
      failed: 1,
      withheld: { deletes: 1, why: "failed" },
      put: false,
    });
    expect((await target.properties()).map(({ ref }) => ref)).toEqual([1, 2, 3, 4]);
  });

  test("rejected features are written to the rejects file with reasons, and nothing is deleted", async () => {
    const target = await services.real.newTarget();
    await target.put(...some(1, 3));
    const report = await target.sync(
      [...some(2, 3), pointFeature(4, 4, { ref: 4 }), pointFeature(5, 5, { ref: 5, name: "a\0" })],
      {
        complete: false,
      },
    );
    expect(report).toMatchObject({
      created: 1,
      deleted: 0,
      failed: 1,
      withheld: { deletes: 1, why: "failed" },
      refused: [{ action: "create", key: 5, code: "refused", reason: expect.stringContaining("U+0000") }],
      error: null,
    });
    expect(await target.rejected()).toEqual([
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: [5, 5] },
        properties: { ref: 5, name: "a\0" },
        reject: {
          code: "refused",
          reason: expect.stringContaining("U+0000"),
          path: "features[1].properties.name",
          origin: "test",
        },
      },
    ]);
    expect((await target.properties()).map(({ ref }) => ref)).toEqual([1, 2, 3, 4]);
  });

  test("a batch that is too large is halved", async () => {
    const target = await services.real.newTarget();
    services.real.proxy.on("POST", 1, faults.respondBeforeCommit(413));
    const report = await target.sync(some(1, 10), { mode: "incremental" });
    expect(report).toMatchObject({ created: 10, failed: 0, error: null });
    expect(services.real.proxy.count("POST")).toBe(3);
  });
});

describe("append mode", () => {
  const append = { mode: "append", key: null } as const;

  test("append mode sends an uncertain batch again if the service replays Idempotency-Keys", async () => {
    const target = await services.real.newTarget();
    services.real.proxy.on("POST", 1, faults.cutAfterCommit);
    const report = await target.sync(some(1, 20), append);
    expect(report).toMatchObject({ created: 20, unknown: 0, error: null });
    expect(await target.features()).toHaveLength(20);
  });

  test("append mode reports an uncertain batch as unknown with other services, with exit status 12", async () => {
    const target = await services.bare.newTarget();
    services.bare.proxy.on("POST", 1, faults.cutAfterCommit);
    const report = await target.sync(some(1, 20), append);
    expect(report).toMatchObject({ created: 0, unknown: 20, error: { code: "outcome-unknown" } });
    expect(report.error!.kind).toBe("unknown-outcome");
    expect(await target.features()).toHaveLength(20);
    expect((await target.rejected()).map(({ reject }) => (reject as { code: string }).code)).toEqual(
      Array(20).fill("outcome-unknown"),
    );
  });

  test("append mode does not send again what an interrupted run sent long ago, since services forget keys", async () => {
    const target = await services.real.newTarget();
    const aborter = new AbortController();
    await target.sync(some(1, 1010), {
      ...append,
      fingerprint: "5c",
      tools: {
        signal: aborter.signal,
        traffic: { concurrency: 1, retries: 1 },
        onCheckpoint: (point) => {
          if (point === "acknowledged") aborter.abort();
        },
      },
    });
    // As a run leaves it that was killed two hours ago, before the response.
    const name = readdirSync(target.folder).find((one) => one.startsWith("journal"))!;
    const path = join(target.folder, name);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const sent = lines.filter((line) => /"line":"(BEGIN|SENT)"/.test(line)).map((line) => JSON.parse(line) as object);
    const time = new Date(Date.now() - 2 * 60 * 60 * 1000).toISOString();
    writeFileSync(path, sent.map((line) => `${JSON.stringify({ ...line, time })}\n`).join(""));
    const second = await target.sync(some(1, 1010), { ...append, fingerprint: "5c" });
    expect([sent.length, second]).toMatchObject([
      2,
      { created: 10, unknown: 1000, error: { code: "outcome-unknown" } },
    ]);
  });

  test("append mode continues after the features that an interrupted run created", async () => {
    const target = await services.real.newTarget();
    const aborter = new AbortController();
    const first = await target.sync(some(1, 3500), {
      ...append,
      fingerprint: "5a",
      tools: {
        signal: aborter.signal,
        traffic: { concurrency: 1, retries: 1 },
        onCheckpoint: (point) => {
          if (point === "acknowledged") aborter.abort();
        },
      },
    });
    expect(first.error).toMatchObject({ code: "sync-interrupted", kind: "interrupted" });
    expect(first.created).toBe(1000);
    const second = await target.sync(some(1, 3500), { ...append, fingerprint: "5a" });
    expect(second).toMatchObject({ created: 2500, error: null });
    expect((await target.properties()).map(({ ref }) => ref)).toEqual(Array.from({ length: 3500 }, (_, n) => n + 1));
  });
});

test("a run reports completed changes even if the rejects file cannot be written", async () => {
  const target = await services.real.newTarget();
  const report = await target.sync([...some(1, 3), pointFeature(5, 5, { ref: 5, name: "a\0" })], {
    mode: "incremental",
    tools: { rejectsFile: { path: join(target.folder, "missing", "rejects.geojsonl"), origin: "test" } },
  });
  expect(report).toMatchObject({ rejects: null, failed: 1, error: { code: "output-failed" } });
  expect(await target.features()).toHaveLength(report.created);
});

test("an interrupted run completes its journal and reports the interruption", async () => {
  const target = await services.real.newTarget();
  const aborter = new AbortController();
  const report = await target.sync(some(1, 3500), {
    mode: "incremental",
    tools: {
      signal: aborter.signal,
      onCheckpoint: (point) => {
        if (point === "answered") aborter.abort();
      },
    },
  });
  expect(report.error).toMatchObject({ code: "sync-interrupted" });
  expect(await target.features()).toHaveLength(report.created);
  expect(await readJournal(target.folder)).toMatchObject({ isEnded: false, uncertain: [] });
});

test("an interruption before a request reports what remains on the map", async () => {
  const target = await services.real.newTarget();
  const aborter = new AbortController();
  let sent = 0;
  let wake = () => {};
  const acknowledged = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const report = await target.sync(some(1, 2500), {
    mode: "incremental",
    tools: {
      signal: aborter.signal,
      traffic: { concurrency: 1, retries: 1 },
      onCheckpoint: async (point) => {
        if (point === "acknowledged") wake();
        if (point !== "sent" || ++sent === 1) return;
        await acknowledged;
        aborter.abort();
      },
    },
  });
  expect(report).toMatchObject({ created: 1000, error: { code: "sync-interrupted" } });
  expect(report.error?.message).toMatch(/changes sent to map .* so far remain; run the command again/);
  expect(await readJournal(target.folder)).toMatchObject({ isEnded: false, uncertain: [] });
});

test("a run detects a service that merges deeply, and clears nested values first", async () => {
  const target = await services.deep.newTarget();
  const list = (ref: number, more: object) => pointFeature(ref, ref, { ref, list: { a: 1, ...more } });
  await target.put(list(1, { b: 2 }), list(2, { b: 2 }), pointFeature(3, 3, { ref: 3 }), list(4, { b: 2 }));
  const report = await target.sync([list(1, {}), list(2, {}), pointFeature(3.5, 3, { ref: 3 }), list(4, { b: 3 })], {
    mode: "incremental",
  });
  expect(report).toMatchObject({ updated: 4, failed: 0, error: null });
  expect((await target.properties()).map(({ list }) => list)).toEqual([{ a: 1 }, { a: 1 }, undefined, { a: 1, b: 3 }]);
});

test("a run reports a service without PATCH with advice, and recreates features on request", async () => {
  const target = await services.without.newTarget();
  await target.put(...some(1, 5, { kept: true }));
  const source = some(1, 4, { name: "new" });
  const refused = await target.sync(source, { complete: false });
  expect(refused).toMatchObject({ updated: 0, deleted: 0, withheld: { deletes: 1, why: "stopped" } });
  expect(refused.error).toMatchObject({ code: "update-unsupported", kind: "conflict" });
  expect(refused.error!.message).toContain("--update-with delete-create");

  const done = await target.sync(source, { complete: false, request: { updateWith: "delete-create" } });
  expect(done).toMatchObject({ updated: 4, deleted: 1, error: null });
  expect(await target.properties()).toEqual([1, 2, 3, 4].map((ref) => ({ ref, kept: true, name: "new" })));
});

test("a run does not delete after another writer changed the map", async () => {
  const target = await services.real.newTarget();
  await target.put(...some(1, 5));
  services.real.proxy.on(
    "DELETE",
    1,
    faults.concurrentWriter("before", () => target.put(pointFeature(9, 9, { ref: 9 }))),
  );
  const report = await target.sync(some(1, 4), { complete: false });
  expect(report).toMatchObject({
    deleted: 0,
    withheld: { deletes: 1, why: "stopped" },
    error: { code: "map-changed" },
  });
  expect(await target.features()).toHaveLength(6);
  expect(existsSync(report.backup!)).toBe(true);
});

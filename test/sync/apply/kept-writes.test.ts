/** A service that reports writes as done without doing them: nothing is deleted, and nothing is reported as done. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { listBackups } from "../../../src/sync/journal/list-backups.js";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxyFault } from "../../support/servers/fault-proxy.js";
import { pretending, withoutHeaders } from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
const services: Record<"with" | "without", ProxiedService> = {} as never;
beforeAll(async () => {
  services.with = await ProxiedService.start(kind!);
  services.without = await ProxiedService.start(kind!);
  services.without.proxy.always(withoutHeaders("etag"));
});

const some = (first: number, last: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: last - first + 1 }, (_, n) => pointFeature((first + n) / 1000, 47, { ref: first + n, ...more }));
/** More than one PUT takes, so that a full push creates, updates and deletes by separate requests. */
const many = some(1001, 2200);

const nothing = pretending(() => []);
const withoutThird = pretending((sent, index) => (index === 2 ? [] : [sent]));
const altered = pretending((sent, index) =>
  index === 2 ? [{ ...sent, properties: { ...sent.properties, n: -999 } }] : [sent],
);
const withoutGeometry = pretending((sent, index) => (index === 2 ? [{ ...sent, geometry: null }] : [sent]));
/** The service deletes all but the first, and its response has other ids than the request. */
const namesOthers: ProxyFault = {
  name: "names other ids",
  async around(request, upstream) {
    const answer = await pretending((sent, index) => (index > 0 ? [sent] : [])).around(request, upstream);
    const { success } = JSON.parse(answer.body.toString()) as { success: readonly object[] };
    const others = success.map((one) => ({ ...one, id: randomUUID() }));
    return { ...answer, body: Buffer.from(JSON.stringify({ success: others })) };
  },
};
const doubled = pretending((sent, index) => (index === 2 ? [sent, sent] : [sent]));

describe.each(["with", "without"] as const)("%s entity tags", (tags) => {
  test.each([
    ["none", nothing, 0, "1 is missing; 2 is missing; 3 is missing; …"],
    ["all but one", withoutThird, 5, "3 is missing"],
    ["one with another property", altered, 5, "3 differs from what was sent"],
    ["one without geometry", withoutGeometry, 5, "3 differs from what was sent"],
  ])(
    "a push fails if the service stores %s of the features that it reports as created",
    async (_, fault, created, list) => {
      const target = await services[tags].newTarget();
      await target.put(...some(11, 14));
      services[tags].proxy.on("POST", 1, fault);
      const report = await target.sync(some(1, 6, { n: 1 }), { mode: "incremental" });
      expect(report).toMatchObject({ created, failed: 0, error: { code: "writes-not-kept", kind: "conflict" } });
      expect(report.error!.message).toContain(
        `as created, but the map does not show them as sent: ${list}; nothing more was written`,
      );
    },
  );

  test("a full push deletes nothing if created features are not on the map", async () => {
    const target = await services[tags].newTarget();
    await target.put(...many, ...some(11, 14));
    services[tags].proxy.on("POST", 1, nothing);
    const report = await target.sync([...many, ...some(1, 6)]);
    expect(report).toMatchObject({
      created: 0,
      deleted: 0,
      withheld: { deletes: 4, why: "stopped" },
      error: { code: "writes-not-kept" },
    });
    expect(services[tags].proxy.count("DELETE")).toBe(0);
    expect(await target.features()).toHaveLength(1204);
    // The advice of the error.
    services[tags].proxy.calm();
    expect(await target.sync([...many, ...some(1, 6)])).toMatchObject({ created: 6, deleted: 4, error: null });
  });

  test("a full push deletes nothing if an update is not on the map", async () => {
    const target = await services[tags].newTarget();
    await target.put(...many, ...some(11, 20));
    // The first update is sent alone and read back.
    services[tags].proxy.on("PATCH", 2, withoutThird);
    const report = await target.sync([...many, ...some(11, 16, { n: 1 })]);
    expect(report).toMatchObject({ updated: 5, deleted: 0, error: { code: "writes-not-kept" } });
    expect(report.error!.message).toContain("reported 1 feature as updated, but the map");
    expect(report.error!.message).toContain(": 14 is not updated;");
    expect(services[tags].proxy.count("DELETE")).toBe(0);
  });

  test("matched by id, a full push deletes nothing if created features are not on the map", async () => {
    const target = await services[tags].newTarget();
    await target.put(...some(11, 14));
    services[tags].proxy.on("POST", 1, nothing);
    const report = await target.sync(some(1, 6), { key: { by: "id" } });
    expect(report).toMatchObject({ created: 0, deleted: 0, error: { code: "writes-not-kept" } });
    expect(await target.features()).toHaveLength(4);
  });

  test.each([
    ["nothing", nothing, { created: 0, updated: 0 }],
    ["all but one", withoutThird, { created: 2, updated: 2 }],
  ])("a full push in one request fails if the service stores %s", async (_, fault, counts) => {
    const target = await services[tags].newTarget();
    await target.put(...some(4, 10));
    services[tags].proxy.on("PUT", 1, fault);
    const report = await target.sync([...some(1, 3), ...some(4, 5, { n: 1 }), ...some(6, 10)]);
    expect(report).toMatchObject({ ...counts, error: { code: "writes-not-kept" } });
  });

  test("a run fails if the service does not delete what it reports as deleted", async () => {
    const target = await services[tags].newTarget();
    await target.put(...some(1, 6));
    services[tags].proxy.on("DELETE", 1, withoutThird);
    const report = await target.sync(some(1, 4), { mode: "delete" });
    expect(report).toMatchObject({ deleted: 3, error: { code: "deletes-not-applied", kind: "conflict" } });
    const [third] = (await target.features()).filter(({ properties }) => properties.ref === 3);
    expect(report.error!.message).toContain(
      `reported 1 feature as deleted that the map still has, such as ${third!.id};`,
    );
    expect(await target.sync(some(1, 4), { mode: "delete" })).toMatchObject({ deleted: 1, error: null });
    expect((await target.properties()).map(({ ref }) => ref)).toEqual([5, 6]);
  });

  test("a full push fails if the service does not delete what it reports as deleted", async () => {
    const target = await services[tags].newTarget();
    await target.put(...some(1, 6), ...many);
    services[tags].proxy.on("DELETE", 1, nothing);
    const report = await target.sync([...some(5, 6), ...many]);
    expect(report).toMatchObject({ deleted: 0, error: { code: "deletes-not-applied" } });
  });

  test("deletes that the response does not name are settled by reading the map again", async () => {
    const target = await services[tags].newTarget();
    await target.put(...some(1, 6));
    services[tags].proxy.on("DELETE", 1, namesOthers);
    const report = await target.sync(some(1, 4), { mode: "delete" });
    expect(report).toMatchObject({ deleted: 4, error: null });
    expect(services[tags].proxy.count("DELETE")).toBe(2);
    expect((await target.properties()).map(({ ref }) => ref)).toEqual([5, 6]);
  });

  test("a push sends no more requests than before if the service keeps its word", async () => {
    const target = await services[tags].newTarget();
    await target.sync(some(1, 6), { mode: "incremental" });
    // Before and after the request; without entity tags an empty page proves nothing that a second one would.
    expect(services[tags].proxy.count("GET")).toBe(2);
    expect(services[tags].proxy.count("POST")).toBe(1);
  });
});

test.each([
  ["a geometry", {}],
  ["the geometry of a feature whose other values change", { n: 1 }],
])("a service that ignores %s that moved by a metre is an error in every run", async (_, more) => {
  const target = await services.without.newTarget();
  const before = some(1, 5, { n: 0 });
  await target.put(...before);
  const source = before.map((one, index): FeatureInput => {
    if (index === 0) return { ...one, properties: { ...one.properties, n: 7 } };
    return index === 3
      ? { ...pointFeature(0.00401, 47, one.properties!), properties: { ...one.properties, ...more } }
      : one;
  });
  services.without.proxy.choose(({ method }) =>
    method === "PATCH" ? pretending(({ geometry: _geometry, ...sent }) => [sent]) : null,
  );
  for (let run = 0; run < 3; run++)
    expect((await target.sync(source, { mode: "incremental" })).error?.code).toMatch(
      /^(writes-not-kept|update-not-applied)$/,
    );
  services.without.proxy.calm();
});

test("a feature that the service stores twice under an entity tag is reported", async () => {
  const target = await services.with.newTarget();
  services.with.proxy.on("POST", 1, doubled);
  const report = await target.sync(some(1, 6), { mode: "incremental" });
  expect(report.error!.message).toContain("3 is there 2 times");
});

/** The service stores numbers other than the key as texts. */
const asTexts = pretending(({ properties, ...sent }) => {
  const { n } = properties as { n: number };
  return [{ ...sent, properties: { ...properties, n: `${n}.0` } }];
});

const incremental = { mode: "incremental" } as const;

test("a change of one value reaches a service that stores numbers as texts", async () => {
  const target = await services.with.newTarget();
  const { proxy } = services.with;
  proxy.on("POST", 1, asTexts);
  expect(await target.sync(some(1, 3, { n: 1 }), incremental)).toMatchObject({ created: 3, error: null });
  for (const nth of [1, 2]) proxy.on("PATCH", nth, asTexts);
  expect(await target.sync(some(1, 3, { n: 1, name: "b" }), incremental)).toMatchObject({ updated: 3, error: null });
  expect(await target.properties()).toEqual([1, 2, 3].map((ref) => ({ ref, n: "1.0", name: "b" })));
  expect(await target.sync(some(1, 3, { n: 1, name: "b" }), incremental)).toMatchObject({ updated: 0, error: null });
});

/** The service keeps two decimals of coordinates. */
const coarse = pretending((sent) => {
  const { coordinates } = sent.geometry as { coordinates: readonly number[] };
  return [{ ...sent, geometry: { type: "Point", coordinates: coordinates.map((c) => Number(c.toFixed(2))) } }];
});

test("a service that keeps few decimals is an error that names --precision, and the run can be undone", async () => {
  const target = await services.with.newTarget();
  const { proxy } = services.with;
  proxy.on("POST", 1, coarse);
  const created = await target.sync(some(11, 13), incremental);
  expect(created).toMatchObject({ error: { code: "writes-not-kept" }, hasWritten: true });
  // Undoing the run deletes what the service has created.
  expect(listBackups(created)).toEqual([{ path: created.backup, created: 3 }]);
  const advice =
    "the service keeps only 2 decimals of coordinates; if that is enough, run the command with --precision 2";
  expect(created.error!.message).toContain(advice);
  proxy.on("PATCH", 1, coarse);
  const updated = await target.sync(some(11, 13), incremental);
  expect(updated.error).toMatchObject({ code: "update-not-applied", message: expect.stringContaining(advice) });
});

/** The service keeps one decimal of numbers. */
const tenths = pretending((sent) => [{ ...sent, properties: { ...sent.properties, n: 2.1 } }]);
const emptyAsNull = pretending((sent) => [{ ...sent, properties: { ...sent.properties, n: null } }]);

test("a value that a service stores in its own format is sent once more, then counts as equal", async () => {
  const target = await services.with.newTarget();
  const { proxy } = services.with;
  for (const method of ["POST", "PATCH", "PUT"]) proxy.on(method, 1, tenths, 9);
  const source = some(1, 3, { n: 2.123 });
  const created = await target.sync(source, incremental);
  expect(created).toMatchObject({ created: 0, error: { code: "writes-not-kept" } });
  expect(await target.sync(source, incremental)).toMatchObject({
    updated: 3,
    notices: [expect.stringContaining("values of 3 features differently")],
    error: null,
  });
  const writes = proxy.writes;
  expect(await target.sync(source, incremental)).toMatchObject({ updated: 0, error: null });
  expect(proxy.writes).toBe(writes);
});

test("empty text that a service stores as null counts as equal, a value that it drops never does", async () => {
  const target = await services.with.newTarget();
  const { proxy } = services.with;
  await target.put(...some(1, 2, { n: null }));
  for (const method of ["POST", "PATCH"]) proxy.on(method, 1, emptyAsNull, 9);
  expect(await target.sync(some(1, 3, { n: "" }), incremental)).toMatchObject({ created: 1, updated: 2, error: null });
  expect(await target.sync(some(1, 3, { n: "" }), incremental)).toMatchObject({ updated: 0, error: null });
  const dropped = await target.sync(some(1, 3, { n: "a" }), incremental);
  for (const report of [dropped, await target.sync(some(1, 3, { n: "a" }), incremental)])
    expect(report.error?.code).toBe("update-not-applied");
});

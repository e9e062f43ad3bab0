/** A service with entity tags for readings, whose responses to writes have neither tags nor ids. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxyFault } from "../../support/servers/fault-proxy.js";
import { concurrentWriter, respondBeforeCommit } from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
let plain: ProxiedService;
let silent: ProxiedService;
beforeAll(async () => {
  plain = await ProxiedService.start(kind!);
  silent = await ProxiedService.start(kind!);
  silent.proxy.always(withoutIds, respondingTo("PUT", respondBeforeCommit(405)));
});

/** The service says that it has done something, not to what. */
const withoutIds: ProxyFault = {
  name: "without ids",
  async around(request, upstream) {
    const answer = await upstream.send(request);
    if (answer.status >= 300 || !["POST", "PATCH", "DELETE"].includes(request.method)) return answer;
    const { etag: _, ...headers } = answer.headers;
    const { success = [] } = JSON.parse(answer.body.toString()) as { readonly success?: readonly object[] };
    const body = Buffer.from(JSON.stringify({ success: success.map(() => ({ message: "done" })) }));
    return { ...answer, headers, body };
  },
};

function respondingTo(method: string, fault: ProxyFault): ProxyFault {
  const around: ProxyFault["around"] = (request, upstream) =>
    request.method === method ? fault.around(request, upstream) : upstream.send(request);
  return { name: fault.name, around };
}

const places = (count: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: count }, (_, ref) => pointFeature(ref / 1000, 47, { ref, ...more }));

test("several requests in a row are no conflict", async () => {
  const target = await silent.newTarget();
  const created = await target.sync(places(1010), { mode: "incremental" });
  expect(created).toMatchObject({ created: 1010, hasConflict: false, error: null });
  const updated = await target.sync(places(1010, { title: "b" }), { mode: "incremental" });
  expect(updated).toMatchObject({ updated: 1010, hasConflict: false, error: null });
  const deleted = await target.sync(places(1), { mode: "full" });
  expect(deleted).toMatchObject({ deleted: 1009, hasConflict: false, hasWritten: true, error: null });
  expect(await target.features()).toHaveLength(1);
});

test("matched by id, all features are sent", async () => {
  const target = await silent.newTarget();
  const report = await target.sync(places(1010), { mode: "incremental", key: { by: "id" } });
  expect(report.hasConflict).toBe(false);
  expect(await target.features()).toHaveLength(1010);
});

test("a run that deleted something before another client wrote has written", async () => {
  const target = await silent.newTarget();
  await target.put(...places(1010));
  silent.proxy.on(
    "DELETE",
    2,
    concurrentWriter("before", () => target.put(pointFeature(1, 1, { ref: "other" }))),
  );
  const report = await target.sync(places(1), { mode: "full" });
  expect(report).toMatchObject({ deleted: 1000, hasConflict: true, hasWritten: true });
});

test("a run that cleared nested values before another client wrote has written", async () => {
  const target = await plain.newTarget();
  await target.put(pointFeature(1, 1, { ref: 1, nested: { kept: 1, gone: 2 } }));
  plain.proxy.on(
    "PATCH",
    2,
    concurrentWriter("before", () => target.put(pointFeature(1, 1, { ref: randomUUID() }))),
  );
  const report = await target.sync([pointFeature(1, 1, { ref: 1, nested: { kept: 1 } })], {
    mode: "incremental",
    tools: { serviceBehavior: { patchSemantics: "merges-deeply", savePatchSemantics: () => {} } },
  });
  expect(report).toMatchObject({ hasConflict: true, hasWritten: true });
});

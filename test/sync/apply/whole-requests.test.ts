/** A service that applies requests as a whole: a feature that it rejects does not keep the others from the map. */
import { beforeAll, describe, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxyFault } from "../../support/servers/fault-proxy.js";
import * as faults from "../../support/servers/proxy-faults.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { ProxiedService } from "../map-fixture.js";

const [kind] = await findStoreKinds();
const services: Record<"with" | "without", ProxiedService> = {} as never;
beforeAll(async () => {
  services.with = await ProxiedService.start(kind!);
  services.without = await ProxiedService.start(kind!);
  services.without.proxy.always(faults.withoutHeaders("etag", "if-match", "idempotency-key"));
});

const places = (count: number, title: (ref: number) => string): FeatureInput[] =>
  Array.from({ length: count }, (_, ref) => pointFeature(ref / 1000, 47, { ref, title: title(ref) }));

const nil = "00000000-0000-0000-0000-000000000000";
const reason = "the title is too long";

interface Sent {
  readonly id?: string;
  readonly properties?: { readonly title?: string };
}

/** Rejects features; the others are applied only if there are none, or in a service that omits successes. */
const rejecting = (
  isRejected: (sent: Sent) => boolean,
  { status = 422, lists = "all", base = 0, applies = "whole requests" },
): ProxyFault => ({
  name: "rejects",
  async around(request, upstream) {
    const { features, ...body } = JSON.parse(request.body.toString()) as { readonly features: readonly Sent[] };
    const failed = features.flatMap((sent, index) =>
      isRejected(sent)
        ? [{ id: sent.id ?? nil, path: `features[${index + base}].properties.title`, message: reason }]
        : [],
    );
    if (failed.length === 0) return upstream.send(request);
    if (applies === "others") {
      const others = features.filter((sent) => !isRejected(sent));
      await upstream.send({ ...request, body: Buffer.from(JSON.stringify({ ...body, features: others })) });
    }
    const listed = lists === "first" ? failed.slice(0, 1) : failed;
    const headers = { "content-type": "application/json" };
    return { status, headers, body: Buffer.from(JSON.stringify({ failed: listed })) };
  },
});

const isTooLong = ({ properties }: Sent): boolean => properties?.title === "too long";

type Rejecting = Parameters<typeof rejecting>[1];

async function begin(tags: "with" | "without", how: Rejecting, held: readonly FeatureInput[] = []) {
  const { proxy } = services[tags];
  const target = await services[tags].newTarget();
  await target.put(...held);
  proxy.choose(({ method }) => (["POST", "PUT", "PATCH"].includes(method) ? rejecting(isTooLong, how) : null));
  return { target, proxy };
}

describe.each(["with", "without"] as const)("%s entity tags", (tags) => {
  test.each<Rejecting>([{ status: 422 }, { status: 200 }, { status: 422, base: 1 }])(
    "creates the other features after %o",
    async (how) => {
      const { target, proxy } = await begin(tags, how);
      const report = await target.sync(
        places(50, (ref) => (ref === 7 ? "too long" : "ok")),
        { mode: "incremental" },
      );
      expect(report).toMatchObject({ created: 49, failed: 1, error: null, refused: [{ key: 7, reason }] });
      expect((await target.features()).length).toBe(49);
      expect(proxy.count("POST")).toBeLessThanOrEqual(5);
    },
  );

  test("creates the other features if a response names the first of many rejected ones", async () => {
    const { target } = await begin(tags, { lists: "first" });
    const report = await target.sync(
      places(50, (ref) => (ref < 25 ? "too long" : "ok")),
      { mode: "incremental" },
    );
    expect(report).toMatchObject({ created: 25, failed: 25, error: null });
    expect(new Set((await target.rejected()).map(({ reject }) => (reject as { reason: string }).reason))).toEqual(
      new Set([reason]),
    );
    expect((await target.properties()).map(({ ref }) => ref)).toEqual(Array.from({ length: 25 }, (_, n) => n + 25));
  });

  test("updates the other features", async () => {
    const { target } = await begin(
      tags,
      {},
      places(50, () => "old"),
    );
    const report = await target.sync(
      places(50, (ref) => (ref === 7 ? "too long" : "new")),
      { mode: "incremental" },
    );
    expect(report).toMatchObject({ updated: 49, failed: 1, error: null, refused: [{ key: 7, reason }] });
  });

  test("replaces the other features by separate requests", async () => {
    const { target } = await begin(
      tags,
      { status: 200 },
      places(50, () => "old"),
    );
    const report = await target.sync(
      places(50, (ref) => (ref === 7 ? "too long" : "new")),
      { mode: "full" },
    );
    expect(report).toMatchObject({ updated: 49, failed: 1, put: false, error: null, refused: [{ key: 7, reason }] });
  });

  test("deletes the other features", async () => {
    const { target, proxy } = await begin(
      tags,
      {},
      places(50, () => "ok"),
    );
    const kept = (await target.features()).find(({ properties }) => properties.ref === 7)!.id;
    proxy.on(
      "DELETE",
      1,
      rejecting(({ id }) => id === kept, {}),
      100,
    );
    proxy.on("PUT", 1, faults.respondBeforeCommit(405));
    const report = await target.sync(
      places(1, () => "ok"),
      { mode: "full" },
    );
    expect(report).toMatchObject({ deleted: 48, failed: 1, refused: [{ id: kept, reason }] });
  });

  test("creates nothing twice if the service applied the others, and names failures only", async () => {
    const { target } = await begin(tags, { status: 200, applies: "others" });
    const report = await target.sync(
      places(50, (ref) => (ref === 7 ? "too long" : "ok")),
      { mode: "incremental" },
    );
    expect(report).toMatchObject({ created: 49, failed: 1, error: null, refused: [{ key: 7, reason }] });
    expect((await target.features()).length).toBe(49);
  });
});

/** A service whose pages have strong entity tags, as frameworks add them, and that ignores If-Match. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { findStoreKinds } from "../../service/store-kinds.js";
import type { ProxyFault } from "../../support/servers/fault-proxy.js";
import { type FeatureInput, pointFeature } from "../diff-scenario.js";
import { type MapFixture, ProxiedService } from "../map-fixture.js";

/** Tags are digests of the state of the map; responses to writes have none. */
const contentTags = ({ checks }: { readonly checks: boolean }): ProxyFault => ({
  name: "content tags",
  async around({ headers, ...request }, upstream) {
    if (request.method === "token") return upstream.send({ ...request, headers });
    const { "if-match": condition, "if-none-match": _, ...others } = headers;
    const path = request.path.replace(/\?.*|$/, "?page=1");
    const state = await upstream.send({ method: "GET", path, headers: others, body: Buffer.alloc(0) });
    const version = String(state.headers.etag).replace(/-gzip/, "");
    const tag = `"${createHash("md5").update(version).digest("hex")}"`;
    if (checks && condition !== undefined && condition !== tag)
      return { status: 412, headers: { "content-type": "application/json" }, body: Buffer.from("{}") };
    const answer = await upstream.send({ ...request, headers: others });
    const { etag: _own, ...rest } = answer.headers;
    return { ...answer, headers: { ...rest, ...(request.method === "GET" && { etag: tag }) } };
  },
});

const [kind] = await findStoreKinds();
const services: Record<"ignoring" | "checking" | "own", ProxiedService> = {} as never;
beforeAll(async () => {
  services.ignoring = await ProxiedService.start(kind!);
  services.ignoring.proxy.always(contentTags({ checks: false }));
  services.checking = await ProxiedService.start(kind!);
  services.checking.proxy.always(contentTags({ checks: true }));
  services.own = await ProxiedService.start(kind!);
});

const places = (count: number, more: object = {}): FeatureInput[] =>
  Array.from({ length: count }, (_, ref) => pointFeature(ref / 10_000, 47, { ref, ...more }));

async function edit(target: MapFixture): Promise<void> {
  const feature = (await target.features()).find(({ properties }) => properties.ref === 5)!;
  const properties = { ...feature.properties, note: "edited by another client" };
  await target.direct.update([JSON.stringify({ ...feature, properties })], null, `edit-${feature.id}`);
  await target.put(pointFeature(1, 1, { ref: "added" }));
}

describe.each([21, 600])("on a map of %i features", (count) => {
  test.each(["ignoring", "checking"] as const)("a service %s conditions keeps edits since the plan", async (kindOf) => {
    for (const mode of ["incremental", "full"] as const) {
      const target = await services[kindOf].newTarget();
      await target.put(...places(count));
      const report = await target.sync(places(count, { title: "new" }), { mode, meanwhile: () => edit(target) });
      expect(report).toMatchObject({ updated: 0, hasConflict: true, error: { code: "map-changed" } });
      const shown = await target.properties();
      expect(shown.filter(({ note }) => note !== undefined)).toHaveLength(1);
      expect(shown.filter(({ ref }) => ref === "added")).toHaveLength(1);
    }
  });

  test.each([
    ["own", 0],
    ["checking", count > 500 ? 1 : 0],
    ["ignoring", count > 500 ? 1 : 0],
  ] as const)("a service %s conditions is asked %i times", async (kindOf, asked) => {
    const { proxy } = services[kindOf];
    for (const mode of ["incremental", "full"] as const) {
      const target = await services[kindOf].newTarget();
      await target.put(...places(count));
      proxy.calm();
      const report = await target.sync(places(count, { title: "new" }), { mode });
      expect(report).toMatchObject({ updated: count, error: null });
      expect(proxy.count("POST")).toBe(asked);
    }
  });
});

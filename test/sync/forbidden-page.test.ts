/** A later page that is forbidden, as by a firewall or a quota, is not the end of the map. */
import { expect, test } from "vitest";
import type { ProxyFault } from "../support/servers/fault-proxy.js";
import { startProxiedFixture } from "../support/sync/proxied-fixture.js";
import { createPlace } from "../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../support/sync/sync-runner.js";

const { world, proxy } = await startProxiedFixture();

const forbidden: ProxyFault = {
  name: "forbidden",
  around: async () => ({ status: 403, headers: { "content-type": "text/html" }, body: Buffer.from("blocked") }),
};

test("the features behind it are not created a second time", async () => {
  const map = await world.newMap();
  const places = Array.from({ length: 501 }, (_, n) => createPlace(`p${n}`));
  await world.fill(map, places);
  proxy.calm().choose(({ method, path }) => (method === "GET" && path.includes("page=2") ? forbidden : null));
  const { end } = await runSyncInProcess({
    ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source: world.source(places) },
    request: { guards: noGuards },
  });
  expect([end, proxy.writes]).toEqual(["remote-unavailable", 0]);
  expect(await world.features(map)).toHaveLength(501);
});

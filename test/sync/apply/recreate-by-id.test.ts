/** Updates by deleting and creating, of features that are matched by id: refused before anything is sent. */
import { expect, test } from "vitest";
import { startProxiedFixture } from "../../support/sync/proxied-fixture.js";
import { createPlace } from "../../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../../support/sync/sync-runner.js";

const { world, proxy } = await startProxiedFixture();

test("the map stays as it was", async () => {
  const map = await world.newMap();
  await world.fill(map, [createPlace("a", { v: 1 }), createPlace("b", { v: 1 })]);
  const before = await world.features(map);
  const held = before.map((place) => ({ ...place, properties: { ...place.properties, v: 2 } }));
  const source = world.source([...held, createPlace("new", { v: 1 })]);
  proxy.calm();
  const { end } = await runSyncInProcess({
    ...{ url: proxy.url, as: world.ada, folder: world.folder, map, source },
    request: { matching: { by: "id" }, updateWith: "delete-create", guards: noGuards },
  });
  expect([end, proxy.writes]).toEqual(["recreate-by-id", 0]);
  expect(await world.features(map)).toEqual(before);
});

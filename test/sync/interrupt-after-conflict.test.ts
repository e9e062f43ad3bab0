import { expect, test } from "vitest";
import { interrupting } from "../support/servers/proxy-faults.js";
import { startProxiedFixture } from "../support/sync/proxied-fixture.js";
import { createPlace } from "../support/sync/sync-fixture.js";

const { world, proxy } = await startProxiedFixture();

/** More updates than one request can contain. */
const places = (title: string) => Array.from({ length: 1300 }, (_, n) => createPlace(`k${n}`, { title }));

test.each([
  // The first request polls the map until it is stable, and the third one reads it again.
  ["while it waits for a stable map", 1],
  ["while it reads the map again", 3],
])("a push interrupted %s reports what it wrote", async (_, nth) => {
  const map = await world.newMap();
  await world.fill(map, places("old"));
  const line = ["push", world.source(places("new")), "--map", map, "--remote-field", "ref", "--settle-time", "50"];
  proxy.calm();
  const { status, stderr } = await world.geoferry([...line, "--concurrency", "1", "--conflict-retries", "9"], {
    url: proxy.url,
    watch: (child) => {
      const interrupted = interrupting(child);
      proxy.on("PATCH", 2, {
        name: "another writer is first",
        async around(request, upstream) {
          await world.fill(map, [createPlace("other", { title: "other" })]);
          proxy.on("GET", nth, interrupted);
          return upstream.send(request);
        },
      });
    },
  });
  expect(status, stderr).toBe(130);
  const written = (await world.features(map)).filter(({ properties }) => properties.title === "new").length;
  expect(written).toBeGreaterThan(0);
  const counts = `created 0, updated ${written.toLocaleString("en")}, deleted 0`;
  expect(stderr).toContain(`map ${map}: ${counts}\n`);
  expect(stderr).toContain(`(so far ${counts})`);
  expect(stderr.match(/geoferry restore \S+/g)).toHaveLength(1);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
    /interrupted; changes sent to map .* so far remain; run the command again to resume$/,
  );
  // The advice works.
  proxy.calm();
  expect((await world.geoferry(line, { url: proxy.url })).status).toBe(0);
  expect((await world.features(map)).filter(({ properties }) => properties.title === "new")).toHaveLength(1300);
});

test("a push that a guard stops after it wrote does not deny what it wrote", async () => {
  const map = await world.newMap();
  await world.fill(map, places("old"));
  const args = ["--remote-field", "ref", "--settle-time", "50", "--mode", "full", "--max-delete", "10"];
  proxy.calm().on("PATCH", 2, {
    name: "another writer adds more features than the push may delete",
    async around(request, upstream) {
      await world.fill(
        map,
        Array.from({ length: 20 }, (_, n) => createPlace(`other${n}`)),
      );
      return upstream.send(request);
    },
  });
  const line = ["push", world.source(places("new")), "--map", map, ...args, "--concurrency", "1"];
  const { status, stderr } = await world.geoferry(line, { url: proxy.url });
  expect(status, stderr).toBe(7);
  const written = (await world.features(map)).filter(({ properties }) => properties.title === "new").length;
  expect(written).toBeGreaterThan(0);
  expect(stderr).toContain(`map ${map}: created 0, updated ${written.toLocaleString("en")}, deleted 0\n`);
  expect(stderr).toContain("nothing more was sent:");
  expect(stderr).not.toContain("nothing was sent");
});

/** A WFS and an OGC API as sources of commands and jobs, and of a map of the real service. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answerFeatures, answerWfs, type Stop, stops } from "../plugins/ogc/hand-built-services.js";
import { AnsweringServer } from "../support/servers/answering-server.js";
import { findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
let server: AnsweringServer;
let features: readonly Stop[] = [];
const settings = { limit: 100 };
const all = stops(250);

beforeAll(async () => {
  world = await sqlite!.start();
  server = await AnsweringServer.start((asked) =>
    asked.path.startsWith("/api")
      ? answerFeatures(asked, server.origin, features, settings)
      : answerWfs(asked, features, settings),
  );
});
beforeEach(() => {
  features = all;
});
afterAll(() => server.close());

async function succeed(args: readonly string[], status = 0) {
  const finished = await world.geoferry(args);
  expect(finished, finished.stderr).toMatchObject({ status });
  return finished;
}

const names = async (map: string) =>
  (await world.features(map))
    .map(({ properties }) => properties)
    .sort((a, b) => Number(a.id) - Number(b.id))
    .map(({ name }) => name);

const addresses = {
  wfs: () => `wfs:${server.origin}/wfs`,
  "OGC API": () => `${server.origin}/api/collections/stops`,
};

describe.each(Object.entries(addresses))("%s", (kind, address) => {
  test("is pushed to a map and kept in sync by a job, and deletes nothing when it is incomplete", {
    timeout: 120_000,
  }, async () => {
    const map = await world.newMap();
    const push = ["push", address(), "--map", map, "--remote-field", "id", "--mode", "full", "--yes"];
    await succeed(push);
    expect(await names(map)).toEqual(all.map(({ name }) => name));

    features = all.slice(1).map((each, n) => (n === 0 ? { ...each, name: "renamed" } : each));
    const { stdout } = await succeed([
      ...["plan", address(), "--map", map, "--remote-field", "id", "--mode", "full", "--json"],
    ]);
    expect(stdout).toMatch(/"updated?":1/);
    const job = world.file(
      `${kind.replace(" ", "-")}.yaml`,
      `name: stops
steps:
  - { name: archive, source: "${address()}", target: archive.gpkg, overwrite: true }
  - { name: sync, source: "${address()}", target: { map: "${map}", remoteField: id, mode: full } }
`,
    );
    await succeed(["run", job]);
    expect(existsSync(join(world.folder, "archive.gpkg"))).toBe(true);
    const kept = await names(map);
    expect([kept.length, kept[0]]).toEqual([249, "renamed"]);

    // The same feature on two pages.
    features = [...all.slice(0, 150), all[5]!, ...all.slice(150)];
    const { stderr } = await succeed(push, 8);
    expect(stderr).toContain("did not deliver all features");
    expect(await names(map)).toHaveLength(249);
  });

  test("is described, checked and written with any number of threads", { timeout: 120_000 }, async () => {
    const { stdout, stderr } = await succeed(["info", address()]);
    expect(stdout + stderr).toMatch(/stop[\s\S]*250[\s\S]*Point[\s\S]*EPSG:31467/);
    await succeed(["check", address()]);
    const [one, two] = [join(world.folder, "one.geojson"), join(world.folder, "two.geojson")];
    await succeed(["convert", address(), one, "--workers", "1", "--overwrite"]);
    await succeed(["convert", address(), two, "--workers", "2", "--overwrite"]);
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
  });
});

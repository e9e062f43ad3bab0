/** A layer of a Koop server as the source of commands and jobs, and of a map of the real service. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KoopServer, koopPoints } from "../support/servers/koop.js";
import { findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
let koop: KoopServer;
let layer = "";
const points = koopPoints(2500);

beforeAll(async () => {
  world = await sqlite!.start();
  koop = await KoopServer.start(points);
  layer = `${koop.service}/0`;
});
beforeEach(() => {
  koop.features = points;
});
afterAll(() => koop.close());

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

describe("a layer of a service", () => {
  test("is pushed to a map, kept in sync, and deletes nothing when the layer is incomplete", {
    timeout: 120_000,
  }, async () => {
    const map = await world.newMap();
    const push = ["push", layer, "--map", map, "--remote-field", "id", "--mode", "full", "--yes"];
    await succeed(push);
    expect(await names(map)).toEqual(points.map(({ properties }) => properties.name));

    koop.features = points
      .filter((_, n) => n !== 9)
      .map((each, n) => (n === 0 ? { ...each, properties: { ...each.properties, name: "renamed" } } : each));
    const { stdout } = await succeed(["plan", layer, "--map", map, "--remote-field", "id", "--mode", "full", "--json"]);
    expect(stdout).toMatch(/"updated?":1/);
    await succeed(push);
    const kept = await names(map);
    expect(kept).toHaveLength(2499);
    expect(kept[0]).toBe("renamed");

    // Two features with one object id: the ids that are listed are not those of features.
    koop.features = [...points.slice(0, 100), points[99]!];
    const { stderr } = await succeed(push, 8);
    expect(stderr).toContain("did not deliver all features");
    expect(await names(map)).toHaveLength(2499);
  });

  test("is described by info and examined by check", async () => {
    const { stdout, stderr } = await succeed(["info", koop.service]);
    expect(stdout + stderr).toMatch(/places[\s\S]*2,500[\s\S]*Point[\s\S]*EPSG:4326/);
    await succeed(["check", layer]);
  });

  test("is written to files and to stdout, with several threads too", { timeout: 120_000 }, async () => {
    const [one, two] = [join(world.folder, "one.geojson"), join(world.folder, "two.geojson")];
    await succeed(["convert", layer, one, "--workers", "1"]);
    await succeed(["convert", layer, two, "--workers", "2"]);
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
    const { stdout } = await succeed(["convert", `arcgis:${layer}`, "-", "--to", "csv", "--where", "id <= 2"]);
    expect(stdout.trim().split("\n")).toHaveLength(3);
    await succeed(["convert", koop.service, `${join(world.folder, "folder")}/`, "--to", "geojson"]);
    expect(existsSync(join(world.folder, "folder", "places.geojson"))).toBe(true);
  });

  test("is the source of the steps of a job", { timeout: 120_000 }, async () => {
    const map = await world.newMap();
    const job = world.file(
      "arcgis-job.yaml",
      `name: arcgis
steps:
  - { name: archive, source: "${layer}", target: archive.gpkg, overwrite: true }
  - { name: sync, source: "${layer}", target: { map: "${map}", remoteField: id } }
`,
    );
    const finished = await world.geoferry(["run", job]);
    expect(finished, finished.stderr).toMatchObject({ status: 0 });
    expect(await names(map)).toHaveLength(2500);
    expect(existsSync(join(world.folder, "archive.gpkg"))).toBe(true);

    // The description of the layer stays the same, and the server has an entity tag for it.
    koop.features = points.map((each, n) =>
      n === 7 ? { ...each, properties: { ...each.properties, name: "renamed" } } : each,
    );
    const again = await world.geoferry(["run", job]);
    expect(again, again.stderr).toMatchObject({ status: 0 });
    const archive = await succeed(["convert", "archive.gpkg", "-", "--to", "csv", "--where", "name = 'renamed'"]);
    expect(archive.stdout.trim().split("\n")).toHaveLength(2);
    expect((await names(map))[7]).toBe("renamed");
  });

  test("with a secret in its address is refused without repeating it", async () => {
    const { stderr } = await succeed(["convert", `${layer}?token=geheim`, join(world.folder, "no.gpkg")], 2);
    expect(stderr).toContain("GEOFERRY_ARCGIS_TOKEN");
    expect(stderr).not.toContain("geheim");
  });
});

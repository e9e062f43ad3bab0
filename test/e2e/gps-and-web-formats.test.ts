/** TCX and TopoJSON as sources of commands, jobs and a map of the real service, and in the library. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { convert, open } from "../../src/index.js";
import { samples } from "../support/command.js";
import { findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

async function succeed(args: readonly string[]) {
  const finished = await world.geoferry(args);
  expect(finished, finished.stderr).toMatchObject({ status: 0 });
  return finished;
}

const sources = [
  {
    format: "tcx",
    path: `${samples}/tcx/col-de-voza.tcx`,
    layer: "laps",
    read: ["--in", "layers=kinds"],
    key: "startTime",
    count: 3,
  },
  {
    format: "topojson",
    path: `${samples}/topojson/districts.topojson`,
    layer: "districts",
    read: [],
    key: "name",
    count: 4,
  },
];

describe.each(sources)("$format", ({ format, path, layer, read, key, count }) => {
  const source = [path, "--layer", layer, ...read];

  test("is described and checked", async () => {
    const { stdout } = await succeed(["info", path, "--json"]);
    expect(stdout).toContain(`"format":"${format}"`);
    await succeed(["check", ...source]);
  });

  test("is pushed to a map, planned without a change, and converted by a job", { timeout: 120_000 }, async () => {
    const map = await world.newMap();
    const to = ["--map", map, "--remote-field", key, "--mode", "full"];
    await succeed(["push", ...source, ...to, "--yes"]);
    expect(await world.features(map)).toHaveLength(count);
    const { stdout } = await succeed(["plan", ...source, ...to, "--json"]);
    expect(stdout).toContain(`"create":0,"update":0,"delete":0,"same":${count}`);
    const options = read.length > 0 ? ", in: { layers: kinds }" : "";
    const job = world.file(
      `${format}.yaml`,
      `name: ${format}
steps:
  - { name: archive, source: "${path}", layer: ${layer}${options}, target: ${format}.geojsonl, overwrite: true }
`,
    );
    await succeed(["run", job]);
    const lines = readFileSync(join(world.folder, `${format}.geojsonl`), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(count);
  });

  test("is opened and converted by the library", async () => {
    await using dataset = await open(path, { readerOptions: format === "tcx" ? { layers: "kinds" } : {} });
    let features = 0;
    for await (const _ of dataset.layer(layer)) features++;
    expect(features).toBe(count);
    const report = await convert({ inputs: [path], output: join(world.folder, `${format}.gpkg`), overwrite: true });
    expect(report.rejected).toBe(0);
  });
});

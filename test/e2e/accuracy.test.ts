/** The accuracy of reprojections: convert, push, pull and jobs follow the same rules. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createPlace, findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

const path = (name: string) => join(world.folder, name);

function put(name: string, content: string): string {
  writeFileSync(path(name), content);
  return path(name);
}

const csv = (name: string, ...rows: readonly string[]) => put(name, `${["ref,lon,lat", ...rows].join("\n")}\n`);

// Points in North Carolina. EPSG:1173, "NAD27 to WGS 84 (4)", has an accuracy of 10 m there; EPSG:1174, for the states
// east of the Mississippi, 11 m.
const carolina = () => csv("carolina.csv", "1,-78.6,35.8", "2,-80.8,35.2");
const nad27 = ["--source-crs", "EPSG:4267"];
const stated =
  /note crs-accuracy \(2 times\): positions are transformed by NAD27 to WGS 84 \(4\), which is accurate to 10 m/;

describe("push", () => {
  test("push states the accuracy of the features it sends", async () => {
    const map = await world.newMap();
    const { status, stderr } = await world.geoferry([
      "push",
      carolina(),
      "--map",
      map,
      "--remote-field",
      "ref",
      ...nad27,
    ]);
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(stated);
    expect(await world.features(map)).toHaveLength(2);
  });

  test.each([[["--accuracy", "5"]], [["--strict"]]])(
    "push with %j rejects a worse accuracy and sends nothing",
    async (flags) => {
      const map = await world.newMap();
      const pushed = await world.geoferry([
        "push",
        carolina(),
        "--map",
        map,
        "--remote-field",
        "ref",
        ...nad27,
        ...flags,
      ]);
      expect(pushed.status).toBe(4);
      expect(pushed.stderr).toContain("--accuracy 10 takes NAD27 to WGS 84 (4), accurate to 10 m");
      expect(await world.features(map)).toEqual([]);
    },
  );
});

describe("pull", () => {
  test("pull states the accuracy of 10 m, and rejects it with --accuracy 5 and --strict", async () => {
    const map = await world.newMap();
    const at = (ref: number, ...coordinates: number[]) => ({
      ...createPlace(ref, {}),
      geometry: { type: "Point" as const, coordinates },
    });
    await world.fill(map, [at(1, -78.6, 35.8), at(2, -80.8, 35.2)]);
    const pull = (...flags: string[]) =>
      world.geoferry(["pull", path("pulled.gpkg"), "--map", map, "--target-crs", "EPSG:4267", "--overwrite", ...flags]);
    for (const flags of [["--accuracy", "5"], ["--strict"]]) {
      const refused = await pull(...flags);
      expect(refused.status, refused.stderr).toBe(4);
      expect(refused.stderr).toContain("--accuracy 10 takes inverse of NAD27 to WGS 84 (4), accurate to 10 m");
      expect(existsSync(path("pulled.gpkg"))).toBe(false);
    }
    const { status, stderr } = await pull();
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(
      /note crs-accuracy \(2 times\): positions are transformed by inverse of NAD27 to WGS 84 \(4\), which/,
    );
  });
});

describe("a job", () => {
  const job = (...more: string[]) =>
    put(
      "job.yaml",
      `name: night\nsteps:\n  - ${["name: wells", `source: ${carolina()}`, "sourceCrs: EPSG:4267", `target: ${path("wells.geojson")}`, ...more].join("\n    ")}\n`,
    );
  const run = (file: string) => world.geoferry(["run", file]);

  test("a job states the accuracy of a step", async () => {
    const { status, stderr } = await run(job());
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(stated);
  });

  test.each(["strict: true", "accuracy: 5"])("a job with %s fails if the accuracy is worse than 5 m", async (line) => {
    const { status, stderr } = await run(job("overwrite: true", line));
    expect(status, stderr).not.toBe(0);
    expect(stderr).toContain("accuracy: 10 takes NAD27 to WGS 84 (4), accurate to 10 m");
  });

  test("a job with strict and an accuracy accepts that accuracy", async () => {
    const { status, stderr } = await run(job("overwrite: true", "strict: true", "accuracy: 10"));
    expect(status, stderr).toBe(0);
  });
});

describe("a run stopped by --max-rejects because of accuracy", () => {
  test("convert lists options that would convert the positions", async () => {
    const flags = [...nad27, "--max-rejects", "0"];
    const { status, stderr } = await world.geoferry([
      "convert",
      carolina(),
      path("out.geojson"),
      "--accuracy",
      "5",
      ...flags,
    ]);
    expect(status).toBe(7);
    const [, advised] = /stopped: 2 features.*--accuracy (\d+) takes/.exec(stderr) ?? [];
    expect(advised, stderr).toBe("10");
    const followed = await world.geoferry([
      "convert",
      carolina(),
      path("out.geojson"),
      "--accuracy",
      advised!,
      ...flags,
    ]);
    expect(followed.status, followed.stderr).toBe(0);
  });

  test("push lists options that would convert the positions", async () => {
    const map = await world.newMap();
    // No operation for NAD27 is known in Guam; the other two positions can be converted.
    const input = csv("guam.csv", "1,-78.6,35.8", "2,-80.8,35.2", "3,144.8,13.4");
    const flags = ["--map", map, "--remote-field", "ref", ...nad27, "--max-rejects", "0"];
    const { status, stderr } = await world.geoferry(["push", input, ...flags]);
    expect(status).toBe(7);
    expect(stderr).toContain("positions at longitude 144.8° to 144.8°, latitude 13.4° to 13.4° cannot be transformed");
  });
});

test("advice for positions on both sides of the antimeridian uses the narrower box", async () => {
  // Unalaska and Attu; EPSG:1181 and 1182, for the Aleutian Islands, have an accuracy of 11 and 12 m.
  const input = csv("aleutians.csv", "1,-166.5,53.9", "2,172.9,52.8");
  const flags = [...nad27, "--accuracy", "5"];
  const { status, stderr } = await world.geoferry(["convert", input, path("islands.geojson"), ...flags]);
  expect(status).toBe(4);
  expect(stderr).toContain("longitude 172.9° to -166.5°, latitude 52.8° to 53.9°");
  expect(stderr).not.toContain("ca_nrc");
});
